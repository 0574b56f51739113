//! Requests with an idempotency key: claimed before they are carried out, completed afterwards, deleted when expired.

use jiff::Timestamp;
use sqlx::Row as _;

use super::dialect::{Connection, Row, Transaction, statements};
use crate::lease::Lease;
use crate::rows::{Record as _, Time};
use crate::{Claim, Fingerprint, RequestId, Result, StoredResponse};

/// Claims a request, or returns its state. One statement decides: of two processes one alone acquires it.
pub(super) async fn claim(
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
pub(super) async fn release(
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

/// Deletes up to `limit` expired requests; returns their number.
pub(super) async fn delete_expired(
    tx: &mut Connection,
    now: Timestamp,
    clock: Option<Time>,
    limit: u32,
) -> Result<u64> {
    let deleted = sqlx::query(statements::DELETE_EXPIRED_REQUESTS)
        .bind(Time(now))
        .bind(clock)
        .bind(i64::from(limit))
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
