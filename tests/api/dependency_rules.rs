//! What a crate is built from, through other packages too. deny.toml forbids direct edges, with the reasons.

use std::env;
use std::process::Command;

use crate::repository::root;

const SERVER: &str = "x86_64-unknown-linux-gnu";
const BROWSER: &str = "wasm32-unknown-unknown";

/// What reads or sends over a network, or talks to a database.
const INPUT_AND_OUTPUT: &[&str] = &["tokio", "reqwest", "hyper", "sqlx", "web-sys"];

/// A package with the targets it is built for, and the packages that must not be part of it.
const RULES: [(&str, &[&str], &[&str]); 9] = [
    (
        "florin-widget",
        &[BROWSER],
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
    ),
    ("florin-money", &[BROWSER, SERVER], INPUT_AND_OUTPUT),
    ("florin-checkout-api", &[BROWSER, SERVER], INPUT_AND_OUTPUT),
    ("florin-address", &[SERVER], INPUT_AND_OUTPUT),
    ("florin-orders", &[SERVER], INPUT_AND_OUTPUT),
    ("florin-storage", &[SERVER], &["reqwest", "hyper", "axum"]),
    (
        "florin-proxy",
        &[SERVER],
        &["florin-postgres", "florin-sandbox", "florin-shop"],
    ),
    (
        "florin-sandbox",
        &[SERVER],
        &["florin-proxy", "florin-address", "florin-gateway"],
    ),
    (
        "florin-invariants",
        &[SERVER],
        &["florin-money", "florin-orders", "florin-storage"],
    ),
];

/// Returns the names of all packages that a package is built from.
fn packages_of(package: &str, target: &str) -> Vec<String> {
    let cargo = env::var_os("CARGO").unwrap_or("cargo".into());
    let tree = Command::new(cargo)
        .args(["tree", "--locked", "--offline", "--all-features"])
        .args([
            "--edges",
            "normal,build",
            "--prefix",
            "none",
            "--format",
            "{p}",
        ])
        .args(["--package", package, "--target", target])
        .current_dir(root())
        .output()
        .expect("cargo runs, since it runs this test");
    let complaint = String::from_utf8_lossy(&tree.stderr);
    assert!(tree.status.success(), "{complaint}");
    let lines = String::from_utf8(tree.stdout).unwrap();
    let names = lines.lines().filter_map(|line| line.split(' ').next());
    names.map(str::to_owned).collect()
}

#[test]
fn crates_are_not_built_from_what_they_must_not_know() {
    for (package, targets, forbidden) in RULES {
        for target in targets {
            let packages = packages_of(package, target);
            assert!(packages.contains(&package.to_owned()), "{packages:?}");
            for name in forbidden {
                let is_linked = packages.iter().any(|one| one == name);
                assert!(
                    !is_linked,
                    "see: cargo tree --package {package} --invert {name}"
                );
            }
        }
    }
    let proxy = packages_of("florin-proxy", SERVER);
    assert!(proxy.contains(&"sqlx".to_owned()), "through florin-storage");
}
