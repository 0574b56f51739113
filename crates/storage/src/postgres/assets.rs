//! Files of every version that runs or ran: during an upgrade, a page of one version asks a process of another for them.

use std::collections::HashSet;

use sqlx::{PgConnection, Row as _};

use super::rows::Time;
use crate::{Asset, StorageError};

pub(super) async fn keep(
    tx: &mut PgConnection,
    assets: &[Asset],
    clock: Option<Time>,
) -> Result<(), StorageError> {
    let names: Vec<&str> = assets.iter().map(|asset| asset.name.as_str()).collect();
    let known: Vec<String> = sqlx::query_scalar(
        "UPDATE assets SET used_at = coalesce($2, clock_timestamp()) WHERE name = ANY($1) RETURNING name",
    )
    .bind(&names)
    .bind(clock)
    .fetch_all(&mut *tx)
    .await?;
    let known: HashSet<String> = known.into_iter().collect();
    for asset in assets.iter().filter(|asset| !known.contains(&asset.name)) {
        sqlx::query(
            "INSERT INTO assets (name, whole, brotli, used_at) VALUES ($1, $2, $3, coalesce($4, clock_timestamp()))
             ON CONFLICT (name) DO NOTHING",
        )
        .bind(&asset.name)
        .bind(&asset.whole)
        .bind(&asset.brotli)
        .bind(clock)
        .execute(&mut *tx)
        .await?;
    }
    sqlx::query(
        "DELETE FROM assets WHERE used_at < coalesce($1, clock_timestamp()) - interval '30 days'",
    )
    .bind(clock)
    .execute(tx)
    .await?;
    Ok(())
}

pub(super) async fn find(
    connection: &mut PgConnection,
    name: &str,
) -> Result<Option<Asset>, StorageError> {
    let found = sqlx::query("SELECT name, whole, brotli FROM assets WHERE name = $1")
        .bind(name)
        .fetch_optional(connection)
        .await?;
    let asset = found.map(|row| {
        Ok::<_, StorageError>(Asset {
            name: row.try_get("name")?,
            whole: row.try_get("whole")?,
            brotli: row.try_get("brotli")?,
        })
    });
    asset.transpose()
}
