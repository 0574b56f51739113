//! The row of a gateway account: limits that all processes share.

use std::sync::{Arc, Mutex, PoisonError};

use jiff::Timestamp;
use sqlx::postgres::PgRow;
use sqlx::{PgConnection, Row as _};

use super::PostgresStorage;
use super::transaction::Transaction;
use crate::rows::Time;
use crate::{Result, StorageError};

/// The row of an account. Its state is JSON that this crate does not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GatewayAccount {
    /// `None` before the first change.
    pub state: Option<String>,
    /// Grows with each change.
    pub version: i64,
    /// The time by the server's clock.
    pub now: Timestamp,
}

/// The next state of an account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewGatewayAccount {
    /// JSON.
    pub state: String,
    /// `true` if a crash of the server must not lose it. Else the change is not written to the disk at once.
    pub is_durable: bool,
}

/// What becomes of an account, from its state and the time by the server's clock; `None` leaves it as it is.
pub type GatewayAccountStep =
    Arc<dyn Fn(Option<&str>, Timestamp) -> Option<NewGatewayAccount> + Send + Sync>;

const DURABLE: &str =
    "UPDATE gateway_accounts SET state = $2::jsonb, version = $3, changed_by = $4, changed_at = clock_timestamp()
     WHERE account = $1";
/// The commit does not wait for the disk. The next durable one writes this change too.
const QUICK: &str =
    "UPDATE gateway_accounts SET state = $2::jsonb, version = $3, changed_by = $4, changed_at = clock_timestamp()
     WHERE account = $1 RETURNING set_config('synchronous_commit', 'off', true)";

struct Change {
    account: String,
    holder: Arc<str>,
    clock: Option<Time>,
    step: GatewayAccountStep,
    /// The version that an earlier try has written, and perhaps committed.
    written: Mutex<Option<i64>>,
}

impl PostgresStorage {
    /// Reads an account without a lock. `now` counts only if leases are by the caller's clock.
    ///
    /// # Errors
    /// [`StorageError`]
    pub async fn gateway_account(&self, account: &str, now: Timestamp) -> Result<GatewayAccount> {
        let clock = self.clock(now);
        read!(self, |reader| find(reader, account, clock))
    }

    /// Locks an account, passes its state and the time to `step`, and stores what that returns. Returns the version
    /// afterwards. `step` may be called several times: the last call counts. A caller that gives up cancels nothing.
    ///
    /// # Errors
    /// [`StorageError`]: whether the change was stored is unknown.
    pub async fn change_gateway_account(
        &self,
        account: &str,
        now: Timestamp,
        step: GatewayAccountStep,
    ) -> Result<i64> {
        let change = Arc::new(Change {
            account: account.to_owned(),
            holder: self.holder.clone(),
            clock: self.clock.now(now),
            step,
            written: Mutex::new(None),
        });
        transaction!(self, Repeat, [change], |tx| change.make(tx))
    }
}

async fn find(
    reader: &mut PgConnection,
    account: &str,
    clock: Option<Time>,
) -> Result<GatewayAccount> {
    let query = "SELECT coalesce($2, clock_timestamp()) AS now, version, state::text AS state
         FROM (SELECT 1) AS one LEFT JOIN gateway_accounts ON account = $1";
    let row = sqlx::query(query).bind(account).bind(clock);
    Ok(found(&row.fetch_one(reader).await?)?)
}

impl Change {
    async fn make(&self, tx: &mut Transaction) -> Result<i64> {
        let mut row = self.lock(tx).await?;
        if row.is_none() {
            self.insert(tx).await?;
            row = self.lock(tx).await?;
        }
        let row = row.ok_or(StorageError::Database(sqlx::Error::RowNotFound))?;
        let account = found(&row)?;
        let changed_by: Option<String> = row.try_get("changed_by")?;
        let is_ours = changed_by.as_deref() == Some(&self.holder);
        if tx.is_repeat() && is_ours && *self.written() == Some(account.version) {
            // The first try was committed; its connection was lost before the response.
            return Ok(account.version);
        }
        let Some(new) = (self.step)(account.state.as_deref(), account.now) else {
            return Ok(account.version);
        };
        let version = account.version + 1;
        *self.written() = Some(version);
        self.store(tx, &new, version).await?;
        Ok(version)
    }

    /// The time is read after the lock was waited for.
    async fn lock(&self, tx: &mut Transaction) -> Result<Option<PgRow>> {
        let lock = "WITH locked AS MATERIALIZED (
                 SELECT version, state::text AS state, changed_by FROM gateway_accounts WHERE account = $1 FOR UPDATE)
             SELECT coalesce($2, clock_timestamp()) AS now, version, state, changed_by FROM locked";
        let row = sqlx::query(lock)
            .bind(&self.account)
            .bind(self.clock)
            .fetch_optional(&mut **tx)
            .await?;
        Ok(row)
    }

    async fn insert(&self, tx: &mut Transaction) -> Result<()> {
        sqlx::query("INSERT INTO gateway_accounts (account) VALUES ($1) ON CONFLICT DO NOTHING")
            .bind(&self.account)
            .execute(&mut **tx)
            .await?;
        Ok(())
    }

    async fn store(
        &self,
        tx: &mut Transaction,
        new: &NewGatewayAccount,
        version: i64,
    ) -> Result<()> {
        let update = if new.is_durable { DURABLE } else { QUICK };
        sqlx::query(update)
            .bind(&self.account)
            .bind(&new.state)
            .bind(version)
            .bind(&*self.holder)
            .execute(&mut **tx)
            .await?;
        Ok(())
    }

    fn written(&self) -> std::sync::MutexGuard<'_, Option<i64>> {
        self.written.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn found(row: &PgRow) -> Result<GatewayAccount, sqlx::Error> {
    let version: Option<i64> = row.try_get("version")?;
    let Time(now) = row.try_get("now")?;
    Ok(GatewayAccount {
        state: row.try_get("state")?,
        version: version.unwrap_or(0),
        now,
    })
}
