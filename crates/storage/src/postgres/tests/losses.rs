//! Lost connections: before a commit, after it, in the middle, and by a caller that gives up.

use std::time::Duration;

use super::relay::{Cut, Relay};
use super::*;
use crate::postgres::transaction::TRIES;
use crate::{Fingerprint, RequestId};

/// Orders in each database of the test of lost commits.
const ORDERS: u8 = 30;
/// Commits of an order that are lost.
const COMMITS: u8 = 8;
/// Databases at the same time.
const AT_ONCE: u32 = 4;

async fn number(storage: &PostgresStorage, query: &str) -> i64 {
    let query = sqlx::query_scalar(sqlx::AssertSqlSafe(query.to_owned()));
    query.fetch_one(&storage.reader).await.unwrap()
}

/// A purchase through the relay. Each step loses the connection around its commit, is repeated, and returns what it would
/// have returned.
async fn purchase(storage: &PostgresStorage, relay: &Relay, cut: Cut, n: u8) {
    let (order, due_at) = (id(n), 20);
    let request = RequestId([n; 32]);
    relay.arm(cut);
    let claim = storage.claim_request(request, Fingerprint([n; 32]), at(0), at(30));
    assert_eq!(claim.await.unwrap(), Claim::Acquired);
    relay.arm(cut);
    let wanted = terms(&format!("r{n}"));
    let opened = storage.open_order(&order, &wanted, token(n), at(86_400), at(0));
    assert!(opened.await.unwrap().is_new);
    relay.arm(cut);
    let response = StoredResponse {
        status: 201,
        body: "{}".into(),
    };
    let stored = storage.store_response(request, at(30), &response, at(900));
    assert!(stored.await.unwrap());
    relay.arm(cut);
    let attempt = storage.begin_attempt(&order, &new_attempt(n), at(0)).await;
    assert_eq!(attempt.unwrap().terms.id, new_attempt(n).id);
    relay.arm(cut);
    let (attempt, shown) = (new_attempt(n).id, invoice(n));
    let opened = storage.open_attempt(&attempt, &shown, at(0)).await;
    opened.unwrap();
    relay.arm(cut);
    assert!(
        storage
            .mark_as_paid(&order, None, at(5))
            .await
            .unwrap()
            .is_first
    );
    let due = storage.due_attempts(PollPriority::Unwatched, at(due_at), at(due_at + 30), 9);
    let due = due.await.unwrap().pop().unwrap();
    let observation = Observation {
        observed_at: at(due_at),
        invoice_id: Some(due.invoice_id.to_string()),
        ..exact("COMPLETED")
    };
    relay.arm(cut);
    let recorded = storage.record_observation(&due, &observation).await;
    let recorded = recorded.unwrap().expect("the latest poll");
    assert_eq!(recorded.snapshot.order.status, OrderStatus::Paid);
    assert_eq!(recorded.events, [EventType::Paid]);
    let first = storage.due_deliveries(&demo(), at(30), at(60), 1).await;
    let first = first.unwrap().pop().unwrap();
    let delivery = Delivery {
        event_id: first.event.id.clone(),
        tried_at: at(30),
        took: SignedDuration::from_millis(3),
        http_status: Some(204),
        note: "answered 204".into(),
    };
    relay.arm(cut);
    let delivered = storage.record_delivery(&delivery, DeliveryOutcome::Delivered);
    delivered.await.unwrap();
    assert!(relay.has_cut());
}

/// One order after the other, each commit of which loses its connection.
async fn lose_commits() {
    let database = database();
    let relay = Relay::start().await;
    let url = relay.url(&database);
    let storage = PostgresStorage::open_with(&url, "test", LeaseClock::Caller);
    let storage = storage.await.unwrap();
    for n in 1..=ORDERS {
        let cut = if n % 2 == 0 { Cut::Before } else { Cut::After };
        purchase(&storage, &relay, cut, n).await;
    }
    let orders = i64::from(ORDERS);
    for (rows, expected) in [
        ("orders", orders),
        ("attempts", orders),
        ("client_tokens", orders),
        ("observations WHERE times = 1", orders),
        ("credits", orders),
        // created, attempt_opened, paid
        ("events", 3 * orders),
        ("outbox", 3 * orders),
        ("deliveries", orders),
        ("outbox WHERE tries = 1", orders),
    ] {
        let found = number(&storage, &format!("SELECT count(*) FROM {rows}")).await;
        assert_eq!(found, expected, "{rows}");
    }
    storage.close().await;
}

/// Source: docs/operations/crash-tests.md, which runs 5,000.
fn lost_commits() -> u32 {
    let wanted = std::env::var("FLORIN_LOST_COMMITS");
    wanted.map_or(0, |text| text.parse().expect("a number"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_commit_without_an_answer_is_repeated_and_doubles_nothing() {
    let each = u32::from(ORDERS) * u32::from(COMMITS);
    let rounds = lost_commits().div_ceil(each).max(1);
    let mut lost = 0;
    while lost < rounds {
        let at_once = AT_ONCE.min(rounds - lost);
        let purchases = (0..at_once).map(|_| tokio::spawn(lose_commits()));
        for purchase in purchases.collect::<Vec<_>>() {
            purchase.await.unwrap();
        }
        lost += at_once;
    }
    println!("{} connections were lost around their commit", lost * each);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn connections_that_the_server_ends_fail_nothing() {
    let (storage, database) = store().await;
    let mut customers = Vec::new();
    for n in 1..=24_u8 {
        let storage = shared(&storage);
        customers.push(tokio::spawn(async move { awaiting(&storage, n).await }));
    }
    let mut ended = 0;
    // A round costs a transaction two of its tries at most: its connection, and one that came back to the pool dying.
    let mut rounds = TRIES / 2 - 1;
    let mut pauses = tokio::time::interval(Duration::from_millis(30));
    while rounds > 0 && !customers.iter().all(tokio::task::JoinHandle::is_finished) {
        let end = format!(
            "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
             WHERE datname = '{database}' AND state IN ('active', 'idle in transaction')"
        );
        let count = server().psql("postgres", &end).unwrap();
        let count = count.parse::<u32>().unwrap();
        ended += count;
        rounds -= u32::from(count > 0);
        pauses.tick().await;
    }
    assert!(ended > 0, "no connection was ended");
    for customer in customers {
        customer.await.unwrap();
    }
    println!("{ended} connections were ended");
    assert_eq!(
        number(
            &storage,
            "SELECT count(*) FROM attempts WHERE state = 'open'"
        )
        .await,
        24
    );
    assert_eq!(number(&storage, "SELECT count(*) FROM events").await, 48);
}

/// The caller gives up at another await in each round. Its order is opened all the same.
#[tokio::test]
async fn a_caller_that_gives_up_cancels_nothing() {
    let (storage, database) = store().await;
    for round in 0..60_u8 {
        let wanted = terms(&format!("r{round}"));
        let order = id(round);
        let mut given_up =
            Box::pin(storage.open_order(&order, &wanted, token(round), at(86_400), at(0)));
        // Polled when it is woken, as a runtime does: each round ends at another await.
        let mut polls = 0;
        std::future::poll_fn(|context| {
            polls += 1;
            match given_up.as_mut().poll(context) {
                std::task::Poll::Pending if polls <= round => std::task::Poll::Pending,
                _ => std::task::Poll::Ready(()),
            }
        })
        .await;
        drop(given_up);
    }
    let opened = "SELECT count(*) FROM orders";
    let mut turns = tokio::time::interval(Duration::from_millis(50));
    for _ in 0..200 {
        if number(&storage, opened).await == 60 {
            break;
        }
        turns.tick().await;
    }
    assert_eq!(number(&storage, opened).await, 60);
    // All connections, at the same time.
    let orders = (100..120).map(|n| {
        let storage = shared(&storage);
        tokio::spawn(async move { crate::contract::order(&storage, n).await })
    });
    for opened in orders.collect::<Vec<_>>() {
        assert!(opened.await.unwrap().is_new);
    }
    let open = format!(
        "SELECT count(*) FROM pg_stat_activity WHERE datname = '{database}' AND state LIKE 'idle in transaction%'"
    );
    assert_eq!(server().psql("postgres", &open).unwrap(), "0");
    let halves = "SELECT count(*) FROM orders WHERE sequence <> 1";
    assert_eq!(number(&storage, halves).await, 0);
}

#[tokio::test]
async fn an_unreachable_server_is_named_without_its_password() {
    let url = "postgres://florin:secret@127.0.0.1:1/florin?password=secret";
    let refused = PostgresStorage::open(url, "test").await.unwrap_err();
    let refused = refused.to_string();
    assert!(
        refused.starts_with("the database postgres://florin@127.0.0.1:1/florin cannot be opened"),
        "{refused}"
    );
    assert!(!refused.contains("secret"), "{refused}");
}
