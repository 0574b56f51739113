//! What the commands need besides cargo, and how it comes onto a fresh machine.

mod apt;
mod browsers;
mod libraries;
mod npm;
mod python;
mod standard_library;
mod tool;

use std::path::PathBuf;

pub(crate) use npm::peers;
pub(crate) use python::schemathesis;
pub(crate) use tool::{CARGO_DENY, GECKODRIVER, LEPTOSFMT, TRUNK, WASM_OPT};

use crate::bundle::Variant;
use crate::program::Program;
use crate::screen;
use crate::workspace::Workspace;

/// All that building the widget and the programs needs. A second call finds everything and takes no time.
///
/// # Errors
/// A sentence that says what to do.
pub(crate) fn set_up(workspace: &Workspace) -> anyhow::Result<()> {
    libraries::fetch(workspace)?;
    standard_library::install(workspace)
}

/// What the tests use beside: three browsers with their drivers, and packages of npm. Schemathesis is
/// installed by the one check that runs it, and by `cargo xtask tools`.
///
/// # Errors
/// A sentence that says what to do.
pub(crate) fn install_for_tests(workspace: &Workspace) -> anyhow::Result<()> {
    browsers::install_browsers(workspace)?;
    npm::npm_packages(workspace).map(drop)
}

/// The folders of the programs that turn the widget into a bundle, which are installed or built where missing.
///
/// # Errors
/// A sentence that says what to do.
pub(crate) fn bundlers(workspace: &Workspace, variant: Variant) -> anyhow::Result<Vec<PathBuf>> {
    let mut folders = vec![TRUNK.folder(workspace)?, our_own(workspace)?];
    if variant.is_small() {
        folders.push(WASM_OPT.folder(workspace)?);
    }
    Ok(folders)
}

/// Builds the two that are packages of this workspace: the pinned wasm-bindgen, and the linker and minifier of scripts.
pub(crate) fn our_own(workspace: &Workspace) -> anyhow::Result<PathBuf> {
    let there = |name| workspace.debug_program(name).exists();
    if !there("wasm-bindgen") || !there("bundle-js") {
        screen::step(
            "Building wasm-bindgen and the linker of scripts (about 2 minutes the first time)…",
        );
    }
    Program::cargo(workspace)
        .args(["build", "--quiet", "--locked"])
        .args(["--package", "wasm-bindgen-pinned", "--package", "bundle-js"])
        .run()?;
    Ok(workspace.target.join("debug"))
}
