//! What SQLite does differently from PostgreSQL, for the queries that both compile.

use florin_orders::StoreId;
use jiff::Timestamp;
use sqlx::SqliteConnection;

use crate::lease::Lease;
use crate::observation::Fence;
use crate::rows::Time;
use crate::{DueAttempt, Result};

pub(super) use super::SqliteStorage as Store;
pub(super) use super::statements;
pub(super) use super::writer::WriteTransaction as Transaction;

pub(super) type Connection = SqliteConnection;
pub(super) type Row = sqlx::sqlite::SqliteRow;

/// Marks a poll as recorded, if no later one is.
pub(super) async fn mark_poll_as_recorded(
    tx: &mut SqliteConnection,
    due: &DueAttempt,
) -> Result<Fence> {
    let passed = sqlx::query(
        "UPDATE polls SET recorded_seq = $1 WHERE attempt_id = $2 AND recorded_seq < $1",
    )
    .bind(i64::from(due.poll_seq))
    .bind(due.attempt_id.as_str())
    .execute(tx)
    .await?;
    Ok(if passed.rows_affected() > 0 {
        Fence::Passed
    } else {
        Fence::Refused
    })
}

/// Leases up to `limit` due events of a store and a priority.
pub(super) async fn lease_events(
    tx: &mut SqliteConnection,
    store: &StoreId,
    priority: i64,
    lease: &Lease,
    limit: i64,
) -> Result<Vec<Row>> {
    let leased: Vec<(String, i64)> = sqlx::query_as(
        "UPDATE outbox SET next_at = $4, planned_at = $3, early_from = NULL, leased_by = $6, leased_until = $4
         WHERE (order_id, sequence) IN (SELECT order_id, sequence FROM outbox
             WHERE is_head AND store_id = $1 AND priority = $2 AND next_at <= $3
                 AND (leased_until IS NULL OR leased_until <= $3)
             ORDER BY next_at, position LIMIT $5)
         RETURNING order_id, sequence",
    )
    .bind(store.as_str())
    .bind(priority)
    .bind(Time(lease.now))
    .bind(Time(lease.until))
    .bind(limit)
    .bind(&*lease.holder)
    .fetch_all(&mut *tx)
    .await?;
    let mut rows = Vec::with_capacity(leased.len());
    for (order, sequence) in leased {
        let row = sqlx::query(
            "SELECT events.*, tries, early_tries, retry_at, traceparent
             FROM events JOIN outbox USING (order_id, sequence) JOIN orders ON orders.id = events.order_id
             WHERE events.order_id = $1 AND events.sequence = $2",
        );
        let row = row.bind(order).bind(sequence).fetch_one(&mut *tx);
        rows.push(row.await?);
    }
    Ok(rows)
}

/// Gives the pending events of a store in a range of positions all their retries from now on.
pub(super) async fn restart_events(
    tx: &mut SqliteConnection,
    store: &StoreId,
    (after, last): (i64, i64),
    now: Timestamp,
) -> Result<()> {
    sqlx::query(
        "UPDATE outbox SET tries = 0, early_tries = 0, next_at = $1, planned_at = $1, retry_at = NULL, early_from = NULL
         WHERE state = 'pending' AND store_id = $2 AND position > $3 AND position <= $4",
    )
    .bind(Time(now))
    .bind(store.as_str())
    .bind(after)
    .bind(last)
    .execute(tx)
    .await?;
    Ok(())
}
