//! A seeded simulation of whole order lives: the real doors, watcher, teller, keeper, client and ledger, with clock,
//! chance, service, stores and customers played from one seed on virtual time, and everything failing meanwhile.
//!
//! ```text
//! cargo test -p tests --test simulation                                            a thousand lives
//! cargo xtask bench --lives 100000                                                 as many as you like, optimised
//! FLORIN_SIM_SEED=… FLORIN_SIM_WORLD=… cargo test -p tests --test simulation       one world again, with its log
//! ```
//!
//! What it refuses to do: to judge by the code that it judges, and to pass when something never happened.

mod books;
mod chance;
mod coin;
mod course;
mod coverage;
mod customer;
mod decimal;
mod door;
mod invariants;
mod invoice;
mod jobs;
mod life;
mod line;
mod manner;
mod run;
mod service;
mod shaky;
mod shop;
mod stores;
mod tally;
mod timeline;
mod trouble;
mod world;

use std::process::ExitCode;

fn main() -> ExitCode {
    run::run()
}
