//! Puts the built widget into the binary: every file of `dist/`, or of the folder that `FLORIN_DIST` names, with its
//! compressed forms beside it.
//!
//! It is written here and not with `rust-embed`, whose table finds a file by one name: a file and its compressed forms are
//! one entry of this table, and a build without `dist/` has an empty one.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

fn main() {
    let root = PathBuf::from(std::env::var("CARGO_MANIFEST_DIR").expect("cargo names the package"));
    println!("cargo::rerun-if-env-changed=FLORIN_DIST");
    let dist = std::env::var_os("FLORIN_DIST").map_or_else(
        || {
            root.parent()
                .expect("the package is in the workspace")
                .join("dist")
        },
        PathBuf::from,
    );
    println!("cargo::rerun-if-changed={}", dist.display());
    let mut names = Vec::new();
    for folder in [dist.clone(), dist.join("assets"), dist.join("gallery")] {
        println!("cargo::rerun-if-changed={}", folder.display());
        names.extend(files(&folder));
    }
    names.sort();
    let mut table = String::new();
    for path in names.iter().filter(|path| !is_compressed(path)) {
        let name = path
            .strip_prefix(&dist)
            .expect("found below dist")
            .display()
            .to_string();
        let sibling = |ending: &str| {
            let sibling = PathBuf::from(format!("{}.{ending}", path.display()));
            if sibling.exists() {
                format!("Some({})", include(&sibling))
            } else {
                "None".into()
            }
        };
        let (whole, brotli, gzip) = (include(path), sibling("br"), sibling("gz"));
        let _ = writeln!(
            table,
            "    File {{ name: std::borrow::Cow::Borrowed({name:?}), whole: {whole}, brotli: {brotli}, gzip: {gzip}, tag: std::sync::OnceLock::new() }},"
        );
    }
    let count = names.iter().filter(|path| !is_compressed(path)).count();
    let table = format!("pub(super) static FILES: [File; {count}] = [\n{table}];\n");
    let out = PathBuf::from(std::env::var("OUT_DIR").expect("cargo names the folder"));
    std::fs::write(out.join("dist.rs"), table).expect("cargo's folder is writable");
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .map(|entry| entry.path())
        .filter(|path| path.is_file())
        .collect()
}

fn is_compressed(path: &Path) -> bool {
    path.extension()
        .is_some_and(|ending| ending == "br" || ending == "gz")
}

fn include(path: &Path) -> String {
    format!(
        "bytes::Bytes::from_static(include_bytes!({:?}))",
        path.display().to_string()
    )
}
