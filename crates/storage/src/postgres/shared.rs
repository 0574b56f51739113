//! State that processes share: versions of orders, files, reports of delays, and limits that count over all of them.

use std::collections::HashSet;

use florin_orders::OrderId;
use jiff::SignedDuration;
use sqlx::postgres::PgRow;
use sqlx::{PgConnection, Row as _};

use crate::lease::milliseconds;
use crate::rows::{Record as _, Time};
use crate::{DELAY_REPORT, LimitKey, OrderVersion, Result, StaticFile, StorageError};

/// Keeps files of a version, and deletes those that no process has kept for 30 days. During an upgrade, a page of one version
/// asks a process of another for them.
pub(super) async fn keep_static_files(
    tx: &mut PgConnection,
    files: &[StaticFile],
    clock: Option<Time>,
) -> Result<()> {
    let names: Vec<&str> = files.iter().map(|file| file.name.as_str()).collect();
    let known: Vec<String> = sqlx::query_scalar(
        "UPDATE static_files SET used_at = coalesce($2, clock_timestamp()) WHERE name = ANY($1) RETURNING name",
    )
    .bind(&names)
    .bind(clock)
    .fetch_all(&mut *tx)
    .await?;
    let known: HashSet<String> = known.into_iter().collect();
    for file in files.iter().filter(|file| !known.contains(&file.name)) {
        sqlx::query(
            "INSERT INTO static_files (name, whole, brotli, used_at) VALUES ($1, $2, $3, coalesce($4, clock_timestamp()))
             ON CONFLICT (name) DO NOTHING",
        )
        .bind(&file.name)
        .bind(&file.whole)
        .bind(&file.brotli)
        .bind(clock)
        .execute(&mut *tx)
        .await?;
    }
    sqlx::query(
        "DELETE FROM static_files WHERE used_at < coalesce($1, clock_timestamp()) - interval '30 days'",
    )
    .bind(clock)
    .execute(tx)
    .await?;
    Ok(())
}

/// Reports whether this process finds payments later than planned: a page shows the same, whichever process serves it.
/// Returns `true` if a report of another one counts.
pub(super) async fn share_delay(
    tx: &mut PgConnection,
    holder: &str,
    is_delayed: bool,
    clock: Option<Time>,
) -> Result<bool> {
    let report = if is_delayed {
        "INSERT INTO delays (holder, until) VALUES ($1, coalesce($2, clock_timestamp()) + $3 * interval '1 ms')
         ON CONFLICT (holder) DO UPDATE SET until = excluded.until"
    } else {
        // With those that count no more.
        "DELETE FROM delays WHERE holder = $1 OR until <= coalesce($2, clock_timestamp()) - $3 * interval '1 ms'"
    };
    sqlx::query(report)
        .bind(holder)
        .bind(clock)
        .bind(milliseconds(DELAY_REPORT))
        .execute(&mut *tx)
        .await?;
    let elsewhere = "SELECT EXISTS (SELECT 1 FROM delays WHERE holder <> $1 AND until > coalesce($2, clock_timestamp()))";
    let elsewhere = sqlx::query_scalar(elsewhere).bind(holder).bind(clock);
    Ok(elsewhere.fetch_one(tx).await?)
}

/// Counts a request; returns how long to wait when the key's minute is used. One statement decides, and a refused request
/// changes nothing.
pub(super) async fn count_request(
    tx: &mut PgConnection,
    key: LimitKey,
    each: SignedDuration,
    clock: Option<Time>,
) -> Result<Option<SignedDuration>> {
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
pub(super) async fn delete_unused_counts(
    tx: &mut PgConnection,
    clock: Option<Time>,
    limit: u32,
) -> Result<u64> {
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
