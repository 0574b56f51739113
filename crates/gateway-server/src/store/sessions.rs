//! Hosted checkouts, and the records of accounts.

use jiff::Timestamp;
use serde_json::{Map, Value};
use sqlx::Row as _;

use super::{
    Result, StatusChange, Store, from_json, height, millis, next_number, stored_height, to_json,
};
use crate::session::Session;
use crate::wire::Status;

/// The status by which expired checkouts are found; a chosen one has its invoice's.
fn open_status(session: &Session) -> &'static str {
    if session.is_chosen() {
        "CHOSEN"
    } else if session.is_cancelled() {
        Status::Cancelled.as_str()
    } else {
        Status::Checking.as_str()
    }
}

impl Store {
    /// Number of the next hosted checkout, counted from 1.
    pub(crate) async fn next_session(&self) -> Result<u64> {
        let mut connection = self.pool.acquire().await?;
        height(next_number(&mut connection, "sessions").await?)
    }

    pub(crate) async fn insert_session(&self, session: &Session, number: u64) -> Result<()> {
        let insert = "INSERT INTO sessions (id, number, status, expires_at, body) VALUES ($1, $2, $3, $4, $5)";
        sqlx::query(insert)
            .bind(&session.id)
            .bind(stored_height(number))
            .bind(open_status(session))
            .bind(millis(session.expires_at))
            .bind(to_json(session))
            .execute(&self.pool)
            .await?;
        Ok(())
    }

    /// The hosted checkout of this id.
    ///
    /// # Errors
    /// The database fails.
    pub async fn session(&self, id: &str) -> Result<Option<Session>> {
        let select = sqlx::query("SELECT body FROM sessions WHERE id = $1").bind(id);
        let row = select.fetch_optional(&self.pool).await?;
        row.map(|row| from_json(row.try_get(0)?)).transpose()
    }

    /// The newest hosted checkouts, newest first.
    ///
    /// # Errors
    /// The database fails.
    pub async fn newest_sessions(&self, limit: u32) -> Result<Vec<Session>> {
        let select = "SELECT body FROM sessions ORDER BY number DESC LIMIT $1";
        let rows = sqlx::query(select).bind(i64::from(limit));
        let rows = rows.fetch_all(&self.pool).await?;
        rows.iter().map(|row| from_json(row.try_get(0)?)).collect()
    }

    /// Changes a hosted checkout; `None` when there is none of this id.
    pub(crate) async fn change_session<T: Send>(
        &self,
        id: &str,
        change: impl FnOnce(&mut Session) -> T + Send,
    ) -> Result<Option<T>> {
        let mut transaction = self.begin().await?;
        let select = "UPDATE sessions SET id = id WHERE id = $1 RETURNING body";
        let row = sqlx::query(select).bind(id);
        let Some(row) = row.fetch_optional(&mut *transaction).await? else {
            return Ok(None);
        };
        let mut session: Session = from_json(row.try_get(0)?)?;
        let changed = change(&mut session);
        let update = "UPDATE sessions SET body = $3, status = CASE WHEN status = 'FAILED' THEN status ELSE $2 END WHERE id = $1";
        sqlx::query(update)
            .bind(id)
            .bind(open_status(&session))
            .bind(to_json(&session))
            .execute(&mut *transaction)
            .await?;
        transaction.commit().await?;
        Ok(Some(changed))
    }

    /// Records the expiry of hosted checkouts without a choice, with their callbacks.
    pub(crate) async fn expire_sessions(&self, now: Timestamp) -> Result<Vec<StatusChange>> {
        let mut transaction = self.begin().await?;
        let select = "SELECT body FROM sessions WHERE status = 'CHECKING' AND expires_at <= $1 ORDER BY number LIMIT 100";
        let rows = sqlx::query(select).bind(millis(now));
        let rows = rows.fetch_all(&mut *transaction).await?;
        let mut changed = Vec::new();
        for row in &rows {
            let session: Session = from_json(row.try_get(0)?)?;
            let (from, to) = (Status::Checking, session.status(now));
            let update = "UPDATE sessions SET status = $2 WHERE id = $1 AND status = 'CHECKING'";
            let update = sqlx::query(update).bind(&session.id).bind(to.as_str());
            let updated = update.execute(&mut *transaction).await?;
            if updated.rows_affected() == 0 || to == from {
                continue;
            }
            let url = Some(session.request.callback_url.as_str());
            super::callbacks::insert(&mut transaction, &session.id, to, url).await?;
            let invoice_id = session.id;
            changed.push(StatusChange {
                invoice_id,
                from,
                to,
            });
        }
        transaction.commit().await?;
        Ok(changed)
    }

    /// Number of the next merchant, counted from 1.
    pub(crate) async fn next_merchant(&self) -> Result<u64> {
        let mut connection = self.pool.acquire().await?;
        height(next_number(&mut connection, "merchants").await?)
    }

    /// The record of a merchant (empty: the account itself) for an asset (empty: the profile).
    pub(crate) async fn record_of(
        &self,
        merchant: &str,
        code: &str,
    ) -> Result<Option<Map<String, Value>>> {
        let select = "SELECT body FROM records WHERE merchant = $1 AND code = $2";
        let row = sqlx::query(select).bind(merchant).bind(code);
        let row = row.fetch_optional(&self.pool).await?;
        row.map(|row| from_json(row.try_get(0)?)).transpose()
    }

    pub(crate) async fn count_records(&self) -> Result<u64> {
        let row = sqlx::query("SELECT COUNT(*) FROM records");
        height(row.fetch_one(&self.pool).await?.try_get(0)?)
    }

    pub(crate) async fn put_record(
        &self,
        merchant: &str,
        code: &str,
        record: &Map<String, Value>,
    ) -> Result<()> {
        let put = "INSERT INTO records (merchant, code, body) VALUES ($1, $2, $3) \
                   ON CONFLICT (merchant, code) DO UPDATE SET body = $3";
        let put = sqlx::query(put).bind(merchant).bind(code);
        put.bind(to_json(record)).execute(&self.pool).await?;
        Ok(())
    }
}
