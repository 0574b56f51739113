//! A campaign against a proxy that is killed again and again (`kill -9`), while customers buy, chains move, callbacks
//! fly and a shop is told. The proxy is the real program, with its database on a disk; everything between it and the
//! others is HTTP over wires that are listened to, so that it can be killed at the worst moments.
//!
//! What comes of it is not judged here: the evidence, three files a lane, goes to `florin-auditor`, which shares no code
//! with what it judges.
//!
//! Customers, blows, faults and moods follow from the seed. When exactly a blow meets the proxy does not: the operating
//! system has its say in that. So a seed repeats what is tried, not each outcome.

mod background_load;
mod counters;
mod customer;
mod drain;
mod hosted_page;
mod kill_once;
mod kill_plan;
mod proxy_process;
mod purchases;
mod random;
mod request;
mod shard;
mod shop;
mod supervisor;
mod traffic_log;
mod verdict;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use jiff::Timestamp;
use proxy::clock::{Clock as _, SystemClock};
use tokio::task::JoinSet;

pub use self::counters::Tally;
use self::shard::Lane;
pub use self::verdict::{Auditor, Verdict};
use crate::folder::Folder;

/// What a campaign is to be.
#[derive(Clone, Debug)]
pub struct Options {
    /// Kills in all.
    pub kills: u64,
    /// Proxies that are killed side by side, each with a world of its own.
    pub lanes: u64,
    /// Where all chance comes from.
    pub seed: u64,
    /// `florin-proxy`
    pub proxy: PathBuf,
}

/// What came of it.
#[derive(Debug)]
pub struct Campaign {
    /// What happened.
    pub tally: Arc<Tally>,
    /// A folder of evidence for each lane.
    pub evidence: Vec<Folder>,
}

impl Campaign {
    /// What the auditor says of each lane.
    pub fn judged_by(&self, auditor: &Auditor) -> Vec<Verdict> {
        let folders = self.evidence.iter();
        folders
            .map(|folder| auditor.judges(folder.path()))
            .collect()
    }

    /// Leaves the evidence where it is, and says where.
    pub fn keep(self) -> String {
        let kept = self
            .evidence
            .into_iter()
            .map(|folder| folder.keep().display().to_string());
        kept.collect::<Vec<_>>().join(" ")
    }
}

/// Runs a campaign to its end. `progress` is told now and then how many kills there were.
///
/// # Panics
/// When the proxy ends by itself, does not start any more, or does not end in order: these need no auditor.
pub async fn run(config: &Options, progress: impl Fn(u64) + Send + Sync + 'static) -> Campaign {
    let tally = Arc::new(Tally::default());
    let killed = Arc::new(AtomicU64::new(0));
    let progress = Arc::new(progress);
    let mut lanes = JoinSet::new();
    for number in 0..config.lanes {
        let share = config.kills / config.lanes + u64::from(number < config.kills % config.lanes);
        let (config, tally) = (config.clone(), tally.clone());
        let (killed, progress) = (killed.clone(), progress.clone());
        lanes.spawn(async move {
            let lane = Lane::open(number, &config, tally).await;
            let done = move || progress(killed.fetch_add(1, Ordering::Relaxed) + 1);
            goes(lane, share, done).await
        });
    }
    let mut evidence = Vec::new();
    while let Some(ended) = lanes.join_next().await {
        match ended {
            Ok(folder) => evidence.push(folder),
            Err(panic) => std::panic::resume_unwind(panic.into_panic()),
        }
    }
    Campaign { tally, evidence }
}

/// One kill in so many meets a proxy that makes its first database.
const FIRST_STARTS: u64 = 20;

async fn goes(mut lane: Lane, kills: u64, done: impl Fn()) -> Folder {
    lane.begins();
    let began = SystemClock.now();
    let mut killed = 0;
    while killed < kills {
        let was_killed = if killed % FIRST_STARTS == FIRST_STARTS - 1 {
            lane.strikes_a_first_start().await
        } else {
            lane.strikes().await
        };
        if was_killed {
            killed += 1;
            done();
        }
    }
    let mut survivor = lane.post.starts();
    lane.post.is_up(&mut survivor, &lane.http).await;
    let calm = SystemClock.now();
    lane.serves_the_last().await;
    lane.calms_down().await;
    drain::settles(&lane).await;
    let code = survivor.ends_in_order().await;
    assert_eq!(
        code,
        Some(0),
        "the proxy does not end in order:\n{}",
        lane.post.last_words()
    );
    let seconds = |from: Timestamp, to: Timestamp| to.duration_since(from).unsigned_abs().as_secs();
    lane.tally
        .add("seconds of blows, all lanes together", seconds(began, calm));
    lane.tally.add(
        "seconds of quiet, all lanes together",
        seconds(calm, SystemClock.now()),
    );
    lane.close().await
}
