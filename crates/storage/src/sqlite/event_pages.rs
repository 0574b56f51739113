//! Pages of events.

use florin_orders::{Event, EventId, StoreId};
use sqlx::SqliteConnection;

use crate::Result;
use crate::rows;

/// `None` when the store has no event `after`.
pub(super) async fn page(
    connection: &mut SqliteConnection,
    store: &StoreId,
    after: Option<&EventId>,
    limit: u32,
) -> Result<Option<Vec<Event>>> {
    let start = match after {
        None => 0,
        Some(after) => {
            let known = "SELECT position FROM events WHERE id = $1 AND store_id = $2";
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
        "SELECT * FROM events WHERE store_id = $1 AND position > $2 ORDER BY position LIMIT $3",
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
