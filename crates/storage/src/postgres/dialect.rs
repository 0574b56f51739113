//! What PostgreSQL does differently from SQLite, for the queries that both compile.

use florin_orders::StoreId;
use jiff::Timestamp;
use sqlx::PgConnection;

use crate::lease::Lease;
use crate::observation::Fence;
use crate::rows::{self, Time};
use crate::{DueAttempt, Result};

pub(super) use super::statements;
pub(super) use super::storage::PostgresStorage as Store;
pub(super) use super::transaction::Transaction;

pub(super) type Connection = PgConnection;
pub(super) type Row = sqlx::postgres::PgRow;

/// Marks a poll as recorded, if no later one is.
pub(super) async fn mark_poll_as_recorded(tx: &mut Transaction, due: &DueAttempt) -> Result<Fence> {
    let passed = sqlx::query(
        "UPDATE polls SET recorded_seq = $1, recorded_tx = pg_current_xact_id()
         WHERE attempt_id = $2 AND recorded_seq < $1",
    )
    .bind(i64::from(due.poll_seq))
    .bind(due.attempt_id.as_str())
    .execute(&mut **tx)
    .await?;
    if passed.rows_affected() > 0 {
        return Ok(Fence::Passed);
    }
    if !tx.is_repeat() {
        return Ok(Fence::Refused);
    }
    let recorded: Option<String> = sqlx::query_scalar(
        "SELECT recorded_tx::text FROM polls WHERE attempt_id = $1 AND recorded_seq = $2",
    )
    .bind(due.attempt_id.as_str())
    .bind(i64::from(due.poll_seq))
    .fetch_optional(&mut **tx)
    .await?;
    let Some(recorded) = recorded else {
        return Ok(Fence::Refused);
    };
    let emitted: Vec<String> = sqlx::query_scalar(
        "SELECT type FROM events WHERE order_id = $1 AND tx = $2::text::xid8 ORDER BY sequence",
    )
    .bind(due.order_id.as_str())
    .bind(recorded)
    .fetch_all(&mut **tx)
    .await?;
    let events = emitted.iter().map(|word| rows::event_type(word));
    Ok(Fence::Recorded(events.collect::<Result<_, _>>()?))
}

/// Leases up to `limit` due events of a store and a priority.
pub(super) async fn lease_events(
    tx: &mut PgConnection,
    store: &StoreId,
    priority: i64,
    lease: &Lease,
    limit: i64,
) -> Result<Vec<Row>> {
    let leased = sqlx::query(
        "WITH due AS (
             SELECT order_id, sequence FROM outbox
             WHERE is_head AND store_id = $1 AND priority = $2 AND next_at <= $3
                 AND (leased_until IS NULL OR leased_until <= coalesce($5, clock_timestamp()))
             ORDER BY next_at, position LIMIT $7 FOR UPDATE SKIP LOCKED),
         leased AS (
             UPDATE outbox SET next_at = $4, planned_at = $3, early_from = NULL, leased_by = $8,
                 leased_until = coalesce($5, clock_timestamp()) + $6 * interval '1 ms'
             FROM due WHERE outbox.order_id = due.order_id AND outbox.sequence = due.sequence
             RETURNING outbox.order_id, outbox.sequence, tries, early_tries, retry_at)
         SELECT events.*, tries, early_tries, retry_at, traceparent FROM leased JOIN events USING (order_id, sequence)
             JOIN orders ON orders.id = events.order_id ORDER BY position",
    )
    .bind(store.as_str())
    .bind(priority)
    .bind(Time(lease.now))
    .bind(Time(lease.until))
    .bind(lease.clock())
    .bind(lease.length_ms())
    .bind(limit)
    .bind(&*lease.holder)
    .fetch_all(tx)
    .await?;
    Ok(leased)
}

/// Gives the pending events of a store in a range of positions all their retries from now on. Their orders are locked first.
pub(super) async fn restart_events(
    tx: &mut PgConnection,
    store: &StoreId,
    (after, last): (i64, i64),
    now: Timestamp,
) -> Result<()> {
    let orders: Vec<String> = sqlx::query_scalar(
        "SELECT id FROM orders WHERE id IN (SELECT order_id FROM outbox
             WHERE state = 'pending' AND store_id = $1 AND position > $2 AND position <= $3)
         ORDER BY id FOR UPDATE",
    )
    .bind(store.as_str())
    .bind(after)
    .bind(last)
    .fetch_all(&mut *tx)
    .await?;
    sqlx::query(
        "UPDATE outbox SET tries = 0, early_tries = 0, next_at = $1, planned_at = $1, retry_at = NULL, early_from = NULL
         WHERE state = 'pending' AND store_id = $2 AND position > $3 AND position <= $4 AND order_id = ANY($5)",
    )
    .bind(Time(now))
    .bind(store.as_str())
    .bind(after)
    .bind(last)
    .bind(&orders)
    .execute(tx)
    .await?;
    Ok(())
}
