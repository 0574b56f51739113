//! A real browser, its driver, and a reader of QR codes that is not ours.

use super::apt;
use crate::program::on_path;
use crate::workspace::Workspace;

/// Program and the Debian package that brings it.
const NEEDED: [(&str, &str); 3] = [
    ("chromium", "chromium"),
    ("chromedriver", "chromium-driver"),
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
    if missing.is_empty() {
        return Ok(());
    }
    apt::install(&missing, "the tests use a real browser", workspace)
}
