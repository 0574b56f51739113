//! Two processes on one database, at the same time.

use sqlx::Connection as _;

use super::*;
use crate::{Fingerprint, RequestId, Retry};

/// Rounds of each race.
const ROUNDS: u8 = 40;

async fn two() -> (PostgresStorage, PostgresStorage) {
    let (one, database) = store().await;
    let two = another(&database).await;
    (one, two)
}

#[tokio::test]
async fn one_reference_becomes_one_order() {
    let (one, two) = two().await;
    for n in 1..=ROUNDS {
        let wanted = terms(&format!("r{n}"));
        let (a, b) = (id(n), id(n + 100));
        let (first, second) = tokio::join!(
            one.open_order(&a, &wanted, token(n), at(900), at(0)),
            two.open_order(&b, &wanted, token(n + 100), at(900), at(0)),
        );
        let (first, second) = (first.unwrap(), second.unwrap());
        assert_ne!(first.is_new, second.is_new);
        assert_eq!(first.order.id, second.order.id);
    }
}

#[tokio::test]
async fn one_request_is_acquired_once() {
    let (one, two) = two().await;
    for n in 1..=ROUNDS {
        let (request, asked) = (RequestId([n; 32]), Fingerprint([n; 32]));
        let (first, second) = tokio::join!(
            one.claim_request(request, asked, at(0), at(30)),
            two.claim_request(request, asked, at(0), at(30)),
        );
        let claims = [first.unwrap(), second.unwrap()];
        assert!(
            claims.contains(&Claim::Acquired) && claims.contains(&Claim::Running),
            "{claims:?}"
        );
        // The lease expired, and both take it over.
        let (first, second) = tokio::join!(
            one.claim_request(request, asked, at(30), at(60)),
            two.claim_request(request, asked, at(30), at(60)),
        );
        let claims = [first.unwrap(), second.unwrap()];
        assert!(
            claims.contains(&Claim::Acquired) && claims.contains(&Claim::Running),
            "{claims:?}"
        );
    }
}

#[tokio::test]
async fn one_attempt_is_opened_at_a_time() {
    let (one, two) = two().await;
    for n in 1..=ROUNDS {
        order(&shared(&one), n).await;
        let (a, b, order) = (new_attempt(n), new_attempt(n + 100), id(n));
        let (first, second) = tokio::join!(
            one.begin_attempt(&order, &a, at(0)),
            two.begin_attempt(&order, &b, at(0)),
        );
        let begun = [&first, &second]
            .iter()
            .filter(|begun| begun.is_ok())
            .count();
        assert_eq!(begun, 1, "{first:?} {second:?}");
    }
}

#[tokio::test]
async fn one_press_of_the_button_is_the_first() {
    let (one, two) = two().await;
    for n in 1..=ROUNDS {
        awaiting(&shared(&one), n).await;
        let order = id(n);
        let (first, second) = tokio::join!(
            one.mark_as_paid(&order, None, at(5)),
            two.mark_as_paid(&order, None, at(5))
        );
        assert_ne!(first.unwrap().is_first, second.unwrap().is_first);
    }
}

/// Two attempts of one order are paid, and the customer cancels it.
#[tokio::test]
async fn two_payments_at_once_are_one_credit_and_every_event_has_its_number() {
    let (one, two) = two().await;
    for n in 1..=ROUNDS {
        let store = shared(&one);
        order(&store, n).await;
        for attempt in [n, n + 100] {
            one.begin_attempt(&id(n), &new_attempt(attempt), at(0))
                .await
                .unwrap();
            let (attempt, shown) = (new_attempt(attempt).id, invoice(attempt));
            one.open_attempt(&attempt, &shown, at(0)).await.unwrap();
        }
        let due = one
            .due_attempts(PollPriority::Unwatched, at(60), at(90), 9)
            .await;
        let due = due.unwrap();
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
        assert!(matches!(
            cancelled,
            Ok(_) | Err(OrderOperationError::Closed { .. })
        ));
        assert_eq!(status(&store, n).await, OrderStatus::Paid);
        assert!(one.credit_of(&id(n)).await.unwrap().is_some());
    }
    let gaps = "SELECT count(*) FROM orders WHERE sequence <> (SELECT count(*) FROM events WHERE order_id = orders.id)
         OR 1 <> (SELECT count(*) FROM events WHERE order_id = orders.id AND type = 'order.paid')";
    let gaps: i64 = sqlx::query_scalar(gaps)
        .fetch_one(&one.reader)
        .await
        .unwrap();
    assert_eq!(gaps, 0);
    let heads = "SELECT count(*) FROM (SELECT order_id FROM outbox WHERE is_head GROUP BY order_id HAVING count(*) > 1) AS o";
    let heads: i64 = sqlx::query_scalar(heads)
        .fetch_one(&one.reader)
        .await
        .unwrap();
    assert_eq!(heads, 0, "one event of an order at a time");
}

/// The list shows the events of an order in their order, also when a transaction took its number before it locked the
/// order.
#[tokio::test]
async fn the_list_has_an_orders_events_in_their_order() {
    let (one, database) = store().await;
    order(&shared(&one), 1).await;
    let mut early = sqlx::PgConnection::connect(&server().url(&database))
        .await
        .unwrap();
    let mut tx = early.begin().await.unwrap();
    // It takes its number here.
    sqlx::query("SELECT pg_current_xact_id()")
        .execute(&mut *tx)
        .await
        .unwrap();
    crate::contract::attempt(&shared(&one), 1, 1).await;
    let late = "INSERT INTO events (order_id, sequence, id, store_id, type, created_at, payload)
         SELECT order_id, 3, id || '3', store_id, type, created_at, payload FROM events WHERE sequence = 1";
    let refused = sqlx::query(late).execute(&mut *tx).await.unwrap_err();
    let code = refused
        .as_database_error()
        .and_then(|error| error.code().map(std::borrow::Cow::into_owned));
    assert_eq!(code.as_deref(), Some("40001"));
}

/// Everything that can happen to three orders, from two processes.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn nothing_that_happens_at_once_fails_or_deadlocks() {
    let (one, two) = two().await;
    for n in 1..=3 {
        awaiting(&shared(&one), n).await;
    }
    let mut actors = Vec::new();
    for actor in 0..12_u32 {
        let storage = if actor % 2 == 0 {
            one.clone()
        } else {
            two.clone()
        };
        actors.push(tokio::spawn(async move {
            for step in 0..20_u32 {
                let n = 1 + u8::try_from((actor + step) % 3).unwrap();
                let now = at(20 + i64::from(step));
                happens(&storage, (actor * 7 + step) % 8, n, now).await;
            }
        }));
    }
    for actor in actors {
        actor.await.unwrap();
    }
    let wrong = "SELECT count(*) FROM orders WHERE sequence <> (SELECT count(*) FROM events WHERE order_id = orders.id)";
    let wrong: i64 = sqlx::query_scalar(wrong)
        .fetch_one(&one.reader)
        .await
        .unwrap();
    assert_eq!(wrong, 0);
}

async fn happens(storage: &PostgresStorage, what: u32, n: u8, now: Timestamp) {
    let order = id(n);
    match what {
        0 => {
            let pause = SignedDuration::from_secs(1);
            storage
                .schedule_polls_of_order(&order, pause, now)
                .await
                .unwrap();
        }
        1 => {
            storage
                .schedule_poll_of_invoice(&invoice(n).id, now)
                .await
                .unwrap();
        }
        2 | 3 => {
            let until = now + SignedDuration::from_secs(1);
            let due = storage
                .due_attempts(PollPriority::Unwatched, now, until, 2)
                .await;
            for due in due.unwrap() {
                let observation = Observation {
                    observed_at: now,
                    invoice_id: Some(due.invoice_id.to_string()),
                    ..exact("PROCESSING")
                };
                storage
                    .record_observation(&due, &observation)
                    .await
                    .unwrap();
            }
        }
        4 => {
            storage
                .keep_receipt_email(&order, Some("a@b.example"), now)
                .await
                .unwrap();
        }
        5 => {
            let until = now + SignedDuration::from_secs(1);
            let due = storage.due_deliveries(&demo(), now, until, 4).await;
            for due in due.unwrap() {
                let delivery = Delivery {
                    event_id: due.event.id,
                    tried_at: now,
                    took: SignedDuration::ZERO,
                    http_status: Some(500),
                    note: String::new(),
                };
                let retry = DeliveryOutcome::Retry(Retry {
                    at: now,
                    early_from: now,
                    probe_at: now,
                    is_counted: true,
                });
                storage.record_delivery(&delivery, retry).await.unwrap();
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
