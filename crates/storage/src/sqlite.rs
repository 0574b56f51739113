//! Storage in SQLite: one file, one writer, every commit synchronised to disk.

mod attempts;
mod deliveries;
mod events;
mod file;
mod observe;
mod orders;
mod requests;
mod rows;
#[cfg(test)]
mod tests;
mod writer;

use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use florin_orders::{
    Abandoned, Attempt, AttemptId, Event, EventId, Invoice, InvoiceId, NewAttempt, NewOrder,
    Observation, OrderId, PollPriority, Snapshot, StoreId, TokenHash,
};
use jiff::{SignedDuration, Timestamp};
use sqlx::migrate::{MigrateError, Migration, MigrationType, Migrator};
use sqlx::sqlite::{
    SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteSynchronous,
};
use sqlx::{ConnectOptions as _, Connection as _, SqlStr, SqliteConnection};

use self::attempts::Known;
use self::file::DatabaseFile;
use self::writer::{WriteTransaction, Writer};
use crate::{
    Claim, Delivery, DeliveryFilter, DeliveryOutcome, DueAttempt, DueDelivery, EndpointStatus,
    FileFault, Fingerprint, KeptEmail, MarkedAsPaid, OpenAttemptError, OpenError, Opened,
    OrderFilter, OrderOperationError, Outage, PollQueue, RecordedDelivery, RecordedObservation,
    RequestId, Settlement, Storage, StorageError, StoredResponse,
};

/// How long a statement waits for another process that holds the file.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
/// Readers never wait for the writer in WAL mode; four serve two cores.
const READERS: u32 = 4;
/// Rows that one transaction of the cleanup changes: customers wait for none longer than for these.
const BATCH: u32 = 100;
/// The same for events that are delivered anew, one statement for all.
const RESTART_BATCH: u32 = 1000;
/// A larger file is checked while the proxy serves already: reading it takes seconds.
const CHECKED_AT_START: u64 = 64 * 1024 * 1024;

const MIGRATIONS: [(i64, &str, &str); 8] = [
    (
        1,
        "ledger",
        include_str!("../migrations/sqlite/0001_ledger.sql"),
    ),
    (
        2,
        "was_seen",
        include_str!("../migrations/sqlite/0002_was_seen.sql"),
    ),
    (
        3,
        "order_lines",
        include_str!("../migrations/sqlite/0003_order_lines.sql"),
    ),
    (
        4,
        "receipt_email",
        include_str!("../migrations/sqlite/0004_receipt_email.sql"),
    ),
    (
        5,
        "order_facts",
        include_str!("../migrations/sqlite/0005_order_facts.sql"),
    ),
    (
        6,
        "typed_results",
        include_str!("../migrations/sqlite/0006_typed_results.sql"),
    ),
    (
        8,
        "bounded_growth",
        include_str!("../migrations/sqlite/0008_bounded_growth.sql"),
    ),
    (
        9,
        "money_first",
        include_str!("../migrations/sqlite/0009_money_first.sql"),
    ),
];

/// Storage in one SQLite file.
#[derive(Clone, Debug)]
pub struct SqliteStorage {
    writer: Writer,
    reader: SqlitePool,
    file: Arc<DatabaseFile>,
}

impl SqliteStorage {
    /// Opens or makes the file that `url` names (`sqlite://florin.db`), and brings its schema up to
    /// date. Leases of a previous process end: its polls are due at once. Waits up to 15 seconds for a previous process.
    ///
    /// # Errors
    /// [`StorageError::Open`] when the file cannot be read and written; [`StorageError::InUse`] when another process uses
    /// it; [`StorageError::OtherEnvironment`] when it was made for another environment than `environment` (`test` or
    /// `production`); [`StorageError::Newer`]; [`StorageError::Migrate`]; [`StorageError::File`] when it is damaged.
    pub async fn open(url: &str, environment: &str) -> Result<Self, StorageError> {
        let failed = |error: sqlx::Error| StorageError::Open {
            url: url.to_owned(),
            reason: error.to_string(),
        };
        let options = SqliteConnectOptions::from_str(url)
            .map_err(failed)?
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal)
            // FULL, not NORMAL: a credit that was answered must survive a power cut.
            .synchronous(SqliteSynchronous::Full)
            .foreign_keys(true)
            .busy_timeout(BUSY_TIMEOUT);
        let file = DatabaseFile::claim(url, options.get_filename()).await?;
        let file = Arc::new(file);
        let connection = options.connect().await;
        let mut connection = connection.map_err(|error| opening(&file, error, failed))?;
        let prepared = prepare(url, &file, &mut connection).await;
        let closed = connection.close().await;
        prepared?;
        closed?;
        let named = file.clone();
        let many = SqlitePoolOptions::new()
            .max_connections(READERS)
            // Skip the liveness check: a connection that only reads has no transaction that could stay open.
            .test_before_acquire(false)
            // A connection that is opened later must not read another file of the same name.
            .after_connect(move |_, _| {
                let verified = named.verify();
                Box::pin(async move {
                    verified.map_err(|fault| sqlx::Error::Configuration(fault.into()))
                })
            });
        let storage = Self {
            writer: Writer::new(options.clone(), file.clone()),
            reader: many.connect_lazy_with(options.read_only(true)),
            file,
        };
        storage.belong_to(environment).await?;
        let mut tx = storage.begin().await?;
        attempts::end_leases(&mut tx).await?;
        tx.commit().await?;
        storage.check_later();
        Ok(storage)
    }

    /// Waits for open transactions and closes the file.
    pub async fn close(&self) {
        self.reader.close().await;
        self.writer.close().await;
        self.file.release();
    }

    /// Checks a large file while it is served.
    fn check_later(&self) {
        if self.file.length() <= CHECKED_AT_START {
            return;
        }
        let (reader, file) = (self.reader.clone(), self.file.clone());
        tokio::spawn(async move {
            if let Ok(mut connection) = reader.acquire().await
                && let Err(StorageError::File(FileFault::Damaged { found, .. })) =
                    check(&file, &mut connection).await
            {
                file.record_damage(found);
            }
        });
    }

    async fn belong_to(&self, environment: &str) -> Result<(), StorageError> {
        let mut tx = self.begin().await?;
        sqlx::query("INSERT INTO identity (id, environment) VALUES (1, ?) ON CONFLICT DO NOTHING")
            .bind(environment)
            .execute(&mut *tx)
            .await?;
        let found: String = sqlx::query_scalar("SELECT environment FROM identity WHERE id = 1")
            .fetch_one(&mut *tx)
            .await?;
        tx.commit().await?;
        if found == environment {
            return Ok(());
        }
        Err(StorageError::OtherEnvironment {
            found,
            wanted: environment.to_owned(),
        })
    }

    /// Callbacks that change nothing read only: a flood of them never occupies the single writer.
    async fn schedule_poll_of(
        &self,
        invoice: &InvoiceId,
        known: Known,
        at: Timestamp,
    ) -> Result<bool, StorageError> {
        let mut reader = self.reader.acquire().await?;
        let wanted = attempts::wanted_poll(&mut reader, invoice, known, at).await?;
        drop(reader);
        let Some(wanted) = wanted else {
            return Ok(false);
        };
        let mut tx = self.begin().await?;
        let scheduled = attempts::schedule_poll_at(&mut tx, &wanted, known).await?;
        tx.commit().await?;
        Ok(scheduled)
    }

    /// A transaction that holds the write lock from its start, so that what it reads stays true until it commits.
    async fn begin(&self) -> Result<WriteTransaction, StorageError> {
        self.writer.begin().await
    }
}

/// Why a connection was not opened. Damage is a separate error.
fn opening(
    file: &DatabaseFile,
    error: sqlx::Error,
    failed: impl Fn(sqlx::Error) -> StorageError,
) -> StorageError {
    let error = StorageError::from(error);
    match (error.outage(), error) {
        (Some(Outage::Damaged), StorageError::Database(error)) => {
            damaged(file, error.to_string()).into()
        }
        (_, StorageError::Database(error)) => failed(error),
        (_, error) => error,
    }
}

fn damaged(file: &DatabaseFile, found: String) -> FileFault {
    FileFault::Damaged {
        path: file.path().display().to_string(),
        found,
    }
}

/// Checks the content and brings the schema up to date.
async fn prepare(
    url: &str,
    file: &DatabaseFile,
    connection: &mut SqliteConnection,
) -> Result<(), StorageError> {
    if file.length() <= CHECKED_AT_START {
        check(file, connection).await?;
    }
    refuse_foreign(url, connection).await?;
    // `run` takes anything that has a connection, and its future is not `Send` for all of them.
    match migrator(&MIGRATIONS)
        .run_direct(None, connection, false)
        .await
    {
        Ok(()) => Ok(()),
        Err(MigrateError::VersionMissing(found)) => Err(StorageError::Newer {
            url: url.to_owned(),
            found,
            known: MIGRATIONS[MIGRATIONS.len() - 1].0,
        }),
        Err(error) => Err(error.into()),
    }
}

/// Reads the whole file. Source: sqlite.org, `PRAGMA quick_check`: one row `ok`, or what is wrong.
async fn check(file: &DatabaseFile, connection: &mut SqliteConnection) -> Result<(), StorageError> {
    let found = sqlx::query_scalar("PRAGMA quick_check(1)");
    let found: Result<String, sqlx::Error> = found.fetch_one(connection).await;
    match found {
        Ok(word) if word == "ok" => Ok(()),
        Ok(found) => Err(damaged(file, found).into()),
        Err(error) => Err(opening(file, error, StorageError::from)),
    }
}

/// A database with tables, of which none is ours, belongs to another program.
async fn refuse_foreign(url: &str, connection: &mut SqliteConnection) -> Result<(), StorageError> {
    let (tables, ours): (i64, i64) = sqlx::query_as(
        "SELECT count(*), count(*) FILTER (WHERE name = '_sqlx_migrations') FROM sqlite_schema WHERE type = 'table'",
    )
    .fetch_one(&mut *connection)
    .await?;
    let is_ours = if ours > 0 {
        let first =
            "SELECT count(*) FROM _sqlx_migrations WHERE version = 1 AND description <> 'ledger'";
        let other: i64 = sqlx::query_scalar(first).fetch_one(connection).await?;
        other == 0
    } else {
        tables == 0
    };
    if is_ours {
        return Ok(());
    }
    Err(StorageError::Open {
        url: url.to_owned(),
        reason: "it is the database of another program: write the path of Florin's database, or of a file that does not \
                 exist yet"
            .to_owned(),
    })
}

/// Checks without opening it that the file of a URL can be a database: its folder exists and can be written, and the file
/// is none of another kind.
///
/// # Errors
/// The reason and the remedy, as a sentence.
pub fn check_place(url: &str) -> Result<(), String> {
    let options = SqliteConnectOptions::from_str(url).map_err(|error| error.to_string())?;
    let path = options.get_filename();
    file::check_place(path).and_then(|()| file::check_content(path))
}

fn migrator(migrations: &[(i64, &'static str, &'static str)]) -> Migrator {
    let migrations = migrations.iter().map(|(version, name, sql)| {
        let sql = SqlStr::from_static(sql);
        Migration::new(*version, (*name).into(), MigrationType::Simple, sql, false)
    });
    Migrator {
        migrations: migrations.collect(),
        ..Migrator::DEFAULT
    }
}

#[async_trait]
impl Storage for SqliteStorage {
    async fn open_order(
        &self,
        id: &OrderId,
        terms: &NewOrder,
        token: TokenHash,
        token_expires_at: Timestamp,
        now: Timestamp,
    ) -> Result<Opened, OpenError> {
        let mut tx = self.begin().await?;
        let opened = orders::open(&mut tx, id, terms, now).await?;
        orders::add_token(&mut tx, &opened.order.id, token, token_expires_at).await?;
        tx.commit().await?;
        Ok(opened)
    }

    async fn add_token(
        &self,
        order: &OrderId,
        token: TokenHash,
        token_expires_at: Timestamp,
    ) -> Result<(), StorageError> {
        let mut tx = self.begin().await?;
        orders::add_token(&mut tx, order, token, token_expires_at).await?;
        tx.commit().await
    }

    async fn claim_request(
        &self,
        request: RequestId,
        fingerprint: Fingerprint,
        now: Timestamp,
        lease_until: Timestamp,
    ) -> Result<Claim, StorageError> {
        let mut tx = self.begin().await?;
        let claim = requests::claim(&mut tx, request, fingerprint, now, lease_until).await?;
        tx.commit().await?;
        Ok(claim)
    }

    async fn store_response(
        &self,
        request: RequestId,
        lease_until: Timestamp,
        response: &StoredResponse,
        kept_until: Timestamp,
    ) -> Result<bool, StorageError> {
        let mut tx = self.begin().await?;
        let is_stored =
            requests::store_response(&mut tx, request, lease_until, response, kept_until).await?;
        tx.commit().await?;
        Ok(is_stored)
    }

    async fn release_request(
        &self,
        request: RequestId,
        lease_until: Timestamp,
    ) -> Result<(), StorageError> {
        let mut tx = self.begin().await?;
        requests::release(&mut tx, request, lease_until).await?;
        tx.commit().await
    }

    async fn delete_expired_requests(&self, now: Timestamp) -> Result<u64, StorageError> {
        let mut tx = self.begin().await?;
        let deleted = requests::forget(&mut tx, now, BATCH).await?;
        tx.commit().await?;
        Ok(deleted)
    }

    async fn order_of_token(
        &self,
        token: TokenHash,
        now: Timestamp,
    ) -> Result<Option<Snapshot>, StorageError> {
        let mut connection = self.reader.acquire().await?;
        orders::of_token(&mut connection, token, now).await
    }

    async fn snapshot(&self, id: &OrderId) -> Result<Option<Snapshot>, StorageError> {
        let mut connection = self.reader.acquire().await?;
        orders::snapshot(&mut connection, id).await
    }

    async fn orders(
        &self,
        store: &StoreId,
        filter: &OrderFilter,
    ) -> Result<Vec<Snapshot>, StorageError> {
        let mut connection = self.reader.acquire().await?;
        orders::list(&mut connection, store, filter).await
    }

    async fn cancel_order(
        &self,
        id: &OrderId,
        now: Timestamp,
    ) -> Result<Snapshot, OrderOperationError> {
        let mut tx = self.begin().await?;
        let snapshot = orders::cancel(&mut tx, id, now).await?;
        tx.commit().await?;
        Ok(snapshot)
    }

    async fn delete_expired_tokens(&self, now: Timestamp) -> Result<u64, StorageError> {
        let mut tx = self.begin().await?;
        let deleted = orders::delete_expired_tokens(&mut tx, now, BATCH).await?;
        tx.commit().await?;
        Ok(deleted)
    }

    async fn expire_orders(&self, now: Timestamp) -> Result<Vec<OrderId>, StorageError> {
        let mut tx = self.begin().await?;
        let expired = orders::expire(&mut tx, now, BATCH).await?;
        tx.commit().await?;
        Ok(expired)
    }

    async fn begin_attempt(
        &self,
        order: &OrderId,
        terms: &NewAttempt,
        now: Timestamp,
    ) -> Result<Attempt, OrderOperationError> {
        let mut tx = self.begin().await?;
        let attempt = attempts::begin(&mut tx, order, terms, now).await?;
        tx.commit().await?;
        Ok(attempt)
    }

    async fn open_attempt(
        &self,
        attempt: &AttemptId,
        invoice: &Invoice,
        now: Timestamp,
    ) -> Result<(), OpenAttemptError> {
        let mut tx = self.begin().await?;
        attempts::open(&mut tx, attempt, invoice, now).await?;
        Ok(tx.commit().await?)
    }

    async fn abandon_attempt(
        &self,
        attempt: &AttemptId,
        reason: Abandoned,
        now: Timestamp,
    ) -> Result<(), StorageError> {
        let mut tx = self.begin().await?;
        attempts::abandon(&mut tx, attempt, reason, now).await?;
        tx.commit().await
    }

    async fn abandon_stale_attempts(
        &self,
        begun_before: Timestamp,
        now: Timestamp,
    ) -> Result<u64, StorageError> {
        let mut tx = self.begin().await?;
        let stale = attempts::stale(&mut tx, begun_before, BATCH).await?;
        for attempt in &stale {
            attempts::abandon(&mut tx, attempt, Abandoned::OutcomeUnknown, now).await?;
        }
        tx.commit().await?;
        Ok(stale.len() as u64)
    }

    async fn mark_as_paid(
        &self,
        order: &OrderId,
        now: Timestamp,
    ) -> Result<MarkedAsPaid, OrderOperationError> {
        let mut tx = self.begin().await?;
        let marked = attempts::mark_as_paid(&mut tx, order, now).await?;
        tx.commit().await?;
        Ok(marked)
    }

    async fn keep_receipt_email(
        &self,
        order: &OrderId,
        email: Option<&str>,
    ) -> Result<Option<KeptEmail>, StorageError> {
        let mut tx = self.begin().await?;
        let kept = orders::keep_receipt_email(&mut tx, order, email).await?;
        tx.commit().await?;
        Ok(kept)
    }

    async fn due_attempts(
        &self,
        priority: PollPriority,
        now: Timestamp,
        lease_until: Timestamp,
        limit: u32,
    ) -> Result<Vec<DueAttempt>, StorageError> {
        let mut tx = self.begin().await?;
        let due = attempts::due(&mut tx, priority, now, lease_until, limit).await?;
        tx.commit().await?;
        Ok(due)
    }

    async fn schedule_poll(&self, order: &OrderId, at: Timestamp) -> Result<bool, StorageError> {
        let mut tx = self.begin().await?;
        let scheduled = attempts::schedule_poll(&mut tx, order, at).await?;
        tx.commit().await?;
        Ok(scheduled)
    }

    async fn schedule_polls_of_order(
        &self,
        order: &OrderId,
        pause: SignedDuration,
        now: Timestamp,
    ) -> Result<bool, StorageError> {
        let mut tx = self.begin().await?;
        let scheduled = attempts::schedule_polls_of_order(&mut tx, order, pause, now).await?;
        tx.commit().await?;
        Ok(scheduled)
    }

    async fn replan_future(&self, now: Timestamp) -> Result<u64, StorageError> {
        let mut tx = self.begin().await?;
        let polls = attempts::replan_future(&mut tx, now).await?;
        let deliveries = deliveries::replan_future(&mut tx, now).await?;
        tx.commit().await?;
        Ok(polls + deliveries)
    }

    async fn poll_queue(&self, until: Timestamp, most: u32) -> Result<PollQueue, StorageError> {
        attempts::poll_queue(&self.reader, until, most).await
    }

    async fn schedule_poll_of_invoice(
        &self,
        invoice: &InvoiceId,
        at: Timestamp,
    ) -> Result<bool, StorageError> {
        self.schedule_poll_of(invoice, Known::Unsettled, at).await
    }

    async fn schedule_recheck(
        &self,
        invoice: &InvoiceId,
        at: Timestamp,
    ) -> Result<bool, StorageError> {
        self.schedule_poll_of(invoice, Known::Settled, at).await
    }

    async fn store_of_invoice(&self, invoice: &InvoiceId) -> Result<Option<StoreId>, StorageError> {
        attempts::store_of(&self.reader, invoice).await
    }

    async fn reschedule_poll(
        &self,
        due: &DueAttempt,
        until: Timestamp,
    ) -> Result<(), StorageError> {
        let mut tx = self.begin().await?;
        attempts::defer(&mut tx, due, until).await?;
        tx.commit().await
    }

    async fn record_observation(
        &self,
        due: &DueAttempt,
        observation: &Observation,
    ) -> Result<Option<RecordedObservation>, StorageError> {
        let mut tx = self.begin().await?;
        let observed = observe::record(&mut tx, due, observation).await?;
        tx.commit().await?;
        Ok(observed)
    }

    async fn settlement(&self, order: &OrderId) -> Result<Option<Settlement>, StorageError> {
        let mut connection = self.reader.acquire().await?;
        observe::settlement(&mut connection, order).await
    }

    async fn events(
        &self,
        store: &StoreId,
        after: Option<&EventId>,
        limit: u32,
    ) -> Result<Option<Vec<Event>>, StorageError> {
        let mut connection = self.reader.acquire().await?;
        events::page(&mut connection, store, after, limit).await
    }

    async fn due_deliveries(
        &self,
        store: &StoreId,
        now: Timestamp,
        lease_until: Timestamp,
        limit: u32,
    ) -> Result<Vec<DueDelivery>, StorageError> {
        let mut tx = self.begin().await?;
        let due = deliveries::due(&mut tx, store, now, lease_until, limit).await?;
        tx.commit().await?;
        Ok(due)
    }

    async fn record_delivery(
        &self,
        delivery: &Delivery,
        outcome: DeliveryOutcome,
    ) -> Result<(), StorageError> {
        let mut tx = self.begin().await?;
        deliveries::record(&mut tx, delivery, outcome).await?;
        tx.commit().await
    }

    async fn deliveries(
        &self,
        store: &StoreId,
        filter: &DeliveryFilter,
    ) -> Result<Option<Vec<RecordedDelivery>>, StorageError> {
        let mut connection = self.reader.acquire().await?;
        deliveries::page(&mut connection, store, filter).await
    }

    async fn redeliver(
        &self,
        store: &StoreId,
        event: &EventId,
        now: Timestamp,
    ) -> Result<bool, StorageError> {
        let mut tx = self.begin().await?;
        let known = deliveries::again(&mut tx, store, event, now).await?;
        tx.commit().await?;
        Ok(known)
    }

    async fn endpoint_status(&self, store: &StoreId) -> Result<EndpointStatus, StorageError> {
        let mut connection = self.reader.acquire().await?;
        deliveries::endpoint_status(&mut connection, store).await
    }

    async fn enable_endpoint(&self, store: &StoreId, now: Timestamp) -> Result<bool, StorageError> {
        let mut tx = self.begin().await?;
        let was_gone = deliveries::is_gone(&mut tx, store).await?;
        tx.commit().await?;
        if !was_gone {
            return Ok(false);
        }
        // Nothing is delivered meanwhile: the endpoint is enabled last.
        let mut after = 0;
        loop {
            let mut tx = self.begin().await?;
            let last = deliveries::restart(&mut tx, store, after, now, RESTART_BATCH).await?;
            if last.is_none() {
                deliveries::enable(&mut tx, store).await?;
            }
            tx.commit().await?;
            match last {
                Some(last) => after = last,
                None => return Ok(true),
            }
        }
    }

    async fn backlog(&self) -> Result<u64, StorageError> {
        let mut connection = self.reader.acquire().await?;
        deliveries::backlog(&mut connection).await
    }

    async fn check_file(&self) -> Result<(), StorageError> {
        self.file.verify()?;
        match self.writer.failure() {
            Some(failure) if failure.outage().is_some() => Err(StorageError::Commit(failure)),
            _ => Ok(()),
        }
    }

    async fn check_writing(&self, now: Timestamp) -> Result<(), StorageError> {
        let now = now.as_millisecond();
        let mut tx = self.begin().await?;
        let written: i64 = sqlx::query_scalar(
            "INSERT INTO write_checks (id, written_at) VALUES (1, ?)
             ON CONFLICT (id) DO UPDATE SET written_at = excluded.written_at RETURNING written_at",
        )
        .bind(now)
        .fetch_one(&mut *tx)
        .await?;
        tx.commit().await?;
        if written == now {
            return Ok(());
        }
        Err(StorageError::Corrupt(format!("{written} instead of {now}")))
    }
}
