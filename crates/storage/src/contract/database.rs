//! What a database has beside orders: prices, files, requests with an idempotency key, observations, invariants that it guards
//! itself, and totals.

use florin_orders::EndpointHash;

use super::*;
use crate::{Claim, Fingerprint, Outbox, PriceList, RequestId, StaticFile, StoredResponse};

fn prices(fetched: i64) -> PriceList {
    PriceList {
        fetched_at: at(fetched),
        body: format!("{{\"BTC\":{fetched}}}"),
    }
}

#[tokio::test]
async fn prices_are_kept_until_they_are_invalidated_or_expire() {
    let test = BACKEND.test().await;
    for fetched in [30, 0, 60] {
        test.keep_prices(&prices(fetched)).await.unwrap();
    }
    let after = async |time| test.prices(at(time)).await.unwrap();
    assert_eq!(after(-1).await, [prices(0), prices(30), prices(60)]);
    assert_eq!(after(0).await, [prices(30), prices(60)]);
    assert_eq!(test.delete_expired_prices(at(30)).await.unwrap(), 2);
    assert_eq!(test.delete_expired_prices(at(30)).await.unwrap(), 0);
    assert_eq!(after(-1).await, [prices(60)]);
    test.invalidate_prices().await.unwrap();
    assert_eq!(after(-1).await, []);
}

#[tokio::test]
async fn files_of_a_version_are_kept_while_it_runs_and_thirty_days_after() {
    let mut test = BACKEND.test().await;
    let asset = |name: &str| StaticFile {
        name: name.to_owned(),
        whole: name.as_bytes().to_vec(),
        brotli: (name != "c.js").then(|| vec![1]),
    };
    let old = ["a.js", "b.js"].map(asset);
    let new = ["b.js", "c.js"].map(asset);
    let day = |days: i64| at(days * 86_400);
    test.keep_static_files(&old, day(0)).await.unwrap();
    // After an upgrade.
    test.reopen().await;
    test.keep_static_files(&new, day(10)).await.unwrap();
    for kept in [&old[0], &old[1], &new[1]] {
        let found = test.static_file(&kept.name).await.unwrap();
        assert_eq!(found.as_ref(), Some(kept));
    }
    assert_eq!(test.static_file("d.js").await.unwrap(), None);
    test.keep_static_files(&new, day(29)).await.unwrap();
    assert!(test.static_file("a.js").await.unwrap().is_some());
    test.keep_static_files(&new, day(31)).await.unwrap();
    assert_eq!(test.static_file("a.js").await.unwrap(), None);
    assert!(test.static_file("b.js").await.unwrap().is_some());
}

const REQUEST: RequestId = RequestId([1; 32]);
const ASKED: Fingerprint = Fingerprint([2; 32]);

async fn claim(test: &Test, fingerprint: Fingerprint, now: i64) -> Claim {
    let claim = test.claim_request(REQUEST, fingerprint, at(now), at(now + 30));
    claim.await.unwrap()
}

fn response() -> StoredResponse {
    StoredResponse {
        status: 201,
        body: "{}".into(),
    }
}

#[tokio::test]
async fn a_request_is_executed_once_and_replayed() {
    let test = BACKEND.test().await;
    let response = response();
    assert_eq!(claim(&test, ASKED, 0).await, Claim::Acquired);
    assert_eq!(claim(&test, ASKED, 29).await, Claim::Running);
    let kept = test.store_response(REQUEST, at(30), &response, at(900));
    assert!(kept.await.unwrap());
    let completed = Claim::Completed(response);
    assert_eq!(claim(&test, ASKED, 31).await, completed);
    let other = Fingerprint([3; 32]);
    assert_eq!(claim(&test, other, 31).await, Claim::Reused);
    assert_eq!(test.delete_expired_requests(at(899)).await.unwrap(), 0);
    assert_eq!(test.delete_expired_requests(at(900)).await.unwrap(), 1);
}

#[tokio::test]
async fn a_crash_locks_no_key_for_ever() {
    let test = BACKEND.test().await;
    let response = response();
    assert_eq!(claim(&test, ASKED, 0).await, Claim::Acquired);
    assert_eq!(claim(&test, ASKED, 30).await, Claim::Acquired);
    // The previous holder of the lease comes too late.
    let late = test.store_response(REQUEST, at(30), &response, at(900));
    assert!(!late.await.unwrap());
    test.release_request(REQUEST, at(30)).await.unwrap();
    assert_eq!(claim(&test, ASKED, 31).await, Claim::Running);
    test.release_request(REQUEST, at(60)).await.unwrap();
    assert_eq!(claim(&test, ASKED, 32).await, Claim::Acquired);
}

#[tokio::test]
async fn a_crash_under_a_clock_that_was_ahead_locks_no_key_for_longer() {
    let test = BACKEND.test().await;
    assert_eq!(claim(&test, ASKED, 3600).await, Claim::Acquired);
    // The clock is set right by a second, and then by the hour.
    assert_eq!(claim(&test, ASKED, 3599).await, Claim::Running);
    assert_eq!(claim(&test, ASKED, 10).await, Claim::Acquired);
    assert_eq!(claim(&test, ASKED, 11).await, Claim::Running);
}

/// A statement, and why the database refuses it.
const REWRITES: &str = "
UPDATE orders SET amount = '0.01': the terms of an order never change
UPDATE orders SET lines = '[]': the lines of an order never change
UPDATE orders SET status = 'open' WHERE reference = 'r1': a paid order stays paid
UPDATE orders SET status = 'paid' WHERE reference = 'r2': an order is paid only with its credit
DELETE FROM orders: orders are never deleted
UPDATE attempts SET address = 'mine': an invoice never changes
UPDATE observations SET raw = '': observations never change
UPDATE observations SET times = 0: a repeated observation is counted
DELETE FROM observations: observations are never deleted
UPDATE credits SET amount = '0': credits never change
DELETE FROM credits: credits are never deleted
UPDATE events SET payload = '': events never change
DELETE FROM events: events are never deleted
";

#[tokio::test]
async fn the_database_itself_refuses_to_rewrite_history() {
    let test = BACKEND.awaiting().await;
    test.observe(20, exact("COMPLETED")).await;
    test.order(2).await;
    for (statement, refusal) in REWRITES.lines().filter_map(|line| line.split_once(": ")) {
        test.refuses(statement, refusal).await;
    }
}

#[tokio::test]
async fn a_database_serves_one_environment() {
    let test = BACKEND.test().await;
    let other = test.open_for("production").await.unwrap_err();
    assert!(matches!(other, StorageError::OtherEnvironment { ref found, .. } if found == "test"));
}

#[tokio::test]
async fn a_payment_needs_review_until_a_clear_response() {
    let test = BACKEND.awaiting().await;
    test.awaiting(2).await;
    let reviews = async || test.totals().await.unwrap().needing_review;
    assert_eq!(reviews().await, 0);
    test.observe(20, observed("LOST")).await;
    test.observe(20, observed("CHECKING")).await;
    assert_eq!(reviews().await, 1);
    test.observe(80, observed("CHECKING")).await;
    test.observe(80, observed("CHECKING")).await;
    assert_eq!(reviews().await, 0);
    let mut changed = observed("CHECKING");
    changed.address = Some("another".to_owned());
    let recorded = test.observe(200, changed).await;
    let is_changed = matches!(recorded.assessment, Assessment::AddressChanged { .. });
    assert!(is_changed, "{recorded:?}");
    assert_eq!(reviews().await, 1);
}

#[tokio::test]
async fn the_oldest_waiting_event_of_each_webhook_is_found() {
    let test = BACKEND.test().await;
    for (number, store, second) in [(1, "demo", 10), (2, "demo", 20), (3, "other", 30)] {
        let mut terms = terms(&format!("r{number}"));
        terms.store_id = shop(store);
        test.open(number, &terms, second).await;
    }
    let outbox = |store: &str, waiting, oldest: Option<i64>, is_disabled| Outbox {
        store_id: shop(store),
        webhook: WebhookId::default(),
        waiting,
        oldest_at: oldest.map(at),
        is_disabled,
    };
    let outboxes = async || {
        let mut outboxes = test.totals().await.unwrap().outboxes;
        outboxes.sort_by_key(|outbox| outbox.store_id.to_string());
        outboxes
    };
    let waiting = [
        outbox("demo", 2, Some(10), false),
        outbox("other", 1, Some(30), false),
    ];
    assert_eq!(outboxes().await, waiting);

    let deliver = async |store: &str, outcome| {
        let due = test
            .due_deliveries(&shop(store).into(), at(60), at(90), 2)
            .await;
        test.deliver(&due.unwrap()[0], 60, outcome).await;
    };
    deliver("demo", DeliveryOutcome::Delivered).await;
    deliver("other", DeliveryOutcome::Gone(EndpointHash([7; 32]))).await;
    let waiting = [
        outbox("demo", 1, Some(20), false),
        outbox("other", 1, Some(30), true),
    ];
    assert_eq!(outboxes().await, waiting);
    deliver("demo", DeliveryOutcome::Delivered).await;
    assert_eq!(outboxes().await[0], outbox("demo", 0, None, false));
}

#[tokio::test]
async fn a_late_payment_is_reported_with_its_own_invoice() {
    let test = BACKEND.awaiting().await;
    test.add_attempt(1, 2).await;
    let mut due = test.polls(PollPriority::Unwatched, 60).await;
    // The replaced attempt is still watched.
    due.sort_by_key(|due| due.attempt_id == new_attempt(2).id);
    test.record(&due[1], 60, exact("COMPLETED")).await;
    test.record(&due[0], 60, too_little("COMPLETED")).await;
    let late = test.listed().await.pop().unwrap();
    assert_eq!(late.event_type, E::LatePayment);
    let payload: serde_json::Value = serde_json::from_str(&late.payload).unwrap();
    let order = &payload["data"]["order"];
    assert_eq!(order["status"], "paid");
    assert_eq!(order["attempt"]["invoice_id"], "inv_1");
    assert_eq!(order["attempt"]["received_in_crypto"], "0.0001");
}

#[tokio::test]
async fn a_response_that_repeats_is_counted_and_a_padded_one_is_cut() {
    let test = BACKEND.awaiting().await;
    for (poll, status, raw) in [
        (1, "WAITING", "1".to_owned()),
        (2, "WAITING", "2".to_owned()),
        (3, "PENDING", "3".to_owned()),
        (4, "WAITING", "4".to_owned()),
        (5, "PROCESSING", "ü".repeat(100_000)),
    ] {
        let response = Observation {
            raw,
            ..observed(status)
        };
        let (due, now) = (polled(1, poll), 10 + i64::from(poll));
        let recorded = test.record(&due, now, response).await;
        recorded.expect("the latest poll");
    }
    for (times, rows) in [(2, 1), (1, 3)] {
        let of = format!(
            "SELECT count(*) FROM observations WHERE times = {times} AND (last_at > observed_at) = (times > 1)"
        );
        assert_eq!(test.number(&of).await, rows, "{times} times");
    }
    assert_eq!(test.number("SELECT count(*) FROM observations").await, 4);
    let longest = "SELECT CAST(max(octet_length(raw)) AS bigint) FROM observations";
    assert_eq!(test.number(longest).await, 4096);
}
