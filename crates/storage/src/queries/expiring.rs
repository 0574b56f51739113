//! What is kept for a time, and deleted in batches after it: client tokens, requests with an idempotency key, prices, the
//! links and sessions of stores' staff, and the widget's files.

use async_trait::async_trait;
use florin_orders::{OrderId, Snapshot, TokenHash};
use jiff::Timestamp;
use sqlx::Row as _;

use super::dialect::{Connection, Row, Store, Transaction, statements};
use super::orders;
use crate::limits::{BATCH, Lease};
use crate::rows::{self, Record as _, Time, without_nul};
use crate::staff::MAX_STAFF_ACCESS_PER_STORE;
use crate::{
    Claim, Fingerprint, PriceList, RequestId, Result, StaffAccess, StaffStorage, StaticFile,
    StorageError, StoredResponse, TokenGrant,
};

/// Deletes a batch of what ended at a time or before, by a statement with both; returns its number.
pub(super) async fn delete_expired(
    tx: &mut Connection,
    statement: &'static str,
    until: Timestamp,
) -> Result<u64> {
    let deleted = sqlx::query(statement)
        .bind(Time(until))
        .bind(i64::from(BATCH))
        .execute(tx)
        .await?;
    Ok(deleted.rows_affected())
}

pub(super) async fn add_token(
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

/// What a client token opens; looked up like [`order_of_token`].
pub(super) async fn token_grant(
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
pub(super) async fn order_of_token(
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

/// Claims a request, or returns its state. One statement decides: of two processes one alone acquires it.
pub(super) async fn claim_request(
    tx: &mut Transaction,
    request: RequestId,
    fingerprint: Fingerprint,
    lease: &Lease,
) -> Result<Claim> {
    // kept_until names the claim: two claims of one request never have the same.
    let acquired: Option<bool> = sqlx::query_scalar(statements::CLAIM_REQUEST)
        .bind(request.0.as_slice())
        .bind(fingerprint.0.as_slice())
        .bind(Time(lease.until))
        .bind(lease.clock())
        .bind(lease.length_ms())
        .fetch_optional(&mut **tx)
        .await?;
    if acquired.is_some() {
        return Ok(Claim::Acquired);
    }
    let known = sqlx::query("SELECT * FROM requests WHERE id = $1")
        .bind(request.0.as_slice())
        .fetch_optional(&mut **tx)
        .await?;
    let Some(row) = known else {
        return Ok(Claim::Running);
    };
    if row.try_get::<&[u8], _>("fingerprint")? != fingerprint.0 {
        return Ok(Claim::Reused);
    }
    if let Some(response) = response_of(&row)? {
        return Ok(Claim::Completed(response));
    }
    let is_ours = tx.is_repeat() && row.time("kept_until")? == lease.until;
    Ok(if is_ours {
        Claim::Acquired
    } else {
        Claim::Running
    })
}

/// Stores the response; `false` if the lease had expired and the request was taken over.
pub(super) async fn store_response(
    tx: &mut Transaction,
    request: RequestId,
    lease_until: Timestamp,
    response: &StoredResponse,
    kept_until: Timestamp,
) -> Result<bool> {
    let done = sqlx::query(
        "UPDATE requests SET status = $1, body = $2, kept_until = $3
         WHERE id = $4 AND kept_until = $5 AND status IS NULL",
    )
    .bind(i32::from(response.status))
    .bind(&response.body)
    .bind(Time(kept_until))
    .bind(request.0.as_slice())
    .bind(Time(lease_until))
    .execute(&mut **tx)
    .await?;
    if done.rows_affected() == 1 || !tx.is_repeat() {
        return Ok(done.rows_affected() == 1);
    }
    let known = sqlx::query("SELECT * FROM requests WHERE id = $1 AND kept_until = $2")
        .bind(request.0.as_slice())
        .bind(Time(kept_until))
        .fetch_optional(&mut **tx)
        .await?;
    let stored = known.as_ref().map(response_of).transpose()?.flatten();
    Ok(stored.as_ref() == Some(response))
}

/// Releases a claim: the request may be retried at once.
pub(super) async fn release_request(
    tx: &mut Connection,
    request: RequestId,
    lease_until: Timestamp,
) -> Result<()> {
    sqlx::query("DELETE FROM requests WHERE id = $1 AND kept_until = $2 AND status IS NULL")
        .bind(request.0.as_slice())
        .bind(Time(lease_until))
        .execute(tx)
        .await?;
    Ok(())
}

/// Deletes a batch of expired requests; returns their number.
pub(super) async fn delete_expired_requests(
    tx: &mut Connection,
    now: Timestamp,
    clock: Option<Time>,
) -> Result<u64> {
    let deleted = sqlx::query(statements::DELETE_EXPIRED_REQUESTS)
        .bind(Time(now))
        .bind(clock)
        .bind(i64::from(BATCH))
        .execute(tx)
        .await?;
    Ok(deleted.rows_affected())
}

fn response_of(row: &Row) -> Result<Option<StoredResponse>> {
    let Some(status) = row.maybe_number("status")? else {
        return Ok(None);
    };
    Ok(Some(StoredResponse {
        status,
        body: row.try_get("body")?,
    }))
}

/// Keeps a price list for as long as quotes of it are honoured. A repetition may keep the list twice, which changes nothing.
pub(super) async fn keep_prices(tx: &mut Connection, prices: &PriceList) -> Result<()> {
    sqlx::query("INSERT INTO price_lists (fetched_at, body) VALUES ($1, $2)")
        .bind(Time(prices.fetched_at))
        .bind(without_nul(&prices.body))
        .execute(tx)
        .await?;
    Ok(())
}

pub(super) async fn prices_after(
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

pub(super) async fn invalidate_prices(tx: &mut Connection) -> Result<()> {
    sqlx::query("DELETE FROM price_lists").execute(tx).await?;
    Ok(())
}

pub(super) async fn static_file(
    connection: &mut Connection,
    name: &str,
) -> Result<Option<StaticFile>> {
    let found = sqlx::query("SELECT name, whole, brotli FROM static_files WHERE name = $1")
        .bind(name)
        .fetch_optional(connection)
        .await?;
    let file = found.map(|row| {
        Ok::<_, StorageError>(StaticFile {
            name: row.try_get("name")?,
            whole: row.try_get("whole")?,
            brotli: row.try_get("brotli")?,
        })
    });
    file.transpose()
}

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
        ))
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
        transaction!(self, Repeat, [], |tx| open_session(tx, link, session, now))
    }

    async fn staff_session(
        &self,
        session: TokenHash,
        now: Timestamp,
    ) -> Result<Option<StaffAccess>> {
        read!(self, |reader| find(reader, session, "session", now))
    }

    async fn end_staff_session(&self, session: TokenHash) -> Result<()> {
        transaction!(self, Repeat, [], |tx| end_session(tx, session))
    }

    async fn delete_expired_staff_access(&self, now: Timestamp) -> Result<u64> {
        transaction!(self, Repeat, [], |tx| delete_expired(
            tx,
            statements::DELETE_EXPIRED_STAFF_ACCESS,
            now
        ))
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
