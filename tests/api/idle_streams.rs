//! Event streams of orders that do not change, on a database with other writers: their heartbeats read nothing.

use std::time::Duration;

use jiff::Timestamp;
use serde_json::Value;
use support::{Checkout, World, WorldConfig, eventually, postgres_database};

/// A part of the statement that reads versions, and of no other.
const READ_OF_VERSIONS: &str = "AS order_tx";
/// A quiet stream sends a comment after this time.
const HEARTBEAT: Duration = Duration::from_secs(15);
/// Versions of all watched orders are compared once in this time.
const COMPARE_EVERY: Duration = Duration::from_secs(5);
const STREAMS: u32 = 30;
/// Their heartbeats are spread over the time of one.
const STEP: Duration = Duration::from_millis(500);

struct Stream {
    response: reqwest::Response,
    text: String,
}

impl Stream {
    /// Opens a stream and reads its first view.
    async fn open(page: &Checkout) -> Self {
        let response = page.stream().await;
        assert_eq!(response.status(), 200);
        let text = String::new();
        let mut stream = Self { response, text };
        stream.next().await.expect("a view comes at once");
        stream
    }

    /// The next view, or `Value::Null` for a comment; `None` at the end of the stream.
    async fn next(&mut self) -> Option<Value> {
        loop {
            if let Some((event, rest)) = self.text.split_once("\n\n") {
                let data = event.lines().find_map(|line| line.strip_prefix("data: "));
                let view = data.map_or(Value::Null, |data| serde_json::from_str(data).unwrap());
                let rest = rest.to_owned();
                self.text = rest;
                return Some(view);
            }
            let chunk = tokio::time::timeout(2 * HEARTBEAT, self.response.chunk());
            let chunk = chunk.await.expect("a stream is never silent for long");
            let chunk = chunk.unwrap()?;
            self.text.push_str(std::str::from_utf8(&chunk).unwrap());
        }
    }

    async fn heartbeat(&mut self) {
        let next = self.next().await;
        assert_eq!(next, Some(Value::Null), "nothing has changed");
    }
}

/// How often versions may have been compared since then.
fn comparisons(world: &World, since: Timestamp) -> usize {
    let passed = world.clock.now().duration_since(since).as_secs();
    let comparisons = passed.unsigned_abs() / COMPARE_EVERY.as_secs();
    usize::try_from(comparisons).unwrap() + 1
}

/// Moves the clock by a step for the heartbeat of each stream; after the time between two comparisons, waits for one.
async fn read_round(world: &World, streams: &mut [Stream]) {
    let (mut read, mut compare_at) = (world.statements(READ_OF_VERSIONS), COMPARE_EVERY);
    for (stream, number) in streams.iter_mut().zip(1..) {
        stream.heartbeat().await;
        world.skip(STEP);
        // Time passes no faster than the database works, or the proxy reports an outage.
        world.store().orders().await;
        if STEP * number >= compare_at {
            compare_at += COMPARE_EVERY;
            await_comparison(world, read).await;
            read = world.statements(READ_OF_VERSIONS);
        }
    }
}

async fn await_comparison(world: &World, read: usize) {
    eventually("versions are compared", async || {
        (world.statements(READ_OF_VERSIONS) > read).then_some(())
    })
    .await;
}

/// Streams that were opened one after another ask one after another: nothing would gather their reads.
#[tokio::test]
async fn heartbeats_of_many_orders_cost_one_query_for_all() {
    let world = World::start_with(WorldConfig {
        database_url: Some(postgres_database().await),
        orders_per_minute_per_ip: Some(1_000),
        ..WorldConfig::default()
    })
    .await;
    let mut streams = Vec::new();
    for _ in 0..STREAMS {
        let page = world.customer().open("ebook").await;
        streams.push(Stream::open(&page).await);
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
