//! Disasters beside the kills: the disk fails, the database's file is lost, a clock is wrong, the gateway asks for an excessive
//! pause, a second process wants the database, a backup is restored. Each is over before the next one.
//!
//! What is checked here: while orders cannot be stored, readiness fails within five seconds and says why; the outage is one
//! ERROR with its remedy; once the cause is gone the proxy is ready again without a restart. That nothing is lost, doubled
//! or reordered is the auditor's to check.

use std::sync::atomic::Ordering;
use std::time::Duration;

use jiff::SignedDuration;
use serde_json::{Value, json};

use super::disaster::{ALL, Disaster};
use super::proxy_process::ProxyProcess;
use super::shard::Shard;
use super::supervisor::Supervisor;
use crate::database_fault::{MovedFile, SpoiledFile, limit_files};
use crate::faulty_machine::DiskError;
use crate::wait::pause;

/// Readiness notices an outage, and its end, within this time.
const NOTICED: Duration = Duration::from_secs(5);
/// A call of the gateway, which notices its clock or an excessive pause, is made by then.
const CALLED: Duration = Duration::from_secs(30);
/// A call that tries whether an excessive pause is over: one whose response is lost is repeated after 30 seconds.
const TRIED: Duration = Duration::from_secs(100);
/// How long a disaster lasts after it was noticed.
const LASTS: Duration = Duration::from_millis(500);
/// From the end of a disaster to the kill.
const RUN: Duration = Duration::from_millis(250);
/// How long a token may be refused after the clock was set right: a request that was on its way.
const AFTERWARDS: Duration = Duration::from_millis(300);
const HOUR: i32 = 3600;
const POLL_EVERY: Duration = Duration::from_millis(40);

/// Undoes a disaster of the database.
enum Undo {
    Disk,
    Limit,
    Moved(MovedFile),
    Spoiled(SpoiledFile),
}

impl Shard {
    /// Starts the proxy and kills it during a disaster or after it. Returns `true`: it is always still running.
    pub(super) async fn kill_in_disaster(&mut self) -> bool {
        let disaster = self.next_disaster();
        let mut process = self.supervisor.start();
        self.supervisor
            .wait_until_ready(&mut process, &self.http)
            .await;
        pause(self.random.up_to(RUN)).await;
        let in_the_middle = self.random.percent(30);
        let was_killed = self
            .run_disaster(disaster, &mut process, in_the_middle)
            .await;
        if !was_killed {
            pause(self.random.up_to(RUN)).await;
            self.kill_running(&mut process);
        }
        self.counters.count(disaster.name());
        true
    }

    /// Brings disasters to the last proxy, which has no restart to recover by.
    pub(super) async fn survive_without_a_restart(&mut self, process: &mut ProxyProcess) {
        for disaster in [
            Disaster::ClockAhead,
            Disaster::DiskFull,
            Disaster::GatewayClockSetBack,
        ] {
            self.run_disaster(disaster, process, false).await;
            self.counters.count("disasters of the last proxy");
        }
    }

    fn next_disaster(&mut self) -> Disaster {
        if self.disasters.is_empty() {
            let mut left = ALL.to_vec();
            while !left.is_empty() {
                let at = usize::try_from(self.random.below(left.len() as u64));
                self.disasters
                    .push(left.swap_remove(at.expect("a short list")));
            }
        }
        self.disasters.pop().expect("it was filled")
    }

    pub(super) fn kill_running(&mut self, process: &mut ProxyProcess) {
        if let Some(status) = process.exit_status() {
            let tail = self.supervisor.log_tail();
            panic!("the proxy exited by itself ({status}):\n{tail}");
        }
        process.kill();
    }

    /// Runs a disaster to its end. `in_the_middle` kills the proxy while it lasts, where that is different from a kill
    /// afterwards. Returns `true` if the proxy was killed.
    async fn run_disaster(
        &mut self,
        disaster: Disaster,
        process: &mut ProxyProcess,
        in_the_middle: bool,
    ) -> bool {
        match disaster {
            Disaster::ClockAhead => self.run_clock(HOUR, process, in_the_middle).await,
            Disaster::ClockBehind => self.run_clock(-HOUR, process, in_the_middle).await,
            Disaster::GatewayClockSetBack => self.run_gateway_clock().await,
            Disaster::ExcessiveRetryAfter => self.run_excessive_pause().await,
            Disaster::SecondProcess | Disaster::OverlappingRestart => {
                let takes_over = disaster == Disaster::OverlappingRestart;
                self.run_second_process(process, takes_over).await;
            }
            Disaster::Restore => self.run_restore(process).await,
            outage => self.run_outage(outage, process, in_the_middle).await,
        }
        let is_of_the_proxy = !matches!(
            disaster,
            Disaster::GatewayClockSetBack
                | Disaster::ExcessiveRetryAfter
                | Disaster::SecondProcess
                | Disaster::OverlappingRestart
                | Disaster::Restore
        );
        in_the_middle && is_of_the_proxy
    }

    async fn run_outage(
        &mut self,
        disaster: Disaster,
        process: &mut ProxyProcess,
        in_the_middle: bool,
    ) {
        let log_begin = self.supervisor.log_length();
        let undo = self.begin_outage(disaster, process);
        let [reason, remedy] = disaster.reason().expect("a disaster of the database");
        let report = self.ready_with(503, NOTICED, disaster).await;
        let stated = report["database_reason"].as_str().unwrap_or_default();
        let is_explained = stated.contains(reason) && stated.contains(remedy);
        assert!(is_explained, "{disaster:?}: {report}");
        pause(self.random.up_to(LASTS)).await;
        self.ready_with(503, NOTICED, disaster).await;
        if in_the_middle {
            self.kill_running(process);
        }
        self.end_outage(undo, process);
        if in_the_middle {
            return;
        }
        self.ready_with(200, NOTICED, disaster).await;
        let lines = self.supervisor.log_after(log_begin);
        let is_error = |line: &&String| line.contains("\"level\":\"ERROR\"");
        let about_storage = |line: &&String| {
            line.contains("orders cannot be stored") || line.contains("the database")
        };
        let errors: Vec<_> = lines
            .iter()
            .filter(is_error)
            .filter(about_storage)
            .collect();
        let is_reported_once = errors.len() == 1 && errors[0].contains(remedy);
        assert!(is_reported_once, "{disaster:?}: {errors:#?}");
    }

    fn begin_outage(&self, disaster: Disaster, process: &ProxyProcess) -> Undo {
        let disk = |error| {
            self.machine.set_disk(Some(error));
            Undo::Disk
        };
        let database = &self.supervisor.database;
        match disaster {
            Disaster::DiskFull => disk(DiskError::NoSpace),
            Disaster::WriteError => disk(DiskError::Write),
            Disaster::SyncError => disk(DiskError::Sync),
            Disaster::ReadError => disk(DiskError::Read),
            Disaster::FilesLimited => {
                limit_files(process.id(), Some(0));
                Undo::Limit
            }
            Disaster::FileSpoiled => Undo::Spoiled(SpoiledFile::spoil(database)),
            Disaster::FileReplaced => {
                let moved = MovedFile::move_away(database);
                moved.replace_by_copy();
                Undo::Moved(moved)
            }
            _ => Undo::Moved(MovedFile::move_away(database)),
        }
    }

    fn end_outage(&self, undo: Undo, process: &mut ProxyProcess) {
        match undo {
            Undo::Disk => self.machine.set_disk(None),
            Undo::Limit if process.exit_status().is_none() => limit_files(process.id(), None),
            Undo::Limit => {}
            Undo::Moved(file) => file.put_back(),
            Undo::Spoiled(file) => file.repair(),
        }
    }

    async fn run_clock(&mut self, ahead: i32, process: &mut ProxyProcess, in_the_middle: bool) {
        self.clock_is_wrong.store(true, Ordering::Relaxed);
        self.machine
            .set_clock(SignedDuration::from_secs(i64::from(ahead)));
        pause(self.random.up_to(2 * LASTS)).await;
        if in_the_middle {
            self.kill_running(process);
        }
        self.machine.set_clock(SignedDuration::ZERO);
        pause(AFTERWARDS).await;
        self.clock_is_wrong.store(false, Ordering::Relaxed);
    }

    /// The proxy follows the gateway's clock forward, and back.
    async fn run_gateway_clock(&mut self) {
        for ahead in [HOUR, 0] {
            self.sandbox.set_clock(ahead).await;
            let accepted = async {
                while !self.accepts_calls(ahead).await {
                    pause(POLL_EVERY).await;
                }
            };
            let accepted = tokio::time::timeout(CALLED, accepted).await;
            let tail = self.supervisor.log_tail();
            assert!(
                accepted.is_ok(),
                "no call is accepted by a clock {ahead} s ahead:\n{tail}"
            );
        }
    }

    /// Returns `true` if the newest call that succeeded was signed by this clock of the gateway.
    async fn accepts_calls(&self, ahead: i32) -> bool {
        let calls = self.sandbox.calls().await;
        let newest = calls.iter().find(|call| call["status"] == 200);
        let distance = newest.and_then(|call| {
            let nonce: i64 = call["nonce"].as_str()?.parse().ok()?;
            let at: jiff::Timestamp = call["at"].as_str()?.parse().ok()?;
            Some(nonce - at.as_second() - i64::from(ahead))
        });
        distance.is_some_and(|distance| distance.abs() < i64::from(HOUR) / 2)
    }

    /// The pause is cut short: readiness says so, and after five minutes by the proxy's clock a call ends it.
    async fn run_excessive_pause(&mut self) {
        const CENTURY: u64 = 3_155_760_000;
        const CUT_SHORT: SignedDuration = SignedDuration::from_secs(305);
        let log_begin = self.supervisor.log_length();
        let excessive = json!({"endpoint": "any", "kind": "status", "status": 429, "retry_after": CENTURY,
            // A response to a request that was on its way ends the pause.
            "times": 20});
        self.sandbox.inject_fault(excessive).await;
        let report = self
            .ready_with(503, CALLED, Disaster::ExcessiveRetryAfter)
            .await;
        assert_eq!(report["gateway"]["pause_excessive"], true, "{report}");
        self.sandbox.clear_faults().await;
        pause(self.random.up_to(LASTS)).await;
        self.clock_is_wrong.store(true, Ordering::Relaxed);
        self.machine.set_clock(CUT_SHORT);
        self.ready_with(200, TRIED, Disaster::ExcessiveRetryAfter)
            .await;
        self.machine.set_clock(SignedDuration::ZERO);
        pause(AFTERWARDS).await;
        self.clock_is_wrong.store(false, Ordering::Relaxed);
        let lines = self.supervisor.log_after(log_begin);
        let is_reported =
            |line: &String| line.contains("asks for a pause that would stop payments");
        assert!(lines.iter().any(is_reported), "{lines:#?}");
    }

    /// A second process waits for the database. It is killed, or takes over when the first one is.
    async fn run_second_process(&mut self, process: &mut ProxyProcess, takes_over: bool) {
        let second = Supervisor {
            public: self.first_start.public,
            admin: self.first_start.admin,
            ..self.supervisor.clone()
        };
        let mut waiting = second.start();
        pause(self.random.up_to(2 * LASTS)).await;
        let status = waiting.exit_status();
        assert_eq!(status, None, "{}", second.log_tail());
        let health = format!("http://{}/health/ready", second.admin);
        let is_ready = self.http.get(health).send().await;
        let is_ready = is_ready.is_ok_and(|response| response.status() == 200);
        assert!(!is_ready, "two processes serve one database");
        if takes_over {
            process.kill();
            second.wait_until_ready(&mut waiting, &self.http).await;
            pause(self.random.up_to(RUN)).await;
        }
        waiting.kill();
        if takes_over {
            *process = self.supervisor.start();
            self.supervisor.wait_until_ready(process, &self.http).await;
        }
    }

    /// Waits until readiness has this status; returns its report.
    async fn ready_with(&self, status: u16, bound: Duration, disaster: Disaster) -> Value {
        let url = format!("http://{}/health/ready", self.supervisor.admin);
        let found = async {
            loop {
                if let Ok(response) = self.http.get(&url).send().await
                    && response.status().as_u16() == status
                    && let Ok(report) = response.json::<Value>().await
                {
                    return report;
                }
                pause(POLL_EVERY).await;
            }
        };
        let found = tokio::time::timeout(bound, found).await.ok();
        found.unwrap_or_else(|| {
            let tail = self.supervisor.log_tail();
            panic!("{disaster:?}: readiness is not {status} within {bound:?}:\n{tail}")
        })
    }
}
