//! The kill campaign: proxies are killed many times (`kill -9`) while customers buy, blocks are mined, callbacks arrive and
//! webhooks are delivered: one proxy on a file of SQLite, or several on one PostgreSQL, whose primary is killed too. A proxy
//! is the released program on a real disk. All its HTTP traffic is reported as it passes, so that a kill can be timed to
//! the most critical requests. Beside the kills of several proxies come the disasters of [`disasters`]; those of a file, a disk or a
//! clock are the simulation's and `tests/api/disasters.rs`'s.
//!
//! The result is not judged here: what each shard leaves, its database and logs, is read by `florin-invariants`, which
//! shares no code with what it audits.
//!
//! Customers, kill plans, faults and the shop's replies follow from the seed. The exact moment of a kill depends on the
//! operating system as well, so that a seed repeats what is tried and not each outcome.

mod customer;
mod disasters;
mod drain;
mod kills;
mod real_gateway;
mod replica;
mod shard;
mod shop;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use florin_invariants::{Finding, Sources, audit};
use florin_proxy::clock::{Clock as _, SystemClock};
use florin_servers::PostgresServer;
use futures_util::future::join_all;

use self::kills::{KILLS, TARGETED};
pub use self::shard::Options;
use self::shard::Shard;
use crate::counters::Counters;
use crate::program::Folder;
use crate::world::secrets;

#[derive(Debug)]
pub struct Campaign {
    pub counters: Arc<Counters>,
    remains: Vec<Remains>,
    has_real_chains: bool,
}

/// Rules that find something to check in every campaign: in the database, the gateway's log, the shop's log, the list of events,
/// and the bytes of files. `crates/invariants` breaks each rule.
const OF_EACH_SOURCE: [&str; 5] = [
    "payment-is-credited",
    "requested-once",
    "event-is-accepted",
    "event-list-is-complete",
    "no-token-in-clear",
];

/// One run in this many hits a proxy that creates its first database of SQLite.
const FIRST_STARTS: usize = 20;
/// One run in this many is a disaster, where a server has several proxies.
const DISASTER_EVERY: usize = 8;

/// Runs a campaign to its end. `progress` is called with the number of kills so far.
pub async fn run(options: &Options, progress: impl Fn(u64)) -> Campaign {
    let counters = Arc::new(Counters::default());
    let killed = AtomicU64::new(0);
    let done = |kills| {
        progress(killed.fetch_add(kills, Ordering::Relaxed) + kills);
    };
    let count = options.replicas.map_or(options.shards, |_| 1);
    let longest = Duration::from_mins(options.minutes);
    let shards = (0..count).map(|number| {
        let (counters, done) = (counters.clone(), &done);
        let kills = options.kills / count + u64::from(number < options.kills % count);
        async move {
            let shard = Shard::open(number, options, counters).await;
            run_shard(shard, kills, longest, done).await
        }
    });
    let remains = join_all(shards).await;
    Campaign {
        counters,
        remains,
        has_real_chains: options.gateway.is_some(),
    }
}

async fn run_shard(mut shard: Shard, kills: u64, longest: Duration, done: impl Fn(u64)) -> Remains {
    shard.start().await;
    let began = SystemClock.now();
    let seconds = || SystemClock.now().duration_since(began).unsigned_abs();
    let (mut killed, mut runs) = (0, 0);
    while killed < kills && seconds() < longest {
        runs += 1;
        let has_server = shard.server.is_some();
        let now_killed = if shard.real.is_some() && runs % 2 == 1 {
            shard.kill_on_chain(runs / 2).await
        } else if runs % FIRST_STARTS == 0 && !has_server {
            shard.kill_during_first_start().await
        } else if runs % DISASTER_EVERY == 0 && has_server {
            shard.kill_in_disaster().await
        } else {
            shard.kill().await
        };
        killed += now_killed;
        done(now_killed);
    }
    shard
        .counters
        .add("seconds", "of kills", seconds().as_secs());
    shard.end().await
}

impl Campaign {
    pub fn kills(&self) -> u64 {
        self.counters.total(KILLS) + self.targeted_kills()
    }

    pub fn targeted_kills(&self) -> u64 {
        self.counters.total(TARGETED)
    }

    /// Audits what each shard leaves, and prints what was found. Returns `true` if every rule holds and each source was read.
    pub async fn audit(&self) -> bool {
        let mut hold = true;
        for (number, remains) in self.remains.iter().enumerate() {
            println!("Shard {} of {}", number + 1, self.remains.len());
            for contradiction in &remains.contradictions {
                println!("BAD the chain contradicts the gateway: {contradiction}");
                hold = false;
            }
            for finding in remains.audit().await {
                println!("{finding}");
                let is_read = finding.checked > 0 || !OF_EACH_SOURCE.contains(&finding.name);
                hold &= finding.holds() && is_read;
            }
        }
        hold
    }

    pub fn missing(&self) -> Vec<String> {
        let of_server = self.remains.iter().any(|shard| shard.server.is_some());
        let disasters = disasters::DISASTERS.iter().filter(|_| of_server);
        if self.has_real_chains {
            return [
                self.counters.missing(
                    KILLS,
                    ["of the gateway", "of Ethereum's node", "of Litecoin's node"],
                ),
                self.counters
                    .missing("customers", ["Exactly", "InTwoParts", "saw it paid"]),
                self.counters.missing("deliveries", shop::MUST_HAPPEN),
            ]
            .concat();
        }
        let kills: &[&str] = if of_server {
            &["at any time", "of the primary"]
        } else {
            &[
                "at any time",
                "during start",
                "during shutdown",
                "during the first migration",
            ]
        };
        [
            self.counters.missing("disasters", disasters.copied()),
            self.counters.missing(KILLS, kills.iter().copied()),
            self.counters.missing("customers", customer::MUST_HAPPEN),
            self.counters.missing("deliveries", shop::MUST_HAPPEN),
            self.counters
                .missing("store", ["events read from the list"]),
        ]
        .concat()
    }

    pub fn keep(self) -> String {
        let kept: Vec<String> = self.remains.into_iter().map(Remains::keep).collect();
        kept.join(" ")
    }
}

/// The file of a proxy without a server.
const DATABASE: &str = "florin.db";
const SANDBOX_LOG: &str = "sandbox.jsonl";
const SHOP_LOG: &str = "shop.jsonl";
const EVENT_LOG: &str = "events.jsonl";

#[derive(Debug)]
struct Remains {
    /// Its logs, and the database if that is a file.
    folder: Folder,
    server: Option<PostgresServer>,
    /// What the chain contradicts in the gateway's database.
    contradictions: Vec<String>,
}

impl Remains {
    async fn audit(&self) -> Vec<Finding> {
        let database = match &self.server {
            Some(server) => server.url(shard::DATABASE_ON_SERVER),
            None => self.folder.file(DATABASE).display().to_string(),
        };
        let sources = Sources {
            database,
            sandbox_log: self.folder.file(SANDBOX_LOG),
            shop_log: self.folder.file(SHOP_LOG),
            event_log: Some(self.folder.file(EVENT_LOG)),
            webhook_secret: secrets::WEBHOOK.to_owned(),
        };
        let found = audit(&sources).await;
        found.unwrap_or_else(|error| panic!("evidence is missing: {error:#}"))
    }

    fn keep(self) -> String {
        let dump = self.folder.file("florin.dump");
        let dumped = self
            .server
            .map(|server| server.dump(shard::DATABASE_ON_SERVER, &dump));
        let folder = self.folder.keep().display().to_string();
        match dumped {
            Some(Err(error)) => format!("{folder} (without a dump: {error})"),
            _ => folder,
        }
    }
}
