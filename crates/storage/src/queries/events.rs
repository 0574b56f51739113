//! Events: numbered per order without a gap, stored with their payload, never changed.

use florin_orders::{EventId, EventType, Order, OrderRecord, Snapshot};
use jiff::Timestamp;

use super::dialect::Connection;
use super::early_tries;
use crate::Result;
use crate::limits::{MONEY, OTHER};
use crate::rows::Time;

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
        early_tries::make_due_of_order(tx, id.as_str(), now).await?;
    }
    Ok(())
}
