//! Where things are.

use std::path::{Path, PathBuf};
use std::{env, fs};

use anyhow::Context as _;

/// The repository and the folder that cargo builds into.
pub(crate) struct Workspace {
    /// The repository's root.
    pub(crate) root: PathBuf,
    /// Cargo's target folder: the one that this program lies in, wherever the settings put it.
    pub(crate) target: PathBuf,
}

impl Workspace {
    /// # Errors
    /// This program was moved away from where `cargo xtask` puts it.
    pub(crate) fn find() -> anyhow::Result<Self> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent();
        let root = root
            .context("xtask is a folder of the repository")?
            .to_owned();
        let program = env::current_exe().context("this program does not know where it is")?;
        let target = program.parent().and_then(Path::parent);
        let target = target.context("this program is not in cargo's target folder")?;
        Ok(Self {
            root,
            target: target.to_owned(),
        })
    }

    /// The built widget, which the proxy takes in when it is compiled.
    pub(crate) fn dist(&self) -> PathBuf {
        self.root.join("dist")
    }

    /// A program that `cargo build` made.
    pub(crate) fn debug_program(&self, name: &str) -> PathBuf {
        self.target.join("debug").join(name)
    }

    /// A program that `cargo build --release` made.
    pub(crate) fn release_program(&self, name: &str) -> PathBuf {
        self.target.join("release").join(name)
    }

    /// What the demo shop sells and takes donations for, as the proxy's configuration has it.
    pub(crate) fn products(&self) -> anyhow::Result<String> {
        let read = |name| {
            let path = self.root.join("crates/demo-shop").join(name);
            fs::read_to_string(&path).with_context(|| format!("{} cannot be read", path.display()))
        };
        Ok([read("products.toml")?, read("donations.toml")?].join("\n"))
    }
}
