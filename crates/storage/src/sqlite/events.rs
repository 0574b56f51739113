//! Events: numbered per order without a gap, stored with their payload, never changed.

use florin_orders::{AttemptId, Event, EventId, EventType, OrderId, OrderRecord, StoreId};
use jiff::Timestamp;
use sqlx::SqliteConnection;

use super::attempts::find;
use super::orders::snapshot;
use super::rows::{self, millis};
use crate::StorageError;

/// Appends events about an order in its present state, each with its outbox row. `about` is their
/// attempt, if it is not the current one.
pub(super) async fn tell(
    tx: &mut SqliteConnection,
    order_id: &OrderId,
    about: Option<&AttemptId>,
    events: &[EventType],
    now: Timestamp,
) -> Result<(), StorageError> {
    if events.is_empty() {
        return Ok(());
    }
    let gone = || StorageError::Corrupt(format!("no order {order_id} while telling of it"));
    let mut known = snapshot(tx, order_id).await?.ok_or_else(gone)?;
    if let Some(attempt) = about {
        known.attempt = Some(find(tx, attempt).await?);
    }
    let record = OrderRecord::of(&known);
    for (event, sequence) in events.iter().zip(known.order.sequence + 1..) {
        let told = event.name_for(known.order.terms.price_source);
        let payload = record.payload(&told, sequence, now);
        let inserted = sqlx::query(
            "INSERT INTO events (id, store_id, order_id, sequence, type, created_at, payload)
             VALUES (?, ?, ?, ?, ?, ?, ?)",
        )
        .bind(EventId::of(order_id, sequence).as_str())
        .bind(known.order.terms.store_id.as_str())
        .bind(order_id.as_str())
        .bind(sequence)
        .bind(told)
        .bind(millis(now))
        .bind(payload)
        .execute(&mut *tx)
        .await?;
        sqlx::query(
            "INSERT INTO outbox (position, order_id, store_id, next_at) VALUES (?, ?, ?, ?)",
        )
        .bind(inserted.last_insert_rowid())
        .bind(order_id.as_str())
        .bind(known.order.terms.store_id.as_str())
        .bind(millis(now))
        .execute(&mut *tx)
        .await?;
    }
    let told = u32::try_from(events.len()).expect("a change tells a handful of events");
    sqlx::query("UPDATE orders SET sequence = sequence + ?, version = version + 1 WHERE id = ?")
        .bind(told)
        .bind(order_id.as_str())
        .execute(tx)
        .await?;
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
