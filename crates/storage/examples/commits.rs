//! Orders per second with sixteen writers: transactions that share commits, beside one commit for each order.
//!
//! `cargo run --release --package florin-storage --example commits -- FOLDER`: the disk of the folder counts. The exit code is
//! 1 when sharing is not at least three times as fast.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use florin_orders::fixtures::{at, terms};
use florin_orders::{OrderId, TokenHash};
use florin_storage::{SqliteStorage, Storage as _};
use tokio::sync::Mutex;
use tokio::task::JoinSet;

const WRITERS: u32 = 16;
const ORDERS_PER_WRITER: u32 = 60;
/// The better of these counts: other programs use the disk as well.
const ROUNDS: usize = 3;
const TIMES: u128 = 3;

#[derive(Clone, Copy)]
enum Commits {
    /// Those that wait together share one.
    Shared,
    /// Each has its own transaction, and runs alone.
    OneEach,
}

#[tokio::main]
async fn main() -> ExitCode {
    let folder = std::env::args().nth(1).unwrap_or_else(|| ".".into());
    let mut best = [Duration::MAX; 2];
    for round in 0..ROUNDS {
        for (n, commits) in [Commits::OneEach, Commits::Shared].into_iter().enumerate() {
            let file = Path::new(&folder).join(format!("commits-{round}-{n}.db"));
            best[n] = best[n].min(time_of(&file, commits).await);
        }
    }
    let orders = u128::from(WRITERS * ORDERS_PER_WRITER);
    let [alone, shared] = best.map(|time| orders * 1_000_000_000 / time.as_nanos());
    let tenths = 10 * shared / alone;
    println!(
        "orders/s with {WRITERS} writers, synchronous=FULL: {shared}; with a commit for each order: {alone}; {}.{} times as \
         fast (promised: {TIMES})",
        tenths / 10,
        tenths % 10
    );
    ExitCode::from(u8::from(tenths < 10 * TIMES))
}

#[expect(clippy::disallowed_methods, reason = "a stopwatch")]
async fn time_of(file: &Path, commits: Commits) -> Duration {
    let url = format!("sqlite://{}", file.display());
    let storage = SqliteStorage::open(&url, "test").await;
    let storage = storage.expect("the folder is writable");
    let alone = Arc::new(Mutex::new(()));
    let began = Instant::now();
    let mut writers = JoinSet::new();
    for writer in 0..WRITERS {
        let (storage, alone) = (storage.clone(), alone.clone());
        writers.spawn(async move {
            for order in 0..ORDERS_PER_WRITER {
                let guard = match commits {
                    Commits::OneEach => Some(alone.lock().await),
                    Commits::Shared => None,
                };
                open(&storage, writer * ORDERS_PER_WRITER + order).await;
                drop(guard);
            }
        });
    }
    while let Some(done) = writers.join_next().await {
        done.expect("a writer does not panic");
    }
    let time = began.elapsed();
    storage.close().await;
    time
}

async fn open(storage: &SqliteStorage, number: u32) {
    let (mut id, mut token) = ([0; 16], [0; 32]);
    id[..4].copy_from_slice(&number.to_be_bytes());
    token[..4].copy_from_slice(&number.to_be_bytes());
    let (id, token) = (OrderId::from_random(id), TokenHash(token));
    let opened = storage
        .open_order(&id, &terms(&format!("r{number}")), token, at(86_400), at(0))
        .await;
    opened.expect("each order is new");
}
