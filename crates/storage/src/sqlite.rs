//! The ledger in SQLite: one file, one writer, every commit on disk before it is answered.

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
use jiff::Timestamp;
use sqlx::migrate::{Migration, MigrationType, Migrator};
use sqlx::sqlite::{
    SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteSynchronous,
};
use sqlx::{SqlStr, Sqlite, Transaction};

use self::attempts::Known;
use crate::{
    BeginError, Claim, Delivery, DeliveryFilter, DeliveryOutcome, DueAttempt, DueDelivery,
    Fingerprint, Ledger, LedgerError, Observed, OpenError, Opened, OrderFilter, RecordedDelivery,
    RequestId, Settlement, StoredAnswer, Telling,
};
use florin_orders::{
    Abandoned, Attempt, AttemptId, Event, EventId, Invoice, InvoiceId, NewAttempt, NewOrder,
    Observation, OrderId, Snapshot, StoreId, TokenHash, Urgency,
};

/// How long a statement waits for another process that holds the file.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
/// Readers never wait for the writer in WAL mode; four serve two cores.
const READERS: u32 = 4;

const MIGRATIONS: [(i64, &str, &str); 4] = [
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
];

/// A ledger in one SQLite file.
#[derive(Clone, Debug)]
pub struct SqliteLedger {
    writer: SqlitePool,
    reader: SqlitePool,
}

impl SqliteLedger {
    /// Opens or makes the file that `url` names (`sqlite://florin.db`), and brings its schema up to date. Looks that were
    /// under way when the file was left are due at once: whoever made them is gone.
    ///
    /// # Errors
    /// [`LedgerError::Open`] when the file cannot be read and written; [`LedgerError::OtherEnvironment`] when it was
    /// made for another environment than `environment` (`test` or `production`); [`LedgerError::Migrate`].
    pub async fn open(url: &str, environment: &str) -> Result<Self, LedgerError> {
        let failed = |source| LedgerError::Open {
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
        // A file does not hang up: a connection that was good stays so, and is not asked before every use.
        let pool = || SqlitePoolOptions::new().test_before_acquire(false);
        let one = pool().max_connections(1);
        let writer = one.connect_with(options.clone()).await.map_err(failed)?;
        migrator(&MIGRATIONS).run(&writer).await?;
        let many = pool().max_connections(READERS);
        let reader = many
            .connect_with(options.read_only(true))
            .await
            .map_err(failed)?;
        let ledger = Self { writer, reader };
        ledger.belong_to(environment).await?;
        attempts::end_leases(&ledger.writer).await?;
        Ok(ledger)
    }

    /// Finishes what is under way and closes the file.
    pub async fn close(&self) {
        self.reader.close().await;
        self.writer.close().await;
    }

    async fn belong_to(&self, environment: &str) -> Result<(), LedgerError> {
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
        Err(LedgerError::OtherEnvironment {
            found,
            wanted: environment.to_owned(),
        })
    }

    /// A transaction that holds the write lock from its start, so that what it reads stays true until it commits.
    async fn begin(&self) -> Result<Transaction<'static, Sqlite>, LedgerError> {
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
impl Ledger for SqliteLedger {
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
        orders::admit(&mut tx, &opened.order.id, token, token_expires_at).await?;
        tx.commit().await.map_err(LedgerError::from)?;
        Ok(opened)
    }

    async fn admit(
        &self,
        order: &OrderId,
        token: TokenHash,
        token_expires_at: Timestamp,
    ) -> Result<(), LedgerError> {
        let mut tx = self.begin().await?;
        orders::admit(&mut tx, order, token, token_expires_at).await?;
        Ok(tx.commit().await?)
    }

    async fn claim_request(
        &self,
        request: RequestId,
        fingerprint: Fingerprint,
        now: Timestamp,
        lease_until: Timestamp,
    ) -> Result<Claim, LedgerError> {
        let mut tx = self.begin().await?;
        let claim = requests::claim(&mut tx, request, fingerprint, now, lease_until).await?;
        tx.commit().await?;
        Ok(claim)
    }

    async fn answer_request(
        &self,
        request: RequestId,
        lease_until: Timestamp,
        answer: &StoredAnswer,
        kept_until: Timestamp,
    ) -> Result<bool, LedgerError> {
        requests::answer(&self.writer, request, lease_until, answer, kept_until).await
    }

    async fn release_request(
        &self,
        request: RequestId,
        lease_until: Timestamp,
    ) -> Result<(), LedgerError> {
        requests::release(&self.writer, request, lease_until).await
    }

    async fn forget_requests(&self, now: Timestamp) -> Result<u64, LedgerError> {
        requests::forget(&self.writer, now).await
    }

    async fn order_of_token(
        &self,
        token: TokenHash,
        now: Timestamp,
    ) -> Result<Option<Snapshot>, LedgerError> {
        let mut connection = self.reader.acquire().await?;
        orders::of_token(&mut connection, token, now).await
    }

    async fn snapshot(&self, id: &OrderId) -> Result<Option<Snapshot>, LedgerError> {
        let mut connection = self.reader.acquire().await?;
        orders::snapshot(&mut connection, id).await
    }

    async fn orders(
        &self,
        store: &StoreId,
        filter: &OrderFilter,
    ) -> Result<Vec<Snapshot>, LedgerError> {
        let mut connection = self.reader.acquire().await?;
        orders::list(&mut connection, store, filter).await
    }

    async fn cancel_order(&self, id: &OrderId, now: Timestamp) -> Result<Snapshot, BeginError> {
        let mut tx = self.begin().await?;
        let snapshot = orders::cancel(&mut tx, id, now).await?;
        tx.commit().await.map_err(LedgerError::from)?;
        Ok(snapshot)
    }

    async fn forget_tokens(&self, now: Timestamp) -> Result<u64, LedgerError> {
        orders::forget_tokens(&self.writer, now).await
    }

    async fn expire_orders(&self, now: Timestamp) -> Result<Vec<OrderId>, LedgerError> {
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
        tx.commit().await.map_err(LedgerError::from)?;
        Ok(attempt)
    }

    async fn open_attempt(
        &self,
        attempt: &AttemptId,
        invoice: &Invoice,
        now: Timestamp,
    ) -> Result<(), LedgerError> {
        let mut tx = self.begin().await?;
        attempts::open(&mut tx, attempt, invoice, now).await?;
        Ok(tx.commit().await?)
    }

    async fn abandon_attempt(
        &self,
        attempt: &AttemptId,
        reason: Abandoned,
        now: Timestamp,
    ) -> Result<(), LedgerError> {
        let mut tx = self.begin().await?;
        attempts::abandon(&mut tx, attempt, reason, now).await?;
        Ok(tx.commit().await?)
    }

    async fn abandon_stale_attempts(
        &self,
        begun_before: Timestamp,
        now: Timestamp,
    ) -> Result<u64, LedgerError> {
        let mut tx = self.begin().await?;
        let stale = attempts::stale(&mut tx, begun_before).await?;
        for attempt in &stale {
            attempts::abandon(&mut tx, attempt, Abandoned::Unclear, now).await?;
        }
        tx.commit().await?;
        Ok(stale.len() as u64)
    }

    async fn mark_as_paid(&self, order: &OrderId, now: Timestamp) -> Result<Snapshot, BeginError> {
        let mut tx = self.begin().await?;
        let snapshot = attempts::mark_as_paid(&mut tx, order, now).await?;
        tx.commit().await.map_err(LedgerError::from)?;
        Ok(snapshot)
    }

    async fn keep_receipt_email(
        &self,
        order: &OrderId,
        email: Option<&str>,
    ) -> Result<Option<Snapshot>, LedgerError> {
        let mut tx = self.begin().await?;
        let snapshot = orders::keep_receipt_email(&mut tx, order, email).await?;
        tx.commit().await?;
        Ok(snapshot)
    }

    async fn due_attempts(
        &self,
        urgency: Urgency,
        now: Timestamp,
        lease_until: Timestamp,
        limit: u32,
    ) -> Result<Vec<DueAttempt>, LedgerError> {
        let mut tx = self.begin().await?;
        let due = attempts::due(&mut tx, urgency, now, lease_until, limit).await?;
        tx.commit().await?;
        Ok(due)
    }

    async fn hurry_order(&self, order: &OrderId, at: Timestamp) -> Result<bool, LedgerError> {
        attempts::hurry_order(&self.writer, order, at).await
    }

    async fn hurry_invoice(&self, invoice: &InvoiceId, at: Timestamp) -> Result<bool, LedgerError> {
        let known = Known::Unsettled;
        attempts::hurry_invoice(&self.reader, &self.writer, invoice, known, at).await
    }

    async fn doubt_invoice(&self, invoice: &InvoiceId, at: Timestamp) -> Result<bool, LedgerError> {
        let known = Known::Settled;
        attempts::hurry_invoice(&self.reader, &self.writer, invoice, known, at).await
    }

    async fn store_of_invoice(&self, invoice: &InvoiceId) -> Result<Option<StoreId>, LedgerError> {
        attempts::store_of(&self.reader, invoice).await
    }

    async fn defer_attempt(&self, due: &DueAttempt, until: Timestamp) -> Result<(), LedgerError> {
        attempts::defer(&self.writer, due, until).await
    }

    async fn observe(
        &self,
        due: &DueAttempt,
        observation: &Observation,
    ) -> Result<Option<Observed>, LedgerError> {
        let mut tx = self.begin().await?;
        let observed = observe::record(&mut tx, due, observation).await?;
        tx.commit().await?;
        Ok(observed)
    }

    async fn settlement(&self, order: &OrderId) -> Result<Option<Settlement>, LedgerError> {
        let mut connection = self.reader.acquire().await?;
        observe::settlement(&mut connection, order).await
    }

    async fn events(
        &self,
        store: &StoreId,
        after: Option<&EventId>,
        limit: u32,
    ) -> Result<Option<Vec<Event>>, LedgerError> {
        let mut connection = self.reader.acquire().await?;
        events::page(&mut connection, store, after, limit).await
    }

    async fn due_deliveries(
        &self,
        store: &StoreId,
        now: Timestamp,
        lease_until: Timestamp,
        limit: u32,
    ) -> Result<Vec<DueDelivery>, LedgerError> {
        let mut tx = self.begin().await?;
        let due = deliveries::due(&mut tx, store, now, lease_until, limit).await?;
        tx.commit().await?;
        Ok(due)
    }

    async fn record_delivery(
        &self,
        delivery: &Delivery,
        outcome: DeliveryOutcome,
    ) -> Result<(), LedgerError> {
        let mut tx = self.begin().await?;
        deliveries::record(&mut tx, delivery, outcome).await?;
        Ok(tx.commit().await?)
    }

    async fn deliveries(
        &self,
        store: &StoreId,
        filter: &DeliveryFilter,
    ) -> Result<Option<Vec<RecordedDelivery>>, LedgerError> {
        let mut connection = self.reader.acquire().await?;
        deliveries::page(&mut connection, store, filter).await
    }

    async fn redeliver(
        &self,
        store: &StoreId,
        event: &EventId,
        now: Timestamp,
    ) -> Result<bool, LedgerError> {
        let mut tx = self.begin().await?;
        let known = deliveries::again(&mut tx, store, event, now).await?;
        tx.commit().await?;
        Ok(known)
    }

    async fn telling(&self, store: &StoreId) -> Result<Telling, LedgerError> {
        let mut connection = self.reader.acquire().await?;
        deliveries::telling(&mut connection, store).await
    }

    async fn restore_endpoint(&self, store: &StoreId, now: Timestamp) -> Result<bool, LedgerError> {
        let mut tx = self.begin().await?;
        let was_gone = deliveries::restore(&mut tx, store, now).await?;
        tx.commit().await?;
        Ok(was_gone)
    }

    async fn backlog(&self) -> Result<u64, LedgerError> {
        let mut connection = self.reader.acquire().await?;
        deliveries::backlog(&mut connection).await
    }
}
