//! Requests with an idempotency key: claimed before they are carried out, completed afterwards, deleted when expired.

use jiff::Timestamp;
use sqlx::postgres::PgRow;
use sqlx::{PgConnection, Row as _};

use super::clock::Lease;
use super::rows::Time;
use super::transaction::Transaction;
use crate::rows::{self, Record as _};
use crate::{Claim, Fingerprint, RequestId, StorageError, StoredResponse};

/// Claims a request, or returns its state. One statement decides: of two processes one alone acquires it.
pub(super) async fn claim(
    tx: &mut Transaction,
    request: RequestId,
    fingerprint: Fingerprint,
    lease: &Lease,
) -> Result<Claim, StorageError> {
    // kept_until names the claim: two claims of one request never have the same.
    let acquired: Option<bool> = sqlx::query_scalar(
        "INSERT INTO requests (id, fingerprint, kept_until, leased_until)
         VALUES ($1, $2, $3, coalesce($4, clock_timestamp()) + $5 * interval '1 ms')
         ON CONFLICT (id) DO UPDATE SET kept_until = excluded.kept_until, leased_until = excluded.leased_until
         WHERE requests.fingerprint = excluded.fingerprint AND requests.status IS NULL
             AND (requests.leased_until <= coalesce($4, clock_timestamp())
                 -- Of a clock that was ahead and was set back since.
                 OR requests.leased_until > coalesce($4, clock_timestamp()) + ($5 + 60000) * interval '1 ms')
             AND requests.kept_until <> excluded.kept_until
         RETURNING true",
    )
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
    let is_ours = tx.is_repeat && row.time("kept_until")? == lease.until;
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
) -> Result<bool, StorageError> {
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
    if done.rows_affected() == 1 || !tx.is_repeat {
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
    tx: &mut PgConnection,
    request: RequestId,
    lease_until: Timestamp,
) -> Result<(), StorageError> {
    sqlx::query("DELETE FROM requests WHERE id = $1 AND kept_until = $2 AND status IS NULL")
        .bind(request.0.as_slice())
        .bind(Time(lease_until))
        .execute(tx)
        .await?;
    Ok(())
}

/// Deletes up to `limit` expired requests; returns their number.
pub(super) async fn delete_expired(
    tx: &mut PgConnection,
    now: Timestamp,
    clock: Option<Time>,
    limit: u32,
) -> Result<u64, StorageError> {
    let deleted = sqlx::query(
        "DELETE FROM requests WHERE id = ANY (ARRAY (SELECT id FROM requests
             WHERE kept_until <= $1 AND (status IS NOT NULL OR leased_until <= coalesce($2, clock_timestamp()))
             LIMIT $3 FOR UPDATE SKIP LOCKED))",
    )
    .bind(Time(now))
    .bind(clock)
    .bind(i64::from(limit))
    .execute(tx)
    .await?;
    Ok(deleted.rows_affected())
}

fn response_of(row: &PgRow) -> Result<Option<StoredResponse>, StorageError> {
    let Some(status) = row.try_get::<Option<i32>, _>("status")? else {
        return Ok(None);
    };
    Ok(Some(StoredResponse {
        status: rows::read("a status", u16::try_from(status))?,
        body: row.try_get("body")?,
    }))
}
