//! Components that are linked into the programs: crates, and the C code that they bring.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, ensure};
use serde_json::Value;
use xshell::{Shell, cmd};

use crate::workspace::Workspace;

type Key = (String, String);

#[derive(Debug)]
pub(crate) struct Component {
    pub(crate) name: String,
    pub(crate) version: String,
    /// An SPDX expression.
    pub(crate) licence: String,
    pub(crate) repository: Option<String>,
    /// The SHA-256 of the crate as crates.io has it.
    pub(crate) checksum: Option<String>,
    pub(crate) texts: Vec<String>,
    pub(crate) uses: Vec<Key>,
    /// `false` for C code and the standard library.
    pub(crate) is_crate: bool,
}

pub(crate) const BLESSING: &str = "blessing";

/// What cargo builds the programs from: packages, and the target that each is compiled for. The widget is inside the proxy.
const BUILDS: [(&str, Option<&str>); 5] = [
    ("florin-proxy", None),
    ("florin-gateway", None),
    ("florin-sweep", None),
    ("florin-sandbox", None),
    ("florin-widget", Some("wasm32-unknown-unknown")),
];

/// Everything that is linked into the programs of a target, sorted by name. Our own crates are not listed.
pub(crate) fn linked(workspace: &Workspace, target: &str) -> anyhow::Result<Vec<Component>> {
    let sh = &workspace.sh;
    let mut names = BTreeSet::new();
    for (package, other) in BUILDS {
        let target = other.unwrap_or(target);
        names.extend(crates_of(workspace, package, target)?);
    }
    let metadata = workspace.cargo("metadata --format-version 1 --locked --offline");
    let metadata = metadata.ignore_stderr().read();
    let metadata =
        metadata.context("cargo metadata failed: run cargo fetch --locked, then this")?;
    let metadata: Value = serde_json::from_str(&metadata)?;
    let checksums = checksums(&sh.read_file("Cargo.lock")?);
    let uses = uses(&metadata, &names);
    let mut found = Vec::new();
    let packages = metadata["packages"].as_array();
    for package in packages.context("cargo metadata lists packages")? {
        let text = |key: &str| package[key].as_str().map(str::to_owned);
        let key = (
            text("name").context("a package has a name")?,
            text("version").context("a package has a version")?,
        );
        // Ours have no source.
        if !names.contains(&key) || package["source"].is_null() {
            continue;
        }
        let manifest = text("manifest_path").context("a package has a manifest")?;
        let folder = Path::new(&manifest)
            .parent()
            .context("a manifest is in a folder")?;
        let licence = text("license").with_context(|| format!("{} has no licence", key.0))?;
        if key.0 == "libsqlite3-sys" {
            found.push(sqlite(folder)?);
        }
        found.push(Component {
            // Old crates write "MIT/Apache-2.0".
            licence: licence.replace('/', " OR "),
            repository: text("repository"),
            checksum: checksums.get(&key).cloned(),
            texts: texts_in(folder)?,
            uses: uses.get(&key).cloned().unwrap_or_default(),
            name: key.0,
            version: key.1,
            is_crate: true,
        });
    }
    found.push(standard_library(sh)?);
    if target.ends_with("musl") {
        found.push(musl());
    }
    found.sort_by(|a, b| (&a.name, &a.version).cmp(&(&b.name, &b.version)));
    ensure!(found.len() > 50, "cargo tree listed {} crates", found.len());
    Ok(found)
}

/// Names and versions of the crates that are linked into a package: no build scripts and no macros.
fn crates_of(workspace: &Workspace, package: &str, target: &str) -> anyhow::Result<BTreeSet<Key>> {
    let options = "--edges normal,no-proc-macro --locked --offline --prefix none --format {p}";
    let tree = format!("tree --package {package} --target {target} {options}");
    let tree = workspace.cargo(&tree).ignore_stderr().read();
    let tree = tree.with_context(|| format!("cargo tree of {package} failed"))?;
    let crates = tree.lines().filter_map(|line| {
        let (name, rest) = line.split_once(" v")?;
        let version = rest.split(' ').next()?;
        Some((name.to_owned(), version.to_owned()))
    });
    Ok(crates.collect())
}

fn checksums(lock: &str) -> BTreeMap<Key, String> {
    let value = |package: &str, key: &str| {
        let lines = package.lines();
        let mut values = lines.filter_map(|line| line.strip_prefix(key)?.strip_prefix(" = \""));
        Some(values.next()?.trim_end_matches('"').to_owned())
    };
    let packages = lock.split("[[package]]");
    let checksums = packages.filter_map(|package| {
        let key = (value(package, "name")?, value(package, "version")?);
        Some((key, value(package, "checksum")?))
    });
    checksums.collect()
}

fn uses(metadata: &Value, names: &BTreeSet<Key>) -> BTreeMap<Key, Vec<Key>> {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let keys: BTreeMap<String, Key> = list(&metadata["packages"])
        .iter()
        .map(|package| {
            let key = (text(&package["name"]), text(&package["version"]));
            (text(&package["id"]), key)
        })
        .collect();
    let mut uses = BTreeMap::new();
    for node in list(&metadata["resolve"]["nodes"]) {
        let Some(key) = keys.get(&text(&node["id"])) else {
            continue;
        };
        let linked = list(&node["deps"]).into_iter().filter(|dep| {
            let kinds = list(&dep["dep_kinds"]);
            kinds.iter().any(|kind| kind["kind"].is_null())
        });
        let linked = linked.filter_map(|dep| keys.get(&text(&dep["pkg"])).cloned());
        let mut linked: Vec<_> = linked.filter(|key| names.contains(key)).collect();
        linked.sort();
        uses.insert(key.clone(), linked);
    }
    uses
}

/// The licences and notices in the folder of a crate, or in its folder `LICENSES`.
fn texts_in(folder: &Path) -> anyhow::Result<Vec<String>> {
    const BEGINNINGS: [&str; 5] = ["license", "licence", "copying", "copyright", "notice"];
    let mut files: Vec<PathBuf> = Vec::new();
    for folder in [folder.to_owned(), folder.join("LICENSES")] {
        let Ok(entries) = fs::read_dir(folder) else {
            continue;
        };
        let paths = entries.filter_map(Result::ok).map(|entry| entry.path());
        files.extend(paths.filter(|path| {
            let name = path.file_name().unwrap_or_default();
            let name = name.to_string_lossy().to_lowercase();
            path.is_file() && BEGINNINGS.iter().any(|begin| name.starts_with(begin))
        }));
    }
    files.sort();
    let texts = files.iter().map(|path| {
        let bytes = fs::read(path).with_context(|| format!("{}", path.display()))?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    });
    texts.collect()
}

fn sqlite(folder: &Path) -> anyhow::Result<Component> {
    let header = fs::read_to_string(folder.join("sqlite3/sqlite3.h"))?;
    let version = header.lines().find_map(|line| {
        line.strip_prefix("#define SQLITE_VERSION ")?
            .split('"')
            .nth(1)
    });
    let version = version.context("sqlite3.h has a version")?;
    let repository = "https://sqlite.org/";
    Ok(of_c_code("SQLite", version, BLESSING, repository, SQLITE))
}

/// Source: the first lines of `sqlite3.h`.
const SQLITE: &str = "\
The author disclaims copyright to this source code.  In place of
a legal notice, here is a blessing:

   May you do good and not evil.
   May you find forgiveness for yourself and forgive others.
   May you share freely, never taking more than you give.
";

fn standard_library(sh: &Shell) -> anyhow::Result<Component> {
    let version = cmd!(sh, "rustc --version").quiet().read()?;
    let version = version.split(' ').nth(1).context("rustc has a version")?;
    let licence = "MIT OR Apache-2.0";
    Ok(of_c_code(
        "Rust standard library",
        version,
        licence,
        "https://github.com/rust-lang/rust",
        "Copyright (c) The Rust Project Contributors\n",
    ))
}

/// The C library that Rust brings for its musl targets.
fn musl() -> Component {
    // Source: Rust's release notes of 1.93.
    let text = "Copyright © 2005-2020 Rich Felker, et al.\n";
    of_c_code("musl", "1.2.5", "MIT", "https://musl.libc.org/", text)
}

fn of_c_code(name: &str, version: &str, licence: &str, repository: &str, text: &str) -> Component {
    Component {
        name: name.to_owned(),
        version: version.to_owned(),
        licence: licence.to_owned(),
        repository: Some(repository.to_owned()),
        checksum: None,
        texts: vec![text.to_owned()],
        uses: Vec::new(),
        is_crate: false,
    }
}
