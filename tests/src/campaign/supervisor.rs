//! Starts the proxy again and again with the same program, configuration, database and addresses.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use super::proxy_process::ProxyProcess;
use crate::wait::pause;

/// Longest start on a loaded machine.
const START: Duration = Duration::from_mins(1);
const POLL_EVERY: Duration = Duration::from_millis(4);
/// Lines of the proxy's log that a failure prints.
const TAIL_LINES: usize = 20;

/// Runs one proxy at a time.
#[derive(Clone, Debug)]
pub(super) struct Supervisor {
    /// `florin-proxy`
    pub(super) program: PathBuf,
    pub(super) config: PathBuf,
    /// The database of SQLite, if it is one.
    pub(super) database: PathBuf,
    pub(super) database_url: String,
    pub(super) public: SocketAddr,
    pub(super) admin: SocketAddr,
    /// Its output is appended here.
    pub(super) log: PathBuf,
    /// More variables of its environment.
    pub(super) variables: Vec<(&'static str, String)>,
}

impl Supervisor {
    /// Starts a proxy.
    pub(super) fn start(&self) -> ProxyProcess {
        let variables = self.variables();
        ProxyProcess::start(&self.program, &self.config, &variables, &self.log)
    }

    /// The variables of its environment.
    pub(super) fn variables(&self) -> Vec<(&'static str, String)> {
        let variables = [
            ("FLORIN_LOG", "warn".to_owned()),
            ("FLORIN_DATABASE_URL", self.database_url.clone()),
            ("FLORIN_LISTEN", self.public.to_string()),
            ("FLORIN_ADMIN_LISTEN", self.admin.to_string()),
        ];
        [&variables[..], &self.variables[..]].concat()
    }

    /// Waits until a started proxy is ready.
    ///
    /// # Panics
    /// It exits, or is not ready within a minute.
    pub(super) async fn wait_until_ready(
        &self,
        process: &mut ProxyProcess,
        http: &reqwest::Client,
    ) {
        let url = format!("http://{}/health/ready", self.admin);
        let up = async {
            loop {
                let response = http.get(&url).send().await;
                if response.is_ok_and(|response| response.status() == 200) {
                    return;
                }
                if let Some(status) = process.exit_status() {
                    panic!(
                        "the proxy exited during its start ({status}):\n{}",
                        self.log_tail()
                    );
                }
                pause(POLL_EVERY).await;
            }
        };
        let up = tokio::time::timeout(START, up).await;
        assert!(
            up.is_ok(),
            "the proxy is not ready after {START:?}:\n{}",
            self.log_tail()
        );
    }

    /// Waits until the database's file exists.
    ///
    /// # Panics
    /// It does not exist within a minute.
    pub(super) async fn wait_for_database(&self) {
        let made = async {
            while !self.database.exists() {
                pause(Duration::from_micros(500)).await;
            }
        };
        let made = tokio::time::timeout(START, made).await;
        assert!(
            made.is_ok(),
            "no database was created:\n{}",
            self.log_tail()
        );
    }

    /// Removes the database with its journals.
    pub(super) fn delete_database(&self) {
        for suffix in ["", "-wal", "-shm"] {
            let _ = std::fs::remove_file(format!("{}{suffix}", self.database.display()));
        }
    }

    /// Returns the lines of its log behind the first `skipped` bytes.
    pub(super) fn log_after(&self, skipped: u64) -> Vec<String> {
        let log = std::fs::read(&self.log).unwrap_or_default();
        let skipped = usize::try_from(skipped).unwrap_or(usize::MAX);
        let text = String::from_utf8_lossy(log.get(skipped..).unwrap_or_default()).into_owned();
        text.lines().map(str::to_owned).collect()
    }

    /// Returns the length of its log in bytes.
    pub(super) fn log_length(&self) -> u64 {
        std::fs::metadata(&self.log).map_or(0, |log| log.len())
    }

    /// Returns the end of its log.
    pub(super) fn log_tail(&self) -> String {
        let log = std::fs::read_to_string(&self.log).unwrap_or_default();
        let lines: Vec<&str> = log.lines().collect();
        lines[lines.len().saturating_sub(TAIL_LINES)..].join("\n")
    }
}
