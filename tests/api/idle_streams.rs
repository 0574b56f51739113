//! Event streams of orders that do not change, on a database with other writers: their heartbeats read nothing.

use std::time::Duration;

use jiff::Timestamp;
use serde_json::Value;
use support::{World, eventually, postgres_database};

use crate::helpers::{next_message, next_order};

/// A part of the statement that reads versions, and of no other.
const READ_OF_VERSIONS: &str = "AS order_tx";
/// Versions of all watched orders are compared once in this time.
const COMPARE_EVERY: Duration = Duration::from_secs(5);
const STREAMS: u32 = 30;
/// A quiet stream sends a comment after 15 s: the heartbeats of all are spread over this time.
const STEP: Duration = Duration::from_millis(500);

/// A stream, and what came of it so far.
type Stream = (reqwest::Response, String);

/// How often versions may have been compared since then.
fn comparisons(world: &World, since: Timestamp) -> usize {
    let passed = world.clock.now().duration_since(since).as_secs();
    let comparisons = passed.unsigned_abs() / COMPARE_EVERY.as_secs();
    usize::try_from(comparisons).unwrap() + 1
}

/// Moves the clock by a step for the heartbeat of each stream; after the time between two comparisons, waits for one.
async fn read_round(world: &World, streams: &mut [Stream]) {
    let (mut read, mut compare_at) = (world.statements(READ_OF_VERSIONS), COMPARE_EVERY);
    for ((stream, buffer), number) in streams.iter_mut().zip(1..) {
        let next = next_message(stream, buffer).await;
        assert_eq!(next, Some(Value::Null), "nothing has changed");
        world.skip(STEP);
        // Time passes no faster than the database works, or the proxy reports an outage.
        world.store().orders().await;
        if STEP * number >= compare_at {
            compare_at += COMPARE_EVERY;
            eventually("versions are compared", async || {
                (world.statements(READ_OF_VERSIONS) > read).then_some(())
            })
            .await;
            read = world.statements(READ_OF_VERSIONS);
        }
    }
}

/// Streams that were opened one after another ask one after another: nothing would gather their reads.
#[tokio::test]
async fn heartbeats_of_many_orders_cost_one_query_for_all() {
    let url = postgres_database().await;
    let world = World::with(|config| {
        config.database_url = Some(url);
        config.orders_per_minute_per_ip = Some(1_000);
    })
    .await;
    let mut streams = Vec::new();
    for _ in 0..STREAMS {
        let page = world.customer().open("ebook").await;
        let (mut stream, mut buffer) = (page.stream().await, String::new());
        next_order(&mut stream, &mut buffer).await;
        streams.push((stream, buffer));
        world.skip(STEP);
    }
    // Each order is known to the comparison after a round.
    read_round(&world, &mut streams).await;
    let (before, began) = (world.statements(READ_OF_VERSIONS), world.clock.now());
    assert!(before > 0, "the statement reads otherwise");
    read_round(&world, &mut streams).await;
    let reads = world.statements(READ_OF_VERSIONS) - before;
    let allowed = comparisons(&world, began);
    assert!(
        (1..=allowed).contains(&reads),
        "{reads} reads, {allowed} comparisons"
    );
    drop(streams);
    world.end().await;
}
