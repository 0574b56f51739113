//! One run of the proxy, from start to kill.

use std::time::Duration;

use super::kill_plan::KillPlan;
use super::proxy_process::ProxyProcess;
use super::shard::Shard;
use crate::wait::pause;

/// Longest run before an untimed kill.
const RUN: Duration = Duration::from_millis(350);
/// Longer than a start takes on an idle machine.
const START: Duration = Duration::from_millis(120);
/// About as long as an orderly shutdown takes.
const SHUTDOWN: Duration = Duration::from_millis(40);
const FROZEN: Duration = Duration::from_millis(1500);
const CUT_OFF: Duration = Duration::from_millis(400);
/// From the first byte of a database to its last table.
const MIGRATION: Duration = Duration::from_millis(30);

impl Shard {
    /// Starts the proxy and kills it by a random plan. Returns `false` if it shut down before the kill.
    pub(super) async fn kill_once(&mut self) -> bool {
        let plan = KillPlan::choose(&mut self.random);
        let mut process = self.supervisor.start();
        if !matches!(plan, KillPlan::DuringStart) {
            self.supervisor
                .wait_until_ready(&mut process, &self.http)
                .await;
        }
        let what = self.run_plan(plan, &process).await;
        if let Some(status) = process.exit_status() {
            let in_order = matches!(plan, KillPlan::DuringShutdown) && status.success();
            let tail = self.supervisor.log_tail();
            assert!(in_order, "the proxy exited by itself ({status}):\n{tail}");
            self.counters
                .count("shutdowns that were complete before the kill");
            return false;
        }
        process.kill();
        self.counters.count(what);
        true
    }

    /// Runs the plan up to the kill; returns the name of its counter.
    async fn run_plan(&mut self, plan: KillPlan, process: &ProxyProcess) -> &'static str {
        match plan {
            KillPlan::DuringStart => {
                self.wait_up_to(START).await;
                "kills during start"
            }
            KillPlan::AnyTime => {
                self.wait_up_to(RUN).await;
                "kills at any time"
            }
            KillPlan::OnTraffic(target) => {
                let traffic = self.traffic.subscribe();
                let has_passed = target.wait(traffic, &mut self.random, |_| true).await;
                if has_passed {
                    target.name
                } else {
                    "kills at any time"
                }
            }
            KillPlan::DuringShutdown => {
                self.wait_up_to(RUN).await;
                process.signal("TERM");
                self.wait_up_to(SHUTDOWN).await;
                "kills during shutdown"
            }
            KillPlan::AfterFreeze => {
                self.wait_up_to(RUN).await;
                process.signal("STOP");
                self.wait_up_to(FROZEN).await;
                process.signal("CONT");
                self.wait_up_to(RUN).await;
                "kills after it was suspended"
            }
            KillPlan::AfterCutOff => {
                self.gateway_traffic.set_cut(true);
                self.wait_up_to(CUT_OFF).await;
                self.gateway_traffic.set_cut(false);
                self.wait_up_to(RUN).await;
                "kills after it was cut off from the gateway"
            }
        }
    }

    async fn wait_up_to(&mut self, longest: Duration) {
        pause(self.random.up_to(longest)).await;
    }

    /// Kills a proxy during the migration of a new database and checks that the next start completes it. It has no
    /// customers. Returns `false` if it was no longer running.
    pub(super) async fn kill_during_first_start(&mut self) -> bool {
        self.first_start.delete_database();
        let mut process = self.first_start.start();
        self.first_start.wait_for_database().await;
        self.wait_up_to(MIGRATION).await;
        let was_killed = process.kill();
        self.counters.count("kills during the first migration");
        let mut process = self.first_start.start();
        self.first_start
            .wait_until_ready(&mut process, &self.http)
            .await;
        let code = process.stop().await;
        assert_eq!(code, Some(0), "{}", self.first_start.log_tail());
        was_killed
    }
}
