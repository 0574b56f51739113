//! Pages of events.

use std::time::Duration;

use florin_orders::{Event, EventId, StoreId};
use sqlx::PgConnection;

use crate::Result;
use crate::rows;

/// How often a reader waits for transactions that began before it.
const WAITS: u32 = 20;
const WAIT: Duration = Duration::from_millis(5);

/// `None` when the store has no event `after`.
///
/// A page ends below the first transaction that still runs: the events of that one may come before what was committed
/// already, and a reader that had passed them would never see them.
pub(super) async fn page(
    connection: &mut PgConnection,
    store: &StoreId,
    after: Option<&EventId>,
    limit: u32,
) -> Result<Option<Vec<Event>>> {
    let (tx, position) = match after {
        None => ("0".to_owned(), 0),
        Some(after) => {
            let known = sqlx::query_as::<_, (String, i64)>(
                "SELECT tx::text, position FROM events WHERE id = $1 AND store_id = $2",
            );
            let known = known.bind(after.as_str()).bind(store.as_str());
            match known.fetch_optional(&mut *connection).await? {
                Some(place) => place,
                None => return Ok(None),
            }
        }
    };
    let horizon = horizon(connection).await?;
    let found = sqlx::query(
        "SELECT * FROM events
         WHERE store_id = $1 AND (tx, position) > ($2::text::xid8, $3) AND tx < $4::text::xid8
         ORDER BY tx, position LIMIT $5",
    )
    .bind(store.as_str())
    .bind(tx)
    .bind(position)
    .bind(horizon)
    .bind(i64::from(limit))
    .fetch_all(connection)
    .await?;
    found
        .iter()
        .map(rows::event)
        .collect::<Result<_, _>>()
        .map(Some)
}

/// The transaction below which all have ended. Waits a little, so that what was committed before the call is below it.
async fn horizon(connection: &mut PgConnection) -> Result<String> {
    let mut waits = tokio::time::interval(WAIT);
    let (mut below, first) = running(connection).await?;
    for _ in 0..WAITS {
        if below >= first {
            break;
        }
        waits.tick().await;
        (below, _) = running(connection).await?;
    }
    Ok(below.to_string())
}

/// The first transaction that runs, and the next that will begin.
async fn running(connection: &mut PgConnection) -> Result<(u64, u64)> {
    // Transactions of other databases of the server write no event of this one.
    let (first, next): (String, String) = sqlx::query_as(
        "WITH seen AS MATERIALIZED (SELECT pg_current_snapshot() AS snapshot), running AS (
             SELECT xid FROM seen, pg_snapshot_xip(snapshot) AS xid WHERE NOT EXISTS (
                 SELECT 1 FROM pg_stat_activity WHERE backend_xid = xid::xid AND datname <> current_database()))
         SELECT coalesce((SELECT xid FROM running ORDER BY xid LIMIT 1), pg_snapshot_xmax(snapshot))::text,
             pg_snapshot_xmax(snapshot)::text FROM seen",
    )
    .fetch_one(connection)
    .await?;
    let number = |xid: String| rows::read("a transaction", xid.parse());
    Ok((number(first)?, number(next)?))
}
