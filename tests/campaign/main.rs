//! The kill campaign, and the proof that the auditor detects corruption. A separate test binary: `cargo xtask test` runs the tests
//! of the libraries beside it, and none that measures or waits for a browser.
#![expect(
    clippy::unwrap_used,
    reason = "a test may panic; the lint only exempts test functions, not their helpers"
)]

mod corruption;
mod log_lines;
mod replicas;

use std::env;
use std::time::{SystemTime, UNIX_EPOCH};

use support::built;
use support::campaign::{self, Auditor, Campaign, Options};

const KILLS: u64 = 500;
const SHARDS: u64 = 3;
/// Repeats the campaign of this seed.
const SEED: &str = "FLORIN_KILL_SEED";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn five_hundred_kills_lose_and_repeat_nothing_and_the_auditor_detects_corruption() {
    let config = Options {
        kills: KILLS,
        shards: SHARDS,
        seed: seed(),
        proxy: built("florin-proxy", "florin-proxy"),
    };
    let auditor = Auditor(built("florin-auditor", "auditor"));
    let seed = config.seed;
    println!("to repeat it: {SEED}={seed} cargo test -p florin-tests --test campaign");
    let campaign = campaign::run(&config, |_| {}).await;
    println!("{}", campaign.counters);
    check_coverage(&campaign);
    let verdicts = campaign.audit(&auditor);
    for verdict in &verdicts {
        println!("{}", verdict.printed);
    }
    if verdicts.iter().any(|verdict| verdict.code != Some(0)) {
        let kept = campaign.keep();
        panic!("the broken invariants are above; the evidence is in {kept}");
    }
    corruption::every_corruption_is_detected(&campaign, &auditor).await;
}

/// Fails when something that the campaign is for did not happen.
fn check_coverage(campaign: &Campaign) {
    let counters = &campaign.counters;
    for what in [
        "kills during start",
        "kills at any time",
        "kills during shutdown",
        "kills during the first migration",
        "orders opened by the store's server",
        "orders opened by a product",
        "orders opened by an order token",
        "donations opened",
        "orders paid on the hosted page",
        "orders paid exactly",
        "deliveries rejected by the shop",
        "times the gateway closed the connection",
        "orders lost by a restore",
        "lost invoices found by the command",
        "orders paid before a restore and after it",
    ]
    .iter()
    .chain(&campaign::DISASTERS)
    {
        assert!(counters.of(what) > 0, "there were no {what}:\n{counters}");
    }
    assert!(
        counters.kills() >= KILLS,
        "there were too few kills:\n{counters}"
    );
    let targeted = counters.targeted_kills();
    assert!(
        targeted > KILLS / 10,
        "only {targeted} kills hit their target request:\n{counters}"
    );
}

#[expect(
    clippy::disallowed_methods,
    reason = "another campaign in each run, unless a seed is given"
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
