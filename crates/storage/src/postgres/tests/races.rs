//! Two processes on one database, at the same time. `interleaving.rs` stops one of them at each of its statements.

use sqlx::Connection as _;

use super::*;
use crate::Retry;

const ROUNDS: u8 = 40;

async fn two() -> (PostgresStorage, PostgresStorage) {
    let (one, database) = store().await;
    let two = another(&database).await;
    (one, two)
}

/// The lease of a request expired, and both take it over.
#[tokio::test]
async fn one_request_is_taken_over_once() {
    let (one, two) = two().await;
    for n in 1..=ROUNDS {
        let (request, asked) = (RequestId([n; 32]), Fingerprint([n; 32]));
        let first = one.claim_request(request, asked, at(0), at(30)).await;
        assert_eq!(first.unwrap(), Claim::Acquired);
        let (first, second) = tokio::join!(
            one.claim_request(request, asked, at(30), at(60)),
            two.claim_request(request, asked, at(30), at(60)),
        );
        let claims = [first.unwrap(), second.unwrap()];
        for state in [Claim::Acquired, Claim::Running] {
            assert!(claims.contains(&state), "{claims:?}");
        }
    }
}

/// Two attempts of one order are paid, and the customer cancels it.
#[tokio::test]
async fn two_payments_at_once_are_one_credit_and_every_event_has_its_number() {
    let (one, two) = two().await;
    for n in 1..=ROUNDS {
        one.order(n).await;
        one.add_attempt(n, n).await;
        one.add_attempt(n, n + 100).await;
        let due = one.polls(PollPriority::Unwatched, 60).await;
        let paid = |due: &DueAttempt| Observation {
            observed_at: at(61),
            invoice_id: Some(due.invoice_id.to_string()),
            ..exact("COMPLETED")
        };
        let (a, b, order) = (paid(&due[0]), paid(&due[1]), id(n));
        let (first, second, cancelled) = tokio::join!(
            one.record_observation(&due[0], &a),
            two.record_observation(&due[1], &b),
            two.cancel_order(&order, at(61)),
        );
        first.unwrap();
        second.unwrap();
        let is_refused = matches!(cancelled, Err(OrderOperationError::Closed { .. }));
        assert!(cancelled.is_ok() || is_refused, "{cancelled:?}");
        assert_eq!(one.status(n).await, OrderStatus::Paid);
        assert!(one.credit_of(&id(n)).await.unwrap().is_some());
    }
    let gaps = "SELECT count(*) FROM orders WHERE sequence <> (SELECT count(*) FROM events WHERE order_id = orders.id)
         OR 1 <> (SELECT count(*) FROM events WHERE order_id = orders.id AND type = 'order.paid')";
    assert_eq!(number(&one, gaps).await, 0);
    let heads = "SELECT count(*) FROM (SELECT order_id FROM outbox WHERE is_head GROUP BY order_id HAVING count(*) > 1) AS o";
    assert_eq!(
        number(&one, heads).await,
        0,
        "one event of an order at a time"
    );
}

/// The list shows the events of an order in their order, also when a transaction took its number before it locked the
/// order.
#[tokio::test]
async fn the_list_has_an_orders_events_in_their_order() {
    let (one, database) = store().await;
    one.order(1).await;
    let early = sqlx::PgConnection::connect(&server().url(&database));
    let mut early = early.await.unwrap();
    let mut tx = early.begin().await.unwrap();
    // It takes its number here.
    let begun = sqlx::query("SELECT pg_current_xact_id()");
    begun.execute(&mut *tx).await.unwrap();
    one.add_attempt(1, 1).await;
    let late = "INSERT INTO events (order_id, sequence, id, store_id, type, created_at, payload)
         SELECT order_id, 3, id || '3', store_id, type, created_at, payload FROM events WHERE sequence = 1";
    let refused = sqlx::query(late).execute(&mut *tx).await.unwrap_err();
    let error = refused.as_database_error().unwrap();
    assert_eq!(error.code().as_deref(), Some("40001"));
}

/// Everything that can happen to three orders, from two processes.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn nothing_that_happens_at_once_fails_or_deadlocks() {
    let (one, two) = two().await;
    for n in 1..=3 {
        one.awaiting(n).await;
    }
    let mut actors = Vec::new();
    for actor in 0..12_u32 {
        let storage = [&one, &two][actor as usize % 2].clone();
        actors.push(tokio::spawn(async move {
            for step in 0..20_u32 {
                let n = 1 + u8::try_from((actor + step) % 3).unwrap();
                let second = 20 + i64::from(step);
                happens(&storage, (actor * 7 + step) % 8, n, second).await;
            }
        }));
    }
    for actor in actors {
        actor.await.unwrap();
    }
    let wrong = "SELECT count(*) FROM orders WHERE sequence <> (SELECT count(*) FROM events WHERE order_id = orders.id)";
    assert_eq!(number(&one, wrong).await, 0);
}

async fn happens(storage: &PostgresStorage, what: u32, n: u8, second: i64) {
    let (order, now) = (id(n), at(second));
    match what {
        0 => {
            let pause = SignedDuration::from_secs(1);
            let scheduled = storage.schedule_polls_of_order(&order, pause, now);
            scheduled.await.unwrap();
        }
        1 => {
            storage.callback(n, second).await;
        }
        2 | 3 => {
            let until = at(second + 1);
            let due = storage.due_attempts(PollPriority::Unwatched, now, until, 2);
            for due in due.await.unwrap() {
                storage.record(&due, second, exact("PROCESSING")).await;
            }
        }
        4 => {
            let kept = storage.keep_receipt_email(&order, Some("a@b.example"), now);
            kept.await.unwrap();
        }
        5 => {
            let due = storage
                .due_deliveries(&demo(), now, at(second + 1), 4)
                .await;
            for due in due.unwrap() {
                let retry = DeliveryOutcome::Retry(Retry {
                    at: now,
                    early_from: now,
                    probe_at: now,
                    is_counted: true,
                });
                storage.deliver(&due, second, retry).await;
            }
        }
        6 => {
            storage.replan_future(now).await.unwrap();
        }
        _ => {
            storage.mark_as_paid(&order, None, now).await.unwrap();
        }
    }
}
