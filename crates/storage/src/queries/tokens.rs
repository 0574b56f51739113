//! Client tokens: each opens one order until it expires.

use florin_orders::{OrderId, Snapshot, TokenHash};
use jiff::Timestamp;

use super::dialect::{Connection, statements};
use super::orders;
use crate::rows::{self, Record as _, Time};
use crate::{Result, TokenGrant};

/// Grants a client token access to an order.
pub(super) async fn add(
    tx: &mut Connection,
    id: &OrderId,
    token: TokenHash,
    expires_at: Timestamp,
) -> Result<()> {
    sqlx::query("INSERT INTO client_tokens (hash, order_id, expires_at) VALUES ($1, $2, $3) ON CONFLICT (hash) DO NOTHING")
        .bind(token.0.as_slice())
        .bind(id.as_str())
        .bind(Time(expires_at))
        .execute(tx)
        .await?;
    Ok(())
}

/// Deletes up to `limit` expired tokens; returns their number.
pub(super) async fn delete_expired(tx: &mut Connection, now: Timestamp, limit: u32) -> Result<u64> {
    let deleted = sqlx::query(statements::DELETE_EXPIRED_TOKENS)
        .bind(Time(now))
        .bind(i64::from(limit))
        .execute(tx)
        .await?;
    Ok(deleted.rows_affected())
}

/// What a client token opens; looked up like [`order`].
pub(super) async fn grant(
    connection: &mut Connection,
    token: TokenHash,
) -> Result<Option<TokenGrant>> {
    let row = sqlx::query("SELECT order_id, expires_at FROM client_tokens WHERE hash = $1")
        .bind(token.0.as_slice())
        .fetch_optional(connection)
        .await?;
    let Some(row) = row else {
        return Ok(None);
    };
    Ok(Some(TokenGrant {
        order_id: row.parsed("order_id", OrderId::parse)?,
        expires_at: row.time("expires_at")?,
    }))
}

/// The token is looked up by its hash, so that the timing reveals nothing about the token.
pub(super) async fn order(
    connection: &mut Connection,
    token: TokenHash,
    now: Timestamp,
) -> Result<Option<Snapshot>> {
    let id: Option<String> = sqlx::query_scalar(
        "SELECT order_id FROM client_tokens WHERE hash = $1 AND expires_at > $2",
    )
    .bind(token.0.as_slice())
    .bind(Time(now))
    .fetch_optional(&mut *connection)
    .await?;
    match id {
        Some(id) => {
            orders::snapshot(connection, &rows::read("an order id", OrderId::parse(&id))?).await
        }
        None => Ok(None),
    }
}
