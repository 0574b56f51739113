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
//! Invariants share no code with what they check, and a run in which a required fault never happened fails.
//!
//! A world that fails prints the two variables that repeat it. Its log on standard error shows every action of
//! customers, gateway, stores and storage together with the proxy's log; the first `VIOLATED` is the cause. A new
//! invariant needs a planted bug that it finds. These were found, each alone, in the first worlds or within about a
//! thousand orders (`#`):
//!
//! | planted | violated invariant |
//! |---|---|
//! | PROCESSING is credited; five percent less is credited | credit only for money that arrived |
//! | tolerance is added to the price | money that arrived is credited |
//! | nothing is polled after its end; an older attempt is not polled | every attempt that can still change … |
//! | a POST is repeated after an ambiguous outcome | one attempt requests one invoice |
//! | a suspicious invoice is shown | no suspicious invoice is shown |
//! | an event's row in the outbox is left out | every event is in the outbox |
//! | an event's id changes with each delivery | every store receives everything |
//! | events of an order are delivered concurrently; a late failure reverts a delivery (#) | an order's events are delivered in order |
//! | an observation is written in two transactions (#) | every status has an event |
//! | Retry-After is ignored | no call within Retry-After |
//! | an older response is taken for a newer one | an older response is never recorded after a newer one |
//! | a paid order is set to failed | storage fails only by injected faults: the schema rejects it |
//! | a missing amount counts as zero | an underpayment is reported only where one exists |

mod api;
mod asset;
mod behaviour;
mod counters;
mod coverage;
mod customer;
mod decimal;
mod faults;
mod faulty_storage;
mod gateway;
mod invariants;
mod invoice;
mod jobs;
mod process;
mod queries;
mod random;
mod runner;
mod schedule;
mod shop;
mod stores;
mod timeline;
mod transport;
mod world;

use std::process::ExitCode;

fn main() -> ExitCode {
    runner::run()
}
