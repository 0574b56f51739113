//! Programs from the Python Package Index, every file of them pinned by its hash.

use std::fs;
use std::path::PathBuf;

use anyhow::Context as _;
use sha2::{Digest as _, Sha256};

use super::apt;
use super::tool::cache;
use crate::program::Program;
use crate::screen;
use crate::workspace::Workspace;

/// Written when everything is in its place: an installation that was cut off is begun again.
const WHOLE: &str = "whole";

/// The program `st`, Schemathesis, after installing it where it is missing.
///
/// It stays in the user's cache, in a folder that is named by its requirements.
///
/// # Errors
/// A sentence that says what to do.
pub(crate) fn schemathesis(workspace: &Workspace) -> anyhow::Result<PathBuf> {
    let requirements = workspace.root.join("tests/schemathesis/requirements.txt");
    let text = fs::read(&requirements)
        .with_context(|| format!("{} cannot be read", requirements.display()))?;
    let name = hex::encode(&Sha256::digest(&text)[..6]);
    let folder = cache()?.join(format!("schemathesis-{name}"));
    let program = folder.join("bin/st");
    if folder.join(WHOLE).exists() {
        return Ok(program);
    }
    need_venv(workspace)?;
    screen::step("Installing Schemathesis (about 1 minute, once)…");
    Program::new("python3", workspace)
        .args(["-m", "venv", "--clear"])
        .args([&folder])
        .run()?;
    Program::new(folder.join("bin/python"), workspace)
        .args(["-m", "pip", "install", "--quiet", "--require-hashes"])
        .args(["--disable-pip-version-check", "--only-binary", ":all:"])
        .arg_path("--requirement", &requirements)
        .run()
        .context(
            "Schemathesis could not be installed: check that pypi.org can be reached and that python3 is 3.11 or \
             later, then run the command again",
        )?;
    fs::write(folder.join(WHOLE), "")
        .with_context(|| format!("{} cannot be written", folder.display()))?;
    Ok(program)
}

/// Debian has Python without the part that makes environments.
fn need_venv(workspace: &Workspace) -> anyhow::Result<()> {
    let there = Program::new("python3", workspace)
        .args(["-c", "import venv, ensurepip"])
        .output();
    if there.is_ok() {
        return Ok(());
    }
    let why = "Schemathesis, which tests the HTTP, is a Python program";
    apt::install(&["python3", "python3-venv"], why, workspace)
}
