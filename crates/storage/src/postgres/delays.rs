//! Reports of processes that find payments later than planned: a page shows the same, whichever process serves it.

use sqlx::PgConnection;

use super::clock::milliseconds;
use super::rows::Time;
use crate::{DELAY_REPORT, StorageError};

/// Reports for this process; returns `true` if a report of another one counts.
pub(super) async fn share(
    tx: &mut PgConnection,
    holder: &str,
    is_delayed: bool,
    clock: Option<Time>,
) -> Result<bool, StorageError> {
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
