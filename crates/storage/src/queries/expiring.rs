//! What is kept for a time, and deleted in batches after it: client tokens, requests with an idempotency key, prices, the
//! links and sessions of stores' staff, and the widget's files.

use std::sync::Arc;

use async_trait::async_trait;
use florin_orders::{OrderId, Snapshot, TokenHash};
use jiff::{SignedDuration, Timestamp};
use sqlx::Row as _;

use super::dialect::{self, Connection, Row, Store};
use super::orders;
use crate::limits::BATCH;
use crate::rows::{self, Record as _, Time, without_nul};
use crate::{
    Claim, ExpiringStorage, Fingerprint, MAX_STAFF_ACCESS_PER_STORE, PriceList, RequestId, Result,
    StaffAccess, StaticFile, StorageError, StoredResponse, TokenGrant,
};

/// How long files are kept after their version was last in use.
const FILES_KEPT: SignedDuration = SignedDuration::from_hours(30 * 24);

/// A file that was kept this recently is not written again.
const RECENTLY_KEPT: SignedDuration = SignedDuration::from_hours(24);

impl Store {
    /// Deletes a batch of what ended at a time or before, by a statement with both; returns its number.
    async fn delete_expired(&self, statement: &'static str, until: Timestamp) -> Result<u64> {
        transaction!(self, Repeat, [], |tx| async {
            let deleted = sqlx::query(statement)
                .bind(Time(until))
                .bind(i64::from(BATCH));
            Ok(deleted.execute(&mut **tx).await?.rows_affected())
        })
    }
}

#[async_trait]
impl ExpiringStorage for Store {
    /// A repetition may keep the list twice, which changes nothing.
    async fn keep_prices(&self, prices: &PriceList) -> Result<()> {
        transaction!(self, Repeat, [prices], |tx| async {
            sqlx::query("INSERT INTO price_lists (fetched_at, body) VALUES ($1, $2)")
                .bind(Time(prices.fetched_at))
                .bind(without_nul(&prices.body))
                .execute(&mut **tx)
                .await?;
            Ok(())
        })
    }

    async fn prices(&self, fetched_after: Timestamp) -> Result<Vec<PriceList>> {
        let found =
            "SELECT fetched_at, body FROM price_lists WHERE fetched_at > $1 ORDER BY fetched_at";
        let found = read!(self, |reader| async {
            let found = sqlx::query(found).bind(Time(fetched_after));
            Ok(found.fetch_all(reader).await?)
        })?;
        let lists = found.iter().map(|row| {
            Ok::<_, StorageError>(PriceList {
                fetched_at: row.time("fetched_at")?,
                body: row.string("body")?,
            })
        });
        lists.collect()
    }

    async fn invalidate_prices(&self) -> Result<()> {
        transaction!(self, Repeat, [], |tx| async {
            let deleted = sqlx::query("DELETE FROM price_lists");
            deleted.execute(&mut **tx).await?;
            Ok(())
        })
    }

    async fn delete_expired_prices(&self, fetched_until: Timestamp) -> Result<u64> {
        let delete = "DELETE FROM price_lists WHERE id IN (SELECT id FROM price_lists WHERE fetched_at <= $1 LIMIT $2)";
        self.delete_expired(delete, fetched_until).await
    }

    async fn add_token(
        &self,
        order: &OrderId,
        token: TokenHash,
        token_expires_at: Timestamp,
    ) -> Result<()> {
        transaction!(self, Repeat, [order], |tx| orders::add_token(
            tx,
            &order,
            token,
            token_expires_at
        ))
    }

    /// The token is looked up by its hash, so that the timing reveals nothing about the token.
    async fn order_of_token(&self, token: TokenHash, now: Timestamp) -> Result<Option<Snapshot>> {
        read!(self, |reader| async {
            let id = "SELECT order_id FROM client_tokens WHERE hash = $1 AND expires_at > $2";
            let id: Option<String> = sqlx::query_scalar(id)
                .bind(token.0.as_slice())
                .bind(Time(now))
                .fetch_optional(&mut *reader)
                .await?;
            let Some(id) = id else {
                return Ok(None);
            };
            orders::snapshot(reader, &rows::read("an order id", OrderId::parse(&id))?).await
        })
    }

    async fn token_grant(&self, token: TokenHash) -> Result<Option<TokenGrant>> {
        let grant = "SELECT order_id, expires_at FROM client_tokens WHERE hash = $1";
        let row = read!(self, |reader| async {
            let grant = sqlx::query(grant).bind(token.0.as_slice());
            Ok(grant.fetch_optional(reader).await?)
        })?;
        let Some(row) = row else {
            return Ok(None);
        };
        Ok(Some(TokenGrant {
            order_id: row.parsed("order_id", OrderId::parse)?,
            expires_at: row.time("expires_at")?,
        }))
    }

    async fn delete_expired_tokens(&self, now: Timestamp) -> Result<u64> {
        let delete = "DELETE FROM client_tokens WHERE hash IN (
             SELECT hash FROM client_tokens WHERE expires_at <= $1 LIMIT $2)";
        self.delete_expired(delete, now).await
    }

    /// One statement decides: of two processes one alone acquires the request.
    async fn claim_request(
        &self,
        request: RequestId,
        fingerprint: Fingerprint,
        now: Timestamp,
        lease_until: Timestamp,
    ) -> Result<Claim> {
        let lease = self.holder.lease(now, lease_until);
        transaction!(self, Repeat, [lease], |tx| async {
            // kept_until names the claim: two claims of one request never have the same.
            let acquired: Option<bool> = sqlx::query_scalar(dialect::CLAIM_REQUEST)
                .bind(request.0.as_slice())
                .bind(fingerprint.0.as_slice())
                .bind(Time(lease.until))
                .bind(lease.clock)
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
            if row.bytes("fingerprint")? != fingerprint.0 {
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
        })
    }

    async fn store_response(
        &self,
        request: RequestId,
        lease_until: Timestamp,
        response: &StoredResponse,
        kept_until: Timestamp,
    ) -> Result<bool> {
        transaction!(self, Repeat, [response], |tx| async {
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
            Ok(stored.as_ref() == Some(&response))
        })
    }

    async fn release_request(&self, request: RequestId, lease_until: Timestamp) -> Result<()> {
        transaction!(self, Repeat, [], |tx| async {
            sqlx::query(
                "DELETE FROM requests WHERE id = $1 AND kept_until = $2 AND status IS NULL",
            )
            .bind(request.0.as_slice())
            .bind(Time(lease_until))
            .execute(&mut **tx)
            .await?;
            Ok(())
        })
    }

    async fn delete_expired_requests(&self, now: Timestamp) -> Result<u64> {
        let clock = self.holder.clock(now);
        transaction!(self, Repeat, [], |tx| async {
            let deleted = sqlx::query(dialect::DELETE_EXPIRED_REQUESTS)
                .bind(Time(now))
                .bind(clock)
                .bind(i64::from(BATCH));
            Ok(deleted.execute(&mut **tx).await?.rows_affected())
        })
    }

    async fn add_staff_link(
        &self,
        token: TokenHash,
        access: &StaffAccess,
        expires_at: Timestamp,
    ) -> Result<()> {
        transaction!(self, Repeat, [access], |tx| async {
            sqlx::query(
                "DELETE FROM staff_access WHERE hash IN (SELECT hash FROM staff_access
                     WHERE store_id = $1 ORDER BY expires_at DESC LIMIT $2 OFFSET $2)",
            )
            .bind(access.store.as_str())
            .bind(i64::from(MAX_STAFF_ACCESS_PER_STORE - 1))
            .execute(&mut **tx)
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
            .execute(&mut **tx)
            .await?;
            Ok(())
        })
    }

    async fn staff_link(&self, token: TokenHash, now: Timestamp) -> Result<Option<StaffAccess>> {
        read!(self, |reader| staff_access(reader, token, "link", now))
    }

    /// The update decides: of two openings one alone finds the link. An earlier run of this transaction, whose commit had no
    /// response, has left the session.
    async fn open_staff_session(
        &self,
        link: TokenHash,
        session: TokenHash,
        now: Timestamp,
    ) -> Result<Option<StaffAccess>> {
        transaction!(self, Repeat, [], |tx| async {
            if let Some(access) = staff_access(tx, link, "link", now).await? {
                sqlx::query(
                    "UPDATE staff_access SET hash = $1, state = 'session', expires_at = $2
                     WHERE hash = $3 AND state = 'link'",
                )
                .bind(session.0.as_slice())
                .bind(Time(now + access.session))
                .bind(link.0.as_slice())
                .execute(&mut **tx)
                .await?;
            }
            staff_access(tx, session, "session", now).await
        })
    }

    async fn staff_session(
        &self,
        session: TokenHash,
        now: Timestamp,
    ) -> Result<Option<StaffAccess>> {
        read!(self, |reader| staff_access(reader, session, "session", now))
    }

    async fn end_staff_session(&self, session: TokenHash) -> Result<()> {
        transaction!(self, Repeat, [], |tx| async {
            sqlx::query("DELETE FROM staff_access WHERE hash = $1 AND state = 'session'")
                .bind(session.0.as_slice())
                .execute(&mut **tx)
                .await?;
            Ok(())
        })
    }

    async fn delete_expired_staff_access(&self, now: Timestamp) -> Result<u64> {
        let delete = "DELETE FROM staff_access WHERE hash IN (
             SELECT hash FROM staff_access WHERE expires_at <= $1 LIMIT $2)";
        self.delete_expired(delete, now).await
    }

    /// During an upgrade, a page of one version asks a process of another for them.
    async fn keep_static_files(&self, files: &[StaticFile], now: Timestamp) -> Result<()> {
        let (files, clock): (Arc<[StaticFile]>, _) = (files.into(), self.holder.clock(now));
        transaction!(self, Repeat, [files], |tx| async {
            let Time(now) = sqlx::query_scalar(dialect::PRESENT)
                .bind(clock)
                .fetch_one(&mut **tx)
                .await?;
            let recent = "SELECT name FROM static_files WHERE used_at > $1";
            let recent: Vec<String> = sqlx::query_scalar(recent)
                .bind(Time(now - RECENTLY_KEPT))
                .fetch_all(&mut **tx)
                .await?;
            for file in files.iter().filter(|file| !recent.contains(&file.name)) {
                sqlx::query(
                    "INSERT INTO static_files (name, used_at, whole, brotli) VALUES ($1, $2, $3, $4)
                     ON CONFLICT (name) DO UPDATE SET used_at = excluded.used_at",
                )
                .bind(&file.name)
                .bind(Time(now))
                .bind(&file.whole)
                .bind(&file.brotli)
                .execute(&mut **tx)
                .await?;
            }
            sqlx::query("DELETE FROM static_files WHERE used_at < $1")
                .bind(Time(now - FILES_KEPT))
                .execute(&mut **tx)
                .await?;
            Ok(())
        })
    }

    async fn static_file(&self, name: &str) -> Result<Option<StaticFile>> {
        let found = "SELECT name, whole, brotli FROM static_files WHERE name = $1";
        let found = read!(self, |reader| async {
            Ok(sqlx::query(found).bind(name).fetch_optional(reader).await?)
        })?;
        let file = found.map(|row| {
            Ok::<_, StorageError>(StaticFile {
                name: row.try_get("name")?,
                whole: row.try_get("whole")?,
                brotli: row.try_get("brotli")?,
            })
        });
        file.transpose()
    }
}

fn response_of(row: &Row) -> Result<Option<StoredResponse>> {
    let Some(status) = row.maybe_number("status")? else {
        return Ok(None);
    };
    Ok(Some(StoredResponse {
        status,
        body: row.string("body")?,
    }))
}

async fn staff_access(
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
