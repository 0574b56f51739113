//! From Rust to WebAssembly: Trunk, with the settings that make the modules small.
//!
//! For the release, the standard library is built along, for size and without what a panic would print: nothing reads it
//! in a customer's browser. That takes flags which Rust has not promised to keep; the toolchain is pinned, so they stay
//! what they are. `docs/adr/0011-the-standard-library-is-built-along.md` has the figures. The other variants are built by
//! stable flags.

use std::path::{Path, PathBuf};

use anyhow::Context as _;

use super::Variant;
use super::hook::PACKAGED_HERE;
use crate::program::Program;
use crate::workspace::Workspace;

/// By which cargo takes flags for the compiler; it replaces those of `.cargo/config.toml`.
const RUSTFLAGS: &str = "CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS";

/// For a program in two modules. The relocations are for the splitter in `tools/wasm-bindgen`, which removes them.
const SPLIT_FLAGS: &str = "--cfg erase_components -Clink-args=--emit-relocs";

/// The flags that Rust has not promised to keep.
const SIZE_FLAGS: &str =
    "-Zunstable-options -Cpanic=immediate-abort -Zlocation-detail=none -Zfmt-debug=none";

/// What makes a stable compiler take them, and the standard library be built along.
const SIZE_SETTINGS: [(&str, &str); 3] = [
    ("RUSTC_BOOTSTRAP", "1"),
    ("CARGO_UNSTABLE_BUILD_STD", "std,panic_abort"),
    ("CARGO_UNSTABLE_BUILD_STD_FEATURES", "optimize_for_size"),
];

/// Compiles a variant of the widget into the folder `to`, with the `tools` in front of all others.
///
/// # Errors
/// It does not compile, or crates.io cannot be reached for what the standard library is built from.
pub(super) fn widget(
    workspace: &Workspace,
    variant: Variant,
    tools: &[PathBuf],
    to: &Path,
) -> anyhow::Result<()> {
    if variant.has_size_flags() {
        fetch(workspace)?;
    }
    let features: &[&str] = if variant.is_small() {
        &["--no-default-features", "--features", "split"]
    } else {
        &[]
    };
    with_settings(Program::new("trunk", workspace), workspace, variant)
        .path_first(tools)?
        // Trunk takes the variable for a flag, and refuses its usual value "1".
        .env_remove("NO_COLOR")
        .env(PACKAGED_HERE, "1")
        .args(["--skip-version-check", "--log", "warn"])
        .args(["build", "--release", "--offline=true"])
        .args(features)
        .arg_path("--dist", to)
        .run()
        .context("the widget could not be built")
}

/// Downloads what the standard library is built from: it has a lock file of its own, and Trunk builds offline.
fn fetch(workspace: &Workspace) -> anyhow::Result<()> {
    let fetch = || {
        with_settings(Program::cargo(workspace), workspace, Variant::Release)
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

fn with_settings(program: Program, workspace: &Workspace, variant: Variant) -> Program {
    if variant.has_size_flags() {
        let set = |program: Program, (name, value)| program.env(name, value);
        let program = SIZE_SETTINGS.into_iter().fold(program, set);
        // A folder of its own: with these settings cargo would compile again what both variants have in common.
        let program = program.env("CARGO_TARGET_DIR", workspace.target.join("size"));
        program.env(RUSTFLAGS, format!("{SPLIT_FLAGS} {SIZE_FLAGS}"))
    } else if variant.is_small() {
        program.env(RUSTFLAGS, SPLIT_FLAGS)
    } else {
        program
    }
}
