//! State that processes share: versions of orders, files, reports of delays, limits that count over all of them, and the row of
//! a gateway account.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use florin_orders::OrderId;
use jiff::{SignedDuration, Timestamp};
use sqlx::postgres::PgRow;
use sqlx::{PgConnection, Row as _};

use super::PostgresStorage;
use super::transaction::Transaction;
use crate::limits::milliseconds;
use crate::rows::{Record as _, Time};
use crate::{DELAY_REPORT, LimitKey, OrderVersion, Result, StaticFile, StorageError};

/// Keeps files of a version, and deletes those that no process has kept for 30 days. During an upgrade, a page of one version
/// asks a process of another for them.
pub(super) async fn keep_static_files(
    tx: &mut PgConnection,
    files: &[StaticFile],
    clock: Option<Time>,
) -> Result<()> {
    let names: Vec<&str> = files.iter().map(|file| file.name.as_str()).collect();
    let known: Vec<String> = sqlx::query_scalar(
        "UPDATE static_files SET used_at = coalesce($2, clock_timestamp()) WHERE name = ANY($1) RETURNING name",
    )
    .bind(&names)
    .bind(clock)
    .fetch_all(&mut *tx)
    .await?;
    let known: HashSet<String> = known.into_iter().collect();
    for file in files.iter().filter(|file| !known.contains(&file.name)) {
        sqlx::query(
            "INSERT INTO static_files (name, whole, brotli, used_at) VALUES ($1, $2, $3, coalesce($4, clock_timestamp()))
             ON CONFLICT (name) DO NOTHING",
        )
        .bind(&file.name)
        .bind(&file.whole)
        .bind(&file.brotli)
        .bind(clock)
        .execute(&mut *tx)
        .await?;
    }
    sqlx::query(
        "DELETE FROM static_files WHERE used_at < coalesce($1, clock_timestamp()) - interval '30 days'",
    )
    .bind(clock)
    .execute(tx)
    .await?;
    Ok(())
}

/// Reports whether this process finds payments later than planned: a page shows the same, whichever process serves it.
/// Returns `true` if a report of another one counts.
pub(super) async fn share_delay(
    tx: &mut PgConnection,
    holder: &str,
    is_delayed: bool,
    clock: Option<Time>,
) -> Result<bool> {
    let report = if is_delayed {
        "INSERT INTO delays (holder, until) VALUES ($1, coalesce($2, clock_timestamp()) + $3 * interval '1 ms')
         ON CONFLICT (holder) DO UPDATE SET until = excluded.until"
    } else {
        // With those that count no more.
        "DELETE FROM delays WHERE holder = $1 OR until <= coalesce($2, clock_timestamp()) - $3 * interval '1 ms'"
    };
    sqlx::query(report)
        .bind(holder)
        .bind(clock)
        .bind(milliseconds(DELAY_REPORT))
        .execute(&mut *tx)
        .await?;
    let elsewhere = "SELECT EXISTS (SELECT 1 FROM delays WHERE holder <> $1 AND until > coalesce($2, clock_timestamp()))";
    let elsewhere = sqlx::query_scalar(elsewhere).bind(holder).bind(clock);
    Ok(elsewhere.fetch_one(tx).await?)
}

/// Counts a request; returns how long to wait when the key's minute is used. One statement decides, and a refused request
/// changes nothing.
pub(super) async fn count_request(
    tx: &mut PgConnection,
    key: LimitKey,
    each: SignedDuration,
    clock: Option<Time>,
) -> Result<Option<SignedDuration>> {
    let counted: Option<bool> = sqlx::query_scalar(
        "INSERT INTO rate_limits AS known (key, used_until)
         VALUES ($1, coalesce($2, clock_timestamp()) + $3 * interval '1 ms')
         ON CONFLICT (key) DO UPDATE
             SET used_until = greatest(known.used_until, coalesce($2, clock_timestamp())) + $3 * interval '1 ms'
             WHERE greatest(known.used_until, coalesce($2, clock_timestamp())) + $3 * interval '1 ms'
                 <= coalesce($2, clock_timestamp()) + interval '1 min'
         RETURNING true",
    )
    .bind(key.0.as_slice())
    .bind(clock)
    .bind(milliseconds(each))
    .fetch_optional(&mut *tx)
    .await?;
    if counted.is_some() {
        return Ok(None);
    }
    let wait: Option<i64> = sqlx::query_scalar(
        "SELECT (1000 * extract(epoch FROM used_until - coalesce($2, clock_timestamp())))::bigint + $3 - 60000
         FROM rate_limits WHERE key = $1",
    )
    .bind(key.0.as_slice())
    .bind(clock)
    .bind(milliseconds(each))
    .fetch_optional(tx)
    .await?;
    Ok(wait.map(|wait| SignedDuration::from_millis(wait.max(1))))
}

/// Deletes up to `limit` keys whose minute is free again; returns their number.
pub(super) async fn delete_unused_counts(
    tx: &mut PgConnection,
    clock: Option<Time>,
    limit: u32,
) -> Result<u64> {
    let deleted = sqlx::query(
        "DELETE FROM rate_limits WHERE key = ANY (ARRAY (SELECT key FROM rate_limits
             WHERE used_until <= coalesce($1, statement_timestamp()) LIMIT $2 FOR UPDATE SKIP LOCKED))",
    )
    .bind(clock)
    .bind(i64::from(limit))
    .execute(tx)
    .await?;
    Ok(deleted.rows_affected())
}

/// The versions of orders. `xmin` is the transaction that wrote a row: it changes with every write, whatever wrote it.
pub(super) async fn versions(
    connection: &mut PgConnection,
    ids: &[OrderId],
) -> Result<Vec<(OrderId, OrderVersion)>> {
    let ids: Vec<&str> = ids.iter().map(OrderId::as_str).collect();
    let found = sqlx::query(
        "SELECT orders.id, orders.version, orders.xmin::text::bigint AS order_tx,
             coalesce(attempts.xmin::text::bigint, 0) AS attempt_tx, coalesce(polls.xmin::text::bigint, 0) AS poll_tx
         FROM orders LEFT JOIN attempts ON attempts.id = orders.current_attempt
         LEFT JOIN polls ON polls.attempt_id = orders.current_attempt
         WHERE orders.id = ANY($1)",
    )
    .bind(ids)
    .fetch_all(connection)
    .await?;
    let version = |row: &PgRow| {
        let id = row.parsed("id", OrderId::parse)?;
        let mut version = [0; 4];
        for (number, column) in
            version
                .iter_mut()
                .zip(["version", "order_tx", "attempt_tx", "poll_tx"])
        {
            *number = row.try_get(column)?;
        }
        Ok::<_, StorageError>((id, OrderVersion::new(version)))
    };
    found.iter().map(version).collect()
}

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

    fn written(&self) -> MutexGuard<'_, Option<i64>> {
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
