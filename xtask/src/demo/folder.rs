//! The demo's temporary folder: configuration, database and logs, readable by nobody else.

use std::fs::{self, DirBuilder, File};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use super::secrets::random_name;
use crate::screen;

/// The folder of one run.
pub(crate) struct Folder(PathBuf);

impl Folder {
    /// # Errors
    /// The system's temporary folder cannot be written.
    pub(crate) fn create() -> anyhow::Result<Self> {
        let path = std::env::temp_dir().join(format!("florin-{}", random_name()?));
        let created = DirBuilder::new().mode(0o700).create(&path);
        created.with_context(|| format!("{} cannot be made: set TMPDIR", path.display()))?;
        Ok(Self(path))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> anyhow::Result<()> {
        let path = self.0.join(name);
        fs::write(&path, text).with_context(|| format!("{} cannot be written", path.display()))
    }

    /// The file that a program's output goes to.
    pub(crate) fn log(&self, name: &str) -> anyhow::Result<(PathBuf, File)> {
        let path = self.0.join(format!("{name}.log"));
        let file = File::create(&path);
        let file = file.with_context(|| format!("{} cannot be written", path.display()))?;
        Ok((path, file))
    }

    /// Removes the folder and everything in it.
    pub(crate) fn remove(self) {
        if let Err(error) = fs::remove_dir_all(&self.0) {
            screen::bad(format!(
                "{} could not be removed: {error}",
                self.0.display()
            ));
        }
    }
}
