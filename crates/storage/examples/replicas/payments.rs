//! Orders and paid orders in a second: a file of SQLite, one process on PostgreSQL, and three.

use std::path::Path;
use std::time::Duration;

use florin_postgres::PostgresServer;

use crate::machine::{Used, synced_writes};
use crate::worker::{LENGTH, Task, Worker, together};

/// All together, so that each database has the same work to do.
const CUSTOMERS: u32 = 48;
/// The best of these counts: other programs use the machine as well.
const ROUNDS: usize = 2;
/// Promised: paid orders of three processes, divided by those of SQLite.
const TIMES: u64 = 2;
/// Cores with less idle time than this are in use, in thousandths.
const IDLE: u64 = 100;

/// The compared databases.
const DATABASES: [(&str, u32); 3] = [
    ("SQLite", 1),
    ("PostgreSQL, one process", 1),
    ("PostgreSQL, three processes", 3),
];

/// The best of several rounds.
#[derive(Clone, Copy, Debug, Default)]
struct Best {
    opened: u64,
    paid: u64,
    /// Of a core, while the best number of orders was paid, and of the machine.
    time_per_paid: Duration,
    used: Used,
}

/// Measures and prints. Returns `true` if the promise is kept, or the machine is the limit.
pub(crate) async fn compare(server: &PostgresServer, folder: &Path) -> bool {
    let mut best = [Best::default(); DATABASES.len()];
    for round in 0..ROUNDS {
        for (number, (_, processes)) in DATABASES.into_iter().enumerate() {
            let url = if number == 0 {
                format!("sqlite://{}/replicas-{round}.db", folder.display())
            } else {
                database(server, &format!("paid_{round}_{number}")).await
            };
            measure(&url, processes, &mut best[number]);
        }
    }
    println!(
        "  {CUSTOMERS} customers, best of {ROUNDS} runs of {} s",
        LENGTH.as_secs()
    );
    println!(
        "    {:<28}{:>10}{:>14}{:>22}{:>8}{:>14}",
        "", "orders/s", "paid orders/s", "core's time per paid", "idle", "disk alone"
    );
    for ((name, _), best) in DATABASES.iter().zip(&best) {
        println!(
            "    {name:<28}{:>10}{:>14}{:>22}{:>8}{:>14}",
            best.opened,
            best.paid,
            format!("{} ms", milliseconds(best.time_per_paid)),
            percent(best.used.idle),
            percent(best.used.waiting),
        );
    }
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    println!(
        "    the machine: {cores} cores, {} synchronised writes/s one after the other",
        synced_writes(folder)
    );
    judge(&best[0], &best[2], cores)
}

/// An empty database with the schema.
pub(crate) async fn database(server: &PostgresServer, name: &str) -> String {
    let created = server.create_database(name, None);
    created.expect("the server makes databases");
    let url = server.url(name);
    let migrated = florin_storage::migrate_postgres(&url, "test").await;
    migrated.expect("an empty database can be migrated");
    url
}

fn measure(url: &str, processes: u32, best: &mut Best) {
    let start = |number| Worker::start(url, number, CUSTOMERS / processes);
    let mut workers: Vec<Worker> = (0..processes).map(start).collect();
    best.opened = best.opened.max(together(&mut workers, Task::Open).rate);
    let paid = together(&mut workers, Task::Pay);
    if paid.rate > best.paid {
        best.paid = paid.rate;
        best.time_per_paid = paid.used.ours / u32::try_from(paid.count).unwrap_or(u32::MAX);
        best.used = paid.used;
    }
}

fn judge(sqlite: &Best, three: &Best, cores: usize) -> bool {
    let tenths = 10 * three.paid / sqlite.paid.max(1);
    println!(
        "    three processes on PostgreSQL pay {}.{} times the orders of SQLite (goal: {TIMES})",
        tenths / 10,
        tenths % 10
    );
    if tenths >= 10 * TIMES {
        return true;
    }
    if three.used.idle > IDLE {
        println!("    while neither the cores nor the disk were in use all the time");
        return false;
    }
    if three.used.waiting > IDLE {
        println!("    the disk is the limit: the cores waited for it");
        return true;
    }
    let per_core = Duration::from_secs(1).as_nanos() / three.time_per_paid.as_nanos().max(1);
    let needed = u128::from(10 * TIMES * sqlite.paid) / per_core.max(1);
    println!(
        "    the cores are the limit: none was idle. A core pays {per_core} orders/s, {cores} cores pay {}, and {TIMES} times \
         the orders of SQLite need {}.{} cores",
        per_core * cores as u128,
        needed / 10,
        needed % 10
    );
    true
}

fn milliseconds(time: Duration) -> String {
    let micros = time.as_micros();
    format!("{}.{:02}", micros / 1000, micros % 1000 / 10)
}

fn percent(thousandths: u64) -> String {
    format!("{}.{} %", thousandths / 10, thousandths % 10)
}
