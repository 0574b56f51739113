//! Links and sessions of stores' staff: any proxy on the database serves them.

use async_trait::async_trait;
use florin_orders::TokenHash;
use jiff::Timestamp;

use super::dialect::{Connection, Store, statements};
use crate::limits::BATCH;
use crate::rows::{self, Time};
use crate::staff::MAX_STAFF_ACCESS_PER_STORE;
use crate::{Result, StaffAccess, StaffStorage};

#[async_trait]
impl StaffStorage for Store {
    async fn add_staff_link(
        &self,
        token: TokenHash,
        access: &StaffAccess,
        expires_at: Timestamp,
    ) -> Result<()> {
        transaction!(self, Repeat, [access], |tx| add_link(
            tx, token, &access, expires_at
        )
        .await)
    }

    async fn staff_link(&self, token: TokenHash, now: Timestamp) -> Result<Option<StaffAccess>> {
        read!(self, |reader| find(reader, token, "link", now))
    }

    async fn open_staff_session(
        &self,
        link: TokenHash,
        session: TokenHash,
        now: Timestamp,
    ) -> Result<Option<StaffAccess>> {
        transaction!(self, Repeat, [], |tx| open_session(tx, link, session, now)
            .await)
    }

    async fn staff_session(
        &self,
        session: TokenHash,
        now: Timestamp,
    ) -> Result<Option<StaffAccess>> {
        read!(self, |reader| find(reader, session, "session", now))
    }

    async fn end_staff_session(&self, session: TokenHash) -> Result<()> {
        transaction!(self, Repeat, [], |tx| end_session(tx, session).await)
    }

    async fn delete_expired_staff_access(&self, now: Timestamp) -> Result<u64> {
        transaction!(self, Repeat, [], |tx| delete_expired(tx, now).await)
    }
}

async fn add_link(
    tx: &mut Connection,
    token: TokenHash,
    access: &StaffAccess,
    expires_at: Timestamp,
) -> Result<()> {
    sqlx::query(statements::DELETE_EXCESS_STAFF_ACCESS)
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
    tx: &mut Connection,
    link: TokenHash,
    session: TokenHash,
    now: Timestamp,
) -> Result<Option<StaffAccess>> {
    sqlx::query(statements::OPEN_STAFF_SESSION)
        .bind(session.0.as_slice())
        .bind(link.0.as_slice())
        .bind(Time(now))
        .execute(&mut *tx)
        .await?;
    find(tx, session, "session", now).await
}

async fn end_session(tx: &mut Connection, session: TokenHash) -> Result<()> {
    sqlx::query("DELETE FROM staff_access WHERE hash = $1 AND state = 'session'")
        .bind(session.0.as_slice())
        .execute(tx)
        .await?;
    Ok(())
}

async fn delete_expired(tx: &mut Connection, now: Timestamp) -> Result<u64> {
    let deleted = sqlx::query(statements::DELETE_EXPIRED_STAFF_ACCESS)
        .bind(Time(now))
        .bind(i64::from(BATCH))
        .execute(tx)
        .await?;
    Ok(deleted.rows_affected())
}

async fn find(
    connection: &mut Connection,
    token: TokenHash,
    state: &str,
    now: Timestamp,
) -> Result<Option<StaffAccess>> {
    let found = "SELECT * FROM staff_access WHERE hash = $1 AND state = $2 AND expires_at > $3";
    let found = sqlx::query(found)
        .bind(token.0.as_slice())
        .bind(state)
        .bind(Time(now))
        .fetch_optional(connection)
        .await?;
    found.as_ref().map(rows::staff_access).transpose()
}
