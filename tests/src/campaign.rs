//! The kill campaign: the proxy is killed many times (`kill -9`) while customers buy, blocks are mined, callbacks
//! arrive and webhooks are delivered. The proxy is the released program with its database on a disk. All its HTTP
//! traffic goes through loggers, so that a kill can be timed to the most critical requests. Beside the kills come the
//! disasters of [`disaster`]: the disk, the database's file, the clocks, a
//! second process, a restored backup.
//!
//! The result is not judged here: the evidence, the database and logs of each shard, goes to `florin-auditor`, which shares no code
//! with what it audits.
//!
//! Customers, kill plans, faults and the shop's replies follow from the seed. The exact moment of a kill depends on the
//! operating system as well, so that a seed repeats what is tried and not each outcome.

mod background_load;
mod counters;
mod customer;
mod disaster;
mod disaster_runs;
mod drain;
mod event_reader;
mod hosted_page;
mod invoice_index;
mod kill_once;
mod kill_plan;
mod lost;
mod proxy_process;
mod random;
pub mod replicas;
mod restore;
mod shard;
mod shop;
mod supervisor;
mod traffic_log;
mod verdict;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use florin_proxy::clock::{Clock as _, SystemClock};
use jiff::Timestamp;
use tokio::task::JoinSet;

pub use self::counters::Counters;
pub use self::disaster::DISASTERS;
use self::drain::{Drain, Source};
use self::shard::{DATABASE, Shard};
pub use self::verdict::{Auditor, Verdict};
use crate::program::Folder;

/// Settings of a campaign.
#[derive(Clone, Debug)]
pub struct Options {
    /// Number of kills, over all shards.
    pub kills: u64,
    /// Proxies that are killed in parallel, each with its own gateway, shop and customers.
    pub shards: u64,
    /// Seed of all random numbers.
    pub seed: u64,
    /// `florin-proxy`
    pub proxy: PathBuf,
}

/// Result of a campaign.
#[derive(Debug)]
pub struct Campaign {
    /// Counts of what happened.
    pub counters: Arc<Counters>,
    /// One folder of evidence per shard.
    pub evidence: Vec<Folder>,
}

impl Campaign {
    /// Audits each shard.
    pub fn audit(&self, auditor: &Auditor) -> Vec<Verdict> {
        let folders = self.evidence.iter();
        folders.map(|folder| auditor.audit(folder.path())).collect()
    }

    /// Keeps the folders of evidence; returns their paths.
    pub fn keep(self) -> String {
        let kept = self
            .evidence
            .into_iter()
            .map(|folder| folder.keep().display().to_string());
        kept.collect::<Vec<_>>().join(" ")
    }
}

/// Runs a campaign to its end. `progress` is called with the number of kills so far.
///
/// # Panics
/// The proxy exits by itself, does not start, or does not shut down in order: these failures need no auditor.
pub async fn run(config: &Options, progress: impl Fn(u64) + Send + Sync + 'static) -> Campaign {
    let counters = Arc::new(Counters::default());
    let killed = Arc::new(AtomicU64::new(0));
    let progress = Arc::new(progress);
    let mut shards = JoinSet::new();
    for number in 0..config.shards {
        let part = config.kills / config.shards + u64::from(number < config.kills % config.shards);
        let (config, counters) = (config.clone(), counters.clone());
        let (killed, progress) = (killed.clone(), progress.clone());
        shards.spawn(async move {
            let shard = Shard::open(number, config.seed, &config.proxy, counters).await;
            let done = move || progress(killed.fetch_add(1, Ordering::Relaxed) + 1);
            run_shard(shard, part, done).await
        });
    }
    let mut evidence = Vec::new();
    while let Some(exit_status) = shards.join_next().await {
        match exit_status {
            Ok(folder) => evidence.push(folder),
            Err(panic) => std::panic::resume_unwind(panic.into_panic()),
        }
    }
    Campaign { counters, evidence }
}

/// One kill in this many hits a proxy that creates its first database.
const FIRST_STARTS: u64 = 20;
/// One kill in this many hits a proxy during a disaster, or after it.
const DISASTER_EVERY: u64 = 8;

async fn run_shard(mut shard: Shard, kills: u64, done: impl Fn()) -> Folder {
    shard.start_load();
    let began = SystemClock.now();
    let mut killed = 0;
    while killed < kills {
        let was_killed = if killed % FIRST_STARTS == FIRST_STARTS - 1 {
            shard.kill_during_first_start().await
        } else if killed % DISASTER_EVERY == DISASTER_EVERY - 1 {
            shard.kill_in_disaster().await
        } else {
            shard.kill_once().await
        };
        if was_killed {
            killed += 1;
            done();
        }
    }
    let mut last = shard.supervisor.start();
    shard
        .supervisor
        .wait_until_ready(&mut last, &shard.http)
        .await;
    let kills_ended = SystemClock.now();
    shard.survive_without_a_restart(&mut last).await;
    shard.run_final_customers().await;
    shard.stop_load().await;
    let drain = Drain {
        sandbox: &shard.sandbox,
        http: &shard.http,
        proxy_url: shard.addresses.proxy_url(),
        invoices: &shard.invoices,
        database: Source::File(shard.folder.file(DATABASE)),
    };
    drain.wait_with_a_pause().await;
    let code = last.stop().await;
    assert_eq!(
        code,
        Some(0),
        "the proxy does not shut down in order:\n{}",
        shard.supervisor.log_tail()
    );
    let seconds = |from: Timestamp, to: Timestamp| to.duration_since(from).unsigned_abs().as_secs();
    shard.counters.add(
        "seconds of kills, all shards together",
        seconds(began, kills_ended),
    );
    shard.counters.add(
        "seconds of draining, all shards together",
        seconds(kills_ended, SystemClock.now()),
    );
    shard.close().await
}
