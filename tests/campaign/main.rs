//! The kill campaign, and the proof that its judge would notice. A test program of its own: it wants the machine for
//! itself while it aims at its moments.
#![expect(
    clippy::unwrap_used,
    reason = "a test may panic; the lint only exempts test functions, not their helpers"
)]

mod corruption;
mod log_lines;

use std::env;
use std::time::{SystemTime, UNIX_EPOCH};

use support::built;
use support::campaign::{self, Auditor, Campaign, Options};

const KILLS: u64 = 500;
const LANES: u64 = 3;
/// A campaign to repeat.
const SEED: &str = "FLORIN_KILL_SEED";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_five_hundred_times_it_loses_nothing_does_nothing_twice_and_would_be_caught() {
    let config = Options {
        kills: KILLS,
        lanes: LANES,
        seed: seed(),
        proxy: built("florin-proxy", "proxy"),
    };
    let auditor = Auditor(built("florin-auditor", "auditor"));
    let seed = config.seed;
    println!("to try the same again: {SEED}={seed} cargo test -p tests --test campaign");
    let campaign = campaign::run(&config, |_| {}).await;
    println!("{}", campaign.tally);
    everything_was_tried(&campaign);
    let verdicts = campaign.judged_by(&auditor);
    for verdict in &verdicts {
        println!("{}", verdict.printed);
    }
    if verdicts.iter().any(|verdict| verdict.code != Some(0)) {
        let kept = campaign.keep();
        panic!("what is broken stands above; the evidence is in {kept}");
    }
    corruption::whatever_is_spoilt_is_noticed(&campaign, &auditor).await;
}

/// A campaign in which nothing happened proves nothing.
fn everything_was_tried(campaign: &Campaign) {
    let tally = &campaign.tally;
    for what in [
        "kills during start",
        "kills at any time",
        "kills while it was ending",
        "kills while the database was made",
        "orders opened by the store's server",
        "orders opened from the catalogue",
        "orders opened by an order token",
        "donations begun",
        "orders paid on the service's page",
        "orders paid exactly",
        "deliveries refused by the shop",
        "times the service closed the connection",
    ] {
        assert!(tally.of(what) > 0, "there were no {what}:\n{tally}");
    }
    assert!(tally.kills() >= KILLS, "there were too few kills:\n{tally}");
    let aimed = tally.aimed_kills();
    assert!(
        aimed > KILLS / 10,
        "only {aimed} kills met the moment that they were aimed at:\n{tally}"
    );
}

#[expect(
    clippy::disallowed_methods,
    reason = "another campaign each time, unless one is to be repeated"
)]
fn seed() -> u64 {
    match env::var(SEED) {
        Ok(text) => text.parse().expect("a seed is a number"),
        Err(_) => SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap()
            .as_secs(),
    }
}
