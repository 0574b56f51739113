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

/// The stores of two processes. The server ends with its value.
async fn two_stores() -> (PostgresServer, [Store; 2]) {
    let server = PostgresServer::start(Durability::None).unwrap();
    server.create_database("gateway", None).unwrap();
    let url = server.url("gateway");
    // Both find an empty database.
    let (one, other) = tokio::join!(Store::open(&url), Store::open(&url));
    let stores = [one.unwrap(), other.unwrap()];
    for store in &stores {
        store.add_chain(CHAIN, "key").await.unwrap();
    }
    (server, stores)
}

#[tokio::test]
async fn processes_on_one_database_share_indexes_looks_and_callbacks() {
    let (_server, [one, other]) = two_stores().await;

    let indexes = async |store: &Store| {
        let mut taken = Vec::new();
        for _ in 0..50 {
            taken.push(store.take_index(CHAIN).await.unwrap());
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
    let record = async |store: &Store| store.record(CHAIN, &last, &changes, at(60)).await.unwrap();
    let (first, second) = tokio::join!(record(&one), record(&other));
    assert_eq!(
        first.len() + second.len(),
        1,
        "one of two equal looks counts"
    );
    let paid = other.invoice(&asked.id).await.unwrap().unwrap();
    assert_eq!(paid.status(), Status::Completed);
    assert_eq!(paid.payments().len(), 1);

    for _ in 0..20 {
        let queued = one.queue_callback(&asked.id, Status::Completed, None);
        queued.await.unwrap();
    }
    let take = async |store: &Store| store.take_callbacks(15, false, at(60)).await.unwrap();
    let (mine, theirs) = tokio::join!(take(&one), take(&other));
    let numbers = mine.iter().chain(&theirs).map(|callback| callback.number);
    let distinct: BTreeSet<i64> = numbers.clone().collect();
    assert_eq!(
        distinct.len(),
        numbers.count(),
        "no callback is taken twice"
    );
    assert!(take(&other).await.len() + distinct.len() >= 20);
}
