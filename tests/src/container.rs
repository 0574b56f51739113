//! Container images, built and run by the distribution's buildah with chroot isolation: without a daemon or a registry.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::process_tree::ProcessTree;
use crate::program::{Folder, write_private};

/// The user of the image.
const USER: u32 = 65_532;

#[derive(Debug)]
pub struct Container {
    folder: Folder,
    name: String,
}

/// A program that runs in a container; it is killed when dropped.
#[derive(Debug)]
pub struct Contained(Child);

impl Container {
    /// Builds the image of `deploy/Dockerfile` with what its first stage would have made, and a container of it.
    ///
    /// # Errors
    /// Why this machine does not permit containers.
    pub fn build(dockerfile: &str, image: &Path) -> Result<Self, String> {
        if !rustix::process::geteuid().is_root() {
            return Err("chroot isolation for the image's own user needs root".to_owned());
        }
        let folder = Folder::new();
        let (first, last) = dockerfile
            .split_once("\nFROM scratch\n")
            .expect("the last stage is made from nothing");
        assert!(first.contains("\nFROM docker.io/library/rust:"), "{first}");
        // A test reaches no registry.
        let text = format!("FROM scratch AS build\nCOPY image /image\nFROM scratch\n{last}");
        fs::write(folder.file("Dockerfile"), text).expect("our own folder");
        fs::rename(image, folder.file("image")).expect("both are in the temporary folder");
        let mut container = Self {
            folder,
            name: String::new(),
        };
        let context = container.folder.path().display().to_string();
        let isolated = ["bud", "--isolation", "chroot", "--format", "docker"];
        container.buildah(
            &[
                &isolated[..],
                &["--quiet", "--tag", "florin:test", &context],
            ]
            .concat(),
        )?;
        container.name = container.buildah(&["from", "florin:test"])?;
        Ok(container)
    }

    pub fn configuration(&self) -> Value {
        let printed = self.buildah(&["inspect", "--type", "image", "florin:test"]);
        let whole: Value = serde_json::from_str(&printed.expect("it was built")).expect("JSON");
        whole["Docker"]["config"].clone()
    }

    pub fn root(&self) -> PathBuf {
        self.buildah(&["mount", &self.name])
            .expect("it was built")
            .into()
    }

    /// Makes the folder that is mounted at `/etc/florin`, with this configuration.
    pub fn configure(&self, text: &str) {
        let folder = self.folder.file("etc");
        fs::create_dir_all(&folder).expect("our own folder");
        let file = folder.join("florin.toml");
        write_private(&file, text);
        let owned = std::os::unix::fs::chown(&file, Some(USER), Some(USER));
        owned.expect("this is root");
    }

    pub fn start(&self, words: &Value, listen: SocketAddr) -> Contained {
        let log = fs::File::create(self.folder.file("log")).expect("our own folder");
        let errors = log.try_clone().expect("a file can be shared");
        let mut command = self.run(words, listen);
        let child = command.stdout(log).stderr(errors).spawn();
        Contained(child.expect("buildah can be started"))
    }

    /// Runs words of the image's configuration beside the started program; returns the exit code.
    pub fn run_beside(&self, words: &Value, listen: SocketAddr) -> Option<i32> {
        let ended = self.run(words, listen).output();
        ended.expect("buildah can be started").status.code()
    }

    pub fn printed(&self) -> String {
        fs::read_to_string(self.folder.file("log")).unwrap_or_default()
    }

    fn run(&self, words: &Value, listen: SocketAddr) -> Command {
        let etc = format!("{}:/etc/florin:ro", self.folder.file("etc").display());
        let mut command = self.command();
        command.args(["run", "--isolation", "chroot", "--volume", &etc]);
        // The network is this machine's: ports are free ones.
        command.arg(format!("--env=FLORIN_LISTEN={listen}"));
        command.args([&self.name, "--"]);
        let words = words.as_array().expect("a list of words").iter();
        command.args(words.map(|word| word.as_str().expect("a word")));
        command.stdin(Stdio::null());
        command
    }

    fn command(&self) -> Command {
        let mut command = Command::new("buildah");
        command.args(["--storage-driver", "vfs"]);
        command.arg("--root").arg(self.folder.file("storage"));
        command.arg("--runroot").arg(self.folder.file("run"));
        command
    }

    fn buildah(&self, words: &[&str]) -> Result<String, String> {
        let output = self.command().args(words).output();
        let output = output.expect("`cargo xtask tools` installs buildah");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
        if output.status.success() {
            return Ok(text(&output.stdout));
        }
        let complaint = text(&output.stderr);
        // A machine whose kernel refuses mounts and namespaces has no containers.
        let is_forbidden = complaint.contains("operation not permitted");
        assert!(is_forbidden, "buildah {words:?}: {complaint}");
        Err(complaint)
    }
}

impl Drop for Container {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("what the container printed:\n{}", self.printed());
        }
        let _ = self.buildah(&["umount", &self.name]);
        let _ = self.buildah(&["rm", &self.name]);
    }
}

impl Drop for Contained {
    fn drop(&mut self) {
        // What runs in the container outlives buildah.
        let processes = ProcessTree::of(self.0.id());
        let _ = self.0.kill();
        processes.end();
        let _ = self.0.wait();
    }
}
