//! `cargo xtask bench --kills N`: the proxy's release, killed again and again, and judged by what it leaves behind.

use std::process::ExitCode;

use crate::arguments::KillWishes;
use crate::program::Program;
use crate::screen::step;
use crate::workspace::Workspace;
use crate::{build, bundle, tools};

/// Builds all that takes part, and runs the campaign with its output on the screen.
///
/// # Errors
/// Something cannot be built, or the proxy did not survive; what was printed says how.
pub(crate) fn run(workspace: &Workspace, wishes: &KillWishes) -> anyhow::Result<ExitCode> {
    tools::set_up(workspace)?;
    bundle::make(workspace, bundle::Variant::Release)?;
    build::proxy(workspace, bundle::Variant::Release)?;
    step("Building the campaign and its auditor…");
    Program::cargo(workspace)
        .args(["build", "--locked", "--package", "auditor"])
        .args([
            "--package",
            "tests",
            "--bin",
            "kill-campaign",
            "--bin",
            "florin-auditor",
        ])
        .run()?;
    let KillWishes { kills, seed } = wishes;
    Program::new(workspace.debug_program("kill-campaign"), workspace)
        .args(["--kills", &kills.to_string(), "--seed", &seed.to_string()])
        .arg_path("--proxy", &workspace.release_program("florin-proxy"))
        .arg_path("--auditor", &workspace.debug_program("florin-auditor"))
        .run()?;
    Ok(ExitCode::SUCCESS)
}
