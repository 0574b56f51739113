//! Nodes of real chains, each with a chain that this machine alone has: in a temporary folder, on a port of loopback.
//!
//! A node ends with its value. Every error is a sentence: what is not installed, or what the node answers.
#![expect(
    clippy::missing_errors_doc,
    reason = "all errors are of one kind, which the crate's documentation states"
)]

mod regtest;

use std::path::PathBuf;

pub use self::regtest::RegtestNode;

/// A program on `PATH`.
pub fn on_path(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let mut found = std::env::split_paths(&path).map(|folder| folder.join(program));
    found.find(|file| file.is_file())
}
