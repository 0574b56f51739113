//! When and how a proxy or the primary of its database is killed.

use std::fs;
use std::time::Duration;

use florin_servers::PostgresServer;
use tokio::sync::broadcast::Receiver;

use super::real_gateway::Killed;
use super::shard::{READY, Shard};
use crate::random::SeededRandom;
use crate::tcp_proxy::{Passed, Route};
use crate::wait::pause;

#[derive(Clone, Copy, Debug)]
enum KillPlan {
    DuringStart,
    AnyTime,
    OnTraffic(&'static Target),
    DuringShutdown,
    /// After SIGSTOP and SIGCONT: longer than a transaction may take.
    AfterFreeze,
    /// After some time without the gateway.
    AfterCutOff,
    Primary,
    PrimaryAndProxy,
}

#[derive(Debug)]
struct Target {
    route: Route,
    request: &'static str,
    is_response: bool,
}

const TARGETS: [Target; 14] = [
    request(Route::Gateway, "POST /api/invoice"),
    response(Route::Gateway, "POST /api/invoice"),
    request(Route::Gateway, "POST /api/checkout"),
    request(Route::Gateway, "GET /api/invoice"),
    response(Route::Gateway, "GET /api/invoice"),
    request(Route::Gateway, "GET /api/prices"),
    request(Route::Shop, "POST /florin"),
    response(Route::Shop, "POST /florin"),
    request(Route::Proxy, "POST /v1/orders"),
    response(Route::Proxy, "POST /v1/orders"),
    request(Route::Proxy, "POST /v1/checkout"),
    request(Route::Proxy, "POST /v1/checkout/attempt"),
    response(Route::Proxy, "POST /v1/checkout/attempt"),
    request(Route::Proxy, "POST /callbacks"),
];

const fn request(route: Route, request: &'static str) -> Target {
    Target {
        route,
        request,
        is_response: false,
    }
}

const fn response(route: Route, to: &'static str) -> Target {
    Target {
        is_response: true,
        ..request(route, to)
    }
}

pub(super) const RUN: Duration = Duration::from_millis(300);
/// Time for a start and some looks at the chains.
const GATEWAY_RUN: Duration = Duration::from_secs(4);
/// Longer than a start takes on an idle machine.
const START: Duration = Duration::from_millis(150);
/// About as long as an orderly shutdown takes.
const SHUTDOWN: Duration = Duration::from_millis(40);
const FROZEN: Duration = Duration::from_millis(1500);
const CUT_OFF: Duration = Duration::from_millis(400);
const AWAY: Duration = Duration::from_millis(600);
/// Some looks of the gateway.
const NODE_AWAY: Duration = Duration::from_secs(5);
/// From the first byte of a database to its last table.
const MIGRATION: Duration = Duration::from_millis(30);
const TARGET_TIMEOUT: Duration = Duration::from_millis(700);
/// Longest pause between a target and the kill: what is written to a disk takes its time.
const MAX_DELAY: Duration = Duration::from_millis(8);

const GATEWAY: (Killed, &str, Duration) = (Killed::Gateway, "of the gateway", AWAY);
const ON_CHAIN: [(Killed, &str, Duration); 6] = [
    GATEWAY,
    (Killed::Ethereum, "of Ethereum's node", NODE_AWAY),
    (Killed::Litecoin, "of Litecoin's node", NODE_AWAY),
    GATEWAY,
    GATEWAY,
    GATEWAY,
];

pub(super) const KILLS: &str = "kills";
pub(super) const TARGETED: &str = "kills at a request";

impl KillPlan {
    fn choose(random: &SeededRandom, has_server: bool) -> Self {
        let target = random.below(TARGETS.len() as u64);
        let target = &TARGETS[usize::try_from(target).expect("below the length")];
        let of_server = |weight| if has_server { weight } else { 0 };
        random.weigh(&[
            (14, Self::DuringStart),
            (20, Self::AnyTime),
            (50, Self::OnTraffic(target)),
            (9, Self::DuringShutdown),
            (4, Self::AfterFreeze),
            (3, Self::AfterCutOff),
            (of_server(13), Self::Primary),
            (of_server(6), Self::PrimaryAndProxy),
        ])
    }
}

impl Shard {
    pub(super) async fn kill(&mut self) -> u64 {
        let plan = KillPlan::choose(&self.random, self.server.is_some());
        let at = self.any_replica();
        self.restart_exited().await;
        let killed = match plan {
            KillPlan::Primary => return self.kill_primary(None).await,
            KillPlan::PrimaryAndProxy => return self.kill_primary(Some(at)).await,
            KillPlan::OnTraffic(target) => self.kill_on_traffic(target, at).await,
            other => {
                let what = self.run_plan(other, at).await;
                self.kill_replica(at, KILLS, what).await
            }
        };
        self.replicas[at].start();
        killed
    }

    /// Kills the gateway or one of its nodes: the one that is due.
    pub(super) async fn kill_on_chain(&mut self, number: usize) -> u64 {
        self.wait_up_to(GATEWAY_RUN).await;
        let (killed, what, away) = ON_CHAIN[number % ON_CHAIN.len()];
        let away = self.random.up_to(away);
        let real = self.real.as_mut().expect("it is on real chains");
        real.kill(killed, away).await;
        self.counters.one(KILLS, what);
        1
    }

    /// Runs a plan for one proxy up to the kill; returns the name of its counter.
    async fn run_plan(&mut self, plan: KillPlan, at: usize) -> &'static str {
        if matches!(plan, KillPlan::DuringStart) {
            self.replicas[at].kill();
            self.replicas[at].start();
            self.wait_up_to(START).await;
            return "during start";
        }
        self.wait_until_ready(at).await;
        self.wait_up_to(RUN).await;
        match plan {
            KillPlan::DuringShutdown => {
                self.replicas[at].signal("TERM");
                self.wait_up_to(SHUTDOWN).await;
                "during shutdown"
            }
            KillPlan::AfterFreeze => {
                self.replicas[at].signal("STOP");
                self.wait_up_to(FROZEN).await;
                self.replicas[at].signal("CONT");
                self.wait_up_to(RUN).await;
                "after it was suspended"
            }
            KillPlan::AfterCutOff => {
                self.gateway_link.cut().await;
                self.wait_up_to(CUT_OFF).await;
                self.gateway_link.restore().await;
                self.wait_up_to(RUN).await;
                "after it was cut off from the gateway"
            }
            _ => "at any time",
        }
    }

    async fn kill_on_traffic(&mut self, target: &Target, at: usize) -> u64 {
        self.wait_until_ready(at).await;
        let (traffic, public) = (self.traffic.subscribe(), self.replicas[at].public);
        // All proxies call the gateway and the shop at one address.
        let is_near = |passed: &Passed| passed.route != Route::Proxy || passed.there == public;
        if !target.is_met(traffic, is_near).await {
            return self.kill_replica(at, KILLS, "at any time").await;
        }
        if self.random.percent(60) {
            self.wait_up_to(MAX_DELAY).await;
        }
        self.kill_replica(at, TARGETED, &target.name()).await
    }

    async fn kill_primary(&mut self, and_proxy: Option<usize>) -> u64 {
        self.wait_up_to(RUN).await;
        let stopped = self.call_server(PostgresServer::stop_at_once);
        stopped.expect("the primary runs");
        self.counters.one(KILLS, "of the primary");
        let mut killed = 1;
        if let Some(at) = and_proxy {
            self.wait_up_to(AWAY / 2).await;
            let what = "while the primary was away";
            killed += self.kill_replica(at, KILLS, what).await;
        }
        self.wait_up_to(AWAY).await;
        // Customers, store and gateway continue meanwhile.
        let recovered = self.call_server(PostgresServer::start_again);
        recovered.expect("the primary recovers");
        self.restart_exited().await;
        killed
    }

    /// Kills a proxy that creates its first database, and checks that the next start completes it. It has no customers.
    pub(super) async fn kill_during_first_start(&mut self) -> u64 {
        let database = self.folder.file("first.db");
        for ending in ["", "-wal", "-shm"] {
            let _ = fs::remove_file(format!("{}{ending}", database.display()));
        }
        let mut first = self.spare(&database);
        first.start();
        let is_created = async {
            while !database.exists() {
                pause(Duration::from_micros(500)).await;
            }
        };
        let is_created = tokio::time::timeout(READY, is_created).await;
        assert!(is_created.is_ok(), "no database:\n{}", first.log_tail());
        self.wait_up_to(MIGRATION).await;
        first.kill();
        self.counters.one(KILLS, "during the first migration");
        first.start();
        self.wait_for_spare(&first).await;
        first.stop().await;
        1
    }

    pub(super) async fn wait_up_to(&self, longest: Duration) {
        pause(self.random.up_to(longest)).await;
    }
}

impl Target {
    fn name(&self) -> String {
        let of = if self.is_response {
            "the response to "
        } else {
            ""
        };
        format!("{of}{}", self.request)
    }

    /// Waits until it passes; returns `false` if it does not. `is_near` selects what passes one of several processes.
    async fn is_met(
        &self,
        mut traffic: Receiver<Passed>,
        is_near: impl Fn(&Passed) -> bool,
    ) -> bool {
        let met = async {
            while let Ok(passed) = traffic.recv().await {
                if self.is(&passed) && is_near(&passed) {
                    return true;
                }
            }
            false
        };
        tokio::time::timeout(TARGET_TIMEOUT, met).await == Ok(true)
    }

    fn is(&self, passed: &Passed) -> bool {
        let is_request = passed.request == self.request
            // The rest of that path is a secret.
            || self.request == "POST /callbacks" && passed.request.starts_with(self.request);
        is_request && passed.route == self.route && passed.is_response == self.is_response
    }
}
