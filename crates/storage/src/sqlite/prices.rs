//! Price lists: kept for as long as quotes of them are honoured.

use jiff::Timestamp;
use sqlx::{Row as _, SqliteConnection};

use super::rows::millis;
use crate::rows::Record as _;
use crate::{PriceList, StorageError};

pub(super) async fn keep(
    tx: &mut SqliteConnection,
    prices: &PriceList,
) -> Result<(), StorageError> {
    sqlx::query("INSERT INTO price_lists (fetched_at, body) VALUES (?, ?)")
        .bind(millis(prices.fetched_at))
        .bind(&prices.body)
        .execute(tx)
        .await?;
    Ok(())
}

/// The price lists that were fetched after a time, oldest first.
pub(super) async fn after(
    connection: &mut SqliteConnection,
    fetched_after: Timestamp,
) -> Result<Vec<PriceList>, StorageError> {
    let found = sqlx::query(
        "SELECT fetched_at, body FROM price_lists WHERE fetched_at > ? ORDER BY fetched_at",
    )
    .bind(millis(fetched_after))
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

pub(super) async fn invalidate(tx: &mut SqliteConnection) -> Result<(), StorageError> {
    sqlx::query("DELETE FROM price_lists").execute(tx).await?;
    Ok(())
}

/// Deletes up to `limit` price lists that were fetched until a time; returns their number.
pub(super) async fn delete_expired(
    tx: &mut SqliteConnection,
    fetched_until: Timestamp,
    limit: u32,
) -> Result<u64, StorageError> {
    let deleted = "DELETE FROM price_lists WHERE id IN (
             SELECT id FROM price_lists WHERE fetched_at <= ? LIMIT ?)";
    let deleted = sqlx::query(deleted)
        .bind(millis(fetched_until))
        .bind(limit)
        .execute(tx)
        .await?;
    Ok(deleted.rows_affected())
}
