//! The kill campaign on each database. A separate test binary: `cargo xtask test` runs the tests of the libraries beside it, and
//! none that measures or waits for a browser.
#![expect(
    clippy::unwrap_used,
    reason = "a test may panic; the lint only exempts test functions, not their helpers"
)]

use std::env;
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use support::built;
use support::campaign::{self, Campaign, Options};

/// Repeats the campaigns of this seed.
const SEED: &str = "FLORIN_KILL_SEED";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kills_of_a_proxy_on_a_file_lose_and_repeat_nothing() {
    let campaign = play(150, None, None, 30).await;
    let (kills, targeted) = (campaign.kills(), campaign.targeted_kills());
    assert!(kills >= 150 && targeted > 15, "{}", campaign.counters);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kills_of_three_proxies_and_their_primary_lose_and_repeat_nothing() {
    let campaign = play(60, Some(3), None, 4).await;
    // A loaded machine plays fewer kills.
    assert!(campaign.kills() >= 30, "{}", campaign.counters);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kills_of_a_gateway_on_a_real_node_and_its_proxy_lose_and_repeat_nothing() {
    if florin_servers::on_path("litecoind").is_none() {
        println!("skipped: litecoind is not installed");
        return;
    }
    let gateway = built("florin-gateway", "florin-gateway");
    let campaign = play(12, None, Some(gateway), 1).await;
    // A loaded machine plays fewer kills.
    assert!(campaign.kills() >= 6, "{}", campaign.counters);
}

/// Runs a campaign, audits it, and checks that what it is for has happened.
async fn play(
    kills: u64,
    replicas: Option<u64>,
    gateway: Option<PathBuf>,
    minutes: u64,
) -> Campaign {
    let seed = seed();
    let options = Options {
        kills,
        shards: if gateway.is_some() { 1 } else { 3 },
        gateway,
        replicas,
        seed,
        proxy: built("florin-proxy", "florin-proxy"),
        minutes,
    };
    println!("to repeat it: {SEED}={seed} cargo test -p florin-tests --test campaign");
    let campaign = campaign::run(&options, |_| {}).await;
    println!("{}", campaign.counters);
    if !campaign.audit().await {
        let kept = campaign.keep();
        panic!("the broken invariants are above; the evidence is in {kept}");
    }
    let missing = campaign.missing();
    assert!(missing.is_empty(), "{missing:#?}");
    campaign
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
