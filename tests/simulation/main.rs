//! A seeded simulation of whole order lives: the real doors, watcher, teller, keeper, client and ledger, with clock,
//! chance, service, stores and customers played from one seed on virtual time, and everything failing meanwhile.
//!
//! ```text
//! cargo test -p tests --test simulation                                            a thousand lives
//! cargo xtask simulate --orders 100000                                             as many as you like, optimised
//! FLORIN_SIM_SEED=… FLORIN_SIM_WORLD=… cargo test -p tests --test simulation       one world again, with its log
//! ```
//!
//! What it refuses to do: to judge by the code that it judges, and to pass when something never happened.
//!
//! A world that breaks prints the two variables that show it again. Its log, on standard error, says what every
//! customer, the service, the store and the ledger did, minute by minute, with the proxy's own log between; the first
//! `VIOLATED` is the one to read. Whoever adds an invariant plants a bug first and sees it found. These were, each
//! alone, in the first worlds or in the thousand lives or so that a `#` marks:
//!
//! | planted | what complained |
//! |---|---|
//! | PROCESSING is credited; five percent less is credited | credit only for money that truly arrived |
//! | tolerance is added to the price | money that arrived is credited |
//! | nothing is looked at after its end; an older attempt is not looked at | every attempt that can still change … |
//! | a POST is sent again after an unclear answer | one attempt asks for one invoice |
//! | a suspicious invoice is shown | no suspicious invoice is shown |
//! | an event's row in the outbox is left out | every event is in the outbox |
//! | an event's id is drawn anew for each try | every store hears everything |
//! | events of an order are told at once; a late failure untells (#) | an order's events are told in order |
//! | an observation is written in two transactions (#) | a status is told |
//! | a pause asked for is not kept | no call within Retry-After |
//! | an older answer is taken for a newer one | an older answer is never recorded after a newer one |
//! | a paid order is set to failed | the ledger fails only when its machine does: the schema refuses it |
//! | an absent amount counts as nothing | missing money is told only where it is missing |

mod api;
mod behaviour;
mod coin;
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
