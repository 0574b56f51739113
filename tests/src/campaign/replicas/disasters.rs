//! Disasters of several proxies: the primary is lost and its synchronous standby takes over, the network between one proxy and
//! the database fails, the clock of one proxy is wrong, the gateway asks for a pause.

use std::time::Duration;

use jiff::SignedDuration;
use serde_json::json;

use super::cluster::Cluster;
use super::{RUN, any_of};
use crate::wait::{pause, within};

/// A disaster.
#[derive(Clone, Copy, Debug)]
enum Disaster {
    Failover,
    Partition,
    WrongClock,
    RetryAfter,
}

/// They come one after the other.
const DISASTERS: [Disaster; 4] = [
    Disaster::Partition,
    Disaster::RetryAfter,
    Disaster::Failover,
    Disaster::WrongClock,
];
/// The counters of their kills.
pub const KILLS: [&str; 4] = [
    PARTITIONED,
    FAILED_OVER,
    UNDER_A_WRONG_CLOCK,
    WITHIN_A_PAUSE,
];

const PARTITIONED: &str = "kills of a proxy without its way to the database";
const FAILED_OVER: &str = "kills of the primary for ever";
const WITHIN_A_PAUSE: &str = "kills while the gateway asked for a pause";
const UNDER_A_WRONG_CLOCK: &str = "kills of a proxy with a wrong clock";

/// Longest time without a way to the database: longer than a response is awaited.
const CUT_OFF: Duration = Duration::from_secs(7);
/// How far the clock of one proxy is off.
const OFF: SignedDuration = SignedDuration::from_secs(10);
/// Longest time under a wrong clock before the kill. The proxy that is started next has the same clock.
const OFF_FOR: Duration = Duration::from_secs(2);
/// `Retry-After` of the injected 429.
const PAUSE_SECONDS: u64 = 9;
/// By then a proxy has made the call that gets the 429.
const CALLED: Duration = Duration::from_secs(2);
/// By then the pause is stored, and the permits from before are used, on a machine with other work to do.
const STORED: Duration = Duration::from_millis(4500);

impl Cluster {
    /// Brings the next disaster. Returns how many processes were killed.
    pub(super) async fn kill_in_disaster(&mut self) -> u64 {
        let disaster = DISASTERS[self.disasters % DISASTERS.len()];
        self.disasters += 1;
        self.restart_exited().await;
        match disaster {
            Disaster::Failover => self.fail_over().await,
            Disaster::Partition => self.partition().await,
            Disaster::WrongClock => self.change_a_clock().await,
            Disaster::RetryAfter => self.kill_within_a_pause().await,
        }
    }

    /// A standby follows, each commit waits for it, and it takes the place of the primary, which is lost with its disk.
    async fn fail_over(&mut self) -> u64 {
        let standby = self.start_standby().await;
        self.wait_up_to(RUN).await;
        self.primary().stop_at_once().expect("the primary runs");
        self.counters.count(FAILED_OVER);
        self.wait_up_to(RUN).await;
        self.take_over(standby).await;
        self.restart_exited().await;
        1
    }

    /// The connections of one proxy to the database are closed, or receive nothing more; it is killed then, or when it has its
    /// way again.
    async fn partition(&mut self) -> u64 {
        let at = any_of(&mut self.random, self.replicas.len());
        self.replicas[at].cut_off(self.random.below(3)).await;
        self.wait_up_to(CUT_OFF).await;
        let in_the_middle = self.random.percent(40);
        if !in_the_middle {
            self.replicas[at].reconnect().await;
            self.wait_up_to(RUN).await;
        }
        let killed = self.kill_replica(at, PARTITIONED);
        if in_the_middle {
            self.replicas[at].reconnect().await;
        }
        self.replicas[at].start();
        killed
    }

    /// The clock of one proxy goes wrong, or is put right. It is wrong until the next time, for all that happens meanwhile.
    async fn change_a_clock(&mut self) -> u64 {
        let at = if let Some(at) = self.wrong_clock.take() {
            self.set_clock(at, SignedDuration::ZERO);
            at
        } else {
            let at = any_of(&mut self.random, self.replicas.len());
            let ahead = if self.random.percent(50) { OFF } else { -OFF };
            self.set_clock(at, ahead);
            self.wrong_clock = Some(at);
            at
        };
        self.wait_up_to(OFF_FOR).await;
        let killed = self.kill_replica(at, UNDER_A_WRONG_CLOCK);
        self.replicas[at].start();
        killed
    }
    /// The gateway answers one call with 429. A proxy is killed while its pause lasts: the others keep it, and the one that is
    /// started then.
    async fn kill_within_a_pause(&mut self) -> u64 {
        // Others would be taken before it.
        self.sandbox.clear_faults().await;
        let too_many_requests = json!({"endpoint": "any", "kind": "status", "status": 429, "retry_after": PAUSE_SECONDS});
        self.sandbox.inject_fault(too_many_requests).await;
        let called = within(CALLED, async || {
            (self.sandbox.waiting_faults().await == 0).then_some(())
        });
        let is_paused = called.await.is_some();
        if !is_paused {
            // Later its proxy could be killed before it has stored the pause.
            self.sandbox.clear_faults().await;
        }
        pause(STORED).await;
        let at = any_of(&mut self.random, self.replicas.len());
        let what = if is_paused { WITHIN_A_PAUSE } else { "" };
        let killed = self.kill_replica(at, what);
        self.replicas[at].start();
        killed
    }
}
