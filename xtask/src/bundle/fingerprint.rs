//! Whether something changed: one hash over names and contents.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use sha2::{Digest as _, Sha256};

use crate::tools::{TRUNK, WASM_OPT};
use crate::workspace::Workspace;

/// Everything that the bundle is made from: sources, settings, pinned versions, and the code that packages it.
const INPUTS: [&str; 13] = [
    "index.html",
    "Trunk.toml",
    "Cargo.toml",
    "Cargo.lock",
    "rust-toolchain.toml",
    ".cargo/config.toml",
    "widget",
    "packages/florin/element.d.ts",
    "crates/money",
    "crates/checkout-api",
    "tools/bundle-js",
    "tools/wasm-bindgen",
    "xtask/src/bundle",
];

/// The hash of [`INPUTS`] and of the tools' versions.
pub(super) fn of_inputs(workspace: &Workspace) -> anyhow::Result<String> {
    let mut hash = Sha256::new();
    hash.update([TRUNK.version, WASM_OPT.version].join(" "));
    for input in INPUTS {
        let path = workspace.root.join(input);
        anyhow::ensure!(
            path.exists(),
            "{input} is missing: the widget is built from it"
        );
        add(&mut hash, &path, input)?;
    }
    Ok(hex::encode(hash.finalize()))
}

/// The hash of all files in a folder; of nothing when there is none.
pub(super) fn of_folder(folder: &Path) -> anyhow::Result<String> {
    let mut hash = Sha256::new();
    if folder.exists() {
        add(&mut hash, folder, "")?;
    }
    Ok(hex::encode(hash.finalize()))
}

/// The hash of one content.
pub(super) fn of_bytes(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}

fn add(hash: &mut Sha256, path: &Path, name: &str) -> anyhow::Result<()> {
    if path.is_dir() {
        for entry in entries(path)? {
            let child = entry.file_name().unwrap_or_default().to_string_lossy();
            add(hash, &entry, &format!("{name}/{child}"))?;
        }
        return Ok(());
    }
    let content = fs::read(path).with_context(|| format!("{} cannot be read", path.display()))?;
    // Lengths first: no name can run into a content.
    hash.update(name.len().to_le_bytes());
    hash.update(name);
    hash.update(content.len().to_le_bytes());
    hash.update(content);
    Ok(())
}

fn entries(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let reading = || format!("{} cannot be read", folder.display());
    let mut entries = Vec::new();
    for entry in fs::read_dir(folder).with_context(reading)? {
        entries.push(entry.with_context(reading)?.path());
    }
    entries.sort();
    Ok(entries)
}
