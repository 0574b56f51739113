//! Events: numbered per order without a gap, stored with their payload, never changed.

use std::time::Duration;

use florin_orders::{Event, EventId, EventType, Order, OrderRecord, Snapshot, StoreId};
use jiff::Timestamp;
use sqlx::PgConnection;

use super::early_tries;
use super::rows::Time;
use crate::StorageError;
use crate::limits::{MONEY, OTHER};
use crate::rows;

/// Appends events to the outbox, numbered from `first`. Their payload shows the order with the snapshot's attempt.
pub(super) async fn append(
    tx: &mut PgConnection,
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
                 SELECT 1 FROM outbox WHERE order_id = $1 AND state = 'pending' AND NOT was_taken)",
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
) -> Result<Option<Vec<Event>>, StorageError> {
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
async fn horizon(connection: &mut PgConnection) -> Result<String, StorageError> {
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
async fn running(connection: &mut PgConnection) -> Result<(u64, u64), StorageError> {
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
