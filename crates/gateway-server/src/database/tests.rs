//! Two processes on one PostgreSQL.

use std::collections::BTreeSet;

use florin_money::Amount;
use florin_servers::{Durability, PostgresServer};
use jiff::SignedDuration;

use super::*;
use crate::chain::{Changes, Transfer};
use crate::invoice::tests::{at, invoice};
use crate::wire::Status;

const CHAIN: Chain = Chain::Bitcoin;

/// The database of two processes, as each opens it. The server ends with its value.
async fn two_databases() -> (PostgresServer, [Database; 2]) {
    let server = PostgresServer::start(Durability::None).unwrap();
    server.create_database("gateway", None).unwrap();
    let url = server.url("gateway");
    // Both find an empty database.
    let (one, other) = tokio::join!(Database::open(&url), Database::open(&url));
    let databases = [one.unwrap(), other.unwrap()];
    for database in &databases {
        database.add_chain(CHAIN, "key").await.unwrap();
    }
    (server, databases)
}

#[tokio::test(flavor = "multi_thread")]
async fn processes_on_one_database_share_indexes_looks_and_callbacks() {
    let (_server, [one, other]) = two_databases().await;

    let indexes = async |database: &Database| {
        let mut taken = Vec::new();
        for _ in 0..50 {
            taken.push(database.take_index(CHAIN).await.unwrap());
        }
        taken
    };
    let (mut taken, others) = tokio::join!(indexes(&one), indexes(&other));
    taken.extend(others);
    let distinct: BTreeSet<u32> = taken.iter().copied().collect();
    assert_eq!(distinct, (0..100).collect());

    let asked = invoice();
    one.insert_invoice(&asked).await.unwrap();
    let transfer = Transfer {
        id: "ab:0".to_owned(),
        code: asked.coin.code.clone(),
        index: 0,
        address: String::new(),
        amount: Amount::from(&asked.terms.crypto),
        transaction_hash: "ab".to_owned(),
        block: Some(150),
        low_fee: false,
    };
    let changes = Changes {
        cursor: "150".to_owned(),
        tip: Tip {
            height: 250,
            hash: String::new(),
            time: at(60),
        },
        transfers: vec![transfer],
        gone: Vec::new(),
        is_caught_up: true,
    };
    let week = SignedDuration::from_hours(7 * 24);
    let last = one.last_look(CHAIN, week, at(60)).await.unwrap();
    let recorded = one.record(CHAIN, &last, &changes, at(60)).await.unwrap();
    assert_eq!(recorded.len(), 1);
    // The other process asked the node before the payment, and comes second.
    let stale = Changes {
        cursor: "149".to_owned(),
        transfers: Vec::new(),
        gone: vec!["ab:0".to_owned()],
        ..changes
    };
    let recorded = other.record(CHAIN, &last, &stale, at(60)).await.unwrap();
    assert_eq!(recorded.len(), 0);
    let next = other.last_look(CHAIN, week, at(60)).await.unwrap();
    assert_eq!(next.cursor, "150");
    let paid = other.invoice(&asked.id).await.unwrap().unwrap();
    assert_eq!(paid.status(), Status::Completed);
    assert_eq!(paid.payments().len(), 1);

    for _ in 0..200 {
        let queued = one.queue_callback(&asked.id, Status::Completed, None);
        queued.await.unwrap();
    }
    let take = |database: Database| {
        tokio::spawn(async move {
            let mut taken = Vec::new();
            for _ in 0..50 {
                taken.extend(database.take_callbacks(5, false, at(60)).await.unwrap());
            }
            taken
        })
    };
    let (mine, theirs) = (take(one), take(other));
    let taken = [mine.await.unwrap(), theirs.await.unwrap()].concat();
    let mut numbers: Vec<i64> = taken.iter().map(|callback| callback.number).collect();
    numbers.sort_unstable();
    let count = numbers.len();
    numbers.dedup();
    assert_eq!(numbers.len(), count, "no callback is taken twice");
    // The first one is that of the payment.
    assert_eq!(count, 201);
}
