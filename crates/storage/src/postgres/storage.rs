//! The handle of a PostgreSQL database: its connections, and the name and clock of this process in leases.

use std::sync::Arc;

use jiff::Timestamp;
use sqlx::postgres::PgPool;

use super::announcements::ListenOptions;
use super::options::{Patience, Writers};
use super::pooler::Pooler;
use super::pools::Timeouts;
use crate::lease::{Lease, LeaseClock};
use crate::rows::Time;

/// Storage in a PostgreSQL database.
#[derive(Clone, Debug)]
pub struct PostgresStorage {
    pub(crate) writer: PgPool,
    pub(crate) reader: PgPool,
    /// The name of this process in its leases.
    pub(super) holder: Arc<str>,
    pub(super) clock: LeaseClock,
    pub(super) patience: Patience,
    pub(super) timeouts: Arc<Timeouts>,
    /// Between the pools and the server, if there is one.
    pub(super) pooler: Option<Pooler>,
    /// Of another connection, which listens.
    pub(super) options: ListenOptions,
}

impl PostgresStorage {
    pub(super) fn writers(&self) -> Writers {
        Writers {
            pool: self.writer.clone(),
            pooler: self.pooler.clone(),
            longest: self.patience.transaction,
            timeouts: self.timeouts.clone(),
        }
    }

    /// The name of this process in its leases.
    pub(super) fn holder(&self) -> Arc<str> {
        self.holder.clone()
    }

    /// The present, for a statement that takes the server's when it is absent.
    pub(super) fn clock(&self, now: Timestamp) -> Option<Time> {
        self.clock.now(now)
    }

    pub(super) fn lease(&self, now: Timestamp, until: Timestamp) -> Lease {
        Lease {
            holder: self.holder.clone(),
            clock: self.clock,
            now,
            until,
        }
    }
}
