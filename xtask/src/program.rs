//! Other programs, run with their output on the screen.

use std::env;
use std::ffi::OsStr;
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, bail};

use crate::workspace::Workspace;

/// A program and its arguments, to be run in the repository's root.
pub(crate) struct Program {
    name: String,
    command: Command,
}

impl Program {
    pub(crate) fn new(program: impl AsRef<OsStr>, workspace: &Workspace) -> Self {
        let name = Path::new(program.as_ref()).file_name().unwrap_or_default();
        let mut command = Command::new(program.as_ref());
        command.current_dir(&workspace.root);
        Self {
            name: name.to_string_lossy().into_owned(),
            command,
        }
    }

    /// Cargo itself, as if it was typed: without the variables that `cargo run` gave to this program. Some build
    /// scripts look at them, so that this program's builds and the user's would undo each other.
    pub(crate) fn cargo(workspace: &Workspace) -> Self {
        let mut cargo = Self::new(env::var_os("CARGO").unwrap_or("cargo".into()), workspace);
        for (name, _) in env::vars_os() {
            let text = name.to_string_lossy();
            if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") {
                cargo.command.env_remove(&name);
            }
        }
        cargo
    }

    pub(crate) fn args(mut self, args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Self {
        self.command.args(args);
        self
    }

    pub(crate) fn arg_path(mut self, flag: &str, path: &Path) -> Self {
        self.command.arg(flag).arg(path);
        self
    }

    /// Runs it in this folder instead.
    pub(crate) fn within(mut self, folder: &Path) -> Self {
        self.command.current_dir(folder);
        self
    }

    pub(crate) fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    pub(crate) fn env_remove(mut self, name: &str) -> Self {
        self.command.env_remove(name);
        self
    }

    /// Puts folders in front of `PATH`.
    pub(crate) fn path_first(self, folders: &[PathBuf]) -> anyhow::Result<Self> {
        let old = env::var_os("PATH").unwrap_or_default();
        let all = folders.iter().cloned().chain(env::split_paths(&old));
        let path = env::join_paths(all).context("a folder's name holds a colon")?;
        Ok(self.env("PATH", path))
    }

    /// Runs it to its end, with its output on the screen.
    ///
    /// # Errors
    /// It cannot be started, or it failed; the sentence names it.
    pub(crate) fn run(mut self) -> anyhow::Result<()> {
        let status = self.command.status().map_err(|error| self.missing(error))?;
        if !status.success() {
            bail!(
                "{} failed ({status}); what it printed above says why",
                self.name
            );
        }
        Ok(())
    }

    /// Runs it to its end and takes what it printed; its complaints go nowhere.
    ///
    /// # Errors
    /// It cannot be started, or it failed.
    pub(crate) fn output(mut self) -> anyhow::Result<String> {
        self.command.stdin(Stdio::null()).stderr(Stdio::null());
        let output = self.command.output().map_err(|error| self.missing(error))?;
        if !output.status.success() {
            bail!("{} failed ({})", self.name, output.status);
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// Runs it with `input`, and takes what it printed; its complaints stay on the screen.
    ///
    /// # Errors
    /// It cannot be started, or it failed.
    pub(crate) fn filter(mut self, input: &str) -> anyhow::Result<String> {
        self.command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = self.command.spawn().map_err(|error| self.missing(error))?;
        let mut stdin = child.stdin.take().expect("its input is ours");
        // It prints only after it has read everything, so neither waits for the other.
        stdin
            .write_all(input.as_bytes())
            .with_context(|| format!("{} reads nothing", self.name))?;
        drop(stdin);
        let output = child.wait_with_output()?;
        if !output.status.success() {
            bail!(
                "{} failed ({}); what it printed above says why",
                self.name,
                output.status
            );
        }
        String::from_utf8(output.stdout).with_context(|| format!("{} printed no text", self.name))
    }

    fn missing(&self, error: std::io::Error) -> anyhow::Error {
        if error.kind() == ErrorKind::NotFound {
            anyhow::anyhow!(
                "the program {} is missing: install it and try again",
                self.name
            )
        } else {
            anyhow::Error::new(error).context(format!("{} cannot be started", self.name))
        }
    }
}

/// Where a program is, if it is on `PATH`.
pub(crate) fn on_path(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path)
        .map(|folder| folder.join(name))
        .find(|candidate| candidate.is_file())
}
