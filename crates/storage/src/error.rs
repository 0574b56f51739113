//! Storage errors.

use florin_orders::{InvoiceId, Order, OrderId, OrderStatus};

/// The database failed. "Not there" is never an error: that is `Ok(None)`.
#[derive(Debug, thiserror::Error)]
pub enum StorageError {
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
         give each environment a separate database"
    )]
    OtherEnvironment {
        /// The environment of the database.
        found: String,
        /// The configured environment.
        wanted: String,
    },
    /// The schema could not be brought up to date.
    #[error("the database could not be migrated: {0}")]
    Migrate(#[from] sqlx::migrate::MigrateError),
    /// A statement failed: the disk is full, the file went away, the database is locked.
    #[error("the database failed: {0}")]
    Database(#[from] sqlx::Error),
    /// A row cannot be parsed.
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
    Storage(#[from] StorageError),
}

/// Why an attempt was not opened with its invoice.
#[derive(Debug, thiserror::Error)]
pub enum OpenAttemptError {
    /// Another attempt holds an invoice of this id.
    #[error("invoice {invoice} belongs to order {order} already")]
    InvoiceTaken {
        /// The gateway's id.
        invoice: InvoiceId,
        /// The order of the attempt that holds it.
        order: OrderId,
    },
    /// The database failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

/// Why an operation on an order was refused.
#[derive(Debug, thiserror::Error)]
pub enum BeginError {
    /// There is no such order.
    #[error("there is no order {0}")]
    NoOrder(OrderId),
    /// The order's status does not allow it.
    #[error("the order is {}: it takes no {event}", <&str>::from(*.from))]
    Closed {
        /// The order's status.
        from: OrderStatus,
        /// The refused operation.
        event: &'static str,
    },
    /// The limit of attempts per minute is reached.
    #[error("too many attempts were begun for this order in the last minute")]
    TooMany,
    /// Another attempt is being opened at this moment.
    #[error("another attempt is being opened for this order")]
    InProgress,
    /// The database failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
}
