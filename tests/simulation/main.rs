//! A seeded simulation of whole orders. The proxy's API, poller, dispatcher, cleanup, gateway client and storage are
//! real; clock, randomness, gateway, stores and customers follow from one seed on virtual time, and faults are
//! injected everywhere.
//!
//! ```text
//! cargo test -p florin-tests --test simulation                                            a thousand orders
//! cargo xtask simulate --orders 100000                                             any number, optimised
//! FLORIN_SIM_SEED=… FLORIN_SIM_WORLD=… cargo test -p florin-tests --test simulation       one world again, with its log
//! ```
//!
//! The rules are those of `florin-invariants`, which the auditor of the kill campaign checks too: `world` fills their
//! evidence. A run in which a required fault never happened fails.
//!
//! Some worlds have three proxies on one database, each with its crashes. Their requests are divided at random. Each keeps
//! the pauses that it has read: how processes share the row of the gateway account is tested in `crates/gateway`. The database
//! is one of SQLite, whose transactions come one after the other: what PostgreSQL does when they overlap is tested in
//! `crates/storage`.
//!
//! Faults are drawn for each call; `disaster` has those that last. After a restored backup the rules excuse what the
//! replaced database has and the backup has not.
//!
//! A world that fails prints the two variables that repeat it. Its log on standard error shows every action of
//! customers, gateway, stores and storage together with the proxy's log; the first `VIOLATED` is the cause. A new
//! invariant needs a planted bug that it finds. Each row was planted alone and
//! found: those with `#` within about a thousand orders, the others in the first worlds:
//!
//! | planted | violated invariant |
//! |---|---|
//! | PROCESSING is credited; five percent less is credited | `credit-has-payment` |
//! | tolerance is added to the price | `payment-is-credited` |
//! | nothing is polled after its end; an older attempt is not polled | `still-polled` |
//! | a POST is repeated after an ambiguous outcome | `requested-once` |
//! | a suspicious invoice is shown | `row-is-invoice`, no suspicious invoice is shown |
//! | an event's row in the outbox is left out | `event-in-outbox` |
//! | an event's id changes with each delivery | `delivery-has-event` |
//! | events of an order are delivered concurrently; a late failure reverts a delivery (#) | `outbox-in-order` |
//! | an observation is written in two transactions (#) | `state-has-event` |
//! | Retry-After is ignored | `pauses-kept` |
//! | an older response is taken for a newer one | `newest-response-counts` |
//! | a paid order is set to failed | storage fails only by injected faults: the schema rejects it |
//! | a missing amount counts as zero | `underpaid-has-short-invoice` |
//!
//! A world follows from its seed alone. At the end of a run a few worlds are run again, and their traces are compared.

mod behaviour;
mod customer;
mod disaster;
mod faulty_storage;
mod gateway;
mod invoice;
mod order_sources;
mod process;
mod proxy;
mod queries;
mod runner;
mod schedule;
mod stores;
mod timeline;
mod transport;
mod world;

use std::process::ExitCode;

fn main() -> ExitCode {
    runner::run()
}
