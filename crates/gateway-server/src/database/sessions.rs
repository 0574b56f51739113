//! Hosted checkouts, and the records of accounts.

use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Value};
use sqlx::Row as _;

use super::{
    Database, Result, StatusChange, from_json, height, millis, next_number, stored_height, to_json,
};
use crate::session::{CHOSEN, Session};
use crate::wire::Status;

/// An invoice takes this long to open at most. A chosen checkout without one has lost it in a crash.
const OPENING: SignedDuration = SignedDuration::from_mins(10);

impl Database {
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
            .bind(session.open_status())
            .bind(millis(session.expires_at))
            .bind(to_json(session))
            .execute(&self.pool)
            .await?;
        Ok(())
    }

    /// The hosted checkout of this id.
    pub async fn session(&self, id: &str) -> Result<Option<Session>> {
        let select = sqlx::query("SELECT body FROM sessions WHERE id = $1").bind(id);
        let row = select.fetch_optional(&self.pool).await?;
        row.map(|row| from_json(row.try_get(0)?)).transpose()
    }

    /// The newest hosted checkouts, newest first.
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
        let update = "UPDATE sessions SET body = $3, status = CASE WHEN status IN ('FAILED', 'INVOICED') THEN status ELSE $2 END \
                      WHERE id = $1";
        sqlx::query(update)
            .bind(id)
            .bind(session.open_status())
            .bind(to_json(&session))
            .execute(&mut *transaction)
            .await?;
        transaction.commit().await?;
        Ok(Some(changed))
    }

    /// Records the expiry of hosted checkouts without an invoice, with their callbacks.
    pub(crate) async fn expire_sessions(&self, now: Timestamp) -> Result<Vec<StatusChange>> {
        let mut transaction = self.begin().await?;
        let select = "SELECT body, status FROM sessions WHERE (status = 'CHECKING' AND expires_at <= $1) \
                      OR (status = $2 AND expires_at <= $3) ORDER BY number LIMIT 100";
        let opening = now.saturating_sub(OPENING).unwrap_or(now);
        let rows = sqlx::query(select).bind(millis(now)).bind(CHOSEN);
        let rows = rows.bind(millis(opening));
        let rows = rows.fetch_all(&mut *transaction).await?;
        let mut changed = Vec::new();
        for row in &rows {
            let mut session: Session = from_json(row.try_get(0)?)?;
            let before: String = row.try_get(1)?;
            if before == CHOSEN {
                session.unchoose();
            }
            let (from, to) = (Status::Checking, session.status(now));
            let update = "UPDATE sessions SET status = $2, body = $3 WHERE id = $1 AND status = $4";
            let update = sqlx::query(update).bind(&session.id).bind(to.as_str());
            let update = update.bind(to_json(&session)).bind(before);
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

#[cfg(test)]
mod tests {
    use florin_money::{Amount, Currency};

    use super::*;
    use crate::invoice::tests::{at, invoice};
    use crate::session::SessionRequest;

    /// The process may be killed between the choice of the asset and its invoice.
    #[tokio::test]
    async fn a_choice_without_an_invoice_expires() {
        let database = Database::open("sqlite::memory:").await.unwrap();
        database
            .add_chain(crate::chain::Chain::Bitcoin, "key")
            .await
            .unwrap();
        let request = SessionRequest {
            email: String::new(),
            currency: Currency::USD,
            per_usd: Amount::ONE,
            amount: None,
            merchant_id: None,
            website: String::new(),
            callback_url: "http://127.0.0.1:1".to_owned(),
        };
        let lifetime = SignedDuration::from_mins(15);
        for id in ["ses_1", "inv_1"] {
            let session = Session::new(id.to_owned(), request.clone(), lifetime, at(0));
            let number = database.next_session().await.unwrap();
            database.insert_session(&session, number).await.unwrap();
            database.change_session(id, Session::choose).await.unwrap();
        }
        let mut opened = invoice();
        opened.hosted = Some(request);
        database.insert_invoice(&opened).await.unwrap();
        let expired = async |minutes: i64| {
            let expired = database.expire_sessions(at(minutes * 60)).await.unwrap();
            let expired = expired.into_iter().map(|it| (it.invoice_id, it.to));
            expired.collect::<Vec<_>>()
        };
        assert_eq!(expired(24).await, []);
        assert_eq!(expired(25).await, [("ses_1".to_owned(), Status::Failed)]);
        assert_eq!(expired(26).await, []);
        let session = database.session("ses_1").await.unwrap().unwrap();
        assert_eq!(session.status(at(1_560)), Status::Failed);
    }
}
