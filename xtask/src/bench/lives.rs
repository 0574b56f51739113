//! `cargo xtask bench --lives N`: the simulation of the package `tests`, optimised.

use std::process::ExitCode;

use crate::arguments::LifeWishes;
use crate::program::Program;
use crate::workspace::Workspace;

/// Plays so many lives; what happened is printed.
///
/// # Errors
/// An invariant did not hold: the seed and the command that shows it again are printed. Or the suite does not build.
pub(crate) fn play(workspace: &Workspace, wishes: &LifeWishes) -> anyhow::Result<ExitCode> {
    let mut simulation = Program::cargo(workspace)
        .args(["test", "--locked", "--quiet", "--profile", "simulation"])
        .args(["--package", "tests", "--test", "simulation"])
        .env("FLORIN_SIM_LIVES", wishes.lives.to_string());
    if let Some(seed) = wishes.seed {
        simulation = simulation.env("FLORIN_SIM_SEED", seed.to_string());
    }
    simulation.run()?;
    Ok(ExitCode::SUCCESS)
}
