//! The proxy as a program, and temporary folders.

use std::fs::{File, Permissions};
use std::io::Write as _;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::time::Duration;

use parking_lot::Mutex;
use tempfile::TempDir;

use crate::wait::within;

/// How long it may take to end on a loaded machine.
const BOUND: Duration = Duration::from_secs(30);

/// A program that is run to its end waits 15 seconds for another one at most.
const RUN_SECONDS: &str = "60";

/// Lines of a program's log that a failed test prints.
const LAST_LINES: usize = 40;

/// A child process; it is killed when dropped.
#[derive(Debug)]
pub struct Running(pub Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A running `florin-proxy`; it is killed when dropped.
#[derive(Debug)]
pub struct Program {
    child: Child,
    log: PathBuf,
}

#[derive(Debug)]
pub struct ProgramOutput {
    /// Its exit code; `None` when a signal ended it.
    pub code: Option<i32>,
    pub printed: String,
}

impl ProgramOutput {
    fn of(output: &Output) -> Self {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Self {
            code: output.status.code(),
            printed: [text(&output.stdout), text(&output.stderr)].concat(),
        }
    }
}

impl Program {
    /// Starts it; what it prints is added to the file `log`.
    pub fn start(config: &Path, log: &Path, variables: &[(&str, &str)]) -> Self {
        let program = built("florin-proxy", "florin-proxy");
        Self::start_built(&program, config, log, variables)
    }

    pub fn start_at(program: &Path, config: &Path, log: &Path) -> Self {
        Self::start_built(program, config, log, &[])
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn start_built(
        program: &Path,
        config: &Path,
        log: &Path,
        variables: &[(&str, &str)],
    ) -> Self {
        let file = append_to(log);
        let errors = file.try_clone().expect("a file can be shared");
        let mut command = command(program, variables);
        command.arg("--config").arg(config);
        command.stdin(Stdio::null()).stdout(file).stderr(errors);
        Self {
            child: command.spawn().expect("the program can be started"),
            log: log.to_owned(),
        }
    }

    pub fn run(words: &[&str], variables: &[(&str, &str)]) -> ProgramOutput {
        let output = Self::to_be_run(words, variables).output();
        ProgramOutput::of(&output.expect("the program can be started"))
    }

    /// Runs it to its end while the world of the test answers.
    pub async fn run_beside(words: &[&str], variables: &[(&str, &str)]) -> ProgramOutput {
        let mut command = Self::to_be_run(words, variables);
        let output = tokio::task::spawn_blocking(move || command.output());
        let output = output.await.expect("the task does not panic");
        ProgramOutput::of(&output.expect("the program can be started"))
    }

    /// The command that runs it to its end. A program that serves instead of ending fails the test.
    fn to_be_run(words: &[&str], variables: &[(&str, &str)]) -> Command {
        let mut command = command(Path::new("timeout"), variables);
        let program = built("florin-proxy", "florin-proxy");
        command.arg(RUN_SECONDS).arg(program).args(words);
        command.stdin(Stdio::null());
        command
    }

    pub fn run_with_input(words: &[&str], input: &str) -> ProgramOutput {
        let mut command = Self::to_be_run(words, &[]);
        command.stdin(Stdio::piped());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program can be started");
        let mut stdin = child.stdin.take().expect("it is piped");
        // A program that ends before it has read all closes the pipe.
        let _ = stdin.write_all(input.as_bytes());
        drop(stdin);
        ProgramOutput::of(&child.wait_with_output().expect("it is our child"))
    }

    pub fn printed(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap_or_default()
    }

    pub fn reload(&self) {
        self.signal("HUP");
    }

    pub async fn stop(&mut self) -> Option<i32> {
        self.signal("TERM");
        let program = Mutex::new(self);
        let ended = within(BOUND, async || program.lock().exit_status()).await;
        ended?.code()
    }

    pub fn kill(&mut self) {
        self.child.kill().expect("it runs");
        self.child.wait().expect("it is our child");
    }

    /// Sends a signal, by the names of kill(1).
    pub(crate) fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        let sent = Command::new("kill").args(["-s", name, &id]).status();
        let is_sent = sent.expect("kill is everywhere").success();
        assert!(is_sent, "SIG{name} cannot be sent");
    }

    /// Its exit status; `None` while it runs.
    pub(crate) fn exit_status(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().expect("it is our child")
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        if std::thread::panicking() {
            println!("what florin-proxy logged:\n{}", tail_of(&self.log));
        }
    }
}

pub(crate) fn tail_of(log: &Path) -> String {
    let log = std::fs::read_to_string(log).unwrap_or_default();
    let lines: Vec<&str> = log.lines().collect();
    lines[lines.len().saturating_sub(LAST_LINES)..].join("\n")
}

/// A program with these variables of the proxy's and no other.
pub fn command(program: &Path, variables: &[(&str, &str)]) -> Command {
    let mut command = Command::new(program);
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("FLORIN_") {
            command.env_remove(name);
        }
    }
    command.envs(variables.iter().copied());
    command
}

/// Where cargo puts a program of ours: beside the folder of this test's own program.
pub fn built(name: &str, package: &str) -> PathBuf {
    let test = std::env::current_exe().expect("a running program is somewhere");
    let folder = test.parent().and_then(Path::parent);
    let path = folder
        .expect("cargo runs tests in target/…/deps")
        .join(name);
    assert!(
        path.exists(),
        "{} is missing. Build it with: cargo build -p {package}",
        path.display()
    );
    path
}

/// A temporary folder; it is deleted when dropped.
#[derive(Debug)]
pub struct Folder(TempDir);

impl Folder {
    pub fn new() -> Self {
        Self::in_folder(&std::env::temp_dir())
    }

    /// Creates one in memory, if the machine has /dev/shm.
    pub fn in_memory() -> Self {
        let in_memory = Path::new("/dev/shm");
        if in_memory.is_dir() {
            Self::in_folder(in_memory)
        } else {
            Self::new()
        }
    }

    fn in_folder(base: &Path) -> Self {
        let mut folder = tempfile::Builder::new();
        // Programs of tests run as other users, too.
        let folder = folder.permissions(Permissions::from_mode(0o755));
        let folder = folder.prefix("florin-world-").tempdir_in(base);
        Self(folder.expect("the temporary folder is writable"))
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    pub fn keep(self) -> PathBuf {
        self.0.keep()
    }
}

impl Default for Folder {
    fn default() -> Self {
        Self::new()
    }
}

pub(crate) fn append_to(log: &Path) -> File {
    let log = File::options().create(true).append(true).open(log);
    log.expect("the folder is writable")
}

/// Writes a file that its owner alone may read: the proxy refuses secrets in others.
pub fn write_private(path: &Path, text: &str) {
    let file = File::options()
        .create(true)
        .write(true)
        .truncate(true)
        .mode(0o600)
        .open(path);
    let written = file.and_then(|mut file| file.write_all(text.as_bytes()));
    written.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
}
