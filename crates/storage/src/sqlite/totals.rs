//! Totals, for the operator.

use sqlx::SqliteConnection;

use crate::rows;
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
    let found = sqlx::query(
        "SELECT store_id, events AS waiting,
             (SELECT created_at FROM events WHERE position = (
                 SELECT min(position) FROM outbox WHERE state = 'pending' AND outbox.store_id = waiting_events.store_id)
             ) AS oldest_at,
             EXISTS (SELECT 1 FROM gone_endpoints WHERE gone_endpoints.store_id = waiting_events.store_id) AS is_gone
         FROM waiting_events",
    )
    .fetch_all(connection)
    .await?;
    found.iter().map(rows::outbox).collect()
}
