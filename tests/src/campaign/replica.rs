//! A proxy that is killed and started again, with the same program, configuration, database and addresses.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::time::Duration;

use crate::program::{Program, tail_of};
use crate::tcp_proxy::TcpProxy;
use crate::wait::within;

/// The last words of a process are in its log by then.
const PRINTED: Duration = Duration::from_secs(2);

#[derive(Debug)]
pub(super) struct Replica {
    pub(super) program: PathBuf,
    pub(super) config: PathBuf,
    pub(super) database_url: String,
    pub(super) public: SocketAddr,
    pub(super) admin: SocketAddr,
    pub(super) log: PathBuf,
    /// Its way to the server of the database; `None` for a file.
    pub(super) link: Option<TcpProxy>,
    pub(super) process: Option<Program>,
}

impl Replica {
    pub(super) fn beside(&self, [public, admin]: [SocketAddr; 2], database_url: String) -> Self {
        Self {
            program: self.program.clone(),
            config: self.config.clone(),
            database_url,
            public,
            admin,
            log: self.log.clone(),
            link: None,
            process: None,
        }
    }

    pub(super) fn start(&mut self) {
        let variables = [
            ("FLORIN_LOG", "warn".to_owned()),
            ("FLORIN_DATABASE_URL", self.database_url.clone()),
            ("FLORIN_LISTEN", self.public.to_string()),
            ("FLORIN_ADMIN_LISTEN", self.admin.to_string()),
        ];
        let variables = variables
            .each_ref()
            .map(|(name, value)| (*name, value.as_str()));
        let process = Program::start_built(&self.program, &self.config, &self.log, &variables);
        self.process = Some(process);
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

    pub(super) async fn stop(&mut self) {
        let code = match self.exit_status() {
            Some(status) => status.code(),
            None => self.process.as_mut().expect("it was started").stop().await,
        };
        assert_eq!(code, Some(0), "no shutdown in order:\n{}", self.log_tail());
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
        tail_of(&self.log)
    }
}
