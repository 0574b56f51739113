//! The libraries for the servers of shops, `packages/{node,python,php}`, installed as they are packed;
//! and the receivers of webhooks in `examples/receivers`, each a process of its language.

use std::fs::{self, File};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use florin_servers::free_port;
use florin_servers::installed::tools_of;

use crate::npm::{copy, done, link_all, pack, package, unpack};
use crate::program::{Folder, Running, built};
use crate::wait::within;

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

/// How long one may take to listen: Go compiles first.
const BOUND: Duration = Duration::from_mins(1);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    Node,
    Python,
    Php,
    /// With the module from the folder that `FLORIN_TEST_GO_WEBHOOKS` names.
    Go,
    Rust,
}

impl Language {
    pub const ALL: [Self; 5] = [Self::Node, Self::Python, Self::Php, Self::Go, Self::Rust];

    pub fn file(self) -> PathBuf {
        let name = match self {
            Self::Node => "node/receiver.mjs",
            Self::Python => "python/receiver.py",
            Self::Php => "php/receiver.php",
            Self::Go => "go/receiver.go",
            Self::Rust => "rust/receiver.rs",
        };
        let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
        tests.join("../examples/receivers").join(name)
    }
}

#[derive(Debug)]
pub struct Receiver {
    _child: Running,
    folder: Folder,
    address: SocketAddr,
}

impl Receiver {
    /// Starts the receiver of a language in a folder with a page, with this webhook secret.
    ///
    /// # Errors
    /// What is not installed: Go need not be.
    pub async fn start(language: Language, secret: &str) -> Result<Self, &'static str> {
        let folder = Folder::new();
        fs::write(folder.file("shop.html"), "<h1>A mug</h1>").expect("the folder is writable");
        let address = SocketAddr::from(([127, 0, 0, 1], free_port()));
        let mut command = prepare(language, &folder, address)?;
        let output = fs::File::create(folder.file("output")).expect("the folder is writable");
        let errors = output.try_clone().expect("a file can be shared");
        command
            .current_dir(folder.path())
            .env("WEBHOOK_SECRET", secret)
            .env("PORT", address.port().to_string())
            // The receiver in PHP keeps the ids of webhooks there.
            .env("TMPDIR", folder.path())
            .stdin(Stdio::null())
            .stdout(output)
            .stderr(errors);
        let child = command.spawn().expect("the language is installed");
        let receiver = Self {
            _child: Running(child),
            folder,
            address,
        };
        let up = within(BOUND, async || TcpStream::connect(address).ok()).await;
        let printed = receiver.printed();
        assert!(up.is_some(), "{language:?} does not listen: {printed}");
        Ok(receiver)
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub fn printed(&self) -> String {
        fs::read_to_string(self.folder.file("output")).unwrap_or_default()
    }
}

fn prepare(
    language: Language,
    folder: &Folder,
    address: SocketAddr,
) -> Result<Command, &'static str> {
    let file = language.file();
    let copied = folder.file(
        file.file_name()
            .and_then(|name| name.to_str())
            .expect("a name"),
    );
    fs::copy(&file, &copied).expect("the folder is writable");
    let mut command;
    match language {
        Language::Node => {
            install_node_library(&folder.file("node_modules"));
            command = Command::new("node");
            command.arg(copied);
        }
        Language::Python => {
            command = Command::new(python());
            command.env("PYTHONPATH", package("python").join("src"));
            command.env("PYTHONDONTWRITEBYTECODE", "1").arg(copied);
        }
        Language::Php => {
            fs::create_dir(folder.file("vendor")).expect("the folder is writable");
            let autoload = package("php").join("autoload.php");
            symlink(autoload, folder.file("vendor/autoload.php")).expect("a folder takes links");
            command = Command::new("php");
            command.arg("-S").arg(address.to_string()).arg(copied);
        }
        Language::Go => {
            let module = std::env::var_os("FLORIN_TEST_GO_WEBHOOKS").map(PathBuf::from);
            let module = module.ok_or("FLORIN_TEST_GO_WEBHOOKS names no folder with the module")?;
            let name = "github.com/standard-webhooks/standard-webhooks/libraries";
            let text = format!(
                "module receiver\ngo 1.19\nrequire {name} v1.0.0\nreplace {name} => {}\n",
                module.display()
            );
            fs::write(folder.file("go.mod"), text).expect("the folder is writable");
            let program = folder.file("receiver");
            let mut build = Command::new("go");
            build
                .args(["build", "-o"])
                .arg(&program)
                .current_dir(folder.path());
            assert!(build.status().expect("go can be started").success());
            command = Command::new(program);
        }
        Language::Rust => {
            command = Command::new(built("florin-receiver", "florin-tests"));
        }
    }
    Ok(command)
}
