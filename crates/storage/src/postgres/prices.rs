//! Price lists: kept for as long as quotes of them are honoured.

use jiff::Timestamp;
use sqlx::{PgConnection, Row as _};

use super::rows::{self, Time};
use crate::{PriceList, StorageError};

/// A repetition may keep the list twice, which changes nothing.
pub(super) async fn keep(tx: &mut PgConnection, prices: &PriceList) -> Result<(), StorageError> {
    sqlx::query("INSERT INTO price_lists (fetched_at, body) VALUES ($1, $2)")
        .bind(Time(prices.fetched_at))
        .bind(rows::text(&prices.body))
        .execute(tx)
        .await?;
    Ok(())
}

/// The price lists that were fetched after a time, oldest first.
pub(super) async fn after(
    connection: &mut PgConnection,
    fetched_after: Timestamp,
) -> Result<Vec<PriceList>, StorageError> {
    let found = sqlx::query(
        "SELECT fetched_at, body FROM price_lists WHERE fetched_at > $1 ORDER BY fetched_at",
    )
    .bind(Time(fetched_after))
    .fetch_all(connection)
    .await?;
    let lists = found.iter().map(|row| {
        Ok::<_, StorageError>(PriceList {
            fetched_at: rows::time(row, "fetched_at")?,
            body: row.try_get("body")?,
        })
    });
    lists.collect()
}

pub(super) async fn withdraw(tx: &mut PgConnection) -> Result<(), StorageError> {
    sqlx::query("DELETE FROM price_lists").execute(tx).await?;
    Ok(())
}

/// Deletes up to `limit` price lists that were fetched until a time; returns their number.
pub(super) async fn delete_expired(
    tx: &mut PgConnection,
    fetched_until: Timestamp,
    limit: u32,
) -> Result<u64, StorageError> {
    let deleted = "DELETE FROM price_lists WHERE id IN (
             SELECT id FROM price_lists WHERE fetched_at <= $1 LIMIT $2 FOR UPDATE SKIP LOCKED)";
    let deleted = sqlx::query(deleted)
        .bind(Time(fetched_until))
        .bind(i64::from(limit))
        .execute(tx)
        .await?;
    Ok(deleted.rows_affected())
}
