//! The libraries of Cargo.lock. After this step everything builds without a network.

use anyhow::Context as _;

use crate::program::Program;
use crate::screen;
use crate::workspace::Workspace;

/// Downloads what is missing.
///
/// # Errors
/// A sentence about the network.
pub(super) fn fetch(workspace: &Workspace) -> anyhow::Result<()> {
    let fetch = || Program::cargo(workspace).args(["fetch", "--locked", "--quiet"]);
    if fetch().args(["--offline"]).output().is_ok() {
        return Ok(());
    }
    screen::step("Downloading the libraries (about 1 minute the first time)…");
    fetch().run().context(
        "the libraries could not be downloaded: check that crates.io can be reached, \
         then run the command again",
    )
}
