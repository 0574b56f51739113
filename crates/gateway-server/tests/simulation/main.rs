//! A seeded simulation of the gateway: its core, its API and its database are real; chain, node, clock and customers follow
//! from one seed, and operations are cut off at any of their waits.
//!
//! ```text
//! cargo test -p florin-gateway --test simulation                                        two thousand invoices
//! cargo xtask simulate --orders 100000                                                  any number, optimised
//! FLORIN_SIM_SEED=… FLORIN_SIM_WORLD=… cargo test -p florin-gateway --test simulation   one world again
//! ```
//!
//! The judge is the chain at the tip that the database has recorded:
//!
//! | rule | holds |
//! |---|---|
//! | `money` | each unit at an address of ours is in its invoice's received amount, or listed without an invoice; none twice |
//! | `status` | COMPLETED: every payment has the required confirmations; FAILED: a recorded tip passed the deadline, and only stuck payments are there |
//! | `address` | no index is given twice |
//! | `callback` | each COMPLETED and FAILED of an invoice is queued once, nothing else is |
//! | `settled` | terms never change; amounts and times of a settled invoice change with its payments only |
//! | `kept` | an answered invoice is in the database |
//! | `answer` | GET /invoice shows what the database has |
//! | `works` | an operation that was cut off leaves no lock; no error without a cause |
//!
//! A restored backup has forgotten the invoices that were opened since. The chain shows which of their addresses were paid: an
//! index up to the last paid one is not given again. One above it is, since nothing shows that it was given. Money that reaches
//! it later is counted for the new invoice.
//!
//! A world follows from its seed but for the threads of SQLite: a wait of an operation is left out when the database has
//! answered already.

#![cfg(test)]

mod chain;
mod customer;
mod judge;
mod node;
mod parts;
mod planted;
mod world;

use std::collections::BTreeMap;
use std::env;
use std::hash::{BuildHasher as _, RandomState};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use parking_lot::Mutex;

use crate::parts::Random;
use crate::planted::{PLANTED, Planted};
use crate::world::World;

const INVOICES: u64 = 2_000;
const INVOICES_PER_WORLD: u64 = 100;
/// A planted bug is found within this many worlds.
const WORLDS_OF_A_PLANT: u64 = 50;

/// What has to happen in a run: a fault that never happens proves nothing.
const REQUIRED: &str = "exactly, less, more, in two parts, twice, late, never, dust, to an old address, another asset, \
    a look-alike token, several outputs, to an index that was never issued, low fee, reorganisation, double spent, fee raised, \
    amount replaced, replaced, node restarted, node down, node behind, clock stepped, crash, crash while it waits, backup, \
    restored backup, read again, the answer was lost, look cut off, POST /invoice cut off, invoice opened during a look, \
    PROCESSING, COMPLETED, FAILED";

fn variable(name: &str) -> Option<u64> {
    let text = env::var(name).ok()?;
    let number = text.parse();
    Some(number.unwrap_or_else(|_| panic!("{name} is a whole number, not {text:?}")))
}

/// Plays a world, and counts what happened. An error has the last things that happened, and the rule.
fn play(
    seed: u64,
    number: u64,
    planted: Option<Planted>,
) -> Result<BTreeMap<&'static str, u64>, String> {
    let seed = Random((seed.wrapping_mul(0x1_0000_0001) ^ number).into()).draw();
    let memory = Some(Path::new("/dev/shm")).filter(|memory| memory.is_dir());
    let folder = memory.map_or_else(tempfile::tempdir, tempfile::tempdir_in);
    let folder = folder.expect("a folder for the databases");
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build();
    runtime
        .expect("a runtime on this thread alone")
        .block_on(async {
            let mut world = World::new(seed, folder.path(), planted).await?;
            let played = world.play(INVOICES_PER_WORLD).await;
            let last = world.log.len().saturating_sub(40);
            played.map_err(|error| format!("{}\n{error}", world.log[last..].join("\n")))?;
            Ok(world.counts)
        })
}

#[test]
fn every_rule_holds() {
    let fresh = || RandomState::new().hash_one(0) >> 32;
    let seed = variable("FLORIN_SIM_SEED").unwrap_or_else(fresh);
    let invoices = variable("FLORIN_SIM_ORDERS").unwrap_or(INVOICES);
    let only = variable("FLORIN_SIM_WORLD");
    let (first, end) = only.map_or((0, invoices.div_ceil(INVOICES_PER_WORLD)), |it| {
        (it, it + 1)
    });
    println!("simulation: {invoices} invoices, FLORIN_SIM_SEED={seed}");
    let next = AtomicU64::new(first);
    let (counts, failures) = (Mutex::new(BTreeMap::new()), Mutex::new(Vec::new()));
    let work = || {
        while failures.lock().is_empty() {
            let world = next.fetch_add(1, Ordering::Relaxed);
            if world >= end {
                break;
            }
            match play(seed, world, None) {
                Ok(counted) => {
                    let mut counts = counts.lock();
                    for (what, count) in counted {
                        *counts.entry(what).or_insert(0) += count;
                    }
                }
                Err(error) => failures.lock().push(format!(
                    "{error}\nSee it again: FLORIN_SIM_SEED={seed} FLORIN_SIM_WORLD={world}"
                )),
            }
        }
    };
    let threads = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(work);
        }
    });
    let (counts, failures) = (counts.into_inner(), failures.into_inner());
    println!("{counts:#?}");
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    if invoices >= INVOICES && only.is_none() {
        let missing = REQUIRED
            .split(", ")
            .filter(|what| !counts.contains_key(what));
        let missing: Vec<_> = missing.collect();
        assert!(missing.is_empty(), "never happened: {missing:?}");
    }
}

#[test]
fn planted_bugs_are_found() {
    for (rule, bug, planted) in PLANTED {
        let mut worlds = 0..WORLDS_OF_A_PLANT;
        let found = worlds.find_map(|world| play(11, world, Some(planted)).err());
        let found = found.unwrap_or_else(|| panic!("not found: {bug}"));
        let mut rules = rule.split(" or ");
        let is_found = rules.any(|rule| found.contains(&format!("VIOLATED {rule}:")));
        assert!(is_found, "{bug} is not found by the rule {rule}: {found}");
    }
}
