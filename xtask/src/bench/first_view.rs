//! How long a customer waits for the checkout, beside its peers: the program `first-view` of the package `tests`.

use super::peers;
use crate::program::Program;
use crate::screen::step;
use crate::tools;
use crate::workspace::Workspace;

/// Builds what looks, and looks at the proxy's release; whether the promise is kept.
///
/// # Errors
/// Something cannot be built.
pub(super) fn is_in_time(workspace: &Workspace) -> anyhow::Result<bool> {
    tools::install_for_tests(workspace)?;
    let peers = peers::bundle(workspace)?;
    step("Building what looks at the checkout…");
    Program::cargo(workspace)
        .args(["build", "--locked", "--package", "tests"])
        .args(["--bin", "first-view"])
        .run()?;
    let looks = Program::new(workspace.debug_program("first-view"), workspace)
        .arg_path("--proxy", &workspace.release_program("florin-proxy"))
        .arg_path("--peers", &peers)
        .run();
    // It has printed what was measured, or why nothing could be.
    Ok(looks.is_ok())
}
