//! Links and sessions of stores' staff: any proxy on the database serves them.

use async_trait::async_trait;
use florin_orders::TokenHash;
use jiff::Timestamp;
use sqlx::PgConnection;

use super::PostgresStorage;
use super::dead_connections::{Reading, close_idle, in_time};
use super::failure::is_of_old_schema;
use super::rows::Time;
use super::transaction::{OnLoss, Transaction, run};
use crate::limits::BATCH;
use crate::rows;
use crate::staff::MAX_STAFF_ACCESS_PER_STORE;
use crate::{StaffAccess, StaffStorage, StorageError};

#[async_trait]
impl StaffStorage for PostgresStorage {
    async fn add_staff_link(
        &self,
        token: TokenHash,
        access: &StaffAccess,
        expires_at: Timestamp,
    ) -> Result<(), StorageError> {
        transaction!(self, Repeat, [access], |tx| add_link(
            tx, token, &access, expires_at
        )
        .await)
    }

    async fn staff_link(
        &self,
        token: TokenHash,
        now: Timestamp,
    ) -> Result<Option<StaffAccess>, StorageError> {
        read!(self, |reader| find(reader, token, "link", now))
    }

    async fn open_staff_session(
        &self,
        link: TokenHash,
        session: TokenHash,
        now: Timestamp,
    ) -> Result<Option<StaffAccess>, StorageError> {
        transaction!(self, Repeat, [], |tx| open_session(tx, link, session, now)
            .await)
    }

    async fn staff_session(
        &self,
        session: TokenHash,
        now: Timestamp,
    ) -> Result<Option<StaffAccess>, StorageError> {
        read!(self, |reader| find(reader, session, "session", now))
    }

    async fn end_staff_session(&self, session: TokenHash) -> Result<(), StorageError> {
        transaction!(self, Repeat, [], |tx| end_session(tx, session).await)
    }

    async fn delete_expired_staff_access(&self, now: Timestamp) -> Result<u64, StorageError> {
        transaction!(self, Repeat, [], |tx| delete_expired(tx, now).await)
    }
}

async fn add_link(
    tx: &mut PgConnection,
    token: TokenHash,
    access: &StaffAccess,
    expires_at: Timestamp,
) -> Result<(), StorageError> {
    let excess = "DELETE FROM staff_access WHERE hash = ANY (ARRAY (
             SELECT hash FROM staff_access WHERE store_id = $1 ORDER BY expires_at DESC OFFSET $2 FOR UPDATE SKIP LOCKED))";
    sqlx::query(excess)
        .bind(access.store.as_str())
        .bind(i64::from(MAX_STAFF_ACCESS_PER_STORE - 1))
        .execute(&mut *tx)
        .await?;
    sqlx::query(
        "INSERT INTO staff_access (hash, state, store_id, secret_key, person, may_decide, session_seconds, expires_at)
         VALUES ($1, 'link', $2, $3, $4, $5, $6, $7) ON CONFLICT (hash) DO NOTHING",
    )
    .bind(token.0.as_slice())
    .bind(access.store.as_str())
    .bind(access.secret_key.as_slice())
    .bind(&access.person)
    .bind(access.may_decide)
    .bind(access.session.as_secs())
    .bind(Time(expires_at))
    .execute(tx)
    .await?;
    Ok(())
}

/// One statement decides: of two openings one alone finds the link. An earlier run of this transaction, whose commit had no
/// response, has left the session.
async fn open_session(
    tx: &mut PgConnection,
    link: TokenHash,
    session: TokenHash,
    now: Timestamp,
) -> Result<Option<StaffAccess>, StorageError> {
    sqlx::query(
        "UPDATE staff_access SET hash = $1, state = 'session', expires_at = $3::timestamptz + session_seconds * interval '1 second'
         WHERE hash = $2 AND state = 'link' AND expires_at > $3",
    )
    .bind(session.0.as_slice())
    .bind(link.0.as_slice())
    .bind(Time(now))
    .execute(&mut *tx)
    .await?;
    find(tx, session, "session", now).await
}

async fn end_session(tx: &mut PgConnection, session: TokenHash) -> Result<(), StorageError> {
    sqlx::query("DELETE FROM staff_access WHERE hash = $1 AND state = 'session'")
        .bind(session.0.as_slice())
        .execute(tx)
        .await?;
    Ok(())
}

async fn delete_expired(tx: &mut PgConnection, now: Timestamp) -> Result<u64, StorageError> {
    let deleted = "DELETE FROM staff_access WHERE hash = ANY (ARRAY (
             SELECT hash FROM staff_access WHERE expires_at <= $1 LIMIT $2 FOR UPDATE SKIP LOCKED))";
    let deleted = sqlx::query(deleted)
        .bind(Time(now))
        .bind(i64::from(BATCH))
        .execute(tx)
        .await?;
    Ok(deleted.rows_affected())
}

async fn find(
    connection: &mut PgConnection,
    token: TokenHash,
    state: &str,
    now: Timestamp,
) -> Result<Option<StaffAccess>, StorageError> {
    let found = "SELECT * FROM staff_access WHERE hash = $1 AND state = $2 AND expires_at > $3";
    let found = sqlx::query(found)
        .bind(token.0.as_slice())
        .bind(state)
        .bind(Time(now))
        .fetch_optional(connection)
        .await?;
    found.as_ref().map(rows::staff_access).transpose()
}
