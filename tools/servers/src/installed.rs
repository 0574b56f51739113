//! Where programs are, and what `cargo xtask` installs for this user.

use std::env;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

/// The file that marks a folder of [`folder_of`] as complete.
pub const WHOLE: &str = "whole";
/// Debian keeps servers in a folder that is not on a user's `PATH`.
const PACKAGED_SERVERS: &str = "/usr/sbin";

/// A program on `PATH`, or among the distribution's servers.
pub fn on_path(program: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path)
        .chain([PACKAGED_SERVERS.into()])
        .map(|folder| folder.join(program))
        .find(|file| file.is_file())
}

/// The folder of installed tools: `~/.cache/florin/tools`, or below `XDG_CACHE_HOME`. `None` if neither variable is set.
pub fn tools() -> Option<PathBuf> {
    let set = |name| {
        env::var_os(name)
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
    };
    let caches = set("XDG_CACHE_HOME").or_else(|| Some(set("HOME")?.join(".cache")));
    Some(caches?.join("florin/tools"))
}

/// The folder of a set of tools: its name is `word` and the hash of the file that lists what is in it.
pub fn folder_of(word: &str, list: &[u8]) -> Option<PathBuf> {
    let hash = hex::encode(&Sha256::digest(list)[..6]);
    Some(tools()?.join(format!("{word}-{hash}")))
}

/// An installed set of tools; `list` is a file below `tests`.
///
/// # Panics
/// It is not installed.
pub fn tools_of(word: &str, list: &str) -> PathBuf {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests");
    let list = std::fs::read(tests.join(list)).expect("the list is part of the repository");
    let folder = folder_of(word, &list).expect("HOME or XDG_CACHE_HOME says where tools are kept");
    assert!(
        folder.join(WHOLE).is_file(),
        "{} is missing. Install it with: cargo xtask tools",
        folder.display()
    );
    folder
}

/// The node of Ethereum's kind for this machine: npm installs no other.
///
/// # Panics
/// It is not installed.
pub fn anvil() -> PathBuf {
    let folder = tools_of("npm", "npm/package-lock.json").join("node_modules/@foundry-rs");
    let packages = std::fs::read_dir(&folder).expect("anvil is installed");
    let programs = packages
        .flatten()
        .map(|entry| entry.path().join("bin/anvil"));
    // The package `anvil` itself has no program, but a script that looks for one.
    let mut programs = programs.filter(|program| program.is_file());
    let found = programs.next();
    found.unwrap_or_else(|| panic!("{} has no anvil for this machine", folder.display()))
}
