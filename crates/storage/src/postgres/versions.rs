//! The versions of orders.

use florin_orders::OrderId;
use sqlx::postgres::PgRow;
use sqlx::{PgConnection, Row as _};

use crate::rows::Record as _;
use crate::{OrderVersion, Result, StorageError};

/// The versions of orders. `xmin` is the transaction that wrote a row: it changes with every write, whatever wrote it.
pub(super) async fn versions(
    connection: &mut PgConnection,
    ids: &[OrderId],
) -> Result<Vec<(OrderId, OrderVersion)>> {
    let ids: Vec<&str> = ids.iter().map(OrderId::as_str).collect();
    let found = sqlx::query(
        "SELECT orders.id, orders.version, orders.xmin::text::bigint AS order_tx,
             coalesce(attempts.xmin::text::bigint, 0) AS attempt_tx, coalesce(polls.xmin::text::bigint, 0) AS poll_tx
         FROM orders LEFT JOIN attempts ON attempts.id = orders.current_attempt
         LEFT JOIN polls ON polls.attempt_id = orders.current_attempt
         WHERE orders.id = ANY($1)",
    )
    .bind(ids)
    .fetch_all(connection)
    .await?;
    let version = |row: &PgRow| {
        let id = row.parsed("id", OrderId::parse)?;
        let mut version = [0; 4];
        for (number, column) in
            version
                .iter_mut()
                .zip(["version", "order_tx", "attempt_tx", "poll_tx"])
        {
            *number = row.try_get(column)?;
        }
        Ok::<_, StorageError>((id, OrderVersion::new(version)))
    };
    found.iter().map(version).collect()
}
