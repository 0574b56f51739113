//! Where a proxy is started again and again: program, configuration, database and addresses stay the same.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use super::proxy_process::Victim;
use crate::wait::pause;

/// How long a start may take, on a machine that has much else to do.
const START: Duration = Duration::from_mins(1);
const LOOK_EVERY: Duration = Duration::from_millis(4);
/// Lines of the proxy's log that are shown when something is wrong.
const LAST_WORDS: usize = 20;

/// A place for one proxy at a time.
#[derive(Debug)]
pub(super) struct Post {
    /// `florin-proxy`
    pub(super) program: PathBuf,
    pub(super) config: PathBuf,
    pub(super) database: PathBuf,
    pub(super) public: SocketAddr,
    pub(super) admin: SocketAddr,
    /// What it prints is added here.
    pub(super) log: PathBuf,
}

impl Post {
    /// Starts a proxy.
    pub(super) fn starts(&self) -> Victim {
        let variables = [
            ("FLORIN_LOG", "warn".to_owned()),
            ("FLORIN_DATABASE_URL", self.database_url()),
            ("FLORIN_LISTEN", self.public.to_string()),
            ("FLORIN_ADMIN_LISTEN", self.admin.to_string()),
        ];
        Victim::start(&self.program, &self.config, &variables, &self.log)
    }

    pub(super) fn database_url(&self) -> String {
        format!("sqlite://{}", self.database.display())
    }

    /// Waits until a proxy that was started can work.
    ///
    /// # Panics
    /// When it ends, or does not come up within a minute.
    pub(super) async fn is_up(&self, victim: &mut Victim, http: &reqwest::Client) {
        let url = format!("http://{}/health/ready", self.admin);
        let up = async {
            loop {
                let answer = http.get(&url).send().await;
                if answer.is_ok_and(|answer| answer.status() == 200) {
                    return;
                }
                if let Some(status) = victim.ended() {
                    panic!(
                        "the proxy ended at its start ({status}):\n{}",
                        self.last_words()
                    );
                }
                pause(LOOK_EVERY).await;
            }
        };
        let up = tokio::time::timeout(START, up).await;
        assert!(
            up.is_ok(),
            "the proxy is not up after {START:?}:\n{}",
            self.last_words()
        );
    }

    /// Waits until the database's file is there.
    ///
    /// # Panics
    /// When it is not within a minute.
    pub(super) async fn makes_its_database(&self) {
        let made = async {
            while !self.database.exists() {
                pause(Duration::from_micros(500)).await;
            }
        };
        let made = tokio::time::timeout(START, made).await;
        assert!(made.is_ok(), "no database is made:\n{}", self.last_words());
    }

    /// Removes the database with its journals.
    pub(super) fn forgets_its_database(&self) {
        for suffix in ["", "-wal", "-shm"] {
            let _ = std::fs::remove_file(format!("{}{suffix}", self.database.display()));
        }
    }

    /// The end of what was printed.
    pub(super) fn last_words(&self) -> String {
        let log = std::fs::read_to_string(&self.log).unwrap_or_default();
        let lines: Vec<&str> = log.lines().collect();
        lines[lines.len().saturating_sub(LAST_WORDS)..].join("\n")
    }
}
