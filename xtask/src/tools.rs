//! What the commands need besides cargo, and how it comes onto a fresh machine.

mod apt;
mod browsers;
mod libraries;
mod rust_target;
mod tool;

use std::path::PathBuf;

pub(crate) use browsers::install_browsers;
pub(crate) use tool::{CARGO_DENY, TRUNK, WASM_OPT};

use crate::program::Program;
use crate::screen;
use crate::workspace::Workspace;

/// All that building the widget and the programs needs. A second call finds everything and takes no time.
///
/// # Errors
/// A sentence that says what to do.
pub(crate) fn set_up(workspace: &Workspace) -> anyhow::Result<()> {
    libraries::fetch(workspace)?;
    rust_target::install(workspace)
}

/// The folders of the three programs that turn the widget into a bundle, installed where missing.
///
/// # Errors
/// A sentence that says what to do.
pub(crate) fn bundlers(workspace: &Workspace) -> anyhow::Result<Vec<PathBuf>> {
    Ok(vec![
        TRUNK.folder(workspace)?,
        WASM_OPT.folder(workspace)?,
        wasm_bindgen(workspace)?,
    ])
}

/// Builds the pinned wasm-bindgen, a program of this workspace.
fn wasm_bindgen(workspace: &Workspace) -> anyhow::Result<PathBuf> {
    let program = workspace.debug_program("wasm-bindgen");
    if !program.exists() {
        screen::step("Building wasm-bindgen (about 1 minute the first time)…");
    }
    Program::cargo(workspace)
        .args([
            "build",
            "--quiet",
            "--locked",
            "--package",
            "wasm-bindgen-pinned",
        ])
        .run()?;
    Ok(workspace.target.join("debug"))
}
