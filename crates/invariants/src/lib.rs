//! The rules of money, checked on the evidence of a run: its database, the gateway's record and the store's deliveries.
//!
//! | source of the evidence | database | gateway | deliveries |
//! |---|---|---|---|
//! | `tests/simulation` | between any two commits | the model's records | the model's records |
//! | `florin-auditor`, which checks the kill campaign | a closed file | the sandbox's log | the shop's log |
//!
//! A rule is a function of [`Evidence`]. [`check`] applies all rules of a [`Moment`]; a rule whose evidence a source does
//! not have checks nothing and reports that it has checked 0 objects.
//!
//! What this crate refuses to do: send a request, and share code with the proxy. A rule that called the code under test
//! would repeat its mistakes.

pub mod amount;
mod clock;
mod database;
mod evidence;
mod finding;
mod restore;
mod rules;
mod signature;

pub use clock::{ClockChange, ClockRecord, Millis};
pub use database::ReadError;
pub use evidence::{
    Attempt, Credit, Database, Delivery, Event, Evidence, Gateway, Invoice, Listing, Observation,
    Order, Part, Pause, Price, Report, Request, Requested, Restore, Shop, Shown, Signature,
    StoredFile,
};
pub use finding::Finding;
pub use rules::{Moment, check};
pub use signature::{secret, sign};
