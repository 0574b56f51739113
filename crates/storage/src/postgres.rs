//! Storage in PostgreSQL, shared by any number of processes.
//!
//! Each transaction that writes an order locks the order's row first. Polls, deliveries and requests are leased, by rows that
//! `FOR UPDATE SKIP LOCKED` passes over and by the server's clock.

/// Runs a transaction with clones of the named values: it is a separate task, and may run several times.
macro_rules! transaction {
    ($storage:ident, $on_loss:ident, [$($value:ident),*], |$tx:ident| $work:expr) => {{
        use $crate::postgres::transaction::OnLoss;
        $(let $value = $value.clone();)*
        $crate::postgres::transaction::run($storage.writers(), OnLoss::$on_loss, move |$tx| {
            $(let $value = $value.clone();)*
            Box::pin(async move { $work.await })
        })
        .await
    }};
}

/// Reads with a connection that is closed if its response is missing.
macro_rules! read {
    ($storage:ident, |$reader:ident| $work:expr) => {{
        use $crate::postgres::dead_connections::{Reading, close_idle, in_time};
        let mut tries = 0;
        loop {
            let read = async {
                let mut reading = Reading::begin(&$storage.reader, $storage.pooler.as_ref()).await?;
                let $reader = reading.connection();
                let found = in_time($storage.patience, $work).await?;
                reading.end().await;
                Ok::<_, $crate::StorageError>(found)
            };
            let found = read.await;
            tries += 1;
            match found {
                // Its connection was closed; each other one may have prepared statements of that schema too.
                Err(error)
                    if $crate::postgres::transaction::is_of_old_schema(&error)
                        && tries < $storage.patience.tries =>
                {
                    close_idle(&$storage.reader);
                }
                found => break found.map_err(|error| $storage.timeouts.counted(error)),
            }
        }
    }};
}

mod announcements;
mod dead_connections;
mod dialect;
mod open;
mod options;
mod server;
mod shared;
mod statements;
#[cfg(test)]
pub(crate) mod tests;
mod transaction;

// The same text for both databases, compiled for each with the names of its `dialect`.
#[path = "queries/attempts.rs"]
mod attempts;
#[path = "queries/deliveries.rs"]
mod deliveries;
#[path = "queries/expiring.rs"]
mod expiring;
#[path = "queries/observe.rs"]
mod observe;
#[path = "queries/operator.rs"]
mod operator;
#[path = "queries/orders.rs"]
mod orders;
#[path = "queries/outbox.rs"]
mod outbox;
#[path = "queries/polls.rs"]
mod polls;
#[path = "queries/storage.rs"]
mod storage_queries;

use std::sync::Arc;

use async_trait::async_trait;
use florin_orders::OrderId;
use jiff::{SignedDuration, Timestamp};
use sqlx::postgres::PgPool;

use self::announcements::ListenOptions;
pub use self::open::migrate;
pub(crate) use self::open::{shown, verify};
pub use self::options::PostgresOptions;
use self::options::{Patience, Pooler, Timeouts, Writers};
pub use self::shared::{GatewayAccount, GatewayAccountStep, NewGatewayAccount};
use crate::limits::{BATCH, Lease, LeaseClock};
use crate::rows::Time;
use crate::{
    ChangeListener, Changed, Commits, LimitKey, OrderVersion, PoolState, Result, ServerState,
    SharedStorage, StaticFile, StorageError, Totals,
};

/// Storage in a PostgreSQL database.
#[derive(Clone, Debug)]
pub struct PostgresStorage {
    pub(crate) writer: PgPool,
    pub(crate) reader: PgPool,
    holder: Arc<str>,
    clock: LeaseClock,
    patience: Patience,
    timeouts: Arc<Timeouts>,
    /// Between the pools and the server, if there is one.
    pooler: Option<Pooler>,
    /// Of another connection, which listens.
    options: ListenOptions,
}

impl PostgresStorage {
    fn writers(&self) -> Writers {
        Writers {
            pool: self.writer.clone(),
            pooler: self.pooler.clone(),
            longest: self.patience.transaction,
            timeouts: self.timeouts.clone(),
        }
    }

    fn holder(&self) -> Arc<str> {
        self.holder.clone()
    }

    /// The present, for a statement that takes the server's when it is absent.
    fn clock(&self, now: Timestamp) -> Option<Time> {
        self.clock.now(now)
    }

    fn lease(&self, now: Timestamp, until: Timestamp) -> Lease {
        Lease {
            holder: self.holder.clone(),
            clock: self.clock,
            now,
            until,
        }
    }

    #[cfg(test)]
    pub(crate) async fn attempt(
        &self,
        id: &florin_orders::AttemptId,
    ) -> Result<florin_orders::Attempt> {
        read!(self, |reader| orders::attempt(reader, id))
    }
}

#[async_trait]
impl SharedStorage for PostgresStorage {
    async fn server_state(&self) -> Result<Option<ServerState>> {
        read!(self, |reader| server::state(reader)).map(Some)
    }

    fn pools(&self) -> Vec<PoolState> {
        self.timeouts.of(&self.reader, &self.writer)
    }

    async fn versions(&self, orders: &[OrderId]) -> Result<Vec<(OrderId, OrderVersion)>> {
        read!(self, |reader| shared::versions(reader, orders))
    }

    async fn announce(&self, changed: &Changed) -> Result<()> {
        read!(self, |reader| announcements::announce(
            reader,
            &self.holder,
            changed
        ))
    }

    async fn listen(&self) -> Result<Option<Box<dyn ChangeListener>>> {
        let options = (*self.options.0).clone();
        let announcing = (self.reader.clone(), self.pooler.clone());
        let listener =
            announcements::Listener::connect(options, announcing, self.holder.clone()).await;
        let listener = listener.map_err(StorageError::for_postgres)?;
        Ok(Some(Box::new(listener)))
    }

    async fn count_request(
        &self,
        key: LimitKey,
        each: SignedDuration,
        now: Timestamp,
    ) -> Result<Option<SignedDuration>> {
        let clock = self.clock(now);
        transaction!(self, Fail, [], |tx| shared::count_request(
            tx, key, each, clock
        ))
    }

    async fn delete_unused_counts(&self, now: Timestamp) -> Result<u64> {
        let clock = self.clock(now);
        transaction!(self, Fail, [], |tx| shared::delete_unused_counts(
            tx, clock, BATCH
        ))
    }

    async fn share_delay(&self, is_delayed: bool, now: Timestamp) -> Result<bool> {
        let (holder, clock) = (&self.holder, self.clock(now));
        transaction!(self, Repeat, [holder], |tx| shared::share_delay(
            tx, &holder, is_delayed, clock
        ))
    }

    async fn keep_static_files(&self, files: &[StaticFile], now: Timestamp) -> Result<()> {
        let (files, clock): (Arc<[StaticFile]>, _) = (files.into(), self.clock(now));
        transaction!(self, Repeat, [files], |tx| shared::keep_static_files(
            tx, &files, clock
        ))
    }

    async fn static_file(&self, name: &str) -> Result<Option<StaticFile>> {
        read!(self, |reader| expiring::static_file(reader, name))
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
        self.write_check(now).await
    }
}
