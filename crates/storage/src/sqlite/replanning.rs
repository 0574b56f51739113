//! What a clock that was ahead has planned. See [`crate::Storage::replan_future`].

use jiff::Timestamp;
use sqlx::SqliteConnection;

use crate::Result;
use crate::limits::AT_THIS_MOMENT;
use crate::rows::Time;

/// Plans anew what lies in the future by the clock that is right. Returns the number of polls and deliveries.
pub(super) async fn replan_future(
    tx: &mut SqliteConnection,
    now: Timestamp,
    _clock: Option<Time>,
) -> Result<u64> {
    let ahead = now + AT_THIS_MOMENT;
    let mut replanned = 0;
    for statement in [
        "UPDATE attempts SET expires_at = $1 + expires_at - opened_at, opened_at = $1
         WHERE id IN (SELECT attempt_id FROM polls WHERE opened_at > $2) AND opened_at > $2",
        // An attempt whose invoice never came is abandoned so long after it was begun.
        "UPDATE attempts SET begun_at = $1, begun_clock = $1 WHERE state = 'creating' AND begun_clock > $2",
    ] {
        sqlx::query(statement)
            .bind(Time(now))
            .bind(Time(ahead))
            .execute(&mut *tx)
            .await?;
    }
    for statement in [
        "UPDATE polls SET next_poll_at = $1, polled_at = min(polled_at, $1), opened_at = min(opened_at, $1),
             leased_by = NULL, leased_until = NULL, lease_next_at = NULL
         WHERE next_poll_at > $1 AND coalesce(polled_at, opened_at) > $2",
        "UPDATE outbox SET next_at = $1, planned_at = $1, retry_at = NULL, early_from = NULL,
             leased_by = NULL, leased_until = NULL
         WHERE state = 'pending' AND planned_at > $2",
    ] {
        let changed = sqlx::query(statement)
            .bind(Time(now))
            .bind(Time(ahead))
            .execute(&mut *tx)
            .await?;
        replanned += changed.rows_affected();
    }
    sqlx::query("UPDATE store_deliveries SET accepted_at = NULL, probe_at = NULL")
        .execute(tx)
        .await?;
    Ok(replanned)
}
