//! The libraries for the servers of shops, `packages/{node,python,php}`, installed as they are packed.

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use florin_servers::installed::tools_of;

use crate::npm::{copy, done, link_all, pack, package, unpack};
use crate::program::Folder;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServerLibrary {
    Node,
    Python,
    Php,
}

impl ServerLibrary {
    /// Packs the library. Returns the command that runs its tests, and the folder of that command.
    pub fn tests(self) -> (Folder, Command) {
        let folder = Folder::new();
        let mut command;
        match self {
            Self::Node => {
                install_node_library(&folder.file("node_modules"));
                fs::write(folder.file("package.json"), "{\"type\": \"module\"}")
                    .expect("the temporary folder is writable");
                copy(&package("node/tests"), &folder.file("tests"));
                command = Command::new("node");
                command.arg("tests/all.js");
            }
            Self::Python => {
                let site = install_python_library(&folder);
                command = Command::new(python());
                command.env("PYTHONPATH", site);
                command.env("PYTHONDONTWRITEBYTECODE", "1");
                command.args(["-m", "unittest", "discover", "--start-directory"]);
                command.arg(package("python/tests"));
            }
            Self::Php => {
                command = Command::new("php");
                command.arg(package("php/tests/all.php"));
            }
        }
        command.current_dir(folder.path());
        (folder, command)
    }
}

/// A `node_modules` with the library for Node, as it is packed, and what it needs.
pub fn install_node_library(modules: &Path) {
    link_all(&node_modules(), modules);
    unpack(&pack("node"), &modules.join("florin-server"));
}

/// The Python that has what the library needs, at run time, to pack it and to generate its types.
pub(crate) fn python() -> PathBuf {
    tools_of("libraries", "libraries/requirements.txt").join("bin/python")
}

fn node_modules() -> PathBuf {
    tools_of("npm", "libraries/package-lock.json").join("node_modules")
}

/// Builds the archives that would be published; returns a folder with what is in the wheel.
fn install_python_library(folder: &Folder) -> PathBuf {
    let (archives, site) = (folder.file("dist"), folder.file("site"));
    let mut build = Command::new(python());
    build.args(["-m", "build", "--no-isolation", "--outdir"]);
    done(build.arg(&archives).arg(package("python")));
    let files = fs::read_dir(&archives).expect("the archives were written");
    let mut files = files.map(|file| file.expect("it is readable").path());
    let is_wheel = |file: &PathBuf| file.extension().is_some_and(|end| end == "whl");
    let wheel = files.find(is_wheel).expect("a wheel was built");
    let mut unpack = Command::new(python());
    done(unpack.args(["-m", "zipfile", "-e"]).arg(wheel).arg(&site));
    site
}

/// Compares the types of the libraries with a description of the HTTP interface, or writes them: `mode` is `compare` or `write`.
/// Returns what differs; empty if nothing does.
pub fn generate_types(description: &str, mode: &str) -> String {
    let folder = Folder::new();
    fs::write(folder.file("openapi.json"), description).expect("the temporary folder is writable");
    symlink(node_modules(), folder.file("node_modules")).expect("a folder takes links");
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    copy(&tests.join("libraries"), folder.path());
    let input = File::open(folder.file("openapi.json")).expect("it was written");
    let mut generate = Command::new("node");
    generate.current_dir(folder.path()).stdin(input);
    generate.arg("generate.mjs").arg(python());
    generate.arg(package("")).arg(mode);
    let output = generate.output().expect("node can be started");
    String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
}
