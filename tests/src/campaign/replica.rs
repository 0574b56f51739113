//! A proxy that is killed and started again, with the same program, configuration, database and addresses.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;

use crate::faulty_machine::FaultyMachine;
use crate::program::Program;
use crate::tcp_proxy::TcpProxy;
use crate::wait::{pause, within};

/// Longest orderly shutdown on a loaded machine.
const SHUTDOWN: Duration = Duration::from_secs(30);
const POLL_EVERY: Duration = Duration::from_millis(5);
/// The last words of a process are in its log by then.
const PRINTED: Duration = Duration::from_secs(2);
/// Lines of the log that a failure prints.
const TAIL_LINES: usize = 20;

/// The proxy; it is killed when dropped.
#[derive(Debug)]
pub(super) struct Replica {
    pub(super) program: PathBuf,
    pub(super) config: PathBuf,
    pub(super) database_url: String,
    pub(super) public: SocketAddr,
    pub(super) admin: SocketAddr,
    pub(super) log: PathBuf,
    pub(super) machine: Arc<FaultyMachine>,
    /// Its way to the server of the database; `None` for a file.
    pub(super) link: Option<TcpProxy>,
    process: Option<Program>,
}

impl Replica {
    pub(super) fn new(
        [program, config, log]: [PathBuf; 3],
        [public, admin]: [SocketAddr; 2],
        database_url: String,
        machine: Arc<FaultyMachine>,
    ) -> Self {
        Self {
            program,
            config,
            database_url,
            public,
            admin,
            log,
            machine,
            link: None,
            process: None,
        }
    }

    pub(super) fn beside(&self, addresses: [SocketAddr; 2], database_url: String) -> Self {
        let files = [&self.program, &self.config, &self.log].map(Clone::clone);
        Self::new(files, addresses, database_url, self.machine.clone())
    }

    pub(super) fn start(&mut self) {
        let variables = [
            ("FLORIN_LOG", "warn".to_owned()),
            ("FLORIN_DATABASE_URL", self.database_url.clone()),
            ("FLORIN_LISTEN", self.public.to_string()),
            ("FLORIN_ADMIN_LISTEN", self.admin.to_string()),
        ];
        let machine = self.machine.variables();
        let variables = variables.iter().chain(&machine);
        let variables: Vec<_> = variables.map(|(name, value)| (*name, &**value)).collect();
        let process =
            Program::start_limitable_at(&self.program, &self.config, &self.log, &variables);
        self.process = Some(process);
    }

    pub(super) fn is_started(&self) -> bool {
        self.process.is_some()
    }

    pub(super) fn id(&self) -> u32 {
        self.process.as_ref().expect("it was started").id()
    }

    pub(super) fn exit_status(&mut self) -> Option<ExitStatus> {
        self.process.as_mut()?.exit_status()
    }

    /// Sends SIGKILL, unless it has exited.
    pub(super) fn kill(&mut self) {
        self.process = None;
    }

    /// Sends a signal, unless it has exited.
    pub(super) fn signal(&mut self, name: &str) {
        if let Some(process) = &mut self.process
            && process.exit_status().is_none()
        {
            process.signal(name);
        }
    }

    /// Sends SIGTERM and waits for its exit.
    pub(super) async fn stop(&mut self) {
        self.signal("TERM");
        let exit = async {
            loop {
                if let Some(status) = self.exit_status() {
                    return status;
                }
                pause(POLL_EVERY).await;
            }
        };
        let exit = tokio::time::timeout(SHUTDOWN, exit).await;
        let is_in_order = exit.is_ok_and(|status| status.success());
        let tail = self.log_tail();
        assert!(is_in_order, "no shutdown in order:\n{tail}");
    }

    pub(super) async fn is_ready(&self, http: &reqwest::Client) -> bool {
        let url = format!("http://{}/health/ready", self.admin);
        let response = http.get(url).send().await;
        response.is_ok_and(|response| response.status() == 200)
    }

    /// Checks that it exited because it started without its database server: its log ends with that.
    pub(super) async fn expect_refusal(&self, status: ExitStatus) {
        let is_refused = within(PRINTED, async || {
            let tail = self.log_tail();
            let last = tail.lines().next_back()?;
            last.starts_with("florin-proxy: database_url: the database")
                .then_some(())
        });
        let is_refused = is_refused.await.is_some() && self.link.is_some();
        let tail = self.log_tail();
        assert!(is_refused, "a proxy exited by itself ({status}):\n{tail}");
    }

    pub(super) fn log_tail(&self) -> String {
        let log = std::fs::read_to_string(&self.log).unwrap_or_default();
        let lines: Vec<&str> = log.lines().collect();
        lines[lines.len().saturating_sub(TAIL_LINES)..].join("\n")
    }
}
