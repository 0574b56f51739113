//! The files of a crate import each other without circles, the layers of the proxy and of the widget import only those below them,
//! and what does no I/O is built from nothing that does. `deny.toml` forbids direct edges between crates, with the reasons.
//!
//! Tests are left out: they name what they like. A module and the modules around it belong together: what a file names of
//! those is no import.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::process::Command;

use crate::repository::{root, text_of, tracked_files};

/// Modules of the proxy that import neither the endpoints nor their framework.
const BELOW_HTTP: [&str; 11] = [
    "auth",
    "clock",
    "config",
    "connection_slots",
    "log",
    "orders",
    "payments",
    "rate_limit",
    "state",
    "webhooks",
    "workers",
];

type Module = Vec<String>;

/// Returns the code of a file without tests, comments and re-exports of the modules below it.
fn code(text: &str) -> String {
    let product = text.split("#[cfg(test)]\nmod tests").next().unwrap();
    let lines = product.lines().map(str::trim_start);
    let lines: Vec<&str> = lines.filter(|line| !line.starts_with("//")).collect();
    let lines = lines.join("\n");
    let is_left_out = |statement: &&str| {
        let is_index = statement.contains("pub") && statement.contains(" use self::");
        is_index || statement.contains("#[cfg(test)]")
    };
    let statements = lines.split(';').filter(|one| !is_left_out(one));
    statements.collect::<Vec<_>>().join(";")
}

/// Returns the paths in code; each of a group `a::{b, c}` is one.
fn paths(code: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut groups = vec![String::new()];
    let mut word = String::new();
    for letter in code.chars() {
        if letter.is_ascii_alphanumeric() || matches!(letter, '_' | ':') {
            word.push(letter);
            continue;
        }
        let path = [groups.last().map_or("", String::as_str), &word].concat();
        match letter {
            '{' if word.ends_with("::") => groups.push(path.clone()),
            '{' => groups.push(String::new()),
            '}' => drop(groups.pop()),
            _ => {}
        }
        if path.contains("::") && !word.is_empty() {
            found.push(path);
        }
        word.clear();
    }
    found
}

/// The files of a crate as modules, each with the other files that it imports.
struct Crate(BTreeMap<Module, BTreeSet<Module>>);

impl Crate {
    fn read(folder: &str) -> Self {
        let below = |name: &String| {
            let path = name.strip_prefix(folder)?.strip_prefix('/')?;
            let module = match path.strip_suffix(".rs")? {
                "lib" | "main" => Module::new(),
                below => below.split('/').map(str::to_owned).collect(),
            };
            Some((module, code(&text_of(name))))
        };
        let files: BTreeMap<Module, String> = tracked_files().iter().filter_map(below).collect();
        let product = files
            .iter()
            .filter(|(module, _)| !module.iter().any(|name| name == "tests"));
        let imports = product.map(|(module, code)| {
            let paths = paths(code).into_iter();
            let found = paths.filter_map(|path| file_of(module, &path, &files));
            (module.clone(), found.collect())
        });
        Self(imports.collect())
    }

    fn circles(&self) -> Vec<String> {
        let is_in_circle = |file: &&Module| {
            let mut reached = BTreeSet::new();
            let mut next: Vec<&Module> = self.0[*file].iter().collect();
            while let Some(module) = next.pop() {
                if reached.insert(module) {
                    next.extend(self.0.get(module).into_iter().flatten());
                }
            }
            reached.contains(file)
        };
        let files = self.0.keys().filter(is_in_circle);
        files.map(|file| file.join("::")).collect()
    }

    /// Returns the imports from modules to others, each by its first name, as sentences.
    fn edges(&self, from: &[&str], to: &[&str]) -> Vec<String> {
        let is_in = |module: &Module, names: &[&str]| {
            let first = module.first();
            first.is_some_and(|first| names.contains(&first.as_str()))
        };
        let files = self.0.iter().filter(|(file, _)| is_in(file, from));
        let edges = files.flat_map(|(file, imports)| {
            let imported = imports.iter().filter(|other| is_in(other, to));
            imported.map(|other| format!("{} imports {}", file.join("::"), other.join("::")))
        });
        edges.collect()
    }
}

/// Returns the other file of the crate that a path leads to.
fn file_of(from: &Module, path: &str, files: &BTreeMap<Module, String>) -> Option<Module> {
    let mut to = from.clone();
    for name in path.split("::") {
        match name {
            "crate" => to.clear(),
            "super" => drop(to.pop()),
            "self" => {}
            name => to.push(name.to_owned()),
        }
    }
    while !files.contains_key(&to) {
        to.pop()?;
    }
    (!from.starts_with(&to)).then_some(to)
}

#[test]
fn files_import_each_other_without_circles() {
    let tracked = tracked_files();
    let roots = tracked.iter().filter_map(|file| {
        let folder = file.strip_suffix("/lib.rs");
        folder.or_else(|| file.strip_suffix("/main.rs"))
    });
    let roots: BTreeSet<&str> = roots.collect();
    assert!(roots.contains("crates/storage/src"), "{roots:?}");
    for folder in roots {
        assert_eq!(Crate::read(folder).circles(), [""; 0], "{folder}");
    }
}

#[test]
fn lower_layers_of_the_proxy_import_no_higher_ones() {
    let nothing: [&str; 0] = [];
    let proxy = Crate::read("proxy/src");
    for (from, above) in [
        (&BELOW_HTTP[..], &["http", "admin", "staff"][..]),
        (
            &["auth", "config", "webhooks"],
            &["workers", "server", "state"],
        ),
        (&["http"], &["admin", "staff", "workers", "server"]),
    ] {
        assert_eq!(proxy.edges(from, above), nothing);
    }
    let uses_axum = |file: &Module| {
        let text = text_of(&format!("proxy/src/{}.rs", file.join("/")));
        paths(&code(&text))
            .iter()
            .any(|path| path.starts_with("axum::"))
    };
    let files = proxy.0.keys().filter(|file| !file.is_empty());
    let users: Vec<_> = files.filter(|file| uses_axum(file)).collect();
    let mut firsts = users.iter().map(|file| file[0].as_str());
    assert!(
        !firsts.any(|first| BELOW_HTTP.contains(&first)),
        "{users:?}"
    );
    // A search that finds no import would accept every one.
    assert_ne!(proxy.edges(&["http"], &["payments"]), nothing);
    assert_ne!(users.len(), 0);
}

/// The widget's layers from the bottom up; those of one line stand beside each other.
const WIDGET: [&[&str]; 9] = [
    &["format"],
    &["browser", "from_js", "host"],
    &["i18n"],
    &["state"],
    &["net"],
    &["components"],
    &["screens"],
    &["app"],
    &["element"],
];

#[test]
fn each_layer_of_the_widget_imports_only_those_below_it() {
    let layer = |module: &Module| {
        let mut layers = WIDGET.iter();
        let place = layers.position(|layer| layer.contains(&module[0].as_str()));
        place.unwrap_or_else(|| panic!("{module:?} is in no layer: add it to WIDGET"))
    };
    let widget = Crate::read("widget/src").0.into_iter();
    for (file, imports) in widget.filter(|(file, _)| !file.is_empty()) {
        for other in imports {
            let is_below = other[0] == file[0] || layer(&other) < layer(&file);
            assert!(
                is_below,
                "{file:?} imports {other:?}, which is not below it"
            );
        }
    }
}

/// Packages that read or send over a network: through others too, since `deny.toml` sees direct edges alone.
const INPUT_AND_OUTPUT: [&str; 3] = ["tokio", "hyper", "web-sys"];
const SERVER: &str = "x86_64-unknown-linux-gnu";
const BROWSER: &str = "wasm32-unknown-unknown";

#[test]
fn crates_are_not_built_from_what_they_must_not_know() {
    for (package, target, forbidden) in [
        (
            "florin-widget",
            BROWSER,
            &["tokio", "secrecy", "hmac", "miniscript"][..],
        ),
        ("florin-money", BROWSER, &INPUT_AND_OUTPUT),
        ("florin-money", SERVER, &INPUT_AND_OUTPUT),
        ("florin-checkout-api", BROWSER, &INPUT_AND_OUTPUT),
        ("florin-checkout-api", SERVER, &INPUT_AND_OUTPUT),
        ("florin-address", SERVER, &INPUT_AND_OUTPUT),
        ("florin-orders", SERVER, &INPUT_AND_OUTPUT),
        // It is given private keys.
        ("florin-sweep", SERVER, &INPUT_AND_OUTPUT),
        ("florin-storage", SERVER, &["hyper", "axum"]),
        // Its tests and measurements start a server.
        ("florin-proxy", SERVER, &["florin-servers"]),
        (
            "florin-gateway",
            SERVER,
            &["florin-gateway-client", "florin-proxy"],
        ),
        ("florin-invariants", SERVER, &["florin-money"]),
    ] {
        let cargo = env::var_os("CARGO").unwrap_or("cargo".into());
        let tree = Command::new(cargo)
            .args(["tree", "--locked", "--offline", "--all-features"])
            .args(["--edges", "normal,build", "--prefix", "none"])
            .args(["--format", "{p}", "--package", package, "--target", target])
            .current_dir(root())
            .output()
            .expect("cargo runs, since it runs this test");
        let complaint = String::from_utf8_lossy(&tree.stderr);
        assert!(tree.status.success(), "{complaint}");
        let tree = String::from_utf8(tree.stdout).unwrap();
        let has = |name: &str| {
            tree.lines()
                .any(|line| line.split(' ').next() == Some(name))
        };
        assert!(has(package), "{tree}");
        for name in forbidden {
            assert!(
                !has(name),
                "see: cargo tree --package {package} --invert {name}"
            );
        }
    }
}
