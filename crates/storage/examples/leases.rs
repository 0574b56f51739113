//! Polls that three stores on one PostgreSQL lease in a second, of 100,000 that are due.
//!
//! `cargo run --release --package florin-storage --example leases`. The exit code is 1 when they lease fewer than promised, or
//! one poll twice.

use std::process::ExitCode;
use std::time::Instant;

use florin_orders::fixtures::{at, invoice, new_attempt, terms};
use florin_orders::{OrderId, PollPriority, TokenHash};
use florin_postgres::{Durability, PostgresServer};
use florin_storage::{PostgresStorage, Storage as _};
use tokio::task::JoinSet;

const DATABASE: &str = "leased";
const DUE: u64 = 100_000;
const STORES: u64 = 3;
/// Polls that are leased together.
const BATCH: u32 = 8;
/// Leases of each store.
const LEASES: u64 = 1_000;
/// All polls are due by then, and no order has expired.
const NOW: i64 = 20;
const LEASED_UNTIL: i64 = 80;
/// Promised, each second.
const PROMISED: u128 = 1_000;

#[tokio::main]
#[expect(clippy::disallowed_methods, reason = "a stopwatch")]
async fn main() -> ExitCode {
    let server = PostgresServer::start(Durability::Full).expect("PostgreSQL is installed");
    let created = server.create_database(DATABASE, None);
    created.expect("the server makes databases");
    let url = server.url(DATABASE);
    let migrated = florin_storage::migrate_postgres(&url, "test").await;
    migrated.expect("an empty database can be migrated");
    fill(&server, &url).await;
    let mut stores = Vec::new();
    for _ in 0..STORES {
        stores.push(open(&url).await);
    }
    let (mut leasing, began) = (JoinSet::new(), Instant::now());
    for store in stores {
        leasing.spawn(async move {
            let mut leased = 0;
            for _ in 0..LEASES {
                let due =
                    store.due_attempts(PollPriority::Unwatched, at(NOW), at(LEASED_UNTIL), BATCH);
                leased += due.await.expect("the database answers").len() as u64;
            }
            leased
        });
    }
    let leased: u64 = leasing.join_all().await.into_iter().sum();
    let rate = u128::from(leased) * 1000 / began.elapsed().as_millis().max(1);
    println!(
        "  {DUE} due polls, {STORES} stores, {BATCH} at once: {rate} leased/s (promised: {PROMISED})"
    );
    let fences = "SELECT max(poll_seq), sum(poll_seq) FROM polls";
    let fences = server.psql(DATABASE, fences).expect("the server answers");
    let is_once = fences == format!("1|{leased}");
    if !is_once {
        println!("    {leased} leases; most leases of one poll, and of all: {fences}");
    }
    ExitCode::from(u8::from(!is_once || rate < PROMISED))
}

async fn open(url: &str) -> PostgresStorage {
    let storage = PostgresStorage::open(url, "test").await;
    storage.expect("the database has its schema")
}

/// Makes one order with an open attempt, and copies its rows.
async fn fill(server: &PostgresServer, url: &str) {
    let storage = open(url).await;
    let (id, attempt, invoice) = (
        OrderId::from_random([0xff; 16]),
        new_attempt(0xff),
        invoice(1),
    );
    let token = TokenHash([0; 32]);
    let opened = storage
        .open_order(&id, &terms("due"), token, at(86_400), at(0))
        .await;
    opened.expect("the first order");
    let begun = storage.begin_attempt(&id, &attempt, at(0)).await;
    begun.expect("the first attempt");
    let opened = storage.open_attempt(&attempt.id, &invoice, at(0)).await;
    opened.expect("the first invoice");
    storage.close().await;
    let order = "'ord_' || lpad(to_hex(n), 32, '0')";
    let attempt = "'att_' || lpad(to_hex(n), 32, '0')";
    let copies = [
        (
            "orders",
            format!("'id', {order}, 'reference', 'due-' || n, 'current_attempt', {attempt}"),
        ),
        (
            "attempts",
            format!("'id', {attempt}, 'order_id', {order}, 'invoice_id', 'inv-' || n"),
        ),
        (
            "polls",
            format!("'attempt_id', {attempt}, 'order_id', {order}, 'invoice_id', 'inv-' || n"),
        ),
    ];
    for (table, columns) in copies {
        // Its triggers check each row against the others, which are copied later.
        let copy = format!(
            "SET session_replication_role = replica;
             INSERT INTO {table} SELECT (jsonb_populate_record(first, jsonb_build_object({columns}))).*
             FROM {table} AS first, generate_series(1, {DUE} - 1) AS n; ANALYZE {table}"
        );
        server
            .psql(DATABASE, &copy)
            .expect("the rows are like the first");
    }
}
