//! Real browsers of each engine, their drivers, and a reader of QR codes that is not ours.

use super::{GECKODRIVER, apt};
use crate::program::on_path;
use crate::workspace::Workspace;

/// Program and the Debian package that brings it.
const NEEDED: [(&str, &str); 6] = [
    ("chromium", "chromium"),
    ("chromedriver", "chromium-driver"),
    ("firefox-esr", "firefox-esr"),
    // With the browser it drives, which needs a screen.
    ("WebKitWebDriver", "webkit2gtk-driver"),
    ("Xvfb", "xvfb"),
    ("zbarimg", "zbar-tools"),
];

/// Installs what is missing of them.
///
/// # Errors
/// A sentence with the command to type.
pub(crate) fn install_browsers(workspace: &Workspace) -> anyhow::Result<()> {
    let missing: Vec<&str> = NEEDED
        .iter()
        .filter(|(program, _)| on_path(program).is_none())
        .map(|(_, package)| *package)
        .collect();
    if !missing.is_empty() {
        apt::install(&missing, "the tests use real browsers", workspace)?;
    }
    // The tests look for it where it is installed.
    GECKODRIVER.folder(workspace).map(drop)
}
