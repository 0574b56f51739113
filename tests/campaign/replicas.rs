//! Kills of three proxies on one PostgreSQL and of their primary.

use std::fs;
use std::time::Duration;

use support::built;
use support::campaign::Auditor;
use support::campaign::replicas::{self, Campaign, DISASTERS, Options};

const KILLS: u64 = 300;
/// A loaded machine plays fewer kills.
const LONGEST: Duration = Duration::from_mins(4);
const FEWEST: u64 = 60;

/// What breaks which invariant, in the tables of PostgreSQL.
const CORRUPTIONS: [(&str, &str); 9] = [
    (
        "payment-is-credited",
        "DELETE FROM credits WHERE order_id = (SELECT min(order_id) FROM credits)",
    ),
    (
        "credit-has-payment",
        "UPDATE credits SET credited_at = credited_at - interval '10 minutes'",
    ),
    (
        "no-gap",
        "UPDATE events SET sequence = 99 WHERE position = (SELECT min(position) FROM events)",
    ),
    (
        "no-gap",
        "UPDATE events SET tx = '3' WHERE position = (SELECT max(position) FROM events WHERE sequence > 1)",
    ),
    (
        "row-is-invoice",
        "UPDATE attempts SET address = 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx'
         WHERE id = (SELECT min(id) FROM attempts WHERE state = 'open' AND flow = 'custom')",
    ),
    (
        "still-polled",
        "UPDATE polls SET next_poll_at = NULL WHERE payment_state <> 'settled'",
    ),
    (
        "outbox-is-settled",
        "UPDATE outbox SET state = 'pending' WHERE position = (SELECT max(position) FROM outbox)",
    ),
    (
        "newest-response-counts",
        "UPDATE observations SET poll_seq = -1 WHERE id = (SELECT max(id) FROM observations WHERE attempt_id IN
             (SELECT attempt_id FROM observations GROUP BY attempt_id HAVING count(*) > 1))",
    ),
    (
        "file-is-sound",
        "UPDATE credits SET observation_id = -1 WHERE order_id = (SELECT min(order_id) FROM credits)",
    ),
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kills_of_three_proxies_and_their_primary_lose_and_repeat_nothing() {
    let options = Options {
        kills: KILLS,
        replicas: 3,
        seed: super::seed(),
        proxy: built("florin-proxy", "florin-proxy"),
        longest: LONGEST,
    };
    let auditor = Auditor(built("florin-auditor", "auditor"));
    let seed = options.seed;
    println!(
        "to repeat it: {}={seed} cargo test -p florin-tests --test campaign",
        super::SEED
    );
    let campaign = replicas::run(&options, |_| {}).await;
    println!("{}", campaign.counters);
    check_coverage(&campaign);
    let verdict = campaign.audit(&auditor);
    println!("{}", verdict.printed);
    if verdict.code != Some(0) {
        let kept = campaign.keep();
        panic!("the broken invariants are above; the evidence is in {kept}");
    }
    for (number, (invariant, statements)) in CORRUPTIONS.iter().enumerate() {
        let name = format!("copy_{number}");
        let verdict = campaign.audit_corrupted(&auditor, &name, statements);
        let detected = verdict.broken().contains(invariant) && verdict.code == Some(1);
        assert!(detected, "{invariant}: {statements}\n{}", verdict.printed);
    }
    a_skipped_event_is_detected(&campaign, &auditor);
}

/// Fails when something that the campaign is for did not happen.
fn check_coverage(campaign: &Campaign) {
    let counters = &campaign.counters;
    for what in DISASTERS {
        assert!(counters.of(what) > 0, "there were no {what}:\n{counters}");
    }
    for what in [
        "kills of the primary",
        "kills while the primary was away",
        "kills during start",
        "kills at any time",
        "orders paid exactly",
        "customers who saw their order paid",
        "deliveries accepted by the shop",
        "events read from the list",
    ] {
        assert!(counters.of(what) > 0, "there were no {what}:\n{counters}");
    }
    assert!(
        counters.kills() >= FEWEST,
        "there were too few kills:\n{counters}"
    );
}

fn a_skipped_event_is_detected(campaign: &Campaign, auditor: &Auditor) {
    let log = campaign.event_log();
    let text = fs::read_to_string(&log).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let skipped = lines.len() / 2;
    let others = [&lines[..skipped], &lines[skipped + 1..]].concat();
    fs::write(&log, others.join("\n")).unwrap();
    let verdict = campaign.audit(auditor);
    assert_eq!(
        verdict.broken(),
        ["event-list-is-complete"],
        "{}",
        verdict.printed
    );
}
