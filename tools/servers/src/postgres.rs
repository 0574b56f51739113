//! A PostgreSQL server of the distribution's packages, in a temporary folder.
//!
//! The server ends with the value or with the process that started it, also when that process is killed. It runs as an
//! unprivileged user: PostgreSQL refuses to run as root. It is never a server of the machine: it has a separate folder, port
//! and password.

use std::fs::{self, Permissions};
use std::io::{BufRead as _, BufReader, Error, ErrorKind, Read as _, Write as _};
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use crate::{free_port, on_path};

/// Source: docs/adr/0023: `pg_current_xact_id` and `xid8` are of 13, and 15 is the oldest that is tested.
const OLDEST_MAJOR: u32 = 15;
/// Source: Debian's packages `postgresql-15` and later.
const PACKAGED: &str = "/usr/lib/postgresql";
/// A program that Debian does not put on `PATH`.
const SERVER: &str = "postgres";
/// The id of the user without rights on every Linux.
const UNPRIVILEGED: &str = "65534";
/// The server may take this many pauses until it accepts connections.
pub(crate) const PAUSES: u32 = 600;
pub(crate) const PAUSE: Duration = Duration::from_millis(50);
/// The name of a standby in `synchronous_standby_names`.
const STANDBY: &str = "standby";

/// How much a commit waits for the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// Never: what survives the end of the server is not tested.
    None,
    /// As in production: `fsync` and `synchronous_commit` are on.
    Full,
}

/// A running server.
#[derive(Debug)]
pub struct PostgresServer {
    supervisor: Child,
    /// What the supervisor answers to a command.
    responses: Mutex<BufReader<ChildStdout>>,
    bin: PathBuf,
    folder: PathBuf,
    pub(crate) port: u16,
    pub(crate) password: String,
}

fn bin_of(major: u32) -> PathBuf {
    Path::new(PACKAGED).join(major.to_string()).join("bin")
}

impl PostgresServer {
    /// The folder of the newest installed server that is new enough; `None` if there is none.
    pub fn installed() -> Option<PathBuf> {
        let majors = fs::read_dir(PACKAGED).into_iter().flatten().flatten();
        let majors = majors.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        let newest = majors
            .filter(|major| *major >= OLDEST_MAJOR)
            .filter(|major| bin_of(*major).join(SERVER).exists())
            .max();
        // Other systems have the server on `PATH`.
        let on_path = || Some(on_path("initdb")?.parent()?.to_owned());
        newest.map(bin_of).or_else(on_path)
    }

    /// Starts a server with an empty cluster.
    pub fn start(durability: Durability) -> Result<Self, Error> {
        Self::start_as(durability, None)
    }

    /// Starts a standby that follows this server by the name `standby`.
    pub fn start_standby(&self) -> Result<Self, Error> {
        Self::start_as(Durability::Full, Some(self))
    }

    fn start_as(durability: Durability, primary: Option<&Self>) -> Result<Self, Error> {
        let bin = Self::installed().ok_or_else(|| {
            let missing = "is not installed: apt-get install postgresql";
            let missing = format!("PostgreSQL {OLDEST_MAJOR} or later {missing}");
            Error::new(ErrorKind::NotFound, missing)
        })?;
        let user = unprivileged_user()?;
        let folder = new_folder()?;
        let (name, password, content) = if let Some(primary) = primary {
            let (password, port) = (&primary.password, primary.port);
            let content = format!(
                "host=127.0.0.1 port={port} user=florin password={password} application_name={STANDBY}"
            );
            ("primary", password.clone(), content)
        } else {
            let password = random_password()?;
            ("password", password.clone(), password)
        };
        write_private(&folder.join(name), &content, user.as_ref())?;
        let mut command = shell(&folder, user.as_ref())?;
        let port = free_port();
        let settings = settings(durability).map(|setting| ["-c", setting]);
        let mut supervisor = command
            .args(["-c", include_str!("supervisor.sh"), "florin-postgres"])
            .args([&bin, &folder])
            .arg(port.to_string())
            .args(settings.as_flattened())
            .stdout(Stdio::piped())
            .spawn()?;
        let responses = supervisor.stdout.take().expect("it is piped");
        let mut server = Self {
            supervisor,
            responses: Mutex::new(BufReader::new(responses)),
            bin,
            folder,
            port,
            password,
        };
        server.wait_until_ready()?;
        Ok(server)
    }

    fn wait_until_ready(&mut self) -> Result<(), Error> {
        for _ in 0..PAUSES {
            if self.supervisor.try_wait()?.is_some() {
                break;
            }
            // Only this server knows the password.
            if self.psql("postgres", "SELECT 1").is_ok() {
                return Ok(());
            }
            thread::sleep(PAUSE);
        }
        let logs = ["initdb.log", "server.log"].map(|name| self.folder.join(name));
        let logs = logs.map(|log| fs::read_to_string(log).unwrap_or_default());
        let logs = logs.concat();
        Err(Error::other(format!("PostgreSQL did not start: {logs}")))
    }

    /// Ends the server at once, without a checkpoint, as `pg_ctl -m immediate stop` does: every connection is lost.
    pub fn stop_at_once(&mut self) -> Result<(), Error> {
        self.command("stop")
    }

    /// Starts a stopped server again and waits until it has recovered.
    pub fn start_again(&mut self) -> Result<(), Error> {
        self.command("start")?;
        self.wait_until_ready()
    }

    /// Waits in each commit for the standby from now on.
    pub fn wait_for_standby(&self) -> Result<(), Error> {
        self.psql(
            "postgres",
            &format!("ALTER SYSTEM SET synchronous_standby_names = 'ANY 1 ({STANDBY})'"),
        )?;
        self.psql("postgres", "SELECT pg_reload_conf()")?;
        let following = "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'quorum'";
        self.wait_for(following, "1", "the standby does not follow the primary")
    }

    /// Waits until a standby has all that its primary has committed.
    pub fn catch_up(&self, primary: &Self) -> Result<(), Error> {
        let written = primary.psql("postgres", "SELECT pg_current_wal_lsn()")?;
        let replayed = format!("SELECT pg_last_wal_replay_lsn() >= '{written}'");
        self.wait_for(&replayed, "t", "the standby does not follow the primary")
    }

    /// Lets a standby receive nothing more of what its primary commits.
    pub fn stop_following(&self, primary: &Self) -> Result<(), Error> {
        self.psql("postgres", "ALTER SYSTEM SET primary_conninfo = ''")?;
        self.psql("postgres", "SELECT pg_reload_conf()")?;
        let following = "SELECT count(*) FROM pg_stat_replication";
        primary.wait_for(following, "0", "the standby still follows the primary")
    }

    fn wait_for(&self, statement: &str, answer: &str, failure: &str) -> Result<(), Error> {
        for _ in 0..PAUSES {
            if self.psql("postgres", statement)? == answer {
                return Ok(());
            }
            thread::sleep(PAUSE);
        }
        Err(Error::other(failure))
    }

    /// Makes a standby the primary.
    pub fn promote(&self) -> Result<(), Error> {
        self.psql("postgres", "SELECT pg_promote()").map(drop)
    }

    /// Writes a dump of a database into a file, in the format of `pg_restore`.
    pub fn dump(&self, database: &str, file: &Path) -> Result<(), Error> {
        let mut dump = self.client("pg_dump", database);
        run(dump.arg("--format=custom").arg("-f").arg(file)).map(drop)
    }

    /// Writes a dump of a database as statements into a file, without owners and rights, and without the rows of a table.
    pub fn dump_statements(&self, database: &str, without: &str, file: &Path) -> Result<(), Error> {
        let mut dump = self.client("pg_dump", database);
        dump.args(["--no-owner", "--no-privileges", "--inserts"])
            .arg(format!("--exclude-table-data={without}"));
        run(dump.arg("-f").arg(file)).map(drop)
    }

    /// Runs the statements of a file in a database: a dump of [`Self::dump_statements`].
    pub fn load_statements(&self, database: &str, file: &Path) -> Result<(), Error> {
        let mut load = self.client("psql", database);
        load.args(["-X", "-q", "-v", "ON_ERROR_STOP=1"]);
        run(load.arg("-f").arg(file)).map(drop)
    }

    /// A client program of the distribution, with the address of a database.
    fn client(&self, program: &str, database: &str) -> Command {
        let mut command = Command::new(self.bin.join(program));
        command.arg("-d").arg(self.url(database));
        command
    }

    fn command(&mut self, command: &str) -> Result<(), Error> {
        let input = self.supervisor.stdin.as_mut();
        writeln!(input.expect("it is piped"), "{command}")?;
        let mut response = String::new();
        let responses = self.responses.get_mut().expect("no holder panics");
        responses.read_line(&mut response)?;
        if response.trim() == command {
            return Ok(());
        }
        Err(Error::other(format!(
            "the supervisor of PostgreSQL did not {command} it"
        )))
    }

    /// The address of a database, with the user and the password: `postgres://…`.
    pub fn url(&self, database: &str) -> String {
        self.url_at(self.port, database)
    }

    /// The same by another port of this machine, for a relay in between.
    pub fn url_at(&self, port: u16, database: &str) -> String {
        format!(
            "postgres://florin:{}@127.0.0.1:{port}/{database}",
            self.password
        )
    }

    /// Its port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Creates a database: empty, or a copy of `template`.
    pub fn create_database(&self, name: &str, template: Option<&str>) -> Result<(), Error> {
        let template = template.unwrap_or("template0");
        let create = format!("CREATE DATABASE \"{name}\" TEMPLATE \"{template}\"");
        self.psql("postgres", &create).map(drop)
    }

    /// Runs statements in a database and returns what they print, without headings.
    pub fn psql(&self, database: &str, statements: &str) -> Result<String, Error> {
        let mut psql = self.client("psql", database);
        psql.args(["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1"]);
        run(psql.args(["-c", statements]))
    }
}

impl Drop for PostgresServer {
    fn drop(&mut self) {
        drop(self.supervisor.stdin.take());
        let _ = self.supervisor.wait();
    }
}

/// Runs a program to its end; returns what it prints.
fn run(program: &mut Command) -> Result<String, Error> {
    let done = program.stdin(Stdio::null()).output()?;
    let text = |output: &[u8]| String::from_utf8_lossy(output).trim().to_owned();
    if done.status.success() {
        Ok(text(&done.stdout))
    } else {
        Err(Error::other(text(&done.stderr)))
    }
}

fn settings(durability: Durability) -> [&'static str; 6] {
    let (fsync, commit, pages) = match durability {
        Durability::None => (
            "fsync=off",
            "synchronous_commit=off",
            "full_page_writes=off",
        ),
        Durability::Full => ("fsync=on", "synchronous_commit=on", "full_page_writes=on"),
    };
    [
        fsync,
        commit,
        pages,
        "max_connections=400",
        "shared_buffers=64MB",
        "autovacuum_naptime=60s",
    ]
}

pub(crate) struct User {
    uid: u32,
    gid: u32,
}

/// The user for a server that root starts; `None` for every other starter.
pub(crate) fn unprivileged_user() -> Result<Option<User>, Error> {
    if !rustix::process::geteuid().is_root() {
        return Ok(None);
    }
    let users = fs::read_to_string("/etc/passwd")?;
    let user = ["postgres", UNPRIVILEGED].iter().find_map(|wanted| {
        let fields = users
            .lines()
            .map(|line| line.split(':').collect::<Vec<_>>());
        let mut fields = fields.filter(|fields| fields.len() > 3);
        let fields = fields.find(|fields| fields[0] == *wanted || fields[2] == *wanted)?;
        let (uid, gid) = (fields[2].parse().ok()?, fields[3].parse().ok()?);
        Some(User { uid, gid })
    });
    let missing = "PostgreSQL does not run as root, and there is no unprivileged user for it";
    user.map(Some).ok_or_else(|| Error::other(missing))
}

pub(crate) fn new_folder() -> Result<PathBuf, Error> {
    let mut folder = tempfile::Builder::new();
    Ok(folder.prefix("florin-postgres-").tempdir()?.keep())
}

/// Writes a file that the server's user alone may read.
pub(crate) fn write_private(file: &Path, content: &str, user: Option<&User>) -> Result<(), Error> {
    fs::write(file, content)?;
    fs::set_permissions(file, Permissions::from_mode(0o600))?;
    match user {
        Some(user) => chown(file, Some(user.uid), Some(user.gid)),
        None => Ok(()),
    }
}

/// A shell of the server's user in its folder, with a pipe as standard input.
pub(crate) fn shell(folder: &Path, user: Option<&User>) -> Result<Command, Error> {
    let mut command = match user {
        None => Command::new("sh"),
        Some(user) => {
            chown(folder, Some(user.uid), Some(user.gid))?;
            let mut command = Command::new("setpriv");
            command
                .arg(format!("--reuid={}", user.uid))
                .arg(format!("--regid={}", user.gid))
                .args(["--clear-groups", "--", "sh"]);
            command
        }
    };
    command
        .current_dir(folder)
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("LC_ALL", "C")
        .stdin(Stdio::piped())
        .stderr(Stdio::null())
        // A signal from the terminal ends the starter, and then this ends by itself.
        .process_group(0);
    Ok(command)
}

fn random_password() -> Result<String, Error> {
    let mut bytes = [0; 16];
    fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(hex::encode(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_starts_serves_and_leaves_nothing() {
        let server = PostgresServer::start(Durability::None).unwrap();
        server.create_database("one", None).unwrap();
        server.psql("one", "CREATE TABLE t (i int)").unwrap();
        server.create_database("two", Some("one")).unwrap();
        assert_eq!(server.psql("two", "SELECT count(*) FROM t").unwrap(), "0");
        let folder = server.folder.clone();
        drop(server);
        assert!(!folder.exists());
    }
}
