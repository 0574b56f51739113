//! Packages of npm that tests use, as `cargo xtask tools` installs them.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use sha2::{Digest as _, Sha256};

/// A file of an installed package: `axe-core/axe.min.js`. They lie in the user's cache, in a folder that is named by
/// the lock file.
///
/// # Panics
/// It is not installed; the sentence says how to get it.
#[must_use]
pub fn npm_file(path: &str) -> PathBuf {
    let found = installed().join("node_modules").join(path);
    let name = found.display();
    assert!(found.is_file(), "{name} is none of the packages' files");
    found
}

/// What TypeScript reports of a project by its `tsconfig.json`; nothing when all is well.
///
/// # Panics
/// Node or TypeScript is not installed, or TypeScript fails without a report.
#[must_use]
pub fn type_errors_of(tsconfig: &Path) -> String {
    let mut node = Command::new("node");
    node.arg(npm_file("typescript/bin/tsc"));
    node.args(["--pretty", "false", "--project"]).arg(tsconfig);
    let output = node.output().expect("node can be started");
    let report = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.success(), report.is_empty(), "{output:?}");
    report
}

/// The folder whose `node_modules` holds the packages.
pub(crate) fn installed() -> PathBuf {
    let lock = Path::new(env!("CARGO_MANIFEST_DIR")).join("npm/package-lock.json");
    let lock = std::fs::read(lock).expect("the lock file is part of the repository");
    let name = hex::encode(&Sha256::digest(lock)[..6]);
    let set = |name| env::var_os(name).filter(|value| !value.is_empty());
    let caches = set("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .or_else(|| Some(PathBuf::from(set("HOME")?).join(".cache")));
    let caches = caches.expect("HOME or XDG_CACHE_HOME says where tools are kept");
    let folder = caches.join("florin/tools").join(format!("npm-{name}"));
    assert!(
        folder.join("whole").is_file(),
        "{} is missing. Install it with: cargo xtask tools",
        folder.display()
    );
    folder
}
