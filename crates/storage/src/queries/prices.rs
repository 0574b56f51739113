//! Price lists: kept for as long as quotes of them are honoured.

use jiff::Timestamp;
use sqlx::Row as _;

use super::dialect::{Connection, statements};
use crate::rows::{Record as _, Time, without_nul};
use crate::{PriceList, Result, StorageError};

/// Keeps a price list for as long as quotes of it are honoured. A repetition may keep the list twice, which changes nothing.
pub(super) async fn keep(tx: &mut Connection, prices: &PriceList) -> Result<()> {
    sqlx::query("INSERT INTO price_lists (fetched_at, body) VALUES ($1, $2)")
        .bind(Time(prices.fetched_at))
        .bind(without_nul(&prices.body))
        .execute(tx)
        .await?;
    Ok(())
}

/// The price lists that were fetched after a time, oldest first.
pub(super) async fn after(
    connection: &mut Connection,
    fetched_after: Timestamp,
) -> Result<Vec<PriceList>> {
    let found = sqlx::query(
        "SELECT fetched_at, body FROM price_lists WHERE fetched_at > $1 ORDER BY fetched_at",
    )
    .bind(Time(fetched_after))
    .fetch_all(connection)
    .await?;
    let lists = found.iter().map(|row| {
        Ok::<_, StorageError>(PriceList {
            fetched_at: row.time("fetched_at")?,
            body: row.try_get("body")?,
        })
    });
    lists.collect()
}

/// Deletes all price lists.
pub(super) async fn invalidate(tx: &mut Connection) -> Result<()> {
    sqlx::query("DELETE FROM price_lists").execute(tx).await?;
    Ok(())
}

/// Deletes up to `limit` price lists that were fetched until a time; returns their number.
pub(super) async fn delete_expired(
    tx: &mut Connection,
    fetched_until: Timestamp,
    limit: u32,
) -> Result<u64> {
    let deleted = sqlx::query(statements::DELETE_EXPIRED_PRICES)
        .bind(Time(fetched_until))
        .bind(i64::from(limit))
        .execute(tx)
        .await?;
    Ok(deleted.rows_affected())
}
