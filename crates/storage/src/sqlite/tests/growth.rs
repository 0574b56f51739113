//! Growth of the database per order, and an endpoint that is enabled after a backlog.

use super::*;

const ORDERS: u8 = 24;
/// Polls of an attempt in its life, as many as a poller without any economy makes.
const POLLS: u32 = 300;

/// The length of a response as the sandbox writes it. The time in it differs in each.
const LENGTH: usize = 700;

fn confirmed(count: u32) -> Observation {
    Observation {
        confirmations: Some(format!("{count}/3")),
        transaction_hash: Some("c0ffee".repeat(10) + "cafe"),
        ..exact(if count < 3 { "PROCESSING" } else { "COMPLETED" })
    }
}

async fn record(storage: &SqliteStorage, number: u8, poll: u32, response: Observation) {
    let response = Observation {
        raw: format!("{poll:x<LENGTH$}"),
        ..response
    };
    let now = 10 + i64::from(poll);
    let recorded = storage.record(&polled(number, poll), now, response).await;
    recorded.expect("the latest poll");
}

/// Bytes that `ORDERS` orders leave behind each, after what expires is gone: those of the pages in use, with the room in
/// them that later orders fill.
async fn bytes_per_order(observations: impl Fn(u32) -> Observation) -> u64 {
    let test = test().await;
    let size = async || {
        let mut connection = test.reader.acquire().await.unwrap();
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
        test.awaiting(number).await;
        for poll in 1..=POLLS {
            record(&test, number, poll, observations(poll)).await;
        }
    }
    while test.backlog().await.unwrap() > 0 {
        for due in test.due(9_000).await {
            test.deliver(&due, 9_000, DeliveryOutcome::Delivered).await;
        }
    }
    while test.delete_expired_tokens(at(1 << 32)).await.unwrap() > 0 {}
    (size().await - empty) / u64::from(ORDERS)
}

#[tokio::test]
async fn a_paid_order_leaves_ten_kilobytes_at_most_and_an_unpaid_one_twelve() {
    let paid = bytes_per_order(|poll| match poll {
        1..=40 => observed("WAITING"),
        41..=60 => confirmed(0),
        61..=80 => confirmed(1),
        81..=100 => confirmed(2),
        _ => confirmed(3),
    });
    let unpaid = bytes_per_order(|poll| match poll {
        1..=100 => observed("WAITING"),
        _ => observed("EXPIRED"),
    });
    let (paid, unpaid) = tokio::join!(paid, unpaid);
    println!("after {POLLS} polls: {paid} bytes of a paid order, {unpaid} of an unpaid one");
    assert!(paid <= 10_000, "{paid}");
    assert!(unpaid <= 12_000, "{unpaid}");
}

/// A store that is down: this many orders, with an event that is due for each.
async fn with_backlog(events: u32) -> TestStorage {
    let test = test().await;
    test.order(1).await;
    let mut tx = test.begin().await.unwrap();
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
        "INSERT INTO outbox (order_id, sequence, webhook, position, store_id, next_at, planned_at, is_head)
         SELECT order_id, sequence, 'default', position, store_id, position % 1000, 0, 1 FROM events
         WHERE position NOT IN (SELECT position FROM outbox) LIMIT ?",
    ] {
        let filled = sqlx::query(statement).bind(events);
        filled.execute(&mut *tx).await.unwrap();
    }
    tx.commit().await.unwrap();
    test
}

#[tokio::test]
async fn an_endpoint_is_enabled_in_steps_and_keeps_its_events() {
    let test = with_backlog(3_000).await;
    let due = test.due_deliveries(&hook(), at(2), at(32), 2).await;
    let gone = DeliveryOutcome::Gone(florin_orders::EndpointHash([7; 32]));
    test.deliver(&due.unwrap()[0], 2, gone).await;
    let due = test.due_deliveries(&hook(), at(3), at(33), 4).await;
    assert_eq!(due.unwrap(), []);
    assert!(test.enable_endpoint(&hook(), at(50)).await.unwrap());
    let due = "SELECT count(*) FROM outbox WHERE state = 'pending' AND tries = 0 AND next_at = $1";
    let due = sqlx::query_scalar(due).bind(at(50).as_millisecond());
    let due: i64 = due.fetch_one(&test.reader).await.unwrap();
    assert_eq!(due, 3_001);
}
