//! The schema: invariants that the database itself guards, and databases of earlier versions.

use super::super::open::{MIGRATIONS, migrator};
use super::*;
use crate::{Claim, Fingerprint, RequestId};

#[tokio::test]
async fn a_database_that_cannot_be_written_is_named() {
    let error = SqliteStorage::open("sqlite:///nowhere/at/all.db", "test")
        .await
        .unwrap_err();
    assert!(
        error
            .to_string()
            .contains("sqlite:///nowhere/at/all.db cannot be opened"),
        "{error}"
    );
}

/// A database of the first version, with an attempt in this state after these assessments.
async fn of_the_first_version(payment_state: &str, assessments: &[&str]) -> TempDir {
    let folder = temporary_folder();
    let file = SqliteConnectOptions::from_str(&url(&folder)).unwrap();
    let old = SqlitePool::connect_with(file.create_if_missing(true))
        .await
        .unwrap();
    migrator(&MIGRATIONS[..1]).run(&old).await.unwrap();
    let (order, attempt) = (id(1), new_attempt(1).id);
    sqlx::query(
        "INSERT INTO orders (id, store_id, reference, amount, currency, price_source, title, metadata, assets, flow,
             tolerance, expires_at, created_at, status)
         VALUES (?, 'demo', 'r1', '19.90', 'USD', 'catalogue', 'T', '{}', '', 'custom', '0', 1, 0, 'failed')",
    )
    .bind(order.as_str())
    .execute(&old)
    .await
    .unwrap();
    sqlx::query(
        "INSERT INTO attempts (id, order_id, flow, crypto_code, conversion_id, asked_crypto, asked_usd, asked_local,
             local_currency, begun_at, state, invoice_id, address, qr_string, warnings, opened_at, expires_at,
             standing, standing_since)
         VALUES (?, ?, 'custom', 'BTC', 'c', '1', '1', '1', 'USD', 0, 'open', 'inv_1', 'a', 'q', '[]', 0, 1, ?, 0)",
    )
    .bind(attempt.as_str())
    .bind(order.as_str())
    .bind(payment_state)
    .execute(&old)
    .await
    .unwrap();
    for (poll, assessment) in (1_u32..).zip(assessments) {
        sqlx::query(
            "INSERT INTO observations (attempt_id, look, observed_at, raw, verdict) VALUES (?, ?, 0, '', ?)",
        )
        .bind(attempt.as_str())
        .bind(poll)
        .bind(*assessment)
        .execute(&old)
        .await
        .unwrap();
    }
    sqlx::query("UPDATE orders SET current_attempt = ?")
        .bind(attempt.as_str())
        .execute(&old)
        .await
        .unwrap();
    old.close().await;
    folder
}

#[tokio::test]
async fn a_database_of_the_first_version_keeps_what_its_polls_detected() {
    for (name, assessments, was_seen) in [
        ("old-unseen", &["waiting", "failed"][..], false),
        (
            "old-seen",
            &["waiting", "seen", "waiting", "failed"][..],
            true,
        ),
    ] {
        let folder = of_the_first_version("failed", assessments).await;
        let storage = SqliteStorage::open(&url(&folder), "test").await.unwrap();
        let found = storage.snapshot(&id(1)).await.unwrap().unwrap();
        let attempt = found.attempt.unwrap();
        assert_eq!(attempt.invoice().unwrap().was_seen, was_seen, "{name}");
        storage.close().await;
    }
}

#[tokio::test]
async fn a_result_of_an_earlier_format_is_executed_again_if_it_opened_an_order() {
    let folder = of_the_first_version("failed", &[]).await;
    let file = SqliteConnectOptions::from_str(&url(&folder)).unwrap();
    let old = SqlitePool::connect_with(file).await.unwrap();
    for (request, token_hash) in [(1, Some([7_u8; 32])), (2, None)] {
        sqlx::query(
            "INSERT INTO requests (id, fingerprint, kept_until, status, body, order_id, token_hash)
             VALUES (?, ?, 900000, 200, '{}', ?, ?)",
        )
        .bind(&[request; 32][..])
        .bind(&[9_u8; 32][..])
        .bind(id(1).as_str())
        .bind(token_hash.as_ref().map(<[u8; 32]>::as_slice))
        .execute(&old)
        .await
        .unwrap();
    }
    old.close().await;
    let storage = SqliteStorage::open(&url(&folder), "test").await.unwrap();
    let claim = async |request| {
        let (request, sent) = (RequestId([request; 32]), Fingerprint([9; 32]));
        let claim = storage.claim_request(request, sent, at(0), at(30)).await;
        claim.unwrap()
    };
    assert_eq!(claim(1).await, Claim::Acquired);
    assert!(matches!(claim(2).await, Claim::Completed(_)));
    storage.close().await;
}

#[tokio::test]
async fn an_old_order_keeps_the_money_of_its_attempts() {
    for (name, payment_state, has_money) in [
        ("old-detected", "seen", true),
        ("old-underpaid", "short", true),
        ("old-refunded", "failed", false),
        ("old-cancelled", "cancelled", false),
    ] {
        let folder = of_the_first_version(payment_state, &[]).await;
        let storage = SqliteStorage::open(&url(&folder), "test").await.unwrap();
        let found = storage.snapshot(&id(1)).await.unwrap().unwrap();
        assert_eq!(found.order.has_money, has_money, "{name}");
        storage.close().await;
    }
}

#[tokio::test]
async fn an_old_order_keeps_its_late_payment() {
    for (name, events, late_payment) in [
        ("old-in-time", &["order.paid"][..], None),
        (
            "old-counted",
            &["order.late_payment", "order.paid"][..],
            Some(LatePayment::Counted),
        ),
        (
            "old-second",
            &["order.paid", "order.late_payment"][..],
            Some(LatePayment::Second),
        ),
    ] {
        let folder = of_the_first_version("settled", &[]).await;
        let file = SqliteConnectOptions::from_str(&url(&folder)).unwrap();
        let old = SqlitePool::connect_with(file).await.unwrap();
        for (sequence, event) in (1_u32..).zip(events) {
            sqlx::query(
                "INSERT INTO events (id, store_id, order_id, sequence, type, created_at, payload)
                 VALUES (?, 'demo', ?, ?, ?, 9, '{}')",
            )
            .bind(format!("evt_{}_{sequence}", "01".repeat(16)))
            .bind(id(1).as_str())
            .bind(sequence)
            .bind(*event)
            .execute(&old)
            .await
            .unwrap();
        }
        for change in [
            "UPDATE orders SET settled_at = 9",
            "UPDATE attempts SET told_late = '1'",
        ] {
            sqlx::query(change).execute(&old).await.unwrap();
        }
        old.close().await;
        let storage = SqliteStorage::open(&url(&folder), "test").await.unwrap();
        let found = storage.snapshot(&id(1)).await.unwrap().unwrap();
        assert_eq!(found.order.late_payment, late_payment, "{name}");
        storage.close().await;
    }
}

#[tokio::test]
async fn repeated_observations_of_an_old_database_become_a_count() {
    let polls = [
        "waiting", "waiting", "seen", "seen", "seen", "waiting", "settled", "settled",
    ];
    let folder = of_the_first_version("settled", &polls).await;
    let file = SqliteConnectOptions::from_str(&url(&folder)).unwrap();
    let old = SqlitePool::connect_with(file.clone()).await.unwrap();
    migrator(&MIGRATIONS[..6]).run(&old).await.unwrap();
    for change in [
        "DROP TRIGGER observations_stay",
        "UPDATE observations SET observed_at = look * 1000",
        "UPDATE observations SET raw = printf('%.*c', 9000, 'x') WHERE look = 1",
        "CREATE TRIGGER observations_stay BEFORE UPDATE ON observations BEGIN SELECT RAISE(ABORT, ''); END",
        // The credit rests on the second of two equal rows.
        "INSERT INTO credits (order_id, attempt_id, observation_id, amount, currency, credited_at)
         SELECT order_id, attempts.id, observations.id, '19.90', 'USD', 8 FROM attempts, observations
         WHERE observations.look = 8",
        "INSERT INTO events (id, store_id, order_id, sequence, type, created_at, payload)
         SELECT 'evt_' || column1, 'demo', orders.id, column1, 'order.created', 0, '{}'
         FROM orders, (VALUES (1), (2), (3))",
        "INSERT INTO outbox (position, order_id, store_id, state, next_at)
         SELECT position, order_id, store_id, iif(sequence = 1, 'delivered', 'pending'), 0 FROM events",
    ] {
        sqlx::query(change).execute(&old).await.unwrap();
    }
    old.close().await;
    let storage = SqliteStorage::open(&url(&folder), "test").await.unwrap();
    let rows = "SELECT look, last_look, last_at, times, length(raw) FROM observations ORDER BY id";
    let rows = sqlx::query_as::<_, (i64, i64, i64, i64, i64)>(rows);
    let rows = rows.fetch_all(&storage.reader).await.unwrap();
    let expected = [
        (1, 1, 1000, 1, 1024),
        (2, 2, 2000, 1, 0),
        (3, 5, 5000, 3, 0),
        (6, 6, 6000, 1, 0),
        (7, 7, 7000, 1, 0),
        (8, 8, 8000, 1, 0),
    ];
    assert_eq!(rows, expected);
    let heads = "SELECT sequence FROM outbox JOIN events USING (position) WHERE is_head";
    let heads: Vec<i64> = sqlx::query_scalar(heads)
        .fetch_all(&storage.reader)
        .await
        .unwrap();
    assert_eq!(heads, [2]);
    assert_eq!(storage.backlog().await.unwrap(), 2);
    let check: Vec<String> = sqlx::query_scalar("PRAGMA foreign_key_check")
        .fetch_all(&storage.reader)
        .await
        .unwrap();
    assert_eq!(check, [""; 0]);
    storage.close().await;
}
