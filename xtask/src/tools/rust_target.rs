//! The standard library for WebAssembly.

use anyhow::{Context as _, bail};

use crate::program::{Program, on_path};
use crate::screen;
use crate::workspace::Workspace;

const TARGET: &str = "wasm32-unknown-unknown";

/// Adds the target to the pinned toolchain. rustup does so by itself when it installs that toolchain; one that was
/// there before, or a rustup that may not install by itself, leaves it to us.
///
/// # Errors
/// A sentence that says what to do.
pub(super) fn install(workspace: &Workspace) -> anyhow::Result<()> {
    let rustc = Program::new("rustc", workspace).args(["--print", "target-libdir", "--target"]);
    let folder = rustc.args([TARGET]).output()?;
    if std::path::Path::new(folder.trim()).exists() {
        return Ok(());
    }
    if on_path("rustup").is_none() {
        bail!(
            "this Rust has no {TARGET}, and no rustup to add it: \
             install Rust from https://rustup.rs, then run the command again"
        );
    }
    screen::step(format!("Adding {TARGET} to Rust…"));
    let rustup = Program::new("rustup", workspace).args(["target", "add", TARGET]);
    rustup.run().with_context(|| {
        format!(
            "{TARGET} could not be added: check that static.rust-lang.org can be reached, \
             then run the command again"
        )
    })
}
