//! What the tests and the bench take from npm: every package of one exact version, held to its checksum. Nothing of it is
//! shipped.

use std::fs;
use std::path::PathBuf;

use anyhow::Context as _;
use sha2::{Digest as _, Sha256};

use super::apt;
use super::tool::cache;
use crate::program::{Program, on_path};
use crate::screen;
use crate::workspace::Workspace;

/// Written when everything is in its place: an installation that was cut off is begun again.
const WHOLE: &str = "whole";

/// The folder whose `node_modules` holds the packages of `tests/npm`; the tests find it there by the same rule
/// (`tests/src/npm.rs`).
///
/// # Errors
/// A sentence that says what to do.
pub(crate) fn npm_packages(workspace: &Workspace) -> anyhow::Result<PathBuf> {
    let step = "Installing the tests' npm packages (less than 1 minute, once)…";
    install("tests/npm", step, workspace)
}

/// The folder whose `node_modules` holds the packages of `tests/peers`. Only the bench needs them.
///
/// # Errors
/// A sentence that says what to do.
pub(crate) fn peers(workspace: &Workspace) -> anyhow::Result<PathBuf> {
    let step = "Installing the peers' npm packages (less than 1 minute, once)…";
    install("tests/peers", step, workspace)
}

/// Installs the packages that `list`, a folder of the repository, names; does nothing when they are installed.
///
/// They stay in the user's cache, in a folder that is named by the lock file. No script of a package is run.
fn install(list: &str, step: &str, workspace: &Workspace) -> anyhow::Result<PathBuf> {
    let wishes = workspace.root.join(list);
    let read = |name: &str| {
        let path = wishes.join(name);
        fs::read(&path).with_context(|| format!("{} cannot be read", path.display()))
    };
    let (package, lock) = (read("package.json")?, read("package-lock.json")?);
    let name = hex::encode(&Sha256::digest(&lock)[..6]);
    let folder = cache()?.join(format!("npm-{name}"));
    if folder.join(WHOLE).exists() {
        return Ok(folder);
    }
    if on_path("npm").is_none() {
        let why = format!("{list} names packages of npm");
        apt::install(&["nodejs", "npm"], &why, workspace)?;
    }
    screen::step(step);
    let writing = || format!("{} cannot be written", folder.display());
    fs::create_dir_all(&folder).with_context(writing)?;
    for (name, content) in [("package.json", &package), ("package-lock.json", &lock)] {
        fs::write(folder.join(name), content).with_context(writing)?;
    }
    Program::new("npm", workspace)
        .within(&folder)
        // Two Reacts stand in the list: npm would have each package that wants one take the newer.
        .args(["ci", "--ignore-scripts", "--legacy-peer-deps"])
        .args(["--no-audit", "--no-fund"])
        .args(["--loglevel", "error"])
        .run()
        .with_context(|| {
            format!(
                "the npm packages of {list} could not be installed: check that registry.npmjs.org can be reached and that \
                 {list}/package-lock.json fits {list}/package.json, then run the command again"
            )
        })?;
    fs::write(folder.join(WHOLE), "").with_context(writing)?;
    Ok(folder)
}
