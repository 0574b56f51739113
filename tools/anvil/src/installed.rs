use std::env;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

/// The node for this machine: npm installs no other.
pub fn program() -> PathBuf {
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

/// Where `cargo xtask` installs tools.
pub fn tools() -> PathBuf {
    let set = |name| env::var_os(name).filter(|value| !value.is_empty());
    let caches = set("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .or_else(|| Some(PathBuf::from(set("HOME")?).join(".cache")));
    let caches = caches.expect("HOME or XDG_CACHE_HOME says where tools are kept");
    caches.join("florin/tools")
}

/// A folder of installed tools: its name is a word and the hash of the list of what is in it, a file below `tests`.
pub fn tools_of(word: &str, list: &str) -> PathBuf {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests");
    let list = std::fs::read(tests.join(list)).expect("the list is part of the repository");
    let name = hex::encode(&Sha256::digest(list)[..6]);
    let folder = tools().join(format!("{word}-{name}"));
    assert!(
        folder.join("whole").is_file(),
        "{} is missing. Install it with: cargo xtask tools",
        folder.display()
    );
    folder
}
