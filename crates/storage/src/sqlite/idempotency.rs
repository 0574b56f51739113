//! Requests with an idempotency key: claimed before they are carried out, completed afterwards,
//! deleted when expired.

use jiff::{SignedDuration, Timestamp};
use sqlx::sqlite::SqliteRow;
use sqlx::{Row as _, SqliteConnection};

use super::rows::millis;
use crate::{Claim, Fingerprint, RequestId, StorageError, StoredResponse};

/// A lease that ends so much later than one that begins now is of a clock that was ahead and was set back since.
const SET_BACK: SignedDuration = SignedDuration::from_mins(1);

/// Claims a request, or returns its state. An expired lease is taken over.
pub(super) async fn claim(
    tx: &mut SqliteConnection,
    request: RequestId,
    fingerprint: Fingerprint,
    now: Timestamp,
    lease_until: Timestamp,
) -> Result<Claim, StorageError> {
    let known = sqlx::query("SELECT * FROM requests WHERE id = ?")
        .bind(request.0.as_slice())
        .fetch_optional(&mut *tx)
        .await?;
    if let Some(row) = &known {
        if row.try_get::<&[u8], _>("fingerprint")? != fingerprint.0 {
            return Ok(Claim::Reused);
        }
        if let Some(response) = response_of(row)? {
            return Ok(Claim::Completed(response));
        }
        let until: i64 = row.try_get("kept_until")?;
        if until > millis(now) && until <= millis(lease_until + SET_BACK) {
            return Ok(Claim::Running);
        }
    }
    sqlx::query(
        "INSERT INTO requests (id, fingerprint, kept_until) VALUES (?, ?, ?)
         ON CONFLICT (id) DO UPDATE SET kept_until = excluded.kept_until",
    )
    .bind(request.0.as_slice())
    .bind(fingerprint.0.as_slice())
    .bind(millis(lease_until))
    .execute(tx)
    .await?;
    Ok(Claim::Acquired)
}

/// Stores the response; `false` if the lease had expired and the request was taken over.
pub(super) async fn store_response(
    tx: &mut SqliteConnection,
    request: RequestId,
    lease_until: Timestamp,
    response: &StoredResponse,
    kept_until: Timestamp,
) -> Result<bool, StorageError> {
    let done = sqlx::query(
        "UPDATE requests SET status = ?, body = ?, kept_until = ?
         WHERE id = ? AND kept_until = ? AND status IS NULL",
    )
    .bind(response.status)
    .bind(&response.body)
    .bind(millis(kept_until))
    .bind(request.0.as_slice())
    .bind(millis(lease_until))
    .execute(tx)
    .await?;
    Ok(done.rows_affected() == 1)
}

/// Releases a claim: the request may be retried at once.
pub(super) async fn release(
    tx: &mut SqliteConnection,
    request: RequestId,
    lease_until: Timestamp,
) -> Result<(), StorageError> {
    sqlx::query("DELETE FROM requests WHERE id = ? AND kept_until = ? AND status IS NULL")
        .bind(request.0.as_slice())
        .bind(millis(lease_until))
        .execute(tx)
        .await?;
    Ok(())
}

/// Deletes up to `limit` expired requests; returns their number.
pub(super) async fn delete_expired(
    tx: &mut SqliteConnection,
    now: Timestamp,
    limit: u32,
) -> Result<u64, StorageError> {
    let delete =
        "DELETE FROM requests WHERE id IN (SELECT id FROM requests WHERE kept_until <= ? LIMIT ?)";
    let deleted = sqlx::query(delete)
        .bind(millis(now))
        .bind(limit)
        .execute(tx)
        .await?;
    Ok(deleted.rows_affected())
}

fn response_of(row: &SqliteRow) -> Result<Option<StoredResponse>, StorageError> {
    let Some(status) = row.try_get("status")? else {
        return Ok(None);
    };
    Ok(Some(StoredResponse {
        status,
        body: row.try_get("body")?,
    }))
}
