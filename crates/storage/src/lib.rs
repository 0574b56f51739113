//! Stores orders, attempts, observations, events and the outbox.
//!
//! A database ([`Storage`]) applies what `florin-orders` decides in one transaction: observation, state, credit and outbox
//! row together, or nothing.
//!
//! Invariants that the database keeps, by keys and triggers:
//! - an order is credited at most once, ever, and is paid only with its credit;
//! - a price, a credit, an observation, an event and a refund never change once written.
//!
//! Invariants that the code keeps:
//! - an order is credited only by an observation that covers its price less the store's tolerance, or by an operator's
//!   decision;
//! - every change of an order's status has an event, but for the customer's own "I've sent it", which proves nothing; the
//!   events of an order are numbered without a gap.
//!
//! What this crate refuses to do: HTTP, and types of the gateway.

#![expect(
    missing_docs,
    reason = "a member has a comment where its name leaves a question open"
)]
#![expect(
    clippy::duplicate_mod,
    reason = "the queries are one text, compiled for each database"
)]

#[cfg(test)]
mod contract;
mod copy;
mod database;
mod delivery;
mod error;
mod expiring;
mod limits;
mod operator;
mod postgres;
mod rows;
mod shared;
mod sqlite;
mod traits;

pub use copy::{CopiedTable, CopyError, CopyStep, OnCopyStep, copy};
pub use database::{
    Database, Verified, backup, check_database, check_place, is_postgres, network_volume, verify,
};
pub use delivery::{
    Delivery, DeliveryFilter, DeliveryOutcome, DeliveryStorage, DisabledEndpoint, DueDelivery,
    Endpoint, EndpointStatus, RecordedDelivery, Retry,
};
pub use error::{
    Failure, FileFault, OpenAttemptError, OpenError, OrderOperationError, Outage, Result,
    StorageError,
};
pub use expiring::{
    Claim, ExpiringStorage, Fingerprint, MAX_STAFF_ACCESS_PER_STORE, PriceList, RequestId,
    StaffAccess, StaticFile, StoredResponse, TokenGrant,
};
pub use limits::{DELAY_REPORT, LeaseClock, MAX_DELIVERIES_PER_WEBHOOK, PROBE_INTERVAL};
pub use operator::{
    Actor, AuditAction, AuditEntry, Credited, DecideError, EventState, GivenUpEvent, NewAuditEntry,
    NewDecision, OperatorStorage, OrderHistory, OrderSearch, RecordedEvent, Settlement,
    SettlementKind, StoreScope, StoredObservation,
};
pub use postgres::{
    GatewayAccount, GatewayAccountStep, NewGatewayAccount, PostgresOptions, PostgresStorage,
    migrate as migrate_postgres,
};
pub use shared::{
    ChangeListener, Changed, Commits, LimitKey, OrderVersion, Outbox, PoolState, ServerState,
    SharedStorage, Standbys, Totals,
};
pub use sqlite::SqliteStorage;
pub use traits::{
    AttemptStorage, DueAttempt, EmailChange, KeptEmail, MarkedAsPaid, NamedTransaction, Opened,
    OrderFilter, PollQueue, PollStorage, RecordedObservation, Storage,
};
