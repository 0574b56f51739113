//! Callbacks that no receiver has accepted yet.

use jiff::{SignedDuration, Timestamp};
use sqlx::{AnyConnection, Row as _};

use super::{Database, DatabaseError, Result, millis, next_number};
use crate::wire::Status;

/// A callback to deliver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Callback {
    pub(crate) number: i64,
    pub(crate) invoice_id: String,
    pub(crate) status: Status,
    /// `None`: the account's URL.
    pub(crate) url: Option<String>,
    /// Tries so far.
    pub(crate) tries: u32,
}

/// How long a process has for one try before another one takes the callback over.
const CLAIM: SignedDuration = SignedDuration::from_mins(1);

impl Database {
    pub(crate) async fn queue_callback(
        &self,
        invoice_id: &str,
        status: Status,
        url: Option<&str>,
    ) -> Result<()> {
        let mut transaction = self.begin().await?;
        insert(&mut transaction, invoice_id, status, url).await?;
        transaction.commit().await?;
        Ok(())
    }

    /// Callbacks that no process delivers, oldest first; this process delivers them from here on. At its start on SQLite it
    /// takes those as well that the process before it had taken.
    pub(crate) async fn take_callbacks(
        &self,
        limit: usize,
        is_start: bool,
        now: Timestamp,
    ) -> Result<Vec<Callback>> {
        let until = now.saturating_add(CLAIM).unwrap_or(now);
        let due = if is_start && !self.is_postgres {
            i64::MAX
        } else {
            millis(now)
        };
        let take = "UPDATE callbacks SET claimed_until = $1 WHERE claimed_until <= $2 AND number IN \
                    (SELECT number FROM callbacks WHERE claimed_until <= $2 ORDER BY number LIMIT $3) \
                    RETURNING number, invoice_id, status, url, tries";
        let rows = sqlx::query(take)
            .bind(millis(until))
            .bind(due)
            .bind(i64::try_from(limit).unwrap_or(i64::MAX))
            .fetch_all(&self.pool)
            .await?;
        let callbacks = rows.iter().map(|row| {
            let status: String = row.try_get("status")?;
            let tries: i64 = row.try_get("tries")?;
            Ok(Callback {
                number: row.try_get("number")?,
                invoice_id: row.try_get("invoice_id")?,
                status: status
                    .parse()
                    .map_err(|_| DatabaseError::Unreadable(status))?,
                url: row.try_get("url")?,
                tries: u32::try_from(tries).unwrap_or(u32::MAX),
            })
        });
        let mut callbacks = callbacks.collect::<Result<Vec<_>>>()?;
        callbacks.sort_by_key(|callback| callback.number);
        Ok(callbacks)
    }

    /// Notes a failed try; the next one follows at `next`.
    pub(crate) async fn count_try(&self, number: i64, next: Timestamp) -> Result<()> {
        let until = next.saturating_add(CLAIM).unwrap_or(next);
        let update = "UPDATE callbacks SET tries = tries + 1, claimed_until = $2 WHERE number = $1";
        let update = sqlx::query(update).bind(number).bind(millis(until));
        update.execute(&self.pool).await?;
        Ok(())
    }

    /// Ends a callback: it was accepted or given up.
    pub(crate) async fn end_callback(&self, number: i64) -> Result<()> {
        let delete = "DELETE FROM callbacks WHERE number = $1";
        sqlx::query(delete).bind(number).execute(&self.pool).await?;
        Ok(())
    }
}

pub(super) async fn insert(
    connection: &mut AnyConnection,
    invoice_id: &str,
    status: Status,
    url: Option<&str>,
) -> Result<()> {
    let number = next_number(connection, "callbacks").await?;
    let insert = "INSERT INTO callbacks (number, invoice_id, status, url, tries, claimed_until) \
                  VALUES ($1, $2, $3, $4, 0, 0)";
    sqlx::query(insert)
        .bind(number)
        .bind(invoice_id)
        .bind(status.as_str())
        .bind(url)
        .execute(connection)
        .await?;
    Ok(())
}
