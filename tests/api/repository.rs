//! The files of the repository.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Returns the path of every file that git tracks, from the root.
pub(crate) fn tracked_files() -> Vec<String> {
    let mut git = Command::new("git");
    let output = git.args(["ls-files", "-z"]).current_dir(root()).output();
    let output = output.expect("git is installed");
    assert!(output.status.success(), "git ls-files failed");
    let names = String::from_utf8(output.stdout).expect("paths are UTF-8");
    let names = names.split('\0').filter(|name| !name.is_empty());
    names.map(str::to_owned).collect()
}

pub(crate) fn root() -> PathBuf {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    tests
        .parent()
        .expect("tests is a folder of the repository")
        .to_owned()
}

pub(crate) fn text_of(path: &str) -> String {
    let text = fs::read_to_string(root().join(path));
    text.unwrap_or_else(|error| panic!("{path}: {error}"))
}
