//! What a store of the ledger can answer besides what was asked for.

use florin_orders::{Order, OrderId, OrderStatus};

/// The database did not do what it should. "Not there" is never an error: that is `Ok(None)`.
#[derive(Debug, thiserror::Error)]
pub enum LedgerError {
    /// The database file or server cannot be opened.
    #[error("the database {url} cannot be opened: {source}")]
    Open {
        /// Where it should be, as it was configured. A file's address holds no password.
        url: String,
        /// Why not.
        source: sqlx::Error,
    },
    /// The database was made for the other environment.
    #[error(
        "the database belongs to the environment {found}, and this proxy runs in {wanted}: \
         give each environment a database of its own"
    )]
    OtherEnvironment {
        /// The environment it remembers.
        found: String,
        /// The environment it was opened for.
        wanted: String,
    },
    /// The schema could not be brought up to date.
    #[error("the database could not be migrated: {0}")]
    Migrate(#[from] sqlx::migrate::MigrateError),
    /// A statement failed: the disk is full, the file went away, the database is locked.
    #[error("the database failed: {0}")]
    Database(#[from] sqlx::Error),
    /// A row does not read as what we wrote.
    #[error("the database holds {0}, which is not readable")]
    Corrupt(String),
}

/// Why an order was not opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The reference names an order of another price.
    #[error("the reference already names {} of {} {}", .0.id, .0.terms.amount, .0.terms.currency)]
    Conflict(Box<Order>),
    /// The database failed.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
}

/// Why something was not done to an order.
#[derive(Debug, thiserror::Error)]
pub enum BeginError {
    /// There is no such order.
    #[error("there is no order {0}")]
    NoOrder(OrderId),
    /// The order does not take it any more.
    #[error("the order is {}: it takes no {event}", .from.as_str())]
    Closed {
        /// Where it stands.
        from: OrderStatus,
        /// What was tried.
        event: &'static str,
    },
    /// So many attempts were begun in the last minute that no customer can have meant them all.
    #[error("too many attempts were begun for this order in the last minute")]
    TooMany,
    /// Another attempt is being opened at this moment.
    #[error("another attempt is being opened for this order")]
    InProgress,
    /// The database failed.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
}
