//! Allowed dependencies between packages, direct or not. deny.toml forbids direct edges; these tests check everything
//! that is linked in the end.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use serde_json::Value;

/// Each package with its direct dependencies.
struct Packages(BTreeMap<String, BTreeSet<String>>);

impl Packages {
    /// Reads the dependencies of a build for `target` from `cargo metadata`, without dev-dependencies.
    fn built_for(target: &str) -> Self {
        let cargo = env::var_os("CARGO").unwrap_or("cargo".into());
        let output = Command::new(cargo)
            .args(["metadata", "--format-version=1", "--locked", "--offline"])
            .args(["--filter-platform", target])
            .current_dir(root())
            .output()
            .expect("cargo runs, since it runs this test");
        let complaint = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{complaint}");
        let metadata: Value =
            serde_json::from_slice(&output.stdout).expect("cargo metadata prints JSON");
        Self::of(&metadata)
    }

    fn of(metadata: &Value) -> Self {
        let packages = list(&metadata["packages"]);
        let names: BTreeMap<&str, &str> = packages
            .map(|package| (text(&package["id"]), text(&package["name"])))
            .collect();
        let edges = list(&metadata["resolve"]["nodes"]).map(|node| {
            let linked = list(&node["deps"]).filter(|dep| {
                list(&dep["dep_kinds"]).any(|kind| kind["kind"].as_str() != Some("dev"))
            });
            let linked = linked.map(|dep| names[text(&dep["pkg"])].to_owned());
            (names[text(&node["id"])].to_owned(), linked.collect())
        });
        Self(edges.collect())
    }

    /// Returns a path from one package to another, if there is one.
    fn path_between(&self, from: &str, to: &str) -> Option<Vec<&str>> {
        let (start, _) = self.0.get_key_value(from).expect("the package exists");
        let mut came_from = BTreeMap::from([(start.as_str(), None)]);
        let mut next = vec![start.as_str()];
        while let Some(here) = next.pop() {
            if here == to {
                let step = |at: &&str| came_from[*at];
                let mut path_between: Vec<&str> = std::iter::successors(Some(here), step).collect();
                path_between.reverse();
                return Some(path_between);
            }
            for neighbour in &self.0[here] {
                if !came_from.contains_key(neighbour.as_str()) {
                    came_from.insert(neighbour, Some(here));
                    next.push(neighbour);
                }
            }
        }
        None
    }

    #[track_caller]
    fn assert_no_path(&self, from: &str, forbidden: &[&str]) {
        for to in forbidden {
            if let Some(path_between) = self.path_between(from, to) {
                panic!(
                    "{from} must not be built on {to}: {}",
                    path_between.join(" → ")
                );
            }
        }
    }
}

#[test]
fn the_widget_links_no_crate_with_the_secret() {
    Packages::built_for("wasm32-unknown-unknown").assert_no_path(
        "florin-widget",
        &[
            "florin-gateway",
            "florin-orders",
            "florin-storage",
            "florin-proxy",
            "tokio",
            "sqlx",
            "reqwest",
            "secrecy",
            "hmac",
        ],
    );
}

#[test]
fn crates_without_io_link_no_network_and_no_database() {
    for target in ["wasm32-unknown-unknown", "x86_64-unknown-linux-gnu"] {
        let packages = Packages::built_for(target);
        for package in [
            "florin-money",
            "florin-address",
            "florin-orders",
            "florin-checkout-api",
        ] {
            packages.assert_no_path(package, &["tokio", "reqwest", "hyper", "sqlx", "web-sys"]);
        }
    }
}

#[test]
fn orders_do_not_depend_on_the_gateway_client() {
    Packages::built_for("x86_64-unknown-linux-gnu").assert_no_path(
        "florin-orders",
        &[
            "florin-gateway",
            "florin-storage",
            "florin-checkout-api",
            "sqlx",
            "tokio",
        ],
    );
}

#[test]
fn storage_links_no_network() {
    Packages::built_for("x86_64-unknown-linux-gnu").assert_no_path(
        "florin-storage",
        &[
            "florin-gateway",
            "florin-checkout-api",
            "reqwest",
            "hyper",
            "axum",
        ],
    );
}

#[test]
fn addresses_are_checked_without_the_gateway() {
    Packages::built_for("x86_64-unknown-linux-gnu")
        .assert_no_path("florin-address", &["florin-gateway"]);
}

#[test]
fn the_product_links_no_part_of_the_tests() {
    Packages::built_for("x86_64-unknown-linux-gnu").assert_no_path(
        "florin-proxy",
        &[
            "florin-postgres",
            "florin-sandbox",
            "florin-shop",
            "florin-tests",
        ],
    );
}

#[test]
fn the_sandbox_shares_no_code_with_the_proxy() {
    Packages::built_for("x86_64-unknown-linux-gnu").assert_no_path(
        "florin-sandbox",
        &["florin-proxy", "florin-address", "florin-gateway"],
    );
}

#[test]
fn the_auditor_shares_no_code_with_the_proxy() {
    Packages::built_for("x86_64-unknown-linux-gnu").assert_no_path(
        "florin-auditor",
        &[
            "florin-address",
            "florin-orders",
            "florin-storage",
            "florin-money",
            "florin-proxy",
            "florin-sandbox",
            "florin-gateway",
            "florin-checkout-api",
            "florin-tests",
        ],
    );
}

#[test]
fn sql_is_only_in_storage() {
    for folder in [
        "proxy/src",
        "crates/sandbox/src",
        "examples/shop/src",
        "crates/gateway/src",
        "crates/orders/src",
    ] {
        for file in files(&root().join(folder)) {
            let source = fs::read_to_string(&file).expect("a source is text");
            let found = sql_in(&source);
            assert_eq!(found, None, "{}", file.display());
        }
    }
}

#[test]
fn sql_is_recognised() {
    assert_eq!(sql_in("query(\"SELECT id FROM orders\")"), Some("SELECT "));
    assert_eq!(sql_in("use sqlx::query;"), Some("sqlx::"));
    assert_eq!(sql_in("// an update of the order is inserted"), None);
}

/// A search that finds nothing would accept every edge.
#[test]
fn an_indirect_dependency_is_found() {
    let packages = Packages::built_for("x86_64-unknown-linux-gnu");
    let path_between = packages
        .path_between("florin-proxy", "sqlx")
        .expect("florin-proxy → florin-storage → sqlx");
    assert_eq!(path_between, ["florin-proxy", "florin-storage", "sqlx"]);
}

fn sql_in(source: &str) -> Option<&'static str> {
    let signs = [
        "SELECT ",
        "INSERT INTO ",
        "UPDATE ",
        "DELETE FROM ",
        "CREATE TABLE ",
        "sqlx::",
    ];
    signs.into_iter().find(|sign| source.contains(sign))
}

#[test]
fn npm_packages_are_pinned_with_a_checksum() {
    for list in ["tests/npm", "tests/peers"] {
        let read = |name: &str| -> Value {
            let text = fs::read_to_string(root().join(list).join(name)).unwrap();
            serde_json::from_str(&text).unwrap()
        };
        let (package, lock) = (read("package.json"), read("package-lock.json"));
        let wanted = package["devDependencies"].as_object().unwrap();
        for (name, version) in wanted {
            // A package in two versions has a second name: "npm:react@18.3.1".
            let version = text(version);
            let version = version.rsplit_once('@').map_or(version, |(_, own)| own);
            let exact = |c: char| c.is_ascii_digit() || c == '.';
            assert!(version.chars().all(exact), "{name} {version} is a range");
            let locked = &lock["packages"][format!("node_modules/{name}")];
            assert_eq!(locked["version"], version, "{name}");
        }
        let locked = lock["packages"].as_object().unwrap();
        for (path, package) in locked.iter().filter(|(path, _)| !path.is_empty()) {
            let checksum = package["integrity"].as_str().unwrap_or_default();
            assert!(checksum.starts_with("sha512-"), "{path} has no checksum");
        }
        for kind in ["dependencies", "optionalDependencies", "peerDependencies"] {
            assert!(package[kind].is_null(), "nothing of npm is shipped: {kind}");
        }
    }
}

pub(crate) fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("the folder of sources exists");
    let paths = entries.map(|entry| entry.expect("a folder can be read").path());
    paths
        .flat_map(|path| {
            if path.is_dir() {
                files(&path)
            } else {
                vec![path]
            }
        })
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .collect()
}

pub(crate) fn root() -> PathBuf {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    tests
        .parent()
        .expect("tests is a folder of the repository")
        .to_owned()
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value
        .as_array()
        .expect("cargo metadata's documented shape")
        .iter()
}

fn text(value: &Value) -> &str {
    value.as_str().expect("cargo metadata's documented shape")
}
