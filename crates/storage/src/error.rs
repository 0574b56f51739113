//! Storage errors.

use florin_orders::{InvoiceId, Order, OrderId, OrderStatus};
use sqlx::postgres::PgDatabaseError;

use crate::DecideError;

pub type Result<T, E = StorageError> = std::result::Result<T, E>;

/// The database failed. "Not there" is never an error: that is `Ok(None)`.
#[derive(Debug, thiserror::Error)]
pub enum StorageError {
    #[error("the database {url} cannot be opened: {reason}")]
    Open {
        /// Where it should be, as it was configured. A file's address holds no password.
        url: String,
        reason: String,
    },
    #[error(
        "the database {path} is in use by another process{pid}: one process serves one file. Stop the other process, \
         or set database_url to another file"
    )]
    InUse {
        path: String,
        /// " (pid 42)", or nothing if it is not known.
        pid: String,
    },
    #[error(
        "the database belongs to the environment {found}, and this proxy runs in {wanted}: \
         give each environment a separate database"
    )]
    OtherEnvironment { found: String, wanted: String },
    #[error(
        "a newer version of Florin wrote the database {url} (schema {found}, this version knows {known}): \
         start that version, or restore a backup from before the upgrade"
    )]
    Newer { url: String, found: i64, known: i64 },
    /// The schema of a PostgreSQL database is not the one of this version. Nothing but the command changes it.
    #[error(
        "the database {url} has schema {found}, and this version needs {known}: run `florin-proxy migrate` with the \
         same configuration"
    )]
    NotMigrated {
        /// The database, without its password.
        url: String,
        /// Its schema; 0 for none.
        found: i64,
        known: i64,
    },
    /// It was restored on a server that has counted fewer transactions than the events name.
    #[error(
        "the database {url} was restored from a dump, and its events need new places in their list: run \
         `florin-proxy migrate` with the same configuration"
    )]
    Restored {
        /// The database, without its password.
        url: String,
    },
    #[error(
        "the database {url} was copied to {to}: set database_url to that one. This file is as it was when it was copied"
    )]
    Moved {
        url: String,
        /// Where its orders are, without a password.
        to: String,
    },
    #[error("the database server cannot be reached: {0}")]
    Unreachable(String),
    #[error(
        "no synchronous standby of the database server is connected (synchronous_standby_names = {0:?}): no commit ends"
    )]
    NoStandby(String),
    #[error("the database could not be migrated: {0}")]
    Migrate(#[from] sqlx::migrate::MigrateError),
    /// The file under the path is not the one that was opened, or it is damaged.
    #[error("{0}")]
    File(#[from] FileFault),
    #[error("the database failed: {0}")]
    Database(#[from] sqlx::Error),
    /// What several callers waited for failed: the commit of their transactions, or their query.
    #[error(transparent)]
    Shared(std::sync::Arc<StorageError>),
    #[error("the database holds {0}, which is not readable")]
    Corrupt(String),
}

/// The file is not, or not any more, the database that this process opened.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FileFault {
    #[error("the database file {0} was deleted or moved")]
    Gone(String),
    #[error("the database file {0} was replaced by another file")]
    Replaced(String),
    #[error("the database file {path} cannot be read: disk I/O error: {error}")]
    Unreadable { path: String, error: String },
    #[error("the database file {path} is damaged: {found}")]
    Damaged { path: String, found: String },
}

/// Why nothing can be stored at present.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum Outage {
    Full,
    /// The disk rejects reads or writes.
    Io,
    Gone,
    Replaced,
    Damaged,
    /// The file or its folder cannot be written.
    ReadOnly,
    /// Another program holds the file.
    Locked,
    /// The database server cannot be reached.
    Unreachable,
    /// The database server accepts no writes.
    Standby,
    /// No synchronous standby of the database server is connected.
    NoStandby,
}

impl Outage {
    /// What the operator does about it, as a sentence.
    pub fn remedy(self) -> &'static str {
        match self {
            Self::Full => {
                "Make room on the disk that holds the database. The proxy continues by itself; no restart is needed"
            }
            Self::Io => {
                "Check the disk, its mount and the limits of the process. The proxy continues by itself once writing \
                 works; no restart is needed"
            }
            Self::Gone => {
                "Move the same file back, with its -wal file; the proxy then continues by itself. If it was deleted, do \
                 not end the process: it still has the content open, and docs/operations/backups.md says how to save it"
            }
            Self::Replaced => {
                "Move the original file back, with its -wal file; the proxy then continues by itself. To use the other \
                 file, stop the proxy first: docs/operations/backups.md"
            }
            Self::Damaged => {
                "Stop the proxy, keep a copy of the damaged file, and restore a backup: docs/operations/backups.md"
            }
            Self::ReadOnly => {
                "Give the user of the proxy the right to write the file and its folder. The proxy continues by itself; no \
                 restart is needed"
            }
            Self::Unreachable => {
                "Check the database server, the network to it and the limit of its connections. The proxy continues by \
                 itself once the server answers; no restart is needed"
            }
            Self::Standby => {
                "The database server is a standby: database_url has to lead to the primary. The proxy continues by itself \
                 once writing works; no restart is needed"
            }
            Self::NoStandby => {
                "Start a standby that synchronous_standby_names lists. The proxy continues by itself once it is connected; \
                 no restart is needed. Without the setting a failover loses what customers have seen: \
                 docs/operations/postgresql.md"
            }
            Self::Locked => {
                "Another program holds the database: end it. The proxy continues by itself; no restart is needed"
            }
        }
    }
}

impl StorageError {
    /// Why nothing can be stored at present; `None` for a failure of one request alone.
    pub fn outage(&self) -> Option<Outage> {
        match self {
            Self::File(FileFault::Gone(_)) => Some(Outage::Gone),
            Self::File(FileFault::Replaced(_)) => Some(Outage::Replaced),
            Self::File(FileFault::Unreadable { .. }) => Some(Outage::Io),
            Self::File(FileFault::Damaged { .. }) => Some(Outage::Damaged),
            Self::Unreachable(_) => Some(Outage::Unreachable),
            Self::NoStandby(_) => Some(Outage::NoStandby),
            Self::Database(error) => outage(error),
            Self::Shared(error) => error.outage(),
            _ => None,
        }
    }
}

/// Source: sqlite.org, "Result and Error Codes": the low byte is the primary code.
fn outage(error: &sqlx::Error) -> Option<Outage> {
    let error = match error {
        sqlx::Error::Database(error) => error,
        sqlx::Error::Io(_) | sqlx::Error::PoolTimedOut | sqlx::Error::WorkerCrashed => {
            return Some(Outage::Io);
        }
        _ => return None,
    };
    if let Some(error) = error.try_downcast_ref::<PgDatabaseError>() {
        return postgres_outage(error.code());
    }
    let code: i32 = error.code()?.parse().ok()?;
    match code & 0xff {
        13 => Some(Outage::Full),
        7 | 10 | 14 | 15 => Some(Outage::Io),
        11 | 26 => Some(Outage::Damaged),
        8 => Some(Outage::ReadOnly),
        5 | 6 => Some(Outage::Locked),
        _ => None,
    }
}

/// Source: PostgreSQL, "Error Codes": `53100` `disk_full`, `53300` `too_many_connections`, 58 errors of the operating system, XX001
/// and XX002 corrupted data, `25006` `read_only_sql_transaction`.
fn postgres_outage(code: &str) -> Option<Outage> {
    match code {
        "53100" => Some(Outage::Full),
        "53300" | "57P01" | "57P02" | "57P03" => Some(Outage::Unreachable),
        "58000" | "58030" => Some(Outage::Io),
        "XX001" | "XX002" => Some(Outage::Damaged),
        "25006" => Some(Outage::Standby),
        _ => None,
    }
}

/// Why an order was not opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error("the reference already names {} of {} {}", .0.id, .0.terms.amount, .0.terms.currency)]
    Conflict(Box<Order>),
    #[error(transparent)]
    Storage(#[from] StorageError),
}

/// Why an attempt was not opened with its invoice.
#[derive(Debug, thiserror::Error)]
pub enum OpenAttemptError {
    #[error("invoice {invoice} belongs to order {order} already")]
    InvoiceTaken { invoice: InvoiceId, order: OrderId },
    #[error(transparent)]
    Storage(#[from] StorageError),
}

/// Why an operation on an order was refused.
#[derive(Debug, thiserror::Error)]
pub enum OrderOperationError {
    #[error("there is no order {0}")]
    NoOrder(OrderId),
    #[error("the order is {}: it takes no {event}", <&str>::from(*.from))]
    Closed {
        from: OrderStatus,
        event: &'static str,
    },
    #[error("too many attempts were begun for this order in the last minute")]
    TooMany,
    #[error("another attempt is being opened for this order")]
    InProgress,
    #[error(transparent)]
    Storage(#[from] StorageError),
}

/// An error that may hold a failure of the database.
pub trait Failure: From<StorageError> + std::fmt::Debug + Send + 'static {
    /// The failure of the database; `None` if the storage refused the operation.
    fn storage_error(&self) -> Option<&StorageError>;

    /// The failure of the database, or this refusal.
    ///
    /// # Errors
    /// The storage refused the operation.
    fn into_storage_error(self) -> Result<StorageError, Self>;
}

impl Failure for StorageError {
    fn storage_error(&self) -> Option<&StorageError> {
        Some(self)
    }

    fn into_storage_error(self) -> Result<StorageError, Self> {
        Ok(self)
    }
}

macro_rules! failure {
    ($($error:ident),*) => {
        $(impl Failure for $error {
            fn storage_error(&self) -> Option<&StorageError> {
                match self {
                    Self::Storage(error) => Some(error),
                    _ => None,
                }
            }

            fn into_storage_error(self) -> Result<StorageError, Self> {
                match self {
                    Self::Storage(error) => Ok(error),
                    refused => Err(refused),
                }
            }
        })*
    };
}

failure!(
    DecideError,
    OpenError,
    OpenAttemptError,
    OrderOperationError
);
