//! What a clock that was ahead has planned. See [`crate::Storage::replan_future`].

use jiff::Timestamp;
use sqlx::PgConnection;

use crate::Result;
use crate::limits::AT_THIS_MOMENT;
use crate::rows::Time;

/// Plans anew what lies in the future by the clock that is right. Returns the number of polls and deliveries.
pub(super) async fn replan_future(
    tx: &mut PgConnection,
    now: Timestamp,
    clock: Option<Time>,
) -> Result<u64> {
    let now = not_before_the_server(tx, now, clock).await?;
    let polls = replan_polls(tx, now, clock).await?;
    Ok(polls + replan_deliveries(tx, now, clock).await?)
}

/// The time by the server's clock where the caller's is behind: what other processes have planned meanwhile is right.
async fn not_before_the_server(
    tx: &mut PgConnection,
    now: Timestamp,
    clock: Option<Time>,
) -> Result<Timestamp> {
    let later = sqlx::query_scalar("SELECT greatest($1, coalesce($2, clock_timestamp()))");
    let Time(later) = later.bind(Time(now)).bind(clock).fetch_one(tx).await?;
    Ok(later)
}

/// By the clock that is right, what lies in the future has not happened: it was written by one that was ahead.
async fn replan_polls(tx: &mut PgConnection, now: Timestamp, clock: Option<Time>) -> Result<u64> {
    let ahead = Time(now + AT_THIS_MOMENT);
    // The orders first, in the order of their ids.
    sqlx::query(
        "SELECT 1 FROM orders WHERE id IN (SELECT order_id FROM polls WHERE opened_at > $1
             UNION SELECT order_id FROM attempts WHERE state = 'creating' AND begun_at > $1)
         ORDER BY id FOR UPDATE",
    )
    .bind(ahead)
    .execute(&mut *tx)
    .await?;
    sqlx::query(
        "UPDATE attempts SET expires_at = $1::timestamptz + (expires_at - opened_at), opened_at = $1
         WHERE id IN (SELECT attempt_id FROM polls WHERE opened_at > $2) AND opened_at > $2",
    )
    .bind(Time(now))
    .bind(ahead)
    .execute(&mut *tx)
    .await?;
    // An attempt whose invoice never came is abandoned so long after it was begun.
    sqlx::query(
        "UPDATE attempts SET begun_at = $1, begun_clock = least(begun_clock, coalesce($2, clock_timestamp()))
         WHERE state = 'creating' AND begun_at > $3",
    )
    .bind(Time(now))
    .bind(clock)
    .bind(ahead)
    .execute(&mut *tx)
    .await?;
    let replanned = sqlx::query(
        "UPDATE polls SET next_poll_at = $1, polled_at = least(polled_at, $1), opened_at = least(opened_at, $1),
             leased_until = least(leased_until, $2)
         WHERE next_poll_at > $1 AND coalesce(polled_at, opened_at) > $3",
    )
    .bind(Time(now))
    .bind(clock)
    .bind(ahead)
    .execute(tx)
    .await?;
    Ok(replanned.rows_affected())
}

/// A living process keeps its lease: one that would last longer than any delivery is
/// of a server's clock that was ahead.
async fn replan_deliveries(
    tx: &mut PgConnection,
    now: Timestamp,
    clock: Option<Time>,
) -> Result<u64> {
    let orders: Vec<String> = sqlx::query_scalar(
        "SELECT id FROM orders WHERE id IN (
             SELECT order_id FROM outbox WHERE state = 'pending' AND planned_at > $1)
         ORDER BY id FOR UPDATE",
    )
    .bind(Time(now + AT_THIS_MOMENT))
    .fetch_all(&mut *tx)
    .await?;
    let replanned = sqlx::query(
        "UPDATE outbox SET next_at = $1, planned_at = $1, retry_at = NULL, early_from = NULL,
             leased_until = CASE WHEN leased_until IS NOT NULL
                 THEN least(leased_until, coalesce($3, clock_timestamp()) + interval '1 minute') END
         WHERE order_id = ANY($2) AND state = 'pending' AND planned_at > $4",
    )
    .bind(Time(now))
    .bind(&orders)
    .bind(clock)
    .bind(Time(now + AT_THIS_MOMENT))
    .execute(&mut *tx)
    .await?;
    sqlx::query("UPDATE store_deliveries SET accepted_at = NULL, probe_at = NULL")
        .execute(tx)
        .await?;
    Ok(replanned.rows_affected())
}
