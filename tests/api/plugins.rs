//! The plugins of `plugins/`, by tests in their own languages.

use std::process::Command;

use crate::repository::root;

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
