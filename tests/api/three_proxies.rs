//! Three proxies on one PostgreSQL share the limits of their gateway account. The gateway's log is the judge.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use support::{Replicas, World, WorldConfig, eventually, postgres_database, secrets};
use tokio::task::JoinHandle;

/// Requests a second of the account.
const RATE: u32 = 5;
/// The pause that the gateway asks for.
const PAUSE: SignedDuration = SignedDuration::from_secs(4);
/// A request that was permitted before the 429 was recorded is on its way for so long at most, on a loaded machine.
const ON_ITS_WAY: SignedDuration = SignedDuration::from_millis(500);

/// A call as the gateway has received it.
#[derive(Debug)]
struct Call {
    at: Timestamp,
    status: u64,
}

/// The gateway's log, oldest first, without the calls of the world's own proxy.
async fn calls(world: &World, before: usize) -> Vec<Call> {
    let calls = world.sandbox().calls().await.into_iter().rev().skip(before);
    let read = |entry: Value| Call {
        at: entry["at"].as_str().unwrap().parse().unwrap(),
        status: entry["status"].as_u64().unwrap(),
    };
    calls.map(read).collect()
}

/// Every proxy sends as many requests as it may, four at once, until `is_over`.
fn load(world: &World, proxies: &Replicas, is_over: &Arc<AtomicBool>) -> Vec<JoinHandle<()>> {
    let requests = (0..12).map(|number| {
        let url = format!("{}/v1/gateway/currencies", proxies.url(number % 3));
        let request = world.http().get(url).bearer_auth(secrets::STORE_KEY);
        let is_over = is_over.clone();
        tokio::spawn(async move {
            while !is_over.load(Ordering::Relaxed) {
                // What the budget does not allow is refused after three seconds.
                request.try_clone().unwrap().send().await.unwrap();
            }
        })
    });
    requests.collect()
}

/// When the one 429 was answered. Every other call is answered as it should.
fn limited_at(calls: &[Call]) -> Option<Timestamp> {
    let mut refused = calls.iter().filter(|call| call.status != 200);
    let limited = refused.next()?;
    assert_eq!((limited.status, refused.count()), (429, 0), "{calls:?}");
    Some(limited.at)
}

#[tokio::test]
async fn three_proxies_send_what_one_may_send_and_nothing_inside_a_pause() {
    let mut world = World::start_with(WorldConfig {
        database_url: Some(postgres_database().await),
        requests_per_second: RATE,
        callbacks: false,
        ..WorldConfig::default()
    })
    .await;
    let before = world.sandbox().calls().await.len();
    let proxies = Replicas::start(&mut world, [&[], &[], &[]]).await;
    let is_over = Arc::default();
    let load = load(&world, &proxies, &is_over);
    eventually("the burst is over", async || {
        (calls(&world, before).await.len() >= 25).then_some(())
    })
    .await;
    let seconds = PAUSE.as_secs();
    let limit = json!({"kind": "status", "status": 429, "retry_after": seconds, "times": 1});
    world.sandbox().inject_fault(limit).await;
    eventually("calls after the pause", async || {
        let calls = calls(&world, before).await;
        let end = limited_at(&calls)? + PAUSE * 2;
        (calls.last()?.at > end).then_some(())
    })
    .await;
    is_over.store(true, Ordering::Relaxed);
    for load in load {
        load.await.unwrap();
    }
    let calls = calls(&world, before).await;
    let limited = limited_at(&calls).unwrap();
    let pause = limited + ON_ITS_WAY..limited + PAUSE;
    let inside = calls.iter().filter(|call| pause.contains(&call.at));
    assert_eq!(inside.count(), 0, "inside the pause: {calls:?}");
    let rate = i128::from(RATE);
    let steady = calls[0].at + SignedDuration::from_secs(3);
    for (place, first) in calls.iter().enumerate() {
        // In any interval: the rate, and at its beginning what idle seconds have left. The 429 halves both.
        let burst = match first.at {
            at if at < steady => 2 * rate,
            at if at < limited => 0,
            _ => rate,
        };
        for (sent, last) in (1..).zip(&calls[place..]) {
            let took = last.at.duration_since(first.at) + ON_ITS_WAY;
            let most = burst + 1 + rate * took.as_millis() / 1000;
            assert!(sent <= most, "{sent} calls in {took:#}: {calls:?}");
        }
    }
    proxies.stop(&mut world).await;
    world.end().await;
}
