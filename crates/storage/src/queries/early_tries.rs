//! Tries of events ahead of their schedule: an endpoint that was away is noticed soon after it is back.
//!
//! A failed event waits for its retry. An acceptance by the endpoint makes all waiting events of the store due, and money makes
//! those of its order due. Without either, every few seconds one waiting event with money is tried: the one that has waited longest
//! since its last try.

use florin_orders::StoreId;
use jiff::Timestamp;

use super::dialect::{Connection, statements};
use crate::rows::Time;
use crate::{Delivery, Result};

/// Locks the deliveries of a store. Returns when its endpoint last accepted an event while others waited, and from when waiting
/// money may be tried early.
pub(super) async fn lock_store(
    tx: &mut Connection,
    store: &StoreId,
) -> Result<(Option<Time>, Option<Time>)> {
    sqlx::query(
        "INSERT INTO store_deliveries (store_id) VALUES ($1) ON CONFLICT (store_id) DO NOTHING",
    )
    .bind(store.as_str())
    .execute(&mut *tx)
    .await?;
    let times = sqlx::query_as(statements::LOCK_STORE)
        .bind(store.as_str())
        .fetch_one(tx)
        .await?;
    Ok(times)
}

/// Makes up to `limit` events due that may be tried early from before `early_before`, the longest waiting first. Returns `true`
/// if there was one. `accepts`: the endpoint accepts other events. One that it rejects meanwhile counts each early try.
pub(super) async fn make_due(
    tx: &mut Connection,
    store: &StoreId,
    priority: i64,
    early_before: Time,
    accepts: bool,
    limit: i64,
    now: Timestamp,
) -> Result<bool> {
    let made_due = sqlx::query(statements::MAKE_DUE_EARLY)
        .bind(Time(now))
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
    tx: &mut Connection,
    store: &str,
    until: Timestamp,
) -> Result<()> {
    sqlx::query(
        "UPDATE store_deliveries SET probe_at = CASE WHEN probe_at > $2 THEN probe_at ELSE $2 END WHERE store_id = $1",
    )
    .bind(store)
    .bind(Time(until))
    .execute(tx)
    .await?;
    Ok(())
}

/// Makes the waiting events of an order due, after one with money. With the order locked.
pub(super) async fn make_due_of_order(
    tx: &mut Connection,
    order: &str,
    now: Timestamp,
) -> Result<()> {
    sqlx::query(
        "UPDATE outbox SET next_at = $1, planned_at = $1, early_from = NULL
         WHERE order_id = $2 AND state = 'pending' AND early_from <= $1",
    )
    .bind(Time(now))
    .bind(order)
    .execute(tx)
    .await?;
    Ok(())
}

/// Notes for the waiting events of a store that its endpoint accepts. Without waiting events it writes nothing: all deliveries of
/// a store would wait for its row.
pub(super) async fn note_as_accepting(
    tx: &mut Connection,
    delivery: &Delivery,
    order: &str,
    sequence: i64,
) -> Result<()> {
    sqlx::query(
        "UPDATE store_deliveries AS store SET accepted_at = $1 FROM outbox AS accepted
         WHERE accepted.order_id = $2 AND accepted.sequence = $3 AND store.store_id = accepted.store_id AND EXISTS (
             SELECT 1 FROM outbox AS waiting WHERE waiting.is_head AND waiting.early_from IS NOT NULL
                 AND waiting.store_id = accepted.store_id)",
    )
    .bind(Time(delivery.ended_at()))
    .bind(order)
    .bind(sequence)
    .execute(tx)
    .await?;
    Ok(())
}
