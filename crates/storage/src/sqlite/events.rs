//! Events: numbered per order without a gap, stored with their payload, never changed.

use florin_orders::{Event, EventId, EventType, Order, OrderRecord, Snapshot, StoreId};
use jiff::Timestamp;
use sqlx::SqliteConnection;

use super::early_tries;
use super::rows::millis;
use crate::StorageError;
use crate::limits::{MONEY, OTHER};
use crate::rows;

/// Appends events to the outbox, numbered from `first`. Their payload shows the order with the snapshot's attempt.
pub(super) async fn append(
    tx: &mut SqliteConnection,
    snapshot: &Snapshot,
    first: u32,
    events: &[EventType],
    now: Timestamp,
) -> Result<(), StorageError> {
    if events.is_empty() {
        return Ok(());
    }
    let Order { id, terms, .. } = &snapshot.order;
    let record = OrderRecord::of(snapshot);
    for (event, sequence) in events.iter().zip(first..) {
        let name = event.name_for(terms.price_source);
        let payload = record.payload(&name, sequence, now);
        let inserted = sqlx::query(
            "INSERT INTO events (id, store_id, order_id, sequence, type, created_at, payload)
             VALUES (?, ?, ?, ?, ?, ?, ?)",
        )
        .bind(EventId::of(id, sequence, &payload).as_str())
        .bind(terms.store_id.as_str())
        .bind(id.as_str())
        .bind(sequence)
        .bind(name)
        .bind(millis(now))
        .bind(payload)
        .execute(&mut *tx)
        .await?;
        sqlx::query(
            "INSERT INTO outbox (position, order_id, store_id, next_at, planned_at, priority, is_head)
             SELECT ?1, ?2, ?3, ?4, ?4, ?5, NOT EXISTS (SELECT 1 FROM outbox WHERE order_id = ?2 AND state = 'pending'
                 AND NOT was_taken)",
        )
        .bind(inserted.last_insert_rowid())
        .bind(id.as_str())
        .bind(terms.store_id.as_str())
        .bind(millis(now))
        .bind(OTHER)
        .execute(&mut *tx)
        .await?;
    }
    if events.iter().any(|event| event.is_about_money()) {
        // The events of an order are delivered in their order, so that earlier ones go first as well.
        sqlx::query("UPDATE outbox SET priority = ?1 WHERE order_id = ?2 AND state = 'pending'")
            .bind(MONEY)
            .bind(id.as_str())
            .execute(&mut *tx)
            .await?;
        early_tries::make_due_of_order(tx, id.as_str(), now).await?;
    }
    Ok(())
}

/// `None` when the store has no event `after`.
pub(super) async fn page(
    connection: &mut SqliteConnection,
    store: &StoreId,
    after: Option<&EventId>,
    limit: u32,
) -> Result<Option<Vec<Event>>, StorageError> {
    let start = match after {
        None => 0,
        Some(after) => {
            let known = "SELECT position FROM events WHERE id = ? AND store_id = ?";
            let known = sqlx::query_scalar(known)
                .bind(after.as_str())
                .bind(store.as_str());
            match known.fetch_optional(&mut *connection).await? {
                Some(position) => position,
                None => return Ok(None),
            }
        }
    };
    let found = sqlx::query(
        "SELECT * FROM events WHERE store_id = ? AND position > ? ORDER BY position LIMIT ?",
    )
    .bind(store.as_str())
    .bind::<i64>(start)
    .bind(limit)
    .fetch_all(connection)
    .await?;
    found
        .iter()
        .map(rows::event)
        .collect::<Result<_, _>>()
        .map(Some)
}
