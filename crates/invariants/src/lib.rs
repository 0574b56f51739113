//! The rules of money, checked on the evidence of a run: its database, the gateway's record and the store's deliveries.
//!
//! | source of the evidence | database | gateway | deliveries |
//! |---|---|---|---|
//! | `tests/simulation` | between any two commits | the model's records | the model's records |
//! | [`Sources`] of the kill campaign and of `florin-auditor` | a closed one | the sandbox's log | the shop's log |
//!
//! A rule is a function of [`Evidence`]. [`check`] applies all rules of a [`Moment`]; a rule whose evidence a source does
//! not have checks nothing and reports that it has checked 0 objects.
//!
//! What this crate refuses to do: send a request, and share code with the proxy. A rule that called the code under test
//! would repeat its mistakes.
#![expect(
    missing_docs,
    reason = "a member has a comment where its name leaves a question open"
)]

pub mod amount;
mod database;
mod evidence;
mod gateway;
mod rules;
mod sources;

pub use amount::Price;
pub use database::ReadError;
pub use evidence::{
    Attempt, Credit, Database, Delivery, Event, Evidence, Listing, Observation, Order, Refund,
    Restore, Shop, Signature, StoredFile,
};
pub use gateway::{Gateway, Invoice, Part, Pause, Report, Request, Requested, Shown};
pub use rules::{Finding, Moment, check};
pub use sources::{SandboxLog, Sources, audit, read_tables};

/// Milliseconds: since 1970, or since a simulation began.
pub type Millis = i64;
