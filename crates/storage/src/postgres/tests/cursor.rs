//! The list of events: a reader misses none, whatever commits late.

use sqlx::Connection as _;

use super::*;

async fn read_on(storage: &PostgresStorage, seen: &mut Vec<EventId>) {
    loop {
        let page = storage.events(&demo(), seen.last(), 7).await;
        let page = page.unwrap().expect("the last event that was read");
        if page.is_empty() {
            return;
        }
        seen.extend(page.into_iter().map(|event| event.id));
    }
}

#[tokio::test]
async fn an_event_that_commits_late_is_not_skipped() {
    let (storage, database) = store().await;
    storage.order(1).await;
    // A transaction that has written its event and not ended.
    let slow = sqlx::PgConnection::connect(&server().url(&database));
    let mut slow = slow.await.unwrap();
    let mut tx = slow.begin().await.unwrap();
    for statement in [
        "INSERT INTO orders (id, store_id, reference, amount, currency, price_source, title, lines, metadata, assets, flow,
             tolerance, expires_at, created_at, status)
         SELECT 'ord_' || md5('late'), store_id, 'r2', amount, currency, price_source, title, lines, metadata, assets, flow,
             tolerance, expires_at, created_at, status FROM orders",
        "INSERT INTO events (order_id, sequence, id, store_id, type, created_at, payload)
         SELECT 'ord_' || md5('late'), 1, 'evt_' || md5('late') || '_1_0123456789abcdef', store_id, type, created_at, payload FROM events",
    ] {
        sqlx::query(statement).execute(&mut *tx).await.unwrap();
    }
    storage.order(3).await;
    let mut seen = Vec::new();
    read_on(&storage, &mut seen).await;
    let before = seen.len();
    tx.commit().await.unwrap();
    read_on(&storage, &mut seen).await;
    assert_eq!((before, seen.len()), (1, 3), "{seen:?}");
}

/// A dump that is restored elsewhere has numbers of transactions that the new server has not reached.
#[tokio::test]
async fn a_restored_database_is_refused_until_it_is_migrated() {
    let (storage, database) = store().await;
    storage.awaiting(1).await;
    let mut expected = Vec::new();
    read_on(&storage, &mut expected).await;
    let ahead = "UPDATE events SET tx = (tx::text::bigint + 1000000000)::text::xid8";
    sqlx::query(ahead).execute(&storage.reader).await.unwrap();
    let url = server().url(&database);
    let refused = PostgresStorage::open(&url, "test").await.unwrap_err();
    assert!(
        matches!(refused, StorageError::Restored { .. }),
        "{refused}"
    );
    crate::migrate_postgres(&url, "test").await.unwrap();
    let again = replica(&database).await;
    again.order(2).await;
    let mut seen = Vec::new();
    read_on(&again, &mut seen).await;
    assert_eq!(seen[..expected.len()], expected);
    assert_eq!(seen.len(), 3);
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
