//! Totals, for the operator.

use florin_orders::StoreId;
use sqlx::sqlite::SqliteRow;
use sqlx::{Row as _, SqliteConnection};

use super::rows;
use crate::{Outbox, StorageError};

pub(super) async fn needing_review(connection: &mut SqliteConnection) -> Result<u64, StorageError> {
    let count = "SELECT count(*) FROM attempts JOIN orders ON orders.id = order_id
         WHERE needs_review = 1 AND next_poll_at IS NOT NULL AND attention_since IS NOT NULL";
    let count: i64 = sqlx::query_scalar(count).fetch_one(connection).await?;
    rows::read("a count", u64::try_from(count))
}

/// One row for each store.
pub(super) async fn outboxes(
    connection: &mut SqliteConnection,
) -> Result<Vec<Outbox>, StorageError> {
    let rows = sqlx::query(
        "SELECT store_id, events,
             (SELECT created_at FROM events WHERE position = (
                 SELECT min(position) FROM outbox WHERE state = 'pending' AND outbox.store_id = waiting_events.store_id)
             ) AS oldest_at,
             EXISTS (SELECT 1 FROM gone_endpoints WHERE gone_endpoints.store_id = waiting_events.store_id) AS is_gone
         FROM waiting_events",
    )
    .fetch_all(connection)
    .await?;
    rows.iter().map(outbox).collect()
}

fn outbox(row: &SqliteRow) -> Result<Outbox, StorageError> {
    let oldest_at: Option<i64> = row.try_get("oldest_at")?;
    let waiting: i64 = row.try_get("events")?;
    Ok(Outbox {
        store_id: rows::read("a store id", StoreId::parse(row.try_get("store_id")?))?,
        waiting: rows::read("a count", u64::try_from(waiting))?,
        oldest_at: oldest_at.map(rows::time).transpose()?,
        is_disabled: row.try_get("is_gone")?,
    })
}
