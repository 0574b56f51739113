//! `Idempotency-Key` when the proxy dies in between: the request that is sent again is the same one.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::json;
use support::{Program, World, eventually};

use crate::idempotency::{KEY, book, database, insists, is_replayed, opens, orders};

/// The database as a crash leaves it that came after the work and before its answer was kept: claims, and their lease
/// ends at `lease_until`, in milliseconds.
async fn forgets_answers(world: &World, lease_until: i64) {
    let unanswered = "UPDATE requests SET status = NULL, body = NULL, kept_until = ?";
    let changed = sqlx::query(unanswered).bind(lease_until);
    let changed = changed.execute(&mut database(world).await).await.unwrap();
    assert!(changed.rows_affected() > 0, "there was no answer to forget");
}

#[tokio::test]
async fn a_crash_before_the_answer_was_kept_makes_no_second_order() {
    let world = World::start().await;
    let donation = json!({ "store": "demo", "donation": "coffee", "amount": "5" });
    for (number, door) in [book(), donation].into_iter().enumerate() {
        let key = format!("{KEY}-{number}");
        let first = opens(&world.shopper(), &key, &door).await.with(201);
        let lease_until = world.clock.now().as_millisecond() + 30_000;
        forgets_answers(&world, lease_until).await;
        let early = opens(&world.shopper(), &key, &door).await;
        let early = early.refused(409, "request_in_progress");
        assert_eq!(early.header("retry-after"), Some("1"));
        world.skip(Duration::from_secs(31));
        let again = opens(&world.shopper(), &key, &door).await.with(200);
        assert!(!is_replayed(&again));
        assert_eq!(again.body["order"]["id"], first.body["order"]["id"]);
        let token = again.text_at("/client_token");
        world.shopper().with_token(&token, "").view().await;
        // From here on it is answered as usual.
        assert!(is_replayed(
            &opens(&world.shopper(), &key, &door).await.with(200)
        ));
    }
    assert_eq!(orders(&world.store()).await.len(), 2);
    // A key whose claim was lost is no way to an order of another price.
    forgets_answers(&world, 0).await;
    sqlx::query("DELETE FROM requests")
        .execute(&mut database(&world).await)
        .await
        .unwrap();
    let mut two = book();
    two["quantity"] = json!(2);
    let other = opens(&world.shopper(), &format!("{KEY}-0"), &two)
        .await
        .with(201);
    assert_eq!(other.text_at("/order/amount"), "39.80");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_among_forty_requests_each_is_one_order_when_sent_again() {
    let mut world = World::start().await;
    world.stop_proxy().await;
    let start = |world: &World| Program::start(&world.config_file(), &world.file("proxy.log"), &[]);
    let mut cut = 0;
    for (round, answers) in [1, 10, 20, 30].into_iter().enumerate() {
        let mut program = start(&world);
        is_up(&world).await;
        let (shopper, keys) = (
            world.shopper(),
            (0..40).map(|n| format!("{KEY}-{round}-{n}")),
        );
        let keys: Vec<_> = keys.collect();
        let mut asking = tokio::task::JoinSet::new();
        for key in &keys {
            let request = shopper.with_key(key);
            asking.spawn(async move { request.preflight(&book()).await });
        }
        let mut early = BTreeSet::new();
        while early.len() < answers {
            early.extend(asking.join_next().await.unwrap().unwrap());
        }
        program.is_killed();
        early.extend(asking.join_all().await.into_iter().flatten());
        cut += 40 - early.len();
        // The real clock cannot be moved: the leases are.
        let over = "UPDATE requests SET kept_until = 0 WHERE status IS NULL";
        let over = sqlx::query(over).execute(&mut database(&world).await).await;
        over.unwrap();
        let mut program = start(&world);
        is_up(&world).await;
        for key in &keys {
            insists(&shopper, key, &book()).await;
        }
        let found = orders(&world.store()).await;
        assert_eq!(found.len(), (round + 1) * 40);
        assert!(early.is_subset(&found));
        assert_eq!(program.is_asked_to_end().await, Some(0));
    }
    assert!(cut > 0, "each kill came when all was done");
    world.start_proxy().await;
    world.end().await;
}

async fn is_up(world: &World) {
    let health = format!("{}/health/ready", world.admin_url());
    eventually("the program answers", async || {
        let answer = world.http().get(&health).send().await.ok()?;
        (answer.status() == 200).then_some(())
    })
    .await;
}
