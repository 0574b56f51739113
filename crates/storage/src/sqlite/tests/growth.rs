//! Growth of the database per order, and the duration of a backlog.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use super::*;

/// Orders of one measurement.
const ORDERS: u8 = 24;
/// Polls of an attempt in its life, as many as a poller without any economy makes.
const POLLS: u32 = 300;

/// A response as the sandbox writes it; the time in it differs in each.
fn response(observation: &Observation, poll: u32) -> String {
    let text = |member: &Option<String>| member.clone().unwrap_or_default();
    let mut raw = "{\"data\":{".to_owned();
    for (name, value) in [
        ("invoice_id", text(&observation.invoice_id)),
        ("transaction_status", text(&observation.status)),
        (
            "invoice_amount_in_local_currency",
            text(&observation.requested.local),
        ),
        ("invoice_amount_in_usd", text(&observation.requested.usd)),
        ("invoice_crypto_amount", text(&observation.requested.crypto)),
        (
            "received_amount_in_local_currency",
            text(&observation.received.local),
        ),
        ("received_amount_in_usd", text(&observation.received.usd)),
        ("received_crypto_amount", text(&observation.received.crypto)),
        ("local_currency_code", text(&observation.local_currency)),
        ("transaction_crypto", text(&observation.crypto_code)),
        ("invoice_creation_time", "1700000000".into()),
        ("depositor_email_id", "customer@shop.example".into()),
        ("blockchain_transaction_status", "PENDING".into()),
        ("transaction_hash", text(&observation.transaction_hash)),
        ("blockchain_confirmations", text(&observation.confirmations)),
        ("wallet_address", text(&observation.address)),
        ("transaction_time", (1_700_000_000 + poll).to_string()),
    ] {
        write!(raw, "\"{name}\":\"{value}\",").unwrap();
    }
    raw.pop();
    raw + "}}"
}

fn confirmed(count: u32) -> Observation {
    Observation {
        confirmations: Some(format!("{count}/3")),
        transaction_hash: Some("c0ffee".repeat(10) + "cafe"),
        ..exact(if count < 3 { "PROCESSING" } else { "COMPLETED" })
    }
}

async fn recorded(
    storage: &Store,
    number: u8,
    poll: u32,
    mut observation: Observation,
) -> RecordedObservation {
    let due = DueAttempt {
        attempt_id: new_attempt(number).id,
        order_id: id(number),
        invoice_id: invoice(number).id,
        priority: PollPriority::Unwatched,
        poll_seq: poll,
        stretch: florin_orders::Stretch::NONE,
        traceparent: None,
    };
    observation.invoice_id = Some(due.invoice_id.to_string());
    observation.observed_at = at(10 + i64::from(poll));
    observation.raw = response(&observation, poll);
    let recorded = storage.record_observation(&due, &observation).await;
    recorded.unwrap().expect("the latest poll")
}

async fn deliver_everything(storage: &Store) {
    loop {
        let due = storage
            .due_deliveries(&demo(), at(9_000), at(9_030), 50)
            .await
            .unwrap();
        if due.is_empty() {
            return;
        }
        for event in due {
            let delivery = Delivery {
                event_id: event.event.id.clone(),
                tried_at: at(9_000),
                took: SignedDuration::from_millis(35),
                http_status: Some(204),
                note: "answered 204".into(),
            };
            let recorded = storage.record_delivery(&delivery, DeliveryOutcome::Delivered);
            recorded.await.unwrap();
        }
    }
}

/// Bytes that `ORDERS` orders leave behind each, after what expires is gone: those of the pages in use, with the room in
/// them that later orders fill.
async fn bytes_per_order(observations: impl Fn(u32) -> Observation) -> u64 {
    let test = test().await;
    let storage = &test.store();
    let size = async || {
        let mut connection = test.storage.reader.acquire().await.unwrap();
        let mut number = async |pragma: &str| {
            let pragma = sqlx::AssertSqlSafe(format!("PRAGMA {pragma}"));
            let number = sqlx::query_scalar::<_, i64>(pragma);
            number.fetch_one(&mut *connection).await.unwrap()
        };
        let pages = number("page_count").await - number("freelist_count").await;
        u64::try_from(pages * number("page_size").await).unwrap()
    };
    let empty = size().await;
    for number in 1..=ORDERS {
        awaiting(storage, number).await;
        for poll in 1..=POLLS {
            recorded(storage, number, poll, observations(poll)).await;
        }
    }
    deliver_everything(storage).await;
    while storage.delete_expired_tokens(at(1 << 32)).await.unwrap() > 0 {}
    (size().await - empty) / u64::from(ORDERS)
}

#[tokio::test]
async fn a_paid_order_leaves_ten_kilobytes_at_most() {
    let bytes = bytes_per_order(|poll| match poll {
        1..=40 => observed("WAITING"),
        41..=60 => confirmed(0),
        61..=80 => confirmed(1),
        81..=100 => confirmed(2),
        _ => confirmed(3),
    });
    let bytes = bytes.await;
    println!("a paid order: {bytes} bytes after {POLLS} polls");
    assert!(bytes <= 10_000, "{bytes}");
}

#[tokio::test]
async fn an_unpaid_order_leaves_twelve_kilobytes_at_most() {
    let bytes = bytes_per_order(|poll| match poll {
        1..=100 => observed("WAITING"),
        _ => observed("EXPIRED"),
    });
    let bytes = bytes.await;
    println!("an unpaid order: {bytes} bytes after {POLLS} polls");
    assert!(bytes <= 12_000, "{bytes}");
}

/// A store that is down: this many orders, with an event that is due for each.
async fn with_backlog(events: u32) -> TestStorage {
    let test = test().await;
    order(&test.store(), 1).await;
    let mut tx = test.storage.begin().await.unwrap();
    for statement in [
        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
         INSERT INTO orders (id, store_id, reference, amount, currency, price_source, title, lines, metadata, assets,
             flow, tolerance, expires_at, created_at, status)
         SELECT 'ord_' || printf('%032x', i + 4096), store_id, 'old-' || i, amount, currency, price_source, title,
             lines, metadata, assets, flow, tolerance, expires_at, created_at, status
         FROM orders, n WHERE reference = 'r1'",
        "INSERT INTO events (id, store_id, order_id, sequence, type, created_at, payload)
         SELECT 'evt_' || substr(id, 5) || '_1_0123456789abcdef', store_id, id, 1, 'order.created', 0, '{}'
         FROM orders WHERE reference <> 'r1' LIMIT ?",
        "INSERT INTO outbox (order_id, sequence, position, store_id, next_at, planned_at, is_head)
         SELECT order_id, sequence, position, store_id, position % 1000, 0, 1 FROM events
         WHERE position NOT IN (SELECT position FROM outbox) LIMIT ?",
    ] {
        let filled = sqlx::query(statement).bind(events);
        filled.execute(&mut *tx).await.unwrap();
    }
    tx.commit().await.unwrap();
    test
}

#[expect(clippy::disallowed_methods, reason = "a stopwatch")]
fn stopwatch() -> impl Fn() -> Duration {
    let began = Instant::now();
    move || began.elapsed()
}

/// The counts read the index of the waiting events, and a lease reads the events that are due alone.
#[tokio::test]
async fn a_backlog_of_200_000_events_delays_no_delivery() {
    let test = with_backlog(200_000).await;
    let storage = &test.store();
    let mut slowest = Duration::ZERO;
    for second in 0..10 {
        let time = stopwatch();
        let due = storage
            .due_deliveries(&demo(), at(2 + second), at(3 + second), 4)
            .await;
        slowest = slowest.max(time());
        // One of four is kept for money.
        assert_eq!(due.unwrap().len(), 3);
    }
    println!("the slowest of ten turns: {slowest:?}");
    assert!(slowest < Duration::from_millis(100), "{slowest:?}");
    assert_eq!(storage.backlog().await.unwrap(), 200_001);
    let status = storage.endpoint_status(&demo()).await.unwrap();
    assert_eq!(status.waiting, 200_001);
}

#[tokio::test]
async fn an_endpoint_is_enabled_in_steps_and_keeps_its_events() {
    let test = with_backlog(3_000).await;
    let storage = &test.store();
    let due = storage.due_deliveries(&demo(), at(2), at(32), 2).await;
    let due = due.unwrap().pop().unwrap();
    let delivery = Delivery {
        event_id: due.event.id.clone(),
        tried_at: at(2),
        took: SignedDuration::ZERO,
        http_status: Some(410),
        note: "answered 410".into(),
    };
    let gone = DeliveryOutcome::Gone(florin_orders::EndpointHash([7; 32]));
    storage.record_delivery(&delivery, gone).await.unwrap();
    let due = storage.due_deliveries(&demo(), at(3), at(33), 4).await;
    assert_eq!(due.unwrap(), []);
    assert!(storage.enable_endpoint(&demo(), at(50)).await.unwrap());
    let due = "SELECT count(*) FROM outbox WHERE state = 'pending' AND tries = 0 AND next_at = $1";
    let due: i64 = sqlx::query_scalar(due)
        .bind(at(50).as_millisecond())
        .fetch_one(&test.storage.reader)
        .await
        .unwrap();
    assert_eq!(due, 3_001);
}
