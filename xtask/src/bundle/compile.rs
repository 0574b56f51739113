//! From Rust to WebAssembly: Trunk, with the settings that make the module small.
//!
//! The standard library is built along, for size and without what a panic would print: nothing reads it in a customer's
//! browser. That takes flags which Rust has not promised to keep; the toolchain is pinned, so they stay what they are.
//! `docs/adr/0011-the-standard-library-is-built-along.md` has the figures.

use std::path::{Path, PathBuf};

use anyhow::Context as _;

use crate::program::Program;
use crate::workspace::Workspace;

/// The relocations are for the splitter in `tools/wasm-bindgen`, which removes them.
const RUSTFLAGS: &str = "--cfg erase_components -Clink-args=--emit-relocs -Zunstable-options -Cpanic=immediate-abort \
                         -Zlocation-detail=none -Zfmt-debug=none";

/// What cargo and rustc are told by their environment.
const SETTINGS: [(&str, &str); 4] = [
    ("RUSTC_BOOTSTRAP", "1"),
    ("CARGO_UNSTABLE_BUILD_STD", "std,panic_abort"),
    ("CARGO_UNSTABLE_BUILD_STD_FEATURES", "optimize_for_size"),
    ("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS", RUSTFLAGS),
];

/// Compiles the widget into the folder `to`, with the `tools` in front of all others.
///
/// # Errors
/// It does not compile, or crates.io cannot be reached for what the standard library is built from.
pub(super) fn widget(workspace: &Workspace, tools: &[PathBuf], to: &Path) -> anyhow::Result<()> {
    fetch(workspace)?;
    with_settings(Program::new("trunk", workspace))
        .path_first(tools)?
        // Trunk takes the variable for a flag, and refuses its usual value "1".
        .env_remove("NO_COLOR")
        .args(["--skip-version-check", "--log", "warn"])
        .args([
            "build",
            "--release",
            "--no-default-features",
            "--features",
            "split",
        ])
        .arg_path("--dist", to)
        .run()
        .context("the widget could not be built")
}

/// Downloads what the standard library is built from: it has a lock file of its own, and Trunk builds offline.
fn fetch(workspace: &Workspace) -> anyhow::Result<()> {
    let fetch = || {
        with_settings(Program::cargo(workspace))
            .args(["fetch", "--locked", "--quiet"])
            .args(["--target", "wasm32-unknown-unknown"])
    };
    if fetch().args(["--offline"]).output().is_ok() {
        return Ok(());
    }
    fetch().run().context(
        "the libraries of Rust's standard library could not be downloaded: check that crates.io can be reached, \
         then run the command again",
    )
}

fn with_settings(program: Program) -> Program {
    SETTINGS
        .into_iter()
        .fold(program, |program, (name, value)| program.env(name, value))
}
