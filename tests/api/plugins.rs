//! The plugins of `plugins/`, by tests in their own languages.

use std::process::Command;

use support::install_copy;

use crate::libraries::pass_in_world;
use crate::repository::{root, text_of};

#[test]
fn the_plugin_for_woocommerce_passes_its_tests() {
    let mut php = Command::new("php");
    php.arg("plugins/woocommerce/tests/run.php");
    let output = php.current_dir(root()).output();
    let output = output.expect("php is installed");
    let printed = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{printed}{errors}");
    assert!(printed.contains(" passed, 0 failed"), "{printed}{errors}");
}

/// In a real Vendure on SQLite, over HTTP, with a proxy and a sandbox.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "long: run by cargo xtask test --long"]
async fn the_plugin_for_vendure_passes_its_tests() {
    let copy = install_copy("plugins/vendure");
    let mut tests = Command::new("npm");
    tests.arg("test").current_dir(copy.file("plugins/vendure"));
    pass_in_world(tests).await;
}

#[test]
fn the_plugin_for_vendure_has_the_licence_of_its_host_and_our_version() {
    let package: serde_json::Value =
        serde_json::from_str(&text_of("plugins/vendure/package.json")).unwrap();
    assert_eq!(package["license"], "GPL-3.0-or-later");
    assert_eq!(package["version"], env!("CARGO_PKG_VERSION"));
    assert!(text_of("plugins/vendure/LICENSE").contains("Version 3, 29 June 2007"));
}
