//! The proxy's process, which is killed and started again.

use std::fs::File;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use crate::program;
use crate::wait::pause;

/// Longest orderly shutdown on a loaded machine.
const SHUTDOWN: Duration = Duration::from_secs(30);
const POLL_EVERY: Duration = Duration::from_millis(5);

/// A running proxy; its files can be limited. It is killed when dropped, and by the kernel when the test process is killed.
#[derive(Debug)]
pub(super) struct ProxyProcess(Child);

impl ProxyProcess {
    /// Starts `proxy`; its output is appended to the file `log`.
    pub(super) fn start(
        proxy: &Path,
        config: &Path,
        variables: &[(&str, String)],
        log: &Path,
    ) -> Self {
        let log = File::options().create(true).append(true).open(log);
        let mut log = log.expect("the folder is writable");
        let variables: Vec<(&str, &str)> = variables
            .iter()
            .map(|(name, value)| (*name, value.as_str()))
            .collect();
        let mut command = if has_setpriv() {
            let mut command = program::command(Path::new("setpriv"), &variables);
            command.args(["--pdeathsig", "KILL", "--", "sh"]);
            command
        } else {
            program::command(Path::new("sh"), &variables)
        };
        command.args(["-c", program::LIMITABLE]).arg(proxy);
        command.arg("--config").arg(config);
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        let child = command.spawn();
        let mut child =
            child.unwrap_or_else(|error| panic!("{} cannot be started: {error}", proxy.display()));
        let mut printed = child.stdout.take().expect("it is piped");
        std::thread::spawn(move || std::io::copy(&mut printed, &mut log));
        Self(child)
    }

    /// Sends SIGKILL. Returns `true` if it was still running.
    pub(super) fn kill(&mut self) -> bool {
        let was_running = self.exit_status().is_none();
        // Both do nothing to a process that has exited.
        let _ = self.0.kill();
        let _ = self.0.wait();
        was_running
    }

    /// Sends SIGTERM, SIGSTOP or SIGCONT, by the names of kill(1).
    pub(super) fn signal(&self, name: &str) {
        let id = self.0.id().to_string();
        let sent = Command::new("kill").args(["-s", name, &id]).status();
        assert!(
            sent.expect("kill is everywhere").success(),
            "SIG{name} cannot be sent"
        );
    }

    /// Its process id.
    pub(super) fn id(&self) -> u32 {
        self.0.id()
    }

    /// Returns its exit status; `None` while it runs.
    pub(super) fn exit_status(&mut self) -> Option<ExitStatus> {
        self.0.try_wait().expect("it is our child")
    }

    /// Sends SIGTERM and returns its exit code; `None` when it does not exit.
    pub(super) async fn stop(mut self) -> Option<i32> {
        self.signal("TERM");
        let ends = async {
            loop {
                if let Some(status) = self.exit_status() {
                    return status.code();
                }
                pause(POLL_EVERY).await;
            }
        };
        tokio::time::timeout(SHUTDOWN, ends).await.ok()?
    }
}

impl Drop for ProxyProcess {
    fn drop(&mut self) {
        self.kill();
    }
}

/// setpriv(1) is part of util-linux; other systems have none.
fn has_setpriv() -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join("setpriv").is_file())
}
