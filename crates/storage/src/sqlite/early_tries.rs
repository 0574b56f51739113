//! Tries of events ahead of their schedule: an endpoint that was away is noticed soon after it is back.
//!
//! A failed event waits for its retry. An acceptance by the endpoint makes all waiting events of the store due, and money makes
//! those of its order due. Without either, every few seconds one waiting event with money is tried: the one that has waited longest
//! since its last try.

use florin_orders::StoreId;
use jiff::Timestamp;
use sqlx::SqliteConnection;

use super::rows::millis;
use crate::{Delivery, StorageError};

/// When the store's endpoint last accepted an event while others waited, and from when waiting money may be tried early.
pub(super) async fn endpoint_times(
    tx: &mut SqliteConnection,
    store: &StoreId,
) -> Result<(Option<i64>, Option<i64>), StorageError> {
    let times = "SELECT accepted_at, probe_at FROM store_deliveries WHERE store_id = ?";
    let times = sqlx::query_as(times).bind(store.as_str());
    Ok(times.fetch_optional(tx).await?.unwrap_or_default())
}

/// Makes up to `limit` events due that may be tried early from before `early_before`, the longest waiting first. Returns `true`
/// if there was one. `accepts`: the endpoint accepts other events. One that it rejects meanwhile counts each early try.
pub(super) async fn make_due(
    tx: &mut SqliteConnection,
    store: &StoreId,
    priority: i64,
    early_before: i64,
    accepts: bool,
    limit: u32,
    now: Timestamp,
) -> Result<bool, StorageError> {
    let made_due = sqlx::query(
        "UPDATE outbox SET next_at = ?1, planned_at = ?1, early_from = NULL, wakes = wakes + (?2 OR wakes > 0) WHERE position IN (
             SELECT position FROM outbox WHERE is_head AND early_from IS NOT NULL AND store_id = ?3 AND priority = ?4
                 AND early_from < ?5 ORDER BY early_from LIMIT ?6)",
    )
    .bind(millis(now))
    .bind(accepts)
    .bind(store.as_str())
    .bind(priority)
    .bind(early_before)
    .bind(limit)
    .execute(tx)
    .await?;
    Ok(made_due.rows_affected() > 0)
}

/// Keeps waiting events with money from being tried early until a time.
pub(super) async fn postpone_probe(
    tx: &mut SqliteConnection,
    store: &str,
    until: Timestamp,
) -> Result<(), StorageError> {
    sqlx::query(
        "INSERT INTO store_deliveries (store_id, probe_at) VALUES (?1, ?2)
         ON CONFLICT (store_id) DO UPDATE SET probe_at = max(coalesce(probe_at, 0), excluded.probe_at)",
    )
    .bind(store)
    .bind(millis(until))
    .execute(tx)
    .await?;
    Ok(())
}

/// Makes the waiting events of an order due, after one with money.
pub(super) async fn make_due_of_order(
    tx: &mut SqliteConnection,
    order: &str,
    now: Timestamp,
) -> Result<(), StorageError> {
    sqlx::query(
        "UPDATE outbox SET next_at = ?1, planned_at = ?1, early_from = NULL
         WHERE order_id = ?2 AND state = 'pending' AND early_from <= ?1",
    )
    .bind(millis(now))
    .bind(order)
    .execute(tx)
    .await?;
    Ok(())
}

/// Notes for the waiting events of a store that its endpoint accepts.
pub(super) async fn note_as_accepting(
    tx: &mut SqliteConnection,
    delivery: &Delivery,
) -> Result<(), StorageError> {
    sqlx::query(
        "UPDATE store_deliveries SET accepted_at = ?1 FROM events
         WHERE events.id = ?2 AND store_deliveries.store_id = events.store_id AND EXISTS (
             SELECT 1 FROM outbox AS waiting WHERE waiting.is_head AND waiting.early_from IS NOT NULL
                 AND waiting.store_id = events.store_id)",
    )
    .bind(millis(delivery.ended_at()))
    .bind(delivery.event_id.as_str())
    .execute(tx)
    .await?;
    Ok(())
}
