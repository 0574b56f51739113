//! `cargo xtask build`: the release.

use std::fs;
use std::process::ExitCode;

use anyhow::Context as _;

use crate::bundle::Variant;
use crate::workspace::Workspace;
use crate::{bundle, screen, tools};

/// Builds the widget and the proxy with it inside.
///
/// # Errors
/// A sentence that says what to do.
pub(crate) fn run(workspace: &Workspace, variant: Variant) -> anyhow::Result<ExitCode> {
    tools::set_up(workspace)?;
    bundle::make(workspace, variant)?;
    proxy(workspace, variant)?;
    let program = workspace.release_program("florin-proxy");
    let size = fs::metadata(&program)
        .context("the proxy was not built where it should be")?
        .len();
    let size = screen::grouped(usize::try_from(size).unwrap_or(usize::MAX));
    screen::good(format!(
        "{} ({size} bytes, with the widget inside)",
        program.display()
    ));
    Ok(ExitCode::SUCCESS)
}

/// Builds the proxy's release, taking in a variant of the widget.
///
/// # Errors
/// It does not compile.
pub(crate) fn proxy(workspace: &Workspace, variant: Variant) -> anyhow::Result<()> {
    if !workspace.release_program("florin-proxy").exists() {
        screen::step("Building the proxy's release (about 3 minutes the first time)…");
    }
    bundle::cargo_with(workspace, variant)
        .args(["build", "--locked", "--release", "--package", "proxy"])
        .run()
}
