//! The release: an archive of the programs with licences, a software bill of materials and the files of `deploy/`, and what the container image contains.
//!
//! The same sources, compiler and tar give the same bytes: names are sorted, the time is that of the commit
//! (`SOURCE_DATE_EPOCH`), owners are 0, and no path of the building machine is in a program.

mod archive;
mod components;
mod image;
mod licences;
mod programs;
mod sbom;

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use xshell::{Shell, cmd};

pub use archive::pack;
pub use components::Component;
pub use image::write_image;
pub use programs::{PROGRAMS, build, host_target};
pub use sbom::bill_of_materials;

/// What a release is made of.
#[derive(Debug)]
pub struct Release {
    /// The repository.
    pub root: PathBuf,
    /// The folder with the programs.
    pub programs: PathBuf,
    /// The target that they were compiled for: `x86_64-unknown-linux-musl`.
    pub target: String,
    /// What is linked into them.
    pub components: Vec<Component>,
    /// The time of everything in the archive, in Unix seconds.
    pub time: u64,
}

impl Release {
    /// Reads what the programs of `target` are made of, and the release's time: `SOURCE_DATE_EPOCH`, or that of the commit.
    ///
    /// # Errors
    /// Cargo or git fails, or a library has no licence.
    pub fn read(root: &Path, programs: &Path, target: &str) -> anyhow::Result<Self> {
        let sh = Shell::new()?;
        sh.change_dir(root);
        let time = match std::env::var("SOURCE_DATE_EPOCH") {
            Ok(set) => set,
            Err(_) => cmd!(sh, "git log -1 --format=%ct")
                .quiet()
                .read()
                .context("the commit has no time: set SOURCE_DATE_EPOCH")?,
        };
        let time = time
            .trim()
            .parse()
            .context("SOURCE_DATE_EPOCH is no number")?;
        Ok(Self {
            root: root.to_owned(),
            programs: programs.to_owned(),
            target: target.to_owned(),
            components: components::linked(&sh, target)?,
            time,
        })
    }

    /// The name of the archive without its ending, and of the folder in it.
    pub fn name(&self) -> String {
        format!("florin-{}-{}", env!("CARGO_PKG_VERSION"), self.target)
    }
}
