//! `cargo xtask pictures`: every state of the checkout as a customer sees it, for people to look at.

use std::fs;
use std::process::ExitCode;

use anyhow::Context as _;

use crate::arguments::PictureWishes;
use crate::program::Program;
use crate::workspace::Workspace;
use crate::{bundle, screen, tools};

/// Writes `target/pictures/<width>-<look>/<state>.png`, in four widths: light, dark, in forced colours, in German and in
/// Arabic.
///
/// # Errors
/// Something could not be built or started; what is printed above says which.
pub(crate) fn run(workspace: &Workspace, wishes: &PictureWishes) -> anyhow::Result<ExitCode> {
    tools::set_up(workspace)?;
    tools::install_for_tests(workspace)?;
    bundle::make(workspace, bundle::Variant::Release)?;
    let folder = workspace.target.join("pictures");
    if folder.exists() {
        fs::remove_dir_all(&folder)
            .with_context(|| format!("{} cannot be emptied", folder.display()))?;
    }
    Program::cargo(workspace)
        .args(["test", "--locked", "--quiet"])
        .args(["--package", "tests", "--test", "browser", "--"])
        .args(["--ignored", "--exact"])
        .args(["gallery::pictures_of_every_state"])
        .env("FLORIN_PICTURES", &folder)
        .env(
            "FLORIN_PICTURES_ONLY",
            wishes.only.as_deref().unwrap_or_default(),
        )
        .env(
            "FLORIN_PICTURES_LOOK",
            wishes.look.as_deref().unwrap_or_default(),
        )
        .run()?;
    screen::good(format!("The pictures are in {}", folder.display()));
    Ok(ExitCode::SUCCESS)
}
