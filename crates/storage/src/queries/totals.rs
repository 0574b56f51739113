//! Totals, for the operator.

use super::dialect::Connection;
use crate::rows;
use crate::{Outbox, Result};

pub(super) async fn needing_review(connection: &mut Connection) -> Result<u64> {
    let count = "SELECT count(*) FROM attempts WHERE needs_review
             AND EXISTS (SELECT 1 FROM polls WHERE attempt_id = attempts.id AND next_poll_at IS NOT NULL)
             AND EXISTS (SELECT 1 FROM orders WHERE orders.id = order_id AND attention_since IS NOT NULL)";
    let count: i64 = sqlx::query_scalar(count).fetch_one(connection).await?;
    rows::read("a count", u64::try_from(count))
}

/// One row for each store. The index has the waiting events alone: they are counted one by one.
pub(super) async fn outboxes(connection: &mut Connection) -> Result<Vec<Outbox>> {
    let found = sqlx::query(
        "SELECT store_id,
             (SELECT count(*) FROM outbox WHERE outbox.state = 'pending' AND outbox.store_id = stores.store_id) AS waiting,
             (SELECT events.created_at FROM outbox JOIN events USING (order_id, sequence)
              WHERE outbox.state = 'pending' AND outbox.store_id = stores.store_id
              ORDER BY outbox.position LIMIT 1) AS oldest_at,
             EXISTS (SELECT 1 FROM disabled_endpoints WHERE disabled_endpoints.store_id = stores.store_id) AS is_disabled
         FROM (SELECT store_id FROM store_deliveries
               UNION SELECT store_id FROM disabled_endpoints
               UNION SELECT store_id FROM outbox WHERE state = 'pending') AS stores",
    )
    .fetch_all(connection)
    .await?;
    found.iter().map(rows::outbox).collect()
}
