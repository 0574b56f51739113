//! Faults of a database file under a running proxy, made and undone without the rights of root.

use std::fs::{self, File};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Limits the size of the files that a process writes, in bytes; `None` ends the limit. Source: prlimit(1), `RLIMIT_FSIZE`.
pub fn limit_files(process: u32, bytes: Option<u64>) {
    let soft = bytes.map_or_else(|| "unlimited".to_owned(), |bytes| bytes.to_string());
    let done = Command::new("prlimit")
        .args(["--pid", &process.to_string()])
        .arg(format!("--fsize={soft}:unlimited"))
        .status();
    assert!(done.expect("prlimit is part of util-linux").success());
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
