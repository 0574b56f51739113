//! Storage in PostgreSQL, shared by any number of processes.
//!
//! Each transaction that writes an order locks the order's row first. Polls, deliveries and requests are leased, by rows that
//! `FOR UPDATE SKIP LOCKED` passes over and by the server's clock.

#[macro_use]
mod macros;

mod account;
mod announcements;
mod dead_connections;
mod dialect;
mod event_pages;
mod failure;
mod open;
mod options;
mod pooler;
mod pools;
mod replanning;
mod rows;
mod server;
mod shared;
mod statements;
mod storage;
#[cfg(test)]
pub(crate) mod tests;
mod transaction;
mod verify;
mod versions;

// The same text for both databases, compiled for each with the names of its `dialect`.
#[path = "queries/attempts.rs"]
mod attempts;
#[path = "queries/deliveries.rs"]
mod deliveries;
#[path = "queries/early_tries.rs"]
mod early_tries;
#[path = "queries/events.rs"]
mod events;
#[path = "queries/observe.rs"]
mod observe;
#[path = "queries/operator.rs"]
mod operator;
#[path = "queries/orders.rs"]
mod orders;
#[path = "queries/polls.rs"]
mod polls;
#[path = "queries/prices.rs"]
mod prices;
#[path = "queries/requests.rs"]
mod requests;
#[path = "queries/staff.rs"]
mod staff;
#[path = "queries/storage.rs"]
mod storage_queries;
#[path = "queries/tokens.rs"]
mod tokens;
#[path = "queries/totals.rs"]
mod totals;

use std::sync::Arc;

use async_trait::async_trait;
use florin_orders::OrderId;
use jiff::{SignedDuration, Timestamp};

pub use self::account::{GatewayAccount, GatewayAccountStep, NewGatewayAccount};
use self::failure::Failure as _;
pub use self::open::migrate;
pub(crate) use self::open::shown;
pub use self::options::PostgresOptions;
pub use self::storage::PostgresStorage;
pub(crate) use self::verify::verify;
use crate::limits::BATCH;
use crate::{
    ChangeListener, Changed, Commits, LimitKey, OrderVersion, PoolState, Result, ServerState,
    SharedStorage, StaticFile, StorageError, Totals,
};

#[cfg(test)]
impl PostgresStorage {
    /// One attempt.
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
        read!(self, |reader| versions::versions(reader, orders))
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
        )
        .await)
    }

    async fn delete_unused_counts(&self, now: Timestamp) -> Result<u64> {
        let clock = self.clock(now);
        transaction!(self, Fail, [], |tx| shared::delete_unused_counts(
            tx, clock, BATCH
        )
        .await)
    }

    async fn share_delay(&self, is_delayed: bool, now: Timestamp) -> Result<bool> {
        let (holder, clock) = (&self.holder, self.clock(now));
        transaction!(self, Repeat, [holder], |tx| shared::share_delay(
            tx, &holder, is_delayed, clock
        )
        .await)
    }

    async fn keep_static_files(&self, files: &[StaticFile], now: Timestamp) -> Result<()> {
        let (files, clock): (Arc<[StaticFile]>, _) = (files.into(), self.clock(now));
        transaction!(self, Repeat, [files], |tx| shared::keep_static_files(
            tx, &files, clock
        )
        .await)
    }

    async fn static_file(&self, name: &str) -> Result<Option<StaticFile>> {
        read!(self, |reader| shared::static_file(reader, name))
    }

    async fn totals(&self) -> Result<Totals> {
        Ok(Totals {
            needing_review: read!(self, |reader| totals::needing_review(reader))?,
            outboxes: read!(self, |reader| totals::outboxes(reader))?,
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
