//! Storage in SQLite: one file, one writer, every commit synchronised to disk.

mod attempts;
mod backup;
mod deliveries;
mod early_tries;
mod events;
mod file;
mod idempotency;
mod observe;
mod open;
mod operator;
mod orders;
mod prices;
mod rows;
mod staff;
mod static_files;
#[cfg(test)]
mod tests;
mod totals;
mod writer;

use std::str::FromStr;
use std::sync::Arc;

use async_trait::async_trait;
use florin_orders::{
    Abandoned, Attempt, AttemptId, Event, EventId, Invoice, InvoiceId, NewAttempt, NewOrder,
    Observation, OrderId, PollPriority, Snapshot, StoreId, TokenHash,
};
use jiff::{SignedDuration, Timestamp};
use sqlx::Sqlite;
use sqlx::pool::PoolConnection;
use sqlx::sqlite::{SqliteConnectOptions, SqlitePool};

pub(crate) use self::backup::{backup, part as backup_part, source as backup_source, verify};
use self::file::DatabaseFile;
pub(crate) use self::open::check_database;
pub(crate) use self::writer::WriteTransaction;
use self::writer::Writer;
use crate::limits::{BATCH, InvoiceKind, RESERVED_FOR_MONEY, RESTART_BATCH};
use crate::{
    Claim, Credit, Delivery, DeliveryFilter, DeliveryOutcome, DueAttempt, DueDelivery,
    EndpointStatus, Fingerprint, KeptEmail, MarkedAsPaid, NamedTransaction, OpenAttemptError,
    OpenError, Opened, OrderFilter, OrderOperationError, Outage, PollQueue, PriceList,
    RecordedDelivery, RecordedObservation, RequestId, StaticFile, Storage, StorageError,
    StoredResponse, TokenGrant, Totals,
};

/// Storage in one SQLite file.
#[derive(Clone, Debug)]
pub struct SqliteStorage {
    writer: Writer,
    pub(crate) reader: SqlitePool,
    file: Arc<DatabaseFile>,
}

impl SqliteStorage {
    /// Waits for open transactions and closes the file.
    pub async fn close(&self) {
        self.reader.close().await;
        self.writer.close().await;
        self.file.release();
    }

    /// Callbacks that change nothing read only: a flood of them never occupies the single writer.
    async fn schedule_poll_of(
        &self,
        invoice: &InvoiceId,
        known: InvoiceKind,
        at: Timestamp,
    ) -> Result<bool, StorageError> {
        let mut reader = self.connection().await?;
        let wanted = self.read(attempts::callback_poll(&mut reader, invoice, known, at).await)?;
        drop(reader);
        let Some(wanted) = wanted else {
            return Ok(false);
        };
        let mut tx = self.begin().await?;
        let scheduled = attempts::schedule_poll_at(&mut tx, &wanted, known).await?;
        tx.commit().await?;
        Ok(scheduled)
    }

    /// A connection that reads.
    async fn connection(&self) -> Result<PoolConnection<Sqlite>, StorageError> {
        if let Some(idle) = self.reader.try_acquire() {
            return Ok(idle);
        }
        // The pool would retry to open a connection to a file that is lost, until its wait is over.
        self.file.verify()?;
        self.read(self.reader.acquire().await.map_err(StorageError::from))
    }

    /// Records damage that a reader met: an order that cannot be read shows that the next one cannot be stored safely.
    fn read<T>(&self, result: Result<T, StorageError>) -> Result<T, StorageError> {
        if let Err(error) = &result
            && error.outage() == Some(Outage::Damaged)
        {
            self.file.record_damage(error.to_string());
            // Its sentence names the file.
            self.file.verify()?;
        }
        result
    }

    /// A transaction that holds the write lock from its start, so that what it reads stays true until it commits.
    pub(crate) async fn begin(&self) -> Result<WriteTransaction, StorageError> {
        self.writer.begin().await
    }

    /// One attempt.
    #[cfg(test)]
    pub(crate) async fn attempt(&self, id: &AttemptId) -> Result<Attempt, StorageError> {
        let mut reader = self.connection().await?;
        attempts::find(&mut reader, id).await
    }
}

/// Checks without opening it that the file of a URL can be a database: its folder exists and can be written, and the file
/// is none of another kind.
///
/// # Errors
/// The reason and the remedy, as a sentence.
pub(crate) fn check_place(url: &str) -> Result<(), String> {
    let options = SqliteConnectOptions::from_str(url).map_err(|error| error.to_string())?;
    let path = options.get_filename();
    file::check_place(path).and_then(|()| file::check_content(path))
}

/// The network file system that holds the file, if one does.
pub(crate) fn network_volume(url: &str) -> Option<&'static str> {
    let options = SqliteConnectOptions::from_str(url).ok()?;
    file::network_volume(options.get_filename())
}

#[async_trait]
impl Storage for SqliteStorage {
    /// The lock beside the file refuses a second process.
    fn has_other_writers(&self) -> bool {
        false
    }

    async fn keep_prices(&self, prices: &PriceList) -> Result<(), StorageError> {
        let mut tx = self.begin().await?;
        prices::keep(&mut tx, prices).await?;
        tx.commit().await
    }

    async fn prices(&self, fetched_after: Timestamp) -> Result<Vec<PriceList>, StorageError> {
        let mut reader = self.connection().await?;
        self.read(prices::after(&mut reader, fetched_after).await)
    }

    async fn invalidate_prices(&self) -> Result<(), StorageError> {
        let mut tx = self.begin().await?;
        prices::invalidate(&mut tx).await?;
        tx.commit().await
    }

    async fn delete_expired_prices(&self, fetched_until: Timestamp) -> Result<u64, StorageError> {
        let mut tx = self.begin().await?;
        let deleted = prices::delete_expired(&mut tx, fetched_until, BATCH).await?;
        tx.commit().await?;
        Ok(deleted)
    }

    async fn keep_static_files(
        &self,
        files: &[StaticFile],
        now: Timestamp,
    ) -> Result<(), StorageError> {
        let mut reader = self.connection().await?;
        let recent = self.read(static_files::recent(&mut reader, now).await)?;
        drop(reader);
        if files.iter().all(|file| recent.contains(&file.name)) {
            return Ok(());
        }
        let mut tx = self.begin().await?;
        static_files::keep(&mut tx, files, now).await?;
        tx.commit().await
    }

    async fn static_file(&self, name: &str) -> Result<Option<StaticFile>, StorageError> {
        let mut reader = self.connection().await?;
        self.read(static_files::find(&mut reader, name).await)
    }

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
        let claim = idempotency::claim(&mut tx, request, fingerprint, now, lease_until).await?;
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
            idempotency::store_response(&mut tx, request, lease_until, response, kept_until)
                .await?;
        tx.commit().await?;
        Ok(is_stored)
    }

    async fn release_request(
        &self,
        request: RequestId,
        lease_until: Timestamp,
    ) -> Result<(), StorageError> {
        let mut tx = self.begin().await?;
        idempotency::release(&mut tx, request, lease_until).await?;
        tx.commit().await
    }

    async fn delete_expired_requests(&self, now: Timestamp) -> Result<u64, StorageError> {
        let mut tx = self.begin().await?;
        let deleted = idempotency::delete_expired(&mut tx, now, BATCH).await?;
        tx.commit().await?;
        Ok(deleted)
    }

    async fn order_of_token(
        &self,
        token: TokenHash,
        now: Timestamp,
    ) -> Result<Option<Snapshot>, StorageError> {
        let mut connection = self.connection().await?;
        self.read(orders::of_token(&mut connection, token, now).await)
    }

    async fn token_grant(&self, token: TokenHash) -> Result<Option<TokenGrant>, StorageError> {
        let mut connection = self.connection().await?;
        self.read(orders::token_grant(&mut connection, token).await)
    }

    async fn snapshot(&self, id: &OrderId) -> Result<Option<Snapshot>, StorageError> {
        let mut connection = self.connection().await?;
        self.read(orders::snapshot(&mut connection, id).await)
    }

    async fn orders(
        &self,
        store: &StoreId,
        filter: &OrderFilter,
    ) -> Result<Vec<Snapshot>, StorageError> {
        let mut connection = self.connection().await?;
        self.read(orders::list(&mut connection, store, filter).await)
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
        named: Option<&NamedTransaction>,
        now: Timestamp,
    ) -> Result<MarkedAsPaid, OrderOperationError> {
        let mut tx = self.begin().await?;
        let marked = attempts::mark_as_paid(&mut tx, order, named, now).await?;
        tx.commit().await?;
        Ok(marked)
    }

    async fn keep_receipt_email(
        &self,
        order: &OrderId,
        email: Option<&str>,
        now: Timestamp,
    ) -> Result<Option<KeptEmail>, StorageError> {
        let mut tx = self.begin().await?;
        let kept = orders::keep_receipt_email(&mut tx, order, email, now).await?;
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
        let mut connection = self.connection().await?;
        self.read(attempts::poll_queue(&mut connection, until, most).await)
    }

    async fn schedule_poll_of_invoice(
        &self,
        invoice: &InvoiceId,
        at: Timestamp,
    ) -> Result<bool, StorageError> {
        self.schedule_poll_of(invoice, InvoiceKind::Unsettled, at)
            .await
    }

    async fn schedule_recheck(
        &self,
        invoice: &InvoiceId,
        at: Timestamp,
    ) -> Result<bool, StorageError> {
        self.schedule_poll_of(invoice, InvoiceKind::Settled, at)
            .await
    }

    async fn store_of_invoice(&self, invoice: &InvoiceId) -> Result<Option<StoreId>, StorageError> {
        let mut connection = self.connection().await?;
        self.read(attempts::store_of(&mut connection, invoice).await)
    }

    async fn reschedule_poll(
        &self,
        due: &DueAttempt,
        until: Timestamp,
        now: Timestamp,
    ) -> Result<(), StorageError> {
        let mut tx = self.begin().await?;
        attempts::defer(&mut tx, due, until, now).await?;
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

    async fn credit_of(&self, order: &OrderId) -> Result<Option<Credit>, StorageError> {
        let mut connection = self.connection().await?;
        self.read(observe::credit_of(&mut connection, order).await)
    }

    async fn events(
        &self,
        store: &StoreId,
        after: Option<&EventId>,
        limit: u32,
    ) -> Result<Option<Vec<Event>>, StorageError> {
        let mut connection = self.connection().await?;
        self.read(events::page(&mut connection, store, after, limit).await)
    }

    async fn due_deliveries(
        &self,
        store: &StoreId,
        now: Timestamp,
        lease_until: Timestamp,
        limit: u32,
    ) -> Result<Vec<DueDelivery>, StorageError> {
        // While others take all that they may, most calls find nothing.
        if limit <= RESERVED_FOR_MONEY {
            let mut connection = self.connection().await?;
            let is_due = deliveries::is_money_due(&mut connection, store, now).await;
            if !self.read(is_due)? {
                return Ok(Vec::new());
            }
        }
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
        let mut connection = self.connection().await?;
        self.read(deliveries::page(&mut connection, store, filter).await)
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
        let mut connection = self.connection().await?;
        self.read(deliveries::endpoint_status(&mut connection, store).await)
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
        let mut connection = self.connection().await?;
        self.read(deliveries::backlog(&mut connection).await)
    }

    async fn totals(&self) -> Result<Totals, StorageError> {
        let mut connection = self.connection().await?;
        Ok(Totals {
            needing_review: self.read(totals::needing_review(&mut connection).await)?,
            outboxes: self.read(totals::outboxes(&mut connection).await)?,
            commits: self.writer.commits(),
            free_bytes: self.file.free_bytes(),
            wal_bytes: self.file.wal_bytes(),
        })
    }

    async fn check_database(&self) -> Result<(), StorageError> {
        self.recheck();
        self.file.verify()?;
        match self.writer.failure() {
            Some(failure) if failure.outage().is_some() => Err(StorageError::Shared(failure)),
            _ => Ok(()),
        }
    }

    async fn check_writing(&self, now: Timestamp) -> Result<(), StorageError> {
        let now = now.as_millisecond();
        let mut tx = self.begin().await?;
        let written = sqlx::query_scalar::<_, i64>(
            "INSERT INTO write_checks (id, written_at) VALUES (1, ?)
             ON CONFLICT (id) DO UPDATE SET written_at = excluded.written_at RETURNING written_at",
        )
        .bind(now)
        .fetch_one(&mut *tx)
        .await;
        let written = self.read(written.map_err(StorageError::from))?;
        // Others would fail it with a reason that they alone know.
        self.writer.commit_at_once(tx).await?;
        if written == now {
            return Ok(());
        }
        Err(StorageError::Corrupt(format!("{written} instead of {now}")))
    }
}
