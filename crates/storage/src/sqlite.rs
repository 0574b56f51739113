//! Storage in SQLite: one file, one writer, every commit synchronised to disk.

mod attempts;
mod deliveries;
mod events;
mod observe;
mod orders;
mod requests;
mod rows;
#[cfg(test)]
mod tests;

use std::str::FromStr;
use std::time::Duration;

use async_trait::async_trait;
use florin_orders::{
    Abandoned, Attempt, AttemptId, Event, EventId, Invoice, InvoiceId, NewAttempt, NewOrder,
    Observation, OrderId, PollPriority, Snapshot, StoreId, TokenHash,
};
use jiff::{SignedDuration, Timestamp};
use sqlx::migrate::{Migration, MigrationType, Migrator};
use sqlx::sqlite::{
    SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteSynchronous,
};
use sqlx::{SqlStr, Sqlite, Transaction};

use self::attempts::Known;
use crate::{
    BeginError, Claim, Delivery, DeliveryFilter, DeliveryOutcome, DueAttempt, DueDelivery,
    EndpointStatus, Fingerprint, KeptEmail, MarkedAsPaid, OpenAttemptError, OpenError, Opened,
    OrderFilter, PollQueue, RecordedDelivery, RecordedObservation, RequestId, Settlement, Storage,
    StorageError, StoredResponse,
};

/// How long a statement waits for another process that holds the file.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
/// Readers never wait for the writer in WAL mode; four serve two cores.
const READERS: u32 = 4;

const MIGRATIONS: [(i64, &str, &str); 6] = [
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
];

/// Storage in one SQLite file.
#[derive(Clone, Debug)]
pub struct SqliteStorage {
    writer: SqlitePool,
    reader: SqlitePool,
}

impl SqliteStorage {
    /// Opens or makes the file that `url` names (`sqlite://florin.db`), and brings its schema up to
    /// date. Leases of a previous process end: its polls are due at once.
    ///
    /// # Errors
    /// [`StorageError::Open`] when the file cannot be read and written; [`StorageError::OtherEnvironment`] when it was
    /// made for another environment than `environment` (`test` or `production`); [`StorageError::Migrate`].
    pub async fn open(url: &str, environment: &str) -> Result<Self, StorageError> {
        let failed = |source| StorageError::Open {
            url: url.to_owned(),
            source,
        };
        let options = SqliteConnectOptions::from_str(url)
            .map_err(failed)?
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal)
            // FULL, not NORMAL: a credit that was answered must survive a power cut.
            .synchronous(SqliteSynchronous::Full)
            .foreign_keys(true)
            .busy_timeout(BUSY_TIMEOUT);
        // Skip the liveness check: SQLite connections do not drop.
        let pool = || SqlitePoolOptions::new().test_before_acquire(false);
        let one = pool().max_connections(1);
        let writer = one.connect_with(options.clone()).await.map_err(failed)?;
        migrator(&MIGRATIONS).run(&writer).await?;
        let many = pool().max_connections(READERS);
        let reader = many
            .connect_with(options.read_only(true))
            .await
            .map_err(failed)?;
        let storage = Self { writer, reader };
        storage.belong_to(environment).await?;
        attempts::end_leases(&storage.writer).await?;
        Ok(storage)
    }

    /// Waits for open transactions and closes the file.
    pub async fn close(&self) {
        self.reader.close().await;
        self.writer.close().await;
    }

    async fn belong_to(&self, environment: &str) -> Result<(), StorageError> {
        let mut tx = self.begin().await?;
        sqlx::query("INSERT INTO identity (id, environment) VALUES (1, ?) ON CONFLICT DO NOTHING")
            .bind(environment)
            .execute(&mut *tx)
            .await?;
        let found: String = sqlx::query_scalar("SELECT environment FROM identity")
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

    /// A transaction that holds the write lock from its start, so that what it reads stays true until it commits.
    async fn begin(&self) -> Result<Transaction<'static, Sqlite>, StorageError> {
        Ok(self.writer.begin_with("BEGIN IMMEDIATE").await?)
    }
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
        tx.commit().await.map_err(StorageError::from)?;
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
        Ok(tx.commit().await?)
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
        answer: &StoredResponse,
        kept_until: Timestamp,
    ) -> Result<bool, StorageError> {
        requests::answer(&self.writer, request, lease_until, answer, kept_until).await
    }

    async fn release_request(
        &self,
        request: RequestId,
        lease_until: Timestamp,
    ) -> Result<(), StorageError> {
        requests::release(&self.writer, request, lease_until).await
    }

    async fn delete_expired_requests(&self, now: Timestamp) -> Result<u64, StorageError> {
        requests::forget(&self.writer, now).await
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

    async fn cancel_order(&self, id: &OrderId, now: Timestamp) -> Result<Snapshot, BeginError> {
        let mut tx = self.begin().await?;
        let snapshot = orders::cancel(&mut tx, id, now).await?;
        tx.commit().await.map_err(StorageError::from)?;
        Ok(snapshot)
    }

    async fn delete_expired_tokens(&self, now: Timestamp) -> Result<u64, StorageError> {
        orders::delete_expired_tokens(&self.writer, now).await
    }

    async fn expire_orders(&self, now: Timestamp) -> Result<Vec<OrderId>, StorageError> {
        let mut tx = self.begin().await?;
        let expired = orders::expire(&mut tx, now).await?;
        tx.commit().await?;
        Ok(expired)
    }

    async fn begin_attempt(
        &self,
        order: &OrderId,
        terms: &NewAttempt,
        now: Timestamp,
    ) -> Result<Attempt, BeginError> {
        let mut tx = self.begin().await?;
        let attempt = attempts::begin(&mut tx, order, terms, now).await?;
        tx.commit().await.map_err(StorageError::from)?;
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
        Ok(tx.commit().await.map_err(StorageError::from)?)
    }

    async fn abandon_attempt(
        &self,
        attempt: &AttemptId,
        reason: Abandoned,
        now: Timestamp,
    ) -> Result<(), StorageError> {
        let mut tx = self.begin().await?;
        attempts::abandon(&mut tx, attempt, reason, now).await?;
        Ok(tx.commit().await?)
    }

    async fn abandon_stale_attempts(
        &self,
        begun_before: Timestamp,
        now: Timestamp,
    ) -> Result<u64, StorageError> {
        let mut tx = self.begin().await?;
        let stale = attempts::stale(&mut tx, begun_before).await?;
        for attempt in &stale {
            attempts::abandon(&mut tx, attempt, Abandoned::Unclear, now).await?;
        }
        tx.commit().await?;
        Ok(stale.len() as u64)
    }

    async fn mark_as_paid(
        &self,
        order: &OrderId,
        now: Timestamp,
    ) -> Result<MarkedAsPaid, BeginError> {
        let mut tx = self.begin().await?;
        let marked = attempts::mark_as_paid(&mut tx, order, now).await?;
        tx.commit().await.map_err(StorageError::from)?;
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
        attempts::schedule_poll(&self.writer, order, at).await
    }

    async fn schedule_polls_of_order(
        &self,
        order: &OrderId,
        pause: SignedDuration,
        now: Timestamp,
    ) -> Result<bool, StorageError> {
        attempts::schedule_polls_of_order(&self.writer, order, pause, now).await
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
        let known = Known::Unsettled;
        attempts::schedule_poll_of_invoice(&self.reader, &self.writer, invoice, known, at).await
    }

    async fn schedule_recheck(
        &self,
        invoice: &InvoiceId,
        at: Timestamp,
    ) -> Result<bool, StorageError> {
        let known = Known::Settled;
        attempts::schedule_poll_of_invoice(&self.reader, &self.writer, invoice, known, at).await
    }

    async fn store_of_invoice(&self, invoice: &InvoiceId) -> Result<Option<StoreId>, StorageError> {
        attempts::store_of(&self.reader, invoice).await
    }

    async fn reschedule_poll(
        &self,
        due: &DueAttempt,
        until: Timestamp,
    ) -> Result<(), StorageError> {
        attempts::defer(&self.writer, due, until).await
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
        Ok(tx.commit().await?)
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
        let was_gone = deliveries::restore(&mut tx, store, now).await?;
        tx.commit().await?;
        Ok(was_gone)
    }

    async fn backlog(&self) -> Result<u64, StorageError> {
        let mut connection = self.reader.acquire().await?;
        deliveries::backlog(&mut connection).await
    }
}
