//! Storage in PostgreSQL, shared by any number of processes.
//!
//! Each transaction that writes an order locks the order's row first. Polls, deliveries and requests are leased, by rows that
//! `FOR UPDATE SKIP LOCKED` passes over and by the server's clock.

/// Runs a transaction with clones of the named values: it is a separate task, and may run several times.
macro_rules! transaction {
    ($storage:ident, $on_loss:ident, [$($value:ident),*], |$tx:ident| $work:expr) => {{
        use $crate::postgres::transaction::OnLoss;
        $(let $value = $value.clone();)*
        $crate::postgres::transaction::run($storage.clone(), OnLoss::$on_loss, move |$tx| {
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
mod shared;
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

use std::sync::Arc;

use sqlx::postgres::PgPool;

use self::announcements::ListenOptions;
pub use self::open::migrate;
pub(crate) use self::open::{shown, verify};
pub use self::options::PostgresOptions;
use self::options::{Patience, Pooler, Timeouts};
pub use self::shared::{GatewayAccount, GatewayAccountStep, NewGatewayAccount};
use crate::limits::LeaseHolder;

/// Storage in a PostgreSQL database.
#[derive(Clone, Debug)]
pub struct PostgresStorage {
    pub(crate) writer: PgPool,
    pub(crate) reader: PgPool,
    holder: LeaseHolder,
    patience: Patience,
    timeouts: Arc<Timeouts>,
    /// Between the pools and the server, if there is one.
    pooler: Option<Pooler>,
    options: ListenOptions,
}
