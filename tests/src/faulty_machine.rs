//! The machine of a proxy that runs as a program: its disk can fail and its database can be moved or overwritten, without the
//! rights of root.
//!
//! A library between the program and the C library reads the faults from a file that both map. It is compiled by the C
//! compiler that the build needs too.

use std::fs::{self, File};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

const SOURCE: &str = include_str!("faulty_machine.c");

/// An error of the disk. Source: errno(3), the numbers of Linux.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiskError {
    NoSpace,
    Write,
    Sync,
    Read,
}

#[derive(Debug)]
pub struct FaultyMachine {
    faults: File,
    path: PathBuf,
    library: PathBuf,
}

impl FaultyMachine {
    /// A machine without faults, whose files are in this folder.
    pub fn build(folder: &Path) -> Self {
        let [source, library, path] = ["faulty_machine.c", "faulty_machine.so", "machine_faults"]
            .map(|name| folder.join(name));
        fs::write(&source, SOURCE).expect("the folder is writable");
        let compiled = Command::new("cc")
            .args(["-shared", "-fPIC", "-O1", "-o"])
            .args([&library, &source])
            .arg("-ldl")
            .status();
        let compiled = compiled.expect("the build needs a C compiler too");
        assert!(compiled.success(), "faulty_machine.c does not compile");
        let faults = File::create(&path).expect("the folder is writable");
        let machine = Self {
            faults,
            path,
            library,
        };
        (0..3).for_each(|place| machine.write(place, 0));
        machine
    }

    pub fn variables(&self) -> [(&'static str, String); 2] {
        [
            ("MACHINE_FAULTS", self.path.display().to_string()),
            ("LD_PRELOAD", self.library.display().to_string()),
        ]
    }

    pub fn set_disk(&self, error: Option<DiskError>) {
        const ENOSPC: i64 = 28;
        const EIO: i64 = 5;
        let faults = match error {
            None => [0, 0, 0],
            Some(DiskError::NoSpace) => [ENOSPC, 0, 0],
            Some(DiskError::Write) => [EIO, 0, 0],
            Some(DiskError::Sync) => [0, EIO, 0],
            Some(DiskError::Read) => [0, 0, EIO],
        };
        for (place, fault) in (0..).zip(faults) {
            self.write(place, fault);
        }
    }

    /// The members of `struct faults` in `faulty_machine.c`.
    fn write(&self, place: u64, fault: i64) {
        let written = self.faults.write_all_at(&fault.to_ne_bytes(), place * 8);
        written.expect("the file of the faults is writable");
    }
}

#[derive(Debug)]
pub struct MovedFile {
    here: PathBuf,
    away: PathBuf,
}

impl MovedFile {
    pub fn move_away(here: &Path) -> Self {
        let away = here.with_extension("away");
        fs::rename(here, &away).expect("the database exists");
        Self {
            here: here.to_owned(),
            away,
        }
    }

    pub fn replace_by_copy(&self) {
        fs::copy(&self.away, &self.here).expect("the folder is writable");
    }

    pub fn put_back(self) {
        fs::rename(&self.away, &self.here).expect("the folder is writable");
    }
}

/// The bytes by which SQLite recognises a file. The proxy never changes them.
const MAGIC: &[u8; 16] = b"SQLite format 3\0";

#[derive(Debug)]
pub struct SpoiledFile(File);

impl SpoiledFile {
    pub fn spoil(path: &Path) -> Self {
        let file = File::options().write(true).open(path);
        let file = Self(file.expect("the database exists"));
        file.write(&[0; 16]);
        file
    }

    pub fn repair(self) {
        self.write(MAGIC);
    }

    fn write(&self, begin: &[u8; 16]) {
        let written = self.0.write_all_at(begin, 0);
        written.expect("the database is writable");
    }
}
