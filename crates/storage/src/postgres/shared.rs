//! State that processes share, and that of their server: versions of orders, reports of delays, limits that count over all of them, and the row of a
//! gateway account.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use florin_orders::OrderId;
use jiff::{SignedDuration, Timestamp};
use sqlx::postgres::PgRow;
use sqlx::{PgConnection, Row as _};

use super::dead_connections::no_response;
use super::{PostgresStorage, announcements, operator};
use crate::limits::{BATCH, milliseconds};
use crate::rows::{Record as _, Time};
use crate::{
    ChangeListener, Changed, Commits, DELAY_REPORT, LimitKey, OrderVersion, PoolState, Result,
    ServerState, SharedStorage, Standbys, StorageError, Totals,
};

/// Readiness fails within five seconds, and says that the server does not answer.
const LONGEST_CHECK: Duration = Duration::from_millis(2500);

#[async_trait]
impl SharedStorage for PostgresStorage {
    async fn server_state(&self) -> Result<Option<ServerState>> {
        read!(self, |reader| server_state(reader)).map(Some)
    }

    fn pools(&self) -> Vec<PoolState> {
        self.timeouts.of(&self.reader, &self.writer)
    }

    /// `xmin` is the transaction that wrote a row: it changes with every write, whatever wrote it.
    async fn versions(&self, orders: &[OrderId]) -> Result<Vec<(OrderId, OrderVersion)>> {
        let ids: Vec<&str> = orders.iter().map(OrderId::as_str).collect();
        let found = read!(self, |reader| async {
            let found = sqlx::query(
                "SELECT orders.id, orders.version, orders.xmin::text::bigint AS order_tx,
                     coalesce(attempts.xmin::text::bigint, 0) AS attempt_tx,
                     coalesce(polls.xmin::text::bigint, 0) AS poll_tx
                 FROM orders LEFT JOIN attempts ON attempts.id = orders.current_attempt
                 LEFT JOIN polls ON polls.attempt_id = orders.current_attempt
                 WHERE orders.id = ANY($1)",
            );
            Ok(found.bind(&ids).fetch_all(reader).await?)
        })?;
        let version = |row: &PgRow| {
            let id = row.parsed("id", OrderId::parse)?;
            let mut version = [0; 4];
            let columns = ["version", "order_tx", "attempt_tx", "poll_tx"];
            for (number, column) in version.iter_mut().zip(columns) {
                *number = row.integer(column)?;
            }
            Ok::<_, StorageError>((id, OrderVersion::new(version)))
        };
        found.iter().map(version).collect()
    }

    async fn announce(&self, changed: &Changed) -> Result<()> {
        read!(self, |reader| announcements::announce(
            reader,
            &self.holder.name,
            changed
        ))
    }

    async fn listen(&self) -> Result<Option<Box<dyn ChangeListener>>> {
        let options = (*self.options.0).clone();
        let announcing = (self.reader.clone(), self.pooler.clone());
        let listener =
            announcements::Listener::connect(options, announcing, self.holder.name.clone()).await;
        let listener = listener.map_err(StorageError::for_postgres)?;
        Ok(Some(Box::new(listener)))
    }

    /// One statement decides, and a refused request changes nothing.
    async fn count_request(
        &self,
        key: LimitKey,
        each: SignedDuration,
        now: Timestamp,
    ) -> Result<Option<SignedDuration>> {
        let (clock, each) = (self.holder.clock(now), milliseconds(each));
        transaction!(self, Fail, [], |tx| async {
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
            .bind(each)
            .fetch_optional(&mut **tx)
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
            .bind(each)
            .fetch_optional(&mut **tx)
            .await?;
            Ok(wait.map(|wait| SignedDuration::from_millis(wait.max(1))))
        })
    }

    async fn delete_unused_counts(&self, now: Timestamp) -> Result<u64> {
        let clock = self.holder.clock(now);
        transaction!(self, Fail, [], |tx| async {
            let deleted = sqlx::query(
                "DELETE FROM rate_limits WHERE key = ANY (ARRAY (SELECT key FROM rate_limits
                     WHERE used_until <= coalesce($1, statement_timestamp()) LIMIT $2 FOR UPDATE SKIP LOCKED))",
            );
            let deleted = deleted.bind(clock).bind(i64::from(BATCH));
            Ok(deleted.execute(&mut **tx).await?.rows_affected())
        })
    }

    /// A page shows the same, whichever process serves it.
    async fn share_delay(&self, is_delayed: bool, now: Timestamp) -> Result<bool> {
        let (holder, clock) = (&self.holder.name, self.holder.clock(now));
        let report = if is_delayed {
            "INSERT INTO delays (holder, until) VALUES ($1, coalesce($2, clock_timestamp()) + $3 * interval '1 ms')
             ON CONFLICT (holder) DO UPDATE SET until = excluded.until"
        } else {
            // With those that count no more.
            "DELETE FROM delays WHERE holder = $1 OR until <= coalesce($2, clock_timestamp()) - $3 * interval '1 ms'"
        };
        transaction!(self, Repeat, [holder], |tx| async {
            sqlx::query(report)
                .bind(&*holder)
                .bind(clock)
                .bind(milliseconds(DELAY_REPORT))
                .execute(&mut **tx)
                .await?;
            let elsewhere = "SELECT EXISTS (SELECT 1 FROM delays WHERE holder <> $1 AND until > coalesce($2, clock_timestamp()))";
            let elsewhere = sqlx::query_scalar(elsewhere).bind(&*holder).bind(clock);
            Ok(elsewhere.fetch_one(&mut **tx).await?)
        })
    }

    async fn totals(&self) -> Result<Totals> {
        Ok(Totals {
            needing_review: read!(self, |reader| operator::needing_review(reader))?,
            outboxes: read!(self, |reader| operator::outboxes(reader))?,
            // Each transaction is a commit of the server, whose volume this process does not see.
            commits: Commits::default(),
            free_bytes: None,
            wal_bytes: None,
        })
    }

    async fn check_database(&self) -> Result<()> {
        // A server has no file to watch: the checks are those of writing.
        Ok(())
    }

    async fn check_writing(&self, now: Timestamp) -> Result<()> {
        let check = async {
            read!(self, |reader| check_standby(reader))?;
            transaction!(self, Fail, [], |tx| async {
                sqlx::query(
                    "INSERT INTO write_checks (id, written_at) VALUES (1, $1)
                     ON CONFLICT (id) DO UPDATE SET written_at = excluded.written_at",
                )
                .bind(Time(now))
                .execute(&mut **tx)
                .await?;
                Ok(())
            })
        };
        let checked = tokio::time::timeout(LONGEST_CHECK, check).await;
        checked.unwrap_or_else(|_| Err(no_response()))
    }
}

/// The schema's version, the time, the oldest transaction that has written, and the standbys.
async fn server_state(connection: &mut PgConnection) -> Result<ServerState> {
    let (schema, Time(now), oldest_write_seconds, may_see, connected, synchronous) =
        sqlx::query_as::<_, (i64, Time, i64, bool, i64, i64)>(
            "SELECT (SELECT coalesce(max(version), 0) FROM _sqlx_migrations WHERE success), clock_timestamp(),
                 coalesce(extract(epoch FROM clock_timestamp() - least(
                     (SELECT min(xact_start) FROM pg_stat_activity
                         WHERE backend_xid IS NOT NULL AND datname = current_database()),
                     (SELECT min(prepared) FROM pg_prepared_xacts)))::bigint, 0),
                 pg_has_role('pg_read_all_stats', 'USAGE'), count(*),
                 count(*) FILTER (WHERE sync_state IN ('sync', 'quorum'))
             FROM pg_stat_replication WHERE state = 'streaming'",
        )
        .fetch_one(connection)
        .await?;
    let standbys = Standbys {
        connected,
        synchronous,
    };
    Ok(ServerState {
        schema,
        now,
        oldest_write_seconds: may_see.then_some(oldest_write_seconds),
        standbys: may_see.then_some(standbys),
    })
}

/// Checks that a commit finds the synchronous standbys that it waits for: while one is missing, no commit ends. A role
/// without `pg_read_all_stats` sees no standby, and checks nothing.
async fn check_standby(connection: &mut PgConnection) -> Result<()> {
    let missing: Option<String> = sqlx::query_scalar(
        "SELECT current_setting('synchronous_standby_names') WHERE current_setting('synchronous_standby_names') <> ''
             AND NOT pg_is_in_recovery() AND pg_has_role('pg_read_all_stats', 'USAGE')
             AND NOT EXISTS (SELECT 1 FROM pg_stat_replication WHERE sync_state IN ('sync', 'quorum'))",
    )
    .fetch_optional(connection)
    .await?;
    missing.map_or(Ok(()), |names| Err(StorageError::NoStandby(names)))
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

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewGatewayAccount {
    pub state: String,
    /// `true` if a crash of the server must not lose it. Else the change is not written to the disk at once.
    pub is_durable: bool,
}

/// What becomes of an account, from its state and the time by the server's clock; `None` leaves it as it is.
pub type GatewayAccountStep =
    Arc<dyn Fn(Option<&str>, Timestamp) -> Option<NewGatewayAccount> + Send + Sync>;

impl PostgresStorage {
    /// Reads an account without a lock. `now` counts only if leases are by the caller's clock.
    ///
    /// # Errors
    /// [`StorageError`]
    pub async fn gateway_account(&self, account: &str, now: Timestamp) -> Result<GatewayAccount> {
        let clock = self.holder.clock(now);
        let query = "SELECT coalesce($2, clock_timestamp()) AS now, version, state::text AS state
             FROM (SELECT 1) AS one LEFT JOIN gateway_accounts ON account = $1";
        let row = read!(self, |reader| async {
            let row = sqlx::query(query).bind(account).bind(clock);
            Ok(row.fetch_one(reader).await?)
        })?;
        Ok(found(&row)?)
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
        let (holder, clock) = (&self.holder.name, self.holder.clock(now));
        let account = account.to_owned();
        // The version that an earlier try has written, and perhaps committed; 0 before.
        let written = Arc::new(AtomicI64::new(0));
        transaction!(self, Repeat, [account, holder, step, written], |tx| async {
            let mut row = lock_account(tx, &account, clock).await?;
            if row.is_none() {
                sqlx::query(
                    "INSERT INTO gateway_accounts (account) VALUES ($1) ON CONFLICT DO NOTHING",
                )
                .bind(&account)
                .execute(&mut **tx)
                .await?;
                row = lock_account(tx, &account, clock).await?;
            }
            let row = row.ok_or(StorageError::Database(sqlx::Error::RowNotFound))?;
            let known = found(&row)?;
            let changed_by: Option<String> = row.try_get("changed_by")?;
            let is_ours = changed_by.as_deref() == Some(&*holder);
            if tx.is_repeat() && is_ours && written.load(Ordering::Relaxed) == known.version {
                // The first try was committed; its connection was lost before the response.
                return Ok(known.version);
            }
            let Some(new) = step(known.state.as_deref(), known.now) else {
                return Ok(known.version);
            };
            let version = known.version + 1;
            written.store(version, Ordering::Relaxed);
            // A quick commit does not wait for the disk. The next durable one writes this change too.
            sqlx::query(
                "UPDATE gateway_accounts SET state = $2::jsonb, version = $3, changed_by = $4, changed_at = clock_timestamp()
                 WHERE account = $1 RETURNING CASE WHEN NOT $5 THEN set_config('synchronous_commit', 'off', true) END",
            )
            .bind(&account)
            .bind(&new.state)
            .bind(version)
            .bind(&*holder)
            .bind(new.is_durable)
            .execute(&mut **tx)
            .await?;
            Ok(version)
        })
    }
}

/// The time is read after the lock was waited for.
async fn lock_account(
    tx: &mut PgConnection,
    account: &str,
    clock: Option<Time>,
) -> Result<Option<PgRow>> {
    let lock = "WITH locked AS MATERIALIZED (
             SELECT version, state::text AS state, changed_by FROM gateway_accounts WHERE account = $1 FOR UPDATE)
         SELECT coalesce($2, clock_timestamp()) AS now, version, state, changed_by FROM locked";
    let row = sqlx::query(lock).bind(account).bind(clock);
    Ok(row.fetch_optional(tx).await?)
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
