//! The repository's folders, the shell that runs other programs, and how files are written.

use std::env;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use xshell::{Cmd, Shell};

#[derive(Debug)]
pub(crate) struct Workspace {
    /// Runs programs in the repository's root.
    pub(crate) sh: Shell,
    pub(crate) root: PathBuf,
    /// Cargo's target folder: the one that this program lies in.
    pub(crate) target: PathBuf,
}

impl Workspace {
    /// Finds the repository that this program was built from.
    pub(crate) fn find() -> anyhow::Result<Self> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent();
        let root = root
            .context("this package is not in a folder of the repository")?
            .to_owned();
        let program = env::current_exe().context("this program does not know where it is")?;
        let target = program.ancestors().nth(2);
        let target = target
            .context("this program is not in cargo's target folder")?
            .to_owned();
        let sh = Shell::new()?;
        sh.change_dir(&root);
        Ok(Self { sh, root, target })
    }

    pub(crate) fn debug_program(&self, name: &str) -> PathBuf {
        self.target.join("debug").join(name)
    }

    pub(crate) fn build(&self, what: &str) -> anyhow::Result<()> {
        let build = self.cargo(&format!("build --locked --quiet {what}"));
        Ok(build.run()?)
    }

    /// Cargo as if it was typed: without the variables that `cargo run` gave to this program. Some build scripts read
    /// them, so that this program's builds and the user's would undo each other.
    pub(crate) fn cargo(&self, args: &str) -> Cmd<'_> {
        let cargo = env::var_os("CARGO").unwrap_or("cargo".into());
        let mut cmd = self.sh.cmd(cargo).args(args.split_whitespace()).quiet();
        for (name, _) in env::vars_os() {
            let text = name.to_string_lossy();
            if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") {
                cmd = cmd.env_remove(&name);
            }
        }
        cmd
    }
}

/// Copies a file into a folder that is made, with these permissions.
pub(crate) fn put(from: &Path, to: &Path, mode: u32) -> anyhow::Result<()> {
    fs::create_dir_all(to.parent().context("it is in a folder")?)?;
    fs::copy(from, to).with_context(|| format!("{} cannot be copied", from.display()))?;
    Ok(fs::set_permissions(to, Permissions::from_mode(mode))?)
}

/// Writes a file that every user may read.
pub(crate) fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    fs::create_dir_all(path.parent().context("it is in a folder")?)?;
    fs::write(path, text).with_context(|| format!("{} cannot be written", path.display()))?;
    Ok(fs::set_permissions(path, Permissions::from_mode(0o644))?)
}
