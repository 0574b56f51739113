//! The standard library for WebAssembly: ready-made for the lints, and its source, from which the widget's is built.

use anyhow::{Context as _, bail};

use crate::program::{Program, on_path};
use crate::screen;
use crate::workspace::Workspace;

const TARGET: &str = "wasm32-unknown-unknown";
/// A file of the component `rust-src`.
const SOURCE: &str = "lib/rustlib/src/rust/library/std/Cargo.toml";

/// Adds both to the pinned toolchain. rustup does so by itself when it installs that toolchain; one that was there
/// before, or a rustup that may not install by itself, leaves it to us.
///
/// # Errors
/// A sentence that says what to do.
pub(super) fn install(workspace: &Workspace) -> anyhow::Result<()> {
    let rustc = |what: &[&str]| {
        let folder = Program::new("rustc", workspace)
            .args(["--print"])
            .args(what)
            .output()?;
        anyhow::Ok(std::path::PathBuf::from(folder.trim()))
    };
    if !rustc(&["target-libdir", "--target", TARGET])?.exists() {
        rustup(workspace, &["target", "add", TARGET])?;
    }
    if !rustc(&["sysroot"])?.join(SOURCE).exists() {
        rustup(workspace, &["component", "add", "rust-src"])?;
    }
    Ok(())
}

fn rustup(workspace: &Workspace, words: &[&str]) -> anyhow::Result<()> {
    let wanted = words[words.len() - 1];
    if on_path("rustup").is_none() {
        bail!(
            "this Rust has no {wanted}, and no rustup to add it: \
             install Rust from https://rustup.rs, then run the command again"
        );
    }
    screen::step(format!("Adding {wanted} to Rust…"));
    let rustup = Program::new("rustup", workspace).args(words);
    rustup.run().with_context(|| {
        format!(
            "{wanted} could not be added: check that static.rust-lang.org can be reached, \
             then run the command again"
        )
    })
}
