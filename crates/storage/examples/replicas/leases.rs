//! Polls leased in a second, from 100,000 that are due.

use florin_orders::OrderId;
use florin_orders::fixtures::{at, invoice, new_attempt, terms};
use florin_postgres::PostgresServer;
use florin_storage::{PostgresStorage, Storage as _};

use crate::payments::database;
use crate::worker::{BATCH, Done, Task, Worker, together};

const DATABASE: &str = "leased";
const DUE: u64 = 100_000;
const PROCESSES: u32 = 3;
/// Each process leases for all priorities one after the other.
const LEASES_AT_ONCE: u32 = 1;
/// Promised, each second.
const PROMISED: u64 = 1_000;

/// Measures and prints. Returns `true` if the promise is kept.
pub(crate) async fn measure(server: &PostgresServer) -> bool {
    let url = database(server, DATABASE).await;
    fill(server, &url).await;
    let start = |number| Worker::start(&url, number, LEASES_AT_ONCE);
    let mut workers: Vec<Worker> = (0..PROCESSES).map(start).collect();
    let Done {
        count: leased,
        rate,
        ..
    } = together(&mut workers, Task::Lease);
    drop(workers);
    println!(
        "  {DUE} due polls, {PROCESSES} processes, {BATCH} at once: {rate} leased/s (promised: {PROMISED})"
    );
    let fences = "SELECT max(poll_seq), sum(poll_seq) FROM polls";
    let fences = server.psql(DATABASE, fences).expect("the server answers");
    let (most, all) = fences.split_once('|').expect("two columns");
    let all: u64 = all.parse().expect("a number");
    // A lease that was under way at the end does not count.
    let uncounted = u64::from(PROCESSES * LEASES_AT_ONCE * BATCH);
    if most != "1" || !(leased..=leased + uncounted).contains(&all) {
        println!("    {leased} leases, and {all} in the database, up to {most} of one poll");
        return false;
    }
    rate >= PROMISED
}

/// Makes one order with an open attempt, and copies its rows.
async fn fill(server: &PostgresServer, url: &str) {
    let storage = PostgresStorage::open(url, "test").await;
    let storage = storage.expect("the database has its schema");
    let (id, attempt, invoice) = (
        OrderId::from_random([0xff; 16]),
        new_attempt(0xff),
        invoice(1),
    );
    let token = florin_orders::TokenHash([0; 32]);
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
