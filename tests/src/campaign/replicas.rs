//! The kill campaign of several proxies on one PostgreSQL: customers buy through any of them, a store follows its list of
//! events, and proxies and the primary are killed. The machine of one proxy and its way to the database fail, too.

mod cluster;
mod disasters;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use florin_proxy::clock::{Clock as _, SystemClock};

use self::cluster::Cluster;
pub use self::cluster::Options;
pub use self::disasters::KILLS as DISASTERS;
use super::counters::Counters;
use super::event_reader::EVENT_LOG;
use super::kill_plan::{TARGETS, Target};
use super::random::SeededRandom;
use super::traffic_log::Link;
use super::verdict::{Auditor, Verdict};
use crate::wait::pause;

/// What is killed next, and when.
#[derive(Clone, Copy, Debug)]
enum Plan {
    Proxy,
    ProxyDuringStart,
    ProxyOnTraffic(&'static Target),
    ProxyDuringShutdown,
    /// Suspended by SIGSTOP longer than a transaction may take its time, resumed, and killed then.
    ProxyAfterFreeze,
    Primary,
    /// The primary is lost, and a proxy while it is away.
    PrimaryAndProxy,
}

/// One run in this many is a disaster.
const DISASTER_EVERY: u64 = 10;
/// Longest pause before a kill at any time.
const RUN: Duration = Duration::from_millis(250);
/// Longer than a start takes on an idle machine.
const START: Duration = Duration::from_millis(150);
/// About as long as an orderly shutdown takes.
const SHUTDOWN: Duration = Duration::from_millis(40);
const FROZEN: Duration = Duration::from_millis(1500);
/// Longest time without a primary.
const AWAY: Duration = Duration::from_millis(600);

/// Result of a campaign.
#[derive(Debug)]
pub struct Campaign {
    /// Counts of what happened.
    pub counters: Arc<Counters>,
    cluster: Cluster,
}

/// Runs a campaign to its end. `progress` is called with the number of kills so far.
///
/// # Panics
/// A proxy exits by itself, does not start, or does not shut down in order; or the primary does not start again.
pub async fn run(options: &Options, progress: impl Fn(u64)) -> Campaign {
    let mut cluster = Cluster::open(options).await;
    cluster.start_load();
    let began = SystemClock.now();
    let is_time_left = || SystemClock.now().duration_since(began).unsigned_abs() < options.longest;
    let (mut killed, mut runs) = (0, 0);
    while killed < options.kills && is_time_left() {
        runs += 1;
        killed += if runs % DISASTER_EVERY == 0 {
            cluster.kill_in_disaster().await
        } else {
            cluster.kill().await
        };
        progress(killed);
    }
    let seconds = SystemClock.now().duration_since(began).unsigned_abs();
    cluster.counters.add("seconds of kills", seconds.as_secs());
    cluster.end().await;
    Campaign {
        counters: cluster.counters.clone(),
        cluster,
    }
}

impl Campaign {
    /// Audits the evidence.
    pub fn audit(&self, auditor: &Auditor) -> Verdict {
        auditor.audit_server(self.cluster.folder.path(), &self.cluster.database_url)
    }

    /// Keeps the evidence, with a dump of the database; returns its folder.
    pub fn keep(self) -> String {
        self.cluster.keep()
    }

    /// Audits the evidence with a copy of the database in which statements were run without triggers.
    ///
    /// # Panics
    /// A statement fails.
    pub fn audit_corrupted(&self, auditor: &Auditor, name: &str, statements: &str) -> Verdict {
        let url = self.cluster.corrupted_copy(name, statements);
        auditor.audit_server(self.cluster.folder.path(), &url)
    }

    /// The log of the store that followed its list of events.
    pub fn event_log(&self) -> PathBuf {
        self.cluster.folder.file(EVENT_LOG)
    }
}

/// A place in a short list.
fn any_of(random: &mut SeededRandom, length: usize) -> usize {
    usize::try_from(random.below(length as u64)).expect("the list is short")
}

impl Plan {
    fn choose(random: &mut SeededRandom) -> Self {
        let at = any_of(random, TARGETS.len());
        random.pick(&[
            (22, Self::Proxy),
            (12, Self::ProxyDuringStart),
            (40, Self::ProxyOnTraffic(&TARGETS[at])),
            (7, Self::ProxyDuringShutdown),
            (3, Self::ProxyAfterFreeze),
            (11, Self::Primary),
            (5, Self::PrimaryAndProxy),
        ])
    }
}

impl Cluster {
    /// Kills by a random plan. Returns how many processes were killed.
    async fn kill(&mut self) -> u64 {
        let plan = Plan::choose(&mut self.random);
        let at = any_of(&mut self.random, self.replicas.len());
        self.restart_exited().await;
        let what = match plan {
            Plan::Primary | Plan::PrimaryAndProxy => {
                self.wait_up_to(RUN).await;
                self.primary().stop_at_once().expect("the primary runs");
                self.counters.count("kills of the primary");
                let mut killed = 1;
                if matches!(plan, Plan::PrimaryAndProxy) {
                    self.wait_up_to(AWAY / 2).await;
                    killed += self.kill_replica(at, "kills while the primary was away");
                }
                self.wait_up_to(AWAY).await;
                // It waits until the primary has recovered; customers, stores and gateway go on meanwhile.
                self.start_primary().await;
                self.restart_exited().await;
                return killed;
            }
            Plan::Proxy => {
                self.wait_up_to(RUN).await;
                "kills at any time"
            }
            Plan::ProxyDuringStart => {
                self.kill_replica(at, "");
                self.replicas[at].start();
                self.wait_up_to(START).await;
                "kills during start"
            }
            Plan::ProxyOnTraffic(target) => self.wait_for(target, at).await,
            Plan::ProxyDuringShutdown => {
                self.wait_up_to(RUN).await;
                self.replicas[at].signal("TERM");
                self.wait_up_to(SHUTDOWN).await;
                "kills during shutdown"
            }
            Plan::ProxyAfterFreeze => {
                self.replicas[at].signal("STOP");
                self.wait_up_to(FROZEN).await;
                self.replicas[at].signal("CONT");
                self.wait_up_to(RUN).await;
                "kills after it was suspended"
            }
        };
        let killed = self.kill_replica(at, what);
        self.replicas[at].start();
        killed
    }

    async fn wait_for(&mut self, target: &'static Target, at: usize) -> &'static str {
        let (traffic, public) = (self.traffic.subscribe(), self.replicas[at].public());
        // All proxies call the gateway and the shop at one address.
        let has_passed = target.wait(traffic, &mut self.random, |passed| {
            passed.link != Link::Proxy || [passed.here, passed.there].contains(&public)
        });
        if has_passed.await {
            target.name
        } else {
            "kills at any time"
        }
    }

    /// Kills a replica; returns 1 unless it had exited, or the plan does not count it.
    fn kill_replica(&mut self, at: usize, what: &'static str) -> u64 {
        let was_running = self.replicas[at].kill();
        if was_running && !what.is_empty() {
            self.counters.count(what);
            return 1;
        }
        0
    }

    async fn wait_up_to(&mut self, longest: Duration) {
        pause(self.random.up_to(longest)).await;
    }
}
