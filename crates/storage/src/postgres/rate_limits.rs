//! Limits that count over all processes.

use jiff::SignedDuration;
use sqlx::PgConnection;

use super::clock::milliseconds;
use super::rows::Time;
use crate::{LimitKey, StorageError};

/// Counts a request; returns how long to wait when the key's minute is used. One statement decides, and a refused request
/// changes nothing.
pub(super) async fn count(
    tx: &mut PgConnection,
    key: LimitKey,
    each: SignedDuration,
    clock: Option<Time>,
) -> Result<Option<SignedDuration>, StorageError> {
    let counted: Option<bool> = sqlx::query_scalar(
        "INSERT INTO rate_limits AS known (key, used_until)
         VALUES ($1, coalesce($2, clock_timestamp()) + $3 * interval '1 ms')
         ON CONFLICT (key) DO UPDATE
             SET used_until = greatest(known.used_until, coalesce($2, clock_timestamp())) + $3 * interval '1 ms'
             WHERE greatest(known.used_until, coalesce($2, clock_timestamp())) + $3 * interval '1 ms'
                 <= coalesce($2, clock_timestamp()) + interval '1 min'
         RETURNING true",
    )
    .bind(key.0.as_slice())
    .bind(clock)
    .bind(milliseconds(each))
    .fetch_optional(&mut *tx)
    .await?;
    if counted.is_some() {
        return Ok(None);
    }
    let wait: Option<i64> = sqlx::query_scalar(
        "SELECT (1000 * extract(epoch FROM used_until - coalesce($2, clock_timestamp())))::bigint + $3 - 60000
         FROM rate_limits WHERE key = $1",
    )
    .bind(key.0.as_slice())
    .bind(clock)
    .bind(milliseconds(each))
    .fetch_optional(tx)
    .await?;
    Ok(wait.map(|wait| SignedDuration::from_millis(wait.max(1))))
}

/// Deletes up to `limit` keys whose minute is free again; returns their number.
pub(super) async fn delete_unused(
    tx: &mut PgConnection,
    clock: Option<Time>,
    limit: u32,
) -> Result<u64, StorageError> {
    let deleted = sqlx::query(
        "DELETE FROM rate_limits WHERE key = ANY (ARRAY (SELECT key FROM rate_limits
             WHERE used_until <= coalesce($1, statement_timestamp()) LIMIT $2 FOR UPDATE SKIP LOCKED))",
    )
    .bind(clock)
    .bind(i64::from(limit))
    .execute(tx)
    .await?;
    Ok(deleted.rows_affected())
}
