//! Opening a database: its schema, its environment, and the limits of its connections. And the check of a whole database.

use std::str::FromStr;
use std::sync::Arc;

use sqlx::postgres::PgConnectOptions;
use sqlx::{ConnectOptions as _, Connection as _, PgConnection};

use super::announcements::ListenOptions;
use super::dead_connections::ANSWER;
use super::options::{Pooler, PostgresOptions};
use super::{PostgresStorage, deliveries, polls};
use crate::database::{Verified, count, migrator};
use crate::limits::{LeaseClock, LeaseHolder};
use crate::{Result, StorageError};

/// A migration waits no longer for the lock of a table: the statements behind it wait as well.
const MIGRATION_SETTINGS: [(&str, &str); 2] = [("statement_timeout", "0"), ("lock_timeout", "3s")];

pub(crate) const MIGRATIONS: [(i64, &str, &str); 1] = [(
    1,
    "schema",
    include_str!("../../migrations/postgres/0001_schema.sql"),
)];

impl PostgresStorage {
    /// Opens the database that `url` names (`postgres://user:password@host/database`).
    ///
    /// # Errors
    /// [`StorageError::Open`] when the server or the database cannot be reached; [`StorageError::NotMigrated`] until
    /// [`migrate`] was run; [`StorageError::Newer`]; [`StorageError::OtherEnvironment`].
    pub async fn open(url: &str, environment: &str) -> Result<Self> {
        let (clock, limits) = (LeaseClock::Server, PostgresOptions::DEFAULT);
        Self::open_limited(url, None, environment, clock, &limits).await
    }

    /// The same, with leases that end by another clock, and other limits of its connections. `direct_url` leads past a pooler in transaction mode that `url` leads
    /// to: the schema is read and announcements are received there.
    ///
    /// # Errors
    /// Those of [`Self::open`]; [`StorageError::Open`] when the two lead to different databases.
    pub async fn open_limited(
        url: &str,
        direct_url: Option<&str>,
        environment: &str,
        clock: LeaseClock,
        limits: &PostgresOptions,
    ) -> Result<Self> {
        let holder = holder()?;
        let named = |url| {
            let options = options(url)?;
            Ok::<_, StorageError>(options.application_name(&format!("florin-proxy {holder}")))
        };
        let direct = direct_url.unwrap_or(url);
        let listening = limits.limit(named(direct)?);
        let new_pooler = |_| Pooler::new(&limits.settings(), limits.acquire_timeout);
        let pooler = direct_url.map(new_pooler);
        let options = match pooler {
            Some(_) => Pooler::options(named(url)?),
            None => listening.clone(),
        };
        let mut connection = connect(direct, &listening).await?;
        let checked = async {
            check(&mut connection, direct, environment).await?;
            match &pooler {
                Some(pooler) => {
                    let direct = (direct, &mut connection);
                    refuse_other_database(pooler, (url, &options), direct).await
                }
                None => Ok(()),
            }
        };
        let checked = checked.await;
        let _ = connection.close().await;
        checked.map_err(StorageError::for_postgres)?;
        Ok(Self {
            // A lost connection fails the first statement, and the transaction is repeated.
            writer: limits
                .pool(limits.writers())
                .test_before_acquire(false)
                .connect_lazy_with(options.clone()),
            reader: limits
                .pool(limits.readers())
                .test_before_acquire(pooler.is_none())
                .connect_lazy_with(options),
            pooler,
            options: ListenOptions(Arc::new(listening)),
            holder: LeaseHolder {
                name: holder.into(),
                clock,
            },
            patience: limits.patience(),
            timeouts: Arc::default(),
        })
    }

    /// Ends the leases of this process and closes its connections.
    pub async fn close(&self) {
        let holder = self.holder.name.clone();
        let ended: Result<()> = transaction!(self, Fail, [holder], |tx| async {
            polls::end_leases(tx, &holder).await?;
            deliveries::end_leases(tx, &holder).await
        });
        // A lease that was not ended ends by itself.
        drop(ended);
        // A connection that died silently takes no farewell.
        let closed = async { tokio::join!(self.reader.close(), self.writer.close()) };
        let _ = tokio::time::timeout(ANSWER, closed).await;
    }
}

/// Brings the schema of a database up to date. Returns the number of migrations that were applied.
///
/// # Errors
/// [`StorageError::Open`]; [`StorageError::Newer`]; [`StorageError::Migrate`]; [`StorageError::OtherEnvironment`].
pub async fn migrate(url: &str, environment: &str) -> Result<u64> {
    let options = options(url)?
        .application_name("florin-proxy migrate")
        .options(MIGRATION_SETTINGS);
    let mut connection = connect(url, &options).await?;
    let before = version(&mut connection).await?;
    refuse_foreign(&mut connection, url, before).await?;
    refuse_newer(&mut connection, before, url).await?;
    // A newer version has applied all of these and more.
    if before.is_none_or(|before| before <= latest()) {
        let migrations = migrator(&MIGRATIONS);
        migrations.run_direct(None, &mut connection, false).await?;
    }
    sqlx::query("INSERT INTO identity (id, environment) VALUES (1, $1) ON CONFLICT DO NOTHING")
        .bind(environment)
        .execute(&mut connection)
        .await?;
    refuse_other_environment(&mut connection, environment).await?;
    renumber(&mut connection).await?;
    let known = MIGRATIONS.iter().map(|(version, ..)| *version);
    let applied = known.filter(|version| before.is_none_or(|before| *version > before));
    let _ = connection.close().await;
    Ok(applied.count() as u64)
}

pub(super) fn options(url: &str) -> Result<PgConnectOptions> {
    PgConnectOptions::from_str(url).map_err(|error| StorageError::Open {
        url: shown(url),
        reason: error.to_string(),
    })
}

pub(super) async fn connect(url: &str, options: &PgConnectOptions) -> Result<PgConnection> {
    options.connect().await.map_err(|error| {
        let mut reason = error.to_string();
        // Source: PgBouncer, src/client.c, of `options` and `extra_float_digits`.
        if reason.contains("unsupported startup parameter") {
            reason.push_str(". It is a pooler: let database_url_direct lead to the server itself");
        }
        StorageError::Open {
            url: shown(url),
            reason,
        }
    })
}

pub(crate) fn shown(url: &str) -> String {
    match url::Url::parse(url) {
        Ok(mut url) => {
            // The address may hold the password among the parameters as well.
            url.set_query(None);
            let _ = url.set_password(None);
            url.to_string()
        }
        Err(_) => "postgres://…".to_owned(),
    }
}

/// A name of this process, different from that of every other one.
fn holder() -> Result<String> {
    let mut bytes = [0; 8];
    let opened = std::fs::File::open("/dev/urandom");
    opened
        .and_then(|mut random| std::io::Read::read_exact(&mut random, &mut bytes))
        .map_err(|error| StorageError::Database(error.into()))?;
    Ok(hex::encode(bytes))
}

/// Checks that the schema is that of this version or a later one that this version may use, and that the database belongs to the environment.
pub(super) async fn check(
    connection: &mut PgConnection,
    url: &str,
    environment: &str,
) -> Result<()> {
    let found = version(connection).await?;
    refuse_newer(connection, found, url).await?;
    if found.is_none_or(|found| found < latest()) {
        return Err(StorageError::NotMigrated {
            url: shown(url),
            found: found.unwrap_or(0),
            known: latest(),
        });
    }
    if is_restored(connection).await? {
        return Err(StorageError::Restored { url: shown(url) });
    }
    refuse_other_environment(connection, environment).await
}

fn latest() -> i64 {
    MIGRATIONS[MIGRATIONS.len() - 1].0
}

async fn has_table(connection: &mut PgConnection, name: &str) -> Result<bool> {
    let table = sqlx::query_scalar("SELECT to_regclass($1) IS NOT NULL").bind(name);
    Ok(table.fetch_one(connection).await?)
}

/// The schema's version; `None` for a database without our tables.
async fn version(connection: &mut PgConnection) -> Result<Option<i64>> {
    if !has_table(connection, "_sqlx_migrations").await? {
        return Ok(None);
    }
    let version = "SELECT max(version) FROM _sqlx_migrations WHERE success";
    Ok(sqlx::query_scalar(version).fetch_one(connection).await?)
}

/// Refuses a schema of a later version that has removed what this one uses.
async fn refuse_newer(connection: &mut PgConnection, found: Option<i64>, url: &str) -> Result<()> {
    let Some(found) = found.filter(|found| *found > latest()) else {
        return Ok(());
    };
    if has_table(connection, "schema_compatibility").await? {
        let needed: i64 = sqlx::query_scalar("SELECT min_schema FROM schema_compatibility")
            .fetch_one(connection)
            .await?;
        if needed <= latest() {
            return Ok(());
        }
    }
    Err(StorageError::Newer {
        url: shown(url),
        found,
        known: latest(),
    })
}

/// A database with tables, of which none is ours, belongs to another program.
async fn refuse_foreign(
    connection: &mut PgConnection,
    url: &str,
    found: Option<i64>,
) -> Result<()> {
    let tables: i64 =
        sqlx::query_scalar("SELECT count(*) FROM pg_tables WHERE schemaname = current_schema()")
            .fetch_one(&mut *connection)
            .await?;
    let is_ours = found.is_some() && has_table(connection, "identity").await?;
    if tables == 0 || is_ours {
        return Ok(());
    }
    Err(StorageError::Open {
        url: shown(url),
        reason: "it is the database of another program: write the address of Florin's database, or of an empty one"
            .to_owned(),
    })
}

async fn refuse_other_environment(connection: &mut PgConnection, environment: &str) -> Result<()> {
    let found: Option<String> = sqlx::query_scalar("SELECT environment FROM identity WHERE id = 1")
        .fetch_optional(connection)
        .await?;
    match found {
        Some(found) if found != environment => Err(StorageError::OtherEnvironment {
            found,
            wanted: environment.to_owned(),
        }),
        _ => Ok(()),
    }
}

/// Refuses a pooler that leads to another database than the direct address, or to another server.
async fn refuse_other_database(
    pooler: &Pooler,
    (url, options): (&str, &PgConnectOptions),
    (direct, connection): (&str, &mut PgConnection),
) -> Result<()> {
    let mut through = connect(url, options).await?;
    pooler.begin(&mut through).await?;
    let is_same = identity(&mut through).await? == identity(connection).await?;
    let _ = through.close().await;
    if is_same {
        return Ok(());
    }
    Err(StorageError::Open {
        url: shown(url),
        reason: format!(
            "the direct address {} leads to another database: let both lead to the same one",
            shown(direct)
        ),
    })
}

async fn identity(connection: &mut PgConnection) -> Result<String> {
    let identity = "SELECT pg_postmaster_start_time()::text || ' ' || oid::text FROM pg_database
         WHERE datname = current_database()";
    Ok(sqlx::query_scalar(identity).fetch_one(connection).await?)
}

/// Returns `true` if an event is of a transaction that this server has not begun yet: the database was restored from a
/// dump, and the server counts its transactions from the start. Readers would not see such an event.
async fn is_restored(connection: &mut PgConnection) -> Result<bool> {
    let restored =
        "SELECT coalesce((SELECT tx >= pg_snapshot_xmax(pg_current_snapshot()) FROM events
         ORDER BY position DESC LIMIT 1), false)";
    Ok(sqlx::query_scalar(restored).fetch_one(connection).await?)
}

/// Gives all events of a restored database their place in the list again, in the order that readers have seen.
async fn renumber(connection: &mut PgConnection) -> Result<()> {
    if !is_restored(connection).await? {
        return Ok(());
    }
    let mut tx = connection.begin().await?;
    for statement in [
        "LOCK TABLE events IN EXCLUSIVE MODE",
        "UPDATE events SET tx = '3'::xid8, position = place FROM (
             SELECT order_id AS of_order, sequence AS number, row_number() OVER (ORDER BY tx, position) AS place
             FROM events) AS places
         WHERE order_id = of_order AND sequence = number",
        "UPDATE outbox SET position = events.position FROM events
         WHERE events.order_id = outbox.order_id AND events.sequence = outbox.sequence",
    ] {
        sqlx::query(statement).execute(&mut *tx).await?;
    }
    tx.commit().await?;
    Ok(())
}

/// A row that breaks what every transaction keeps, with a sentence about it. Reading each table also makes the server check
/// its pages, if they have checksums.
const CHECKS: [(&str, &str); 6] = [
    (
        "attempts without an order",
        "SELECT count(*) FROM attempts LEFT JOIN orders ON orders.id = order_id WHERE orders.id IS NULL",
    ),
    (
        "credits without an observation of their attempt",
        "SELECT count(*) FROM credits LEFT JOIN observations ON observations.id = observation_id
             AND observations.attempt_id = credits.attempt_id WHERE observations.id IS NULL",
    ),
    (
        "paid orders without a credit, or credits of orders that are not paid",
        "SELECT count(*) FROM orders FULL JOIN credits ON order_id = orders.id
         WHERE (status IN ('paid', 'overpaid')) IS DISTINCT FROM (order_id IS NOT NULL)",
    ),
    (
        "orders whose events are not numbered without a gap",
        "SELECT count(*) FROM (SELECT orders.id FROM orders LEFT JOIN events ON order_id = orders.id
         GROUP BY orders.id, orders.sequence
         HAVING count(events.id) <> orders.sequence OR coalesce(max(events.sequence), 0) <> orders.sequence) AS found",
    ),
    (
        "events without a place in the outbox",
        "SELECT count(*) FROM events LEFT JOIN outbox USING (order_id, sequence) WHERE outbox.state IS NULL",
    ),
    (
        "open attempts without a schedule",
        "SELECT count(*) FROM attempts LEFT JOIN polls ON attempt_id = attempts.id
         WHERE state = 'open' AND attempt_id IS NULL",
    ),
];

/// Reads every table in one snapshot and checks what holds between them.
///
/// # Errors
/// The reason and the remedy, as a sentence.
pub(crate) async fn verify(url: &str, environment: &str) -> Result<Verified, String> {
    let found = read(url, environment).await;
    found.map_err(|error| error.for_postgres().to_string())
}

async fn read(url: &str, environment: &str) -> Result<Verified> {
    let options = options(url)?.application_name("florin-proxy store verify");
    let mut connection = connect(url, &options).await?;
    check(&mut connection, url, environment).await?;
    let begin = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";
    sqlx::raw_sql(begin).execute(&mut connection).await?;
    let mut verified = Verified::default();
    for (what, statement) in CHECKS {
        let found: i64 = sqlx::query_scalar(statement)
            .fetch_one(&mut connection)
            .await?;
        if found > 0 {
            verified.defects.push(format!("{found} {what}"));
        }
    }
    for table in Verified::TABLES {
        let rows = sqlx::query_scalar(count(table)).fetch_one(&mut connection);
        verified.rows.push((table, rows.await?));
    }
    let _ = connection.close().await;
    Ok(verified)
}
