//! The database's file: of one process, private to its user, and the same for as long as the process runs.

use std::fs::{self, File, Metadata, OpenOptions, Permissions, TryLockError};
use std::io::{ErrorKind, Seek as _, Write as _};
use std::os::unix::fs::{FileExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::str::FromStr as _;
use std::time::Duration;

use parking_lot::Mutex;
use sqlx::sqlite::SqliteConnectOptions;

use crate::{FileFault, Result, StorageError};

/// Readable and writable by the process's user alone.
pub(super) const PRIVATE: u32 = 0o600;
/// A restart may overlap: the process before may take this long to end.
const TURNS: u32 = 150;
const TURN: Duration = Duration::from_millis(100);
/// Source: sqlite.org, "Database File Format", 1.3: the first 16 bytes of every database.
const MAGIC: &[u8; 16] = b"SQLite format 3\0";

/// Device and inode: the file, whatever its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Identity {
    device: u64,
    inode: u64,
}

impl Identity {
    fn of(found: &Metadata) -> Self {
        Self {
            device: found.dev(),
            inode: found.ino(),
        }
    }
}

#[derive(Debug, Default)]
struct Damage {
    found: Option<String>,
    /// A check that may find it sound again is under way.
    is_rechecked: bool,
}

/// The file, which no other process uses while this value exists.
#[derive(Debug)]
pub(super) struct DatabaseFile {
    path: PathBuf,
    /// Open for as long as there are connections: when a process closes any descriptor of a file, the kernel releases
    /// the locks that SQLite holds on it. Source: sqlite.org, "How To Corrupt An SQLite Database File", 2.2.
    handle: File,
    identity: Identity,
    /// The journal of the open connections.
    wal: Mutex<Option<Identity>>,
    /// What a reader or a check of the content found.
    damage: Mutex<Damage>,
    /// Locked while it is open: the kernel releases it however the process ends.
    lock: Mutex<Option<File>>,
}

impl DatabaseFile {
    /// Creates the file if it is missing, makes it private, and claims it for this process. Waits for a process before
    /// that is about to end.
    ///
    /// # Errors
    /// [`StorageError::Open`] with a reason and a remedy; [`StorageError::InUse`].
    pub(super) async fn claim(url: &str, path: &Path) -> Result<Self> {
        let refused = |reason| StorageError::Open {
            url: url.to_owned(),
            reason,
        };
        check_place(path).map_err(refused)?;
        let lock = lock(path, refused).await?;
        let handle = open(path).map_err(|error| refused(unwritable(path, &error)))?;
        for file in [path.to_owned(), beside(path, "-wal"), beside(path, "-shm")] {
            make_private(&file).map_err(refused)?;
        }
        let found = handle
            .metadata()
            .map_err(|error| refused(error.to_string()))?;
        let begin = begins_like_a_database(&handle);
        if found.len() > 0
            && !begin.map_err(|error| refused(unreadable(path, &error).to_string()))?
        {
            return Err(refused(no_database(path)));
        }
        Ok(Self {
            path: path.to_owned(),
            handle,
            identity: Identity::of(&found),
            wal: Mutex::default(),
            damage: Mutex::default(),
            lock: Mutex::new(Some(lock)),
        })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Lets another process have the file, after the last connection was closed.
    pub(super) fn release(&self) {
        *self.lock.lock() = None;
    }

    pub(super) fn length(&self) -> u64 {
        self.handle.metadata().map_or(0, |file| file.len())
    }

    /// The bytes that the process may still write to its volume. Source: statvfs(3), `f_bavail`.
    pub(super) fn free_bytes(&self) -> Option<u64> {
        let volume = rustix::fs::fstatvfs(&self.handle).ok()?;
        Some(volume.f_bavail.saturating_mul(volume.f_frsize))
    }

    /// The size of the write-ahead log; 0 while there is none.
    pub(super) fn wal_bytes(&self) -> Option<u64> {
        match std::fs::metadata(beside(&self.path, "-wal")) {
            Ok(file) => Some(file.len()),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Some(0),
            Err(_) => None,
        }
    }

    pub(super) fn record_wal(&self) {
        *self.wal.lock() = identity(&beside(&self.path, "-wal")).ok();
    }

    /// The last connection that closes deletes the journal.
    pub(super) fn forget_wal(&self) {
        *self.wal.lock() = None;
    }

    /// Records that its content is damaged: nothing more is written until a check finds it sound.
    pub(super) fn record_damage(&self, found: String) {
        self.damage.lock().found = Some(found);
    }

    /// Returns `true` if its content should be checked again now, by this caller alone.
    pub(super) fn begin_recheck(&self) -> bool {
        let mut damage = self.damage.lock();
        damage.found.is_some() && !std::mem::replace(&mut damage.is_rechecked, true)
    }

    /// Records the result of that check: what is wrong, or that the content is sound again.
    pub(super) fn end_recheck(&self, found: Option<String>) {
        *self.damage.lock() = Damage {
            found,
            is_rechecked: false,
        };
    }

    /// Checks that the path still names the file that was claimed, and that it still begins like a database.
    ///
    /// # Errors
    /// What happened to it.
    pub(super) fn verify(&self) -> Result<(), FileFault> {
        // SQLite calls it damage too when the disk returns nothing.
        let begin = begins_like_a_database(&self.handle);
        let begins_well = begin.map_err(|error| unreadable(&self.path, &error))?;
        let path = self.path.display().to_string();
        if let Some(found) = self.damage.lock().found.clone() {
            return Err(FileFault::Damaged { path, found });
        }
        named(&self.path, self.identity)?;
        if let Some(wal) = *self.wal.lock() {
            named(&beside(&self.path, "-wal"), wal)?;
        }
        if self.length() > 0 && !begins_well {
            let found = "its first bytes are not those of an SQLite database".to_owned();
            return Err(FileFault::Damaged { path, found });
        }
        Ok(())
    }
}

fn named(path: &Path, expected: Identity) -> Result<(), FileFault> {
    let name = path.display().to_string();
    match identity(path) {
        Ok(found) if found == expected => Ok(()),
        Ok(_) => Err(FileFault::Replaced(name)),
        Err(error) if error.kind() == ErrorKind::NotFound => Err(FileFault::Gone(name)),
        Err(error) => Err(unreadable(path, &error)),
    }
}

fn unreadable(path: &Path, error: &std::io::Error) -> FileFault {
    FileFault::Unreadable {
        path: path.display().to_string(),
        error: error.to_string(),
    }
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

fn identity(path: &Path) -> std::io::Result<Identity> {
    Ok(Identity::of(&fs::metadata(path)?))
}

/// Names what SQLite reports as "unable to open database file".
pub(super) fn check_place(path: &Path) -> Result<(), String> {
    if path.is_dir() {
        return Err(format!(
            "{} is a folder: write the path of a file in it, like {}",
            path.display(),
            path.join("florin.db").display()
        ));
    }
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    match fs::metadata(folder) {
        Ok(found) if found.is_dir() => check_writable(path, folder),
        Ok(_) => Err(format!(
            "{} is not a folder: write the path of a file in a folder",
            folder.display()
        )),
        Err(error) if error.kind() == ErrorKind::NotFound => Err(format!(
            "the folder {} does not exist: create it, or write another path",
            folder.display()
        )),
        Err(error) => Err(format!(
            "the folder {} cannot be read ({error}): give the user of the proxy the right to enter it",
            folder.display()
        )),
    }
}

/// Refuses a file of another kind. For a file that no connection uses: see `DatabaseFile::handle`.
pub(super) fn check_content(path: &Path) -> Result<(), String> {
    let may_be_open = beside(path, "-shm").exists();
    if may_be_open {
        return Ok(());
    }
    match File::open(path) {
        Ok(file)
            if file.metadata().is_ok_and(|found| found.len() > 0)
                && matches!(begins_like_a_database(&file), Ok(false)) =>
        {
            Err(no_database(path))
        }
        _ => Ok(()),
    }
}

/// The network file system that holds the file of a URL, if one does.
pub(crate) fn network_volume(url: &str) -> Option<&'static str> {
    let options = SqliteConnectOptions::from_str(url).ok()?;
    let folder = options
        .get_filename()
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let volume = rustix::fs::statfs(folder.unwrap_or(Path::new("."))).ok()?;
    network_file_system(i128::from(volume.f_type))
}

/// Source: statfs(2), `f_type`; of a signed 32-bit field the sign is extended.
fn network_file_system(kind: i128) -> Option<&'static str> {
    match kind & 0xffff_ffff {
        0x6969 => Some("NFS"),
        0x517b | 0xfe53_4d42 | 0xff53_4d42 => Some("SMB"),
        0x5346_414f => Some("AFS"),
        0x00c3_6400 => Some("Ceph"),
        0x0102_1997 => Some("9P"),
        _ => None,
    }
}

fn no_database(path: &Path) -> String {
    format!(
        "{} is not an SQLite database: write the path of Florin's database, or of a file that does not exist yet",
        path.display()
    )
}

/// Without creating anything. Source: access(2), which checks the process's own permissions.
fn check_writable(path: &Path, folder: &Path) -> Result<(), String> {
    use rustix::fs::{Access, access};
    access(folder, Access::WRITE_OK | Access::EXEC_OK)
        .map_err(|error| unwritable(folder, &error.into()))?;
    match access(path, Access::READ_OK | Access::WRITE_OK) {
        Err(error) if error != rustix::io::Errno::NOENT => Err(unwritable(path, &error.into())),
        _ => Ok(()),
    }
}

fn unwritable(path: &Path, error: &std::io::Error) -> String {
    format!(
        "{} cannot be written ({error}): give the user of the proxy the right to write the file and its folder",
        path.display()
    )
}

async fn lock(path: &Path, refused: impl Fn(String) -> StorageError) -> Result<File> {
    let name = beside(path, "-lock");
    let mut turns = tokio::time::interval(TURN);
    for _ in 0..TURNS {
        turns.tick().await;
        let mut file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .read(true)
            .write(true)
            .mode(PRIVATE)
            .open(&name)
            .map_err(|error| refused(unwritable(&name, &error)))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => continue,
            Err(TryLockError::Error(error)) => {
                return Err(refused(format!(
                    "{} cannot be locked ({error}): put the database on a file system that has locks",
                    name.display()
                )));
            }
        }
        // The name may have been given to another file between open and lock.
        let held = file.metadata();
        let is_named = held.is_ok_and(|held| named(&name, Identity::of(&held)).is_ok());
        if is_named {
            // For the sentence of a second process alone: a full disk does not prevent the start.
            let _ = file
                .set_len(0)
                .and_then(|()| file.rewind())
                .and_then(|()| write!(file, "{}", std::process::id()));
            return Ok(file);
        }
    }
    let pid = fs::read_to_string(&name).unwrap_or_default();
    let pid = pid.trim().parse::<u32>();
    Err(StorageError::InUse {
        path: path.display().to_string(),
        pid: pid.map_or_else(|_| String::new(), |pid| format!(" (pid {pid})")),
    })
}

/// SQLite gives its journals the permissions of the database.
fn open(path: &Path) -> std::io::Result<File> {
    OpenOptions::new()
        .create(true)
        .truncate(false)
        .read(true)
        .write(true)
        .mode(PRIVATE)
        .open(path)
}

/// Removes the permissions of group and others, which earlier versions gave.
fn make_private(path: &Path) -> Result<(), String> {
    let Ok(found) = fs::metadata(path) else {
        return Ok(());
    };
    let rights = found.permissions().mode() & 0o777;
    let is_private = rights & 0o700 == rights;
    if is_private {
        return Ok(());
    }
    fs::set_permissions(path, Permissions::from_mode(rights & 0o700)).map_err(|error| {
        format!(
            "others can read {}, and its rights cannot be changed ({error}): make the user of the proxy its owner, with \
             chown and chmod 600",
            path.display()
        )
    })
}

/// A shorter file does not.
fn begins_like_a_database(file: &File) -> std::io::Result<bool> {
    let mut begin = [0; MAGIC.len()];
    match file.read_exact_at(&mut begin, 0) {
        Ok(()) => Ok(begin == *MAGIC),
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::network_file_system;

    #[test]
    fn network_file_systems_are_known_and_disks_are_none() {
        for (kind, expected) in [
            (0x6969, Some("NFS")),
            (0xfe53_4d42, Some("SMB")),
            (-0xac_b2be, Some("SMB")),
            (0xef53, None),
            (0x0102_1994, None),
            (0x9123_683e, None),
        ] {
            assert_eq!(network_file_system(kind), expected, "{kind:x}");
        }
    }
}
