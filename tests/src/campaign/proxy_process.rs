//! The proxy's process, which is killed again and again.

use std::fs::File;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use crate::program;
use crate::wait::pause;

/// How long an orderly end may take, on a machine that has much else to do.
const END: Duration = Duration::from_secs(30);
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// A running proxy. It is killed with the value; and should this process itself be killed, the kernel kills it.
#[derive(Debug)]
pub(super) struct Victim(Child);

impl Victim {
    /// Starts `proxy`; what it prints is added to the file `log`.
    pub(super) fn start(
        proxy: &Path,
        config: &Path,
        variables: &[(&str, String)],
        log: &Path,
    ) -> Self {
        let log = File::options().create(true).append(true).open(log);
        let log = log.expect("the folder is writable");
        let errors = log.try_clone().expect("a file can be shared");
        let variables: Vec<(&str, &str)> = variables
            .iter()
            .map(|(name, value)| (*name, value.as_str()))
            .collect();
        let mut command = if has_setpriv() {
            let mut command = program::command(Path::new("setpriv"), &variables);
            command.args(["--pdeathsig", "KILL", "--"]).arg(proxy);
            command
        } else {
            program::command(proxy, &variables)
        };
        command.arg("--config").arg(config);
        command.stdin(Stdio::null()).stdout(log).stderr(errors);
        let child = command.spawn();
        Self(child.unwrap_or_else(|error| panic!("{} cannot be started: {error}", proxy.display())))
    }

    /// SIGKILL: it has no time for anything. Answers whether it was still there to be killed.
    pub(super) fn kill(&mut self) -> bool {
        let was_running = self.ended().is_none();
        // Both do nothing to a process that has ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
        was_running
    }

    /// SIGTERM, SIGSTOP or SIGCONT, by the names that kill(1) knows.
    pub(super) fn signal(&self, name: &str) {
        let id = self.0.id().to_string();
        let sent = Command::new("kill").args(["-s", name, &id]).status();
        assert!(
            sent.expect("kill is everywhere").success(),
            "SIG{name} cannot be sent"
        );
    }

    /// How it ended, when it has.
    pub(super) fn ended(&mut self) -> Option<ExitStatus> {
        self.0.try_wait().expect("it is our child")
    }

    /// Asks it to end, and answers its exit code; `None` when it did not end.
    pub(super) async fn ends_in_order(mut self) -> Option<i32> {
        self.signal("TERM");
        let ends = async {
            loop {
                if let Some(status) = self.ended() {
                    return status.code();
                }
                pause(LOOK_EVERY).await;
            }
        };
        tokio::time::timeout(END, ends).await.ok()?
    }
}

impl Drop for Victim {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Part of util-linux: there is none on other systems.
fn has_setpriv() -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join("setpriv").is_file())
}
