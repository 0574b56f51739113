//! Links and sessions of stores' staff.

use async_trait::async_trait;
use florin_orders::TokenHash;
use jiff::Timestamp;
use sqlx::SqliteConnection;

use super::SqliteStorage;
use super::rows::millis;
use crate::limits::BATCH;
use crate::rows;
use crate::staff::MAX_STAFF_ACCESS_PER_STORE;
use crate::{StaffAccess, StaffStorage, StorageError};

#[async_trait]
impl StaffStorage for SqliteStorage {
    async fn add_staff_link(
        &self,
        token: TokenHash,
        access: &StaffAccess,
        expires_at: Timestamp,
    ) -> Result<(), StorageError> {
        let mut tx = self.begin().await?;
        add_link(&mut tx, token, access, expires_at).await?;
        tx.commit().await
    }

    async fn staff_link(
        &self,
        token: TokenHash,
        now: Timestamp,
    ) -> Result<Option<StaffAccess>, StorageError> {
        let mut connection = self.connection().await?;
        self.read(find(&mut connection, token, "link", now).await)
    }

    async fn open_staff_session(
        &self,
        link: TokenHash,
        session: TokenHash,
        now: Timestamp,
    ) -> Result<Option<StaffAccess>, StorageError> {
        let mut tx = self.begin().await?;
        let opened = open_session(&mut tx, link, session, now).await?;
        tx.commit().await?;
        Ok(opened)
    }

    async fn staff_session(
        &self,
        session: TokenHash,
        now: Timestamp,
    ) -> Result<Option<StaffAccess>, StorageError> {
        let mut connection = self.connection().await?;
        self.read(find(&mut connection, session, "session", now).await)
    }

    async fn end_staff_session(&self, session: TokenHash) -> Result<(), StorageError> {
        let mut tx = self.begin().await?;
        sqlx::query("DELETE FROM staff_access WHERE hash = ? AND state = 'session'")
            .bind(session.0.as_slice())
            .execute(&mut *tx)
            .await?;
        tx.commit().await
    }

    async fn delete_expired_staff_access(&self, now: Timestamp) -> Result<u64, StorageError> {
        let mut tx = self.begin().await?;
        let deleted = "DELETE FROM staff_access
             WHERE hash IN (SELECT hash FROM staff_access WHERE expires_at <= ? LIMIT ?)";
        let deleted = sqlx::query(deleted)
            .bind(millis(now))
            .bind(BATCH)
            .execute(&mut *tx)
            .await?;
        tx.commit().await?;
        Ok(deleted.rows_affected())
    }
}

async fn add_link(
    tx: &mut SqliteConnection,
    token: TokenHash,
    access: &StaffAccess,
    expires_at: Timestamp,
) -> Result<(), StorageError> {
    let excess = "DELETE FROM staff_access WHERE hash IN (
             SELECT hash FROM staff_access WHERE store_id = ? ORDER BY expires_at DESC LIMIT -1 OFFSET ?)";
    sqlx::query(excess)
        .bind(access.store.as_str())
        .bind(MAX_STAFF_ACCESS_PER_STORE - 1)
        .execute(&mut *tx)
        .await?;
    sqlx::query(
        "INSERT INTO staff_access (hash, state, store_id, secret_key, person, may_decide, session_seconds, expires_at)
         VALUES (?, 'link', ?, ?, ?, ?, ?, ?) ON CONFLICT (hash) DO NOTHING",
    )
    .bind(token.0.as_slice())
    .bind(access.store.as_str())
    .bind(access.secret_key.as_slice())
    .bind(&access.person)
    .bind(access.may_decide)
    .bind(access.session.as_secs())
    .bind(millis(expires_at))
    .execute(tx)
    .await?;
    Ok(())
}

/// The transaction holds the write lock: of two openings one alone finds the link.
async fn open_session(
    tx: &mut SqliteConnection,
    link: TokenHash,
    session: TokenHash,
    now: Timestamp,
) -> Result<Option<StaffAccess>, StorageError> {
    sqlx::query(
        "UPDATE staff_access SET hash = ?1, state = 'session', expires_at = ?3 + session_seconds * 1000
         WHERE hash = ?2 AND state = 'link' AND expires_at > ?3",
    )
    .bind(session.0.as_slice())
    .bind(link.0.as_slice())
    .bind(millis(now))
    .execute(&mut *tx)
    .await?;
    find(tx, session, "session", now).await
}

async fn find(
    connection: &mut SqliteConnection,
    token: TokenHash,
    state: &str,
    now: Timestamp,
) -> Result<Option<StaffAccess>, StorageError> {
    let found = "SELECT * FROM staff_access WHERE hash = ? AND state = ? AND expires_at > ?";
    let found = sqlx::query(found)
        .bind(token.0.as_slice())
        .bind(state)
        .bind(millis(now))
        .fetch_optional(connection)
        .await?;
    found.as_ref().map(rows::staff_access).transpose()
}
