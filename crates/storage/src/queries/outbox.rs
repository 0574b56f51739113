//! Events in the outbox: numbered per order without a gap, stored with their payload, and tried ahead of their schedule, so that
//! an endpoint that was away is noticed soon after it is back.
//!
//! A failed event waits for its retry. An acceptance by the endpoint makes all waiting events of the store due, and money makes
//! those of its order due. Without either, every few seconds one waiting event with money is tried: the one that has waited longest
//! since its last try.

use florin_orders::{EventId, EventType, Order, OrderRecord, Snapshot, StoreId};
use jiff::Timestamp;

use super::dialect::{Connection, statements};
use crate::limits::{MONEY, OTHER};
use crate::rows::Time;
use crate::{Delivery, Result};

/// Appends events to the outbox, numbered from `first`. Their payload shows the order with the snapshot's attempt.
pub(super) async fn append(
    tx: &mut Connection,
    snapshot: &Snapshot,
    first: u32,
    events: &[EventType],
    now: Timestamp,
) -> Result<()> {
    if events.is_empty() {
        return Ok(());
    }
    let Order { id, terms, .. } = &snapshot.order;
    let record = OrderRecord::of(snapshot);
    for (event, sequence) in events.iter().zip(first..) {
        let name = event.name_for(terms.price_source);
        let payload = record.payload(&name, sequence, now);
        let position: i64 = sqlx::query_scalar(
            "INSERT INTO events (id, store_id, order_id, sequence, type, created_at, payload)
             VALUES ($1, $2, $3, $4, $5, $6, $7) RETURNING position",
        )
        .bind(EventId::of(id, sequence, &payload).as_str())
        .bind(terms.store_id.as_str())
        .bind(id.as_str())
        .bind(i64::from(sequence))
        .bind(name)
        .bind(Time(now))
        .bind(payload)
        .fetch_one(&mut *tx)
        .await?;
        sqlx::query(
            "INSERT INTO outbox (order_id, sequence, position, store_id, next_at, planned_at, priority, is_head)
             SELECT $1, $2, $3, $4, $5, $5, $6, NOT EXISTS (
                 SELECT 1 FROM outbox WHERE order_id = $1 AND state = 'pending' AND NOT was_delivered)",
        )
        .bind(id.as_str())
        .bind(i64::from(sequence))
        .bind(position)
        .bind(terms.store_id.as_str())
        .bind(Time(now))
        .bind(OTHER)
        .execute(&mut *tx)
        .await?;
    }
    if events.iter().any(|event| event.is_about_money()) {
        // The events of an order are delivered in their order, so that earlier ones go first as well.
        sqlx::query("UPDATE outbox SET priority = $1 WHERE order_id = $2 AND state = 'pending'")
            .bind(MONEY)
            .bind(id.as_str())
            .execute(&mut *tx)
            .await?;
        sqlx::query(
            "UPDATE outbox SET next_at = $1, planned_at = $1, early_from = NULL
             WHERE order_id = $2 AND state = 'pending' AND early_from <= $1",
        )
        .bind(Time(now))
        .bind(id.as_str())
        .execute(&mut *tx)
        .await?;
    }
    Ok(())
}

/// Locks the deliveries of a store. Returns when its endpoint last accepted an event while others waited, and from when waiting
/// money may be tried early.
pub(super) async fn lock_store(
    tx: &mut Connection,
    store: &StoreId,
) -> Result<(Option<Time>, Option<Time>)> {
    let times = sqlx::query_as(
        "INSERT INTO store_deliveries (store_id) VALUES ($1)
         ON CONFLICT (store_id) DO UPDATE SET store_id = excluded.store_id RETURNING accepted_at, probe_at",
    )
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

/// Marks which events of an order may be delivered: those with no earlier pending event that the store has not accepted
/// yet. The others wait for it. Run after each change of a state, with the order locked.
pub(super) async fn mark_heads(tx: &mut Connection, order: &str) -> Result<()> {
    sqlx::query(
        "UPDATE outbox SET is_head = may_go FROM (
             SELECT mine.sequence AS head, mine.state = 'pending' AND NOT EXISTS (
                 SELECT 1 FROM outbox AS earlier WHERE earlier.order_id = mine.order_id AND earlier.state = 'pending'
                     AND NOT earlier.was_delivered AND earlier.sequence < mine.sequence) AS may_go
             FROM outbox AS mine WHERE mine.order_id = $1) AS heads
         WHERE order_id = $1 AND sequence = head AND is_head <> may_go",
    )
    .bind(order)
    .execute(tx)
    .await?;
    Ok(())
}
