//! Packages of npm that tests use, as `cargo xtask tools` installs them; YAML, which one of them reads; and a project that uses
//! our npm package: installed as packed, beside a version of React.

use std::ffi::OsStr;
use std::io::Write as _;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;
use std::{env, fs};

use florin_servers::installed::tools_of;
use serde_json::Value;

use crate::program::Folder;

/// A file of an installed package: `axe-core/axe.min.js`. They lie in the user's cache, in a folder that is named by
/// the lock file.
pub fn npm_file(path: &str) -> PathBuf {
    let found = installed().join("node_modules").join(path);
    let name = found.display();
    assert!(found.is_file(), "{name} is none of the packages' files");
    found
}

/// What TypeScript reports of a project by its `tsconfig.json`; nothing when all is well.
pub fn type_errors_of(tsconfig: &Path) -> String {
    let mut node = Command::new("node");
    node.arg(npm_file("typescript/bin/tsc"));
    node.args(["--pretty", "false", "--project"]).arg(tsconfig);
    report_of(&mut node)
}

/// What TypeScript prints; nothing when it succeeds.
fn report_of(tsc: &mut Command) -> String {
    let output = tsc.output().expect("node can be started");
    let report = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.success(), report.is_empty(), "{output:?}");
    report
}

/// The folder whose `node_modules` holds the packages.
pub(crate) fn installed() -> PathBuf {
    tools_of("npm", "npm/package-lock.json")
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum React {
    /// The older of the two that we promise to work with.
    V18,
    V19,
}

/// A folder with `node_modules`; it is deleted when dropped.
#[derive(Debug)]
pub struct NpmProject(Folder);

impl NpmProject {
    /// An empty project, with our package and everything of `tests/npm` installed.
    pub fn with(react: React) -> Self {
        let folder = Folder::new();
        let modules = folder.file("node_modules");
        let theirs = installed().join("node_modules");
        link_all(&theirs, &modules);
        link_all(&theirs.join("@types"), &modules.join("@types"));
        if react == React::V18 {
            for (name, of_18) in [
                ("react", "react-18"),
                ("react-dom", "react-dom-18"),
                ("@types/react", "@types/react-18"),
            ] {
                fs::remove_file(modules.join(name)).expect("it was linked");
                symlink(theirs.join(of_18), modules.join(name)).expect("a folder takes links");
            }
        }
        unpack(packed(), &modules.join("florin"));
        let project = Self(folder);
        project.write("package.json", "{\"type\": \"module\"}");
        project
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.0.file(name)
    }

    pub fn write(&self, name: &str, text: &str) {
        let path = self.file(name);
        let folder = path.parent().expect("it is in the project");
        fs::create_dir_all(folder).expect("the temporary folder is writable");
        fs::write(path, text).expect("the temporary folder is writable");
    }

    /// Copies the files of a folder of `packages/florin`, and those below it.
    pub fn copy(&self, folder: &str) {
        copy(&package("florin").join(folder), self.0.path());
    }

    pub fn bundle(&self, from: &str, to: &str, flags: &[&str]) {
        let mut esbuild = self.node(npm_file("esbuild/bin/esbuild"));
        // What is linked counts as installed here: a React beside the project's own would be another React.
        let ours = ["--bundle", "--preserve-symlinks", "--jsx=automatic"];
        let to = format!("--outfile={to}");
        esbuild.args(ours).args(["--log-level=warning", from, &to]);
        done(esbuild.args(flags));
    }

    /// Returns TypeScript's errors with these flags and the strict ones; empty if there are none.
    pub fn type_errors(&self, flags: &[&str]) -> String {
        let mut tsc = self.node(npm_file("typescript/bin/tsc"));
        tsc.args(["--noEmit", "--preserveSymlinks", "--pretty", "false"]);
        report_of(tsc.args(flags))
    }

    /// Runs a script of the project on a server: what it prints.
    pub fn run(&self, script: &str) -> String {
        let output = done(&mut self.node(script));
        let complaints = String::from_utf8_lossy(&output.stderr);
        assert_eq!(complaints, "", "{script}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    fn node(&self, script: impl AsRef<OsStr>) -> Command {
        let mut node = Command::new("node");
        node.arg(script.as_ref()).current_dir(self.0.path());
        node.env_remove("NODE_ENV").env_remove("NODE_OPTIONS");
        node
    }
}

/// The package as it would be published, packed once.
fn packed() -> &'static [u8] {
    static PACKED: OnceLock<Vec<u8>> = OnceLock::new();
    PACKED.get_or_init(|| pack("florin"))
}

/// Packs one of `packages` as it would be published.
pub(crate) fn pack(name: &str) -> Vec<u8> {
    let folder = Folder::new();
    let mut npm = Command::new("npm");
    npm.args(["pack", "--silent", "--ignore-scripts"]);
    npm.arg("--pack-destination").arg(folder.path());
    done(npm.current_dir(package(name)));
    let mut files = fs::read_dir(folder.path()).expect("the temporary folder is readable");
    let tarball = files.next().expect("npm packs one file");
    fs::read(tarball.expect("it is readable").path()).expect("it is readable")
}

/// Unpacks a package into a folder, as npm installs it.
pub(crate) fn unpack(tarball: &[u8], into: &Path) {
    fs::create_dir_all(into).expect("the temporary folder is writable");
    let file = into.with_extension("tgz");
    fs::write(&file, tarball).expect("the temporary folder is writable");
    let mut tar = Command::new("tar");
    tar.args(["--strip-components", "1", "-xzf"]).arg(&file);
    done(tar.arg("-C").arg(into));
}

pub(crate) fn package(name: &str) -> PathBuf {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    tests.join("../packages").join(name)
}

pub(crate) fn done(command: &mut Command) -> Output {
    let output = command.output().unwrap_or_else(|error| {
        panic!("{command:?}: {error}. Install what the tests use with: cargo xtask tools")
    });
    assert!(
        output.status.success(),
        "{command:?}: {}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    output
}

/// Copies a project of this repository, with the packages that it takes from here, and installs it by its lock file. In the
/// returned folder the project has the path that it has in the repository.
pub fn install_copy(project: &str) -> Folder {
    let folder = Folder::new();
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for part in ["packages/florin", "packages/node", project] {
        copy(&repository.join(part), &folder.file(part));
    }
    let mut npm = Command::new("npm");
    npm.args(["ci", "--ignore-scripts", "--prefer-offline", "--no-audit"]);
    done(npm.current_dir(folder.file(project)));
    folder
}

/// Links what one folder holds into another.
pub(crate) fn link_all(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("the temporary folder is writable");
    for entry in fs::read_dir(from).expect("the packages are installed") {
        let entry = entry.expect("the packages are readable");
        // A folder of several packages is made here, so that one of them can be another.
        if entry.file_name() != "@types" {
            symlink(entry.path(), to.join(entry.file_name())).expect("a folder takes links");
        }
    }
}

pub(crate) fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("the temporary folder is writable");
    for entry in fs::read_dir(from).expect("it is a folder of the package") {
        let path = entry.expect("it is readable").path();
        let name = path.file_name().expect("it has a name");
        // Installed packages and build outputs are not copied.
        if path.is_file() {
            fs::copy(&path, to.join(name)).expect("the temporary folder is writable");
        } else if name != "node_modules" && name != "build" {
            copy(&path, &to.join(name));
        }
    }
}

/// Prints the documents of its standard input as one JSON array, aliases resolved. YAML 1.1 as Go's readers have it: `0440` is
/// an octal number.
const SCRIPT: &str = "const yaml = require(process.argv[1]);
const text = require('node:fs').readFileSync(0, 'utf8');
const documents = yaml.parseAllDocuments(text, { version: '1.1', merge: true });
for (const document of documents) for (const error of document.errors) throw error;
console.log(JSON.stringify(documents.map(document => document.toJS())));";

pub fn yaml_documents(text: &str) -> Vec<Value> {
    let mut node = Command::new("node");
    node.args(["-e", SCRIPT])
        .arg(npm_file("yaml/dist/index.js"));
    let mut node = node
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("node can be started");
    let mut input = node.stdin.take().expect("it is piped");
    input.write_all(text.as_bytes()).expect("node reads it");
    drop(input);
    let output = node.wait_with_output().expect("it ends");
    assert!(output.status.success(), "it is not YAML:\n{text}");
    serde_json::from_slice(&output.stdout).expect("JSON was printed")
}
