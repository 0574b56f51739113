//! Changes that one process announces and another receives, and versions that make a lost announcement harmless.

use std::time::Duration;

use florin_orders::PollPriority;
use tokio::time::Instant;

use super::relay::Relay;
use super::*;
use crate::{ChangeListener, Changed};

async fn next_of(listener: &mut dyn ChangeListener) -> Changed {
    let next = tokio::time::timeout(Duration::from_secs(5), listener.next());
    next.await.expect("an announcement arrives").unwrap()
}

#[tokio::test]
async fn a_process_receives_what_others_announce_and_not_its_own() {
    let (one, database) = store().await;
    let other = another(&database).await;
    let mut listener = one.listen().await.unwrap().unwrap();
    one.announce(&Changed::Orders(vec![id(1)])).await.unwrap();
    let many: Vec<_> = (0..=255).map(id).collect();
    other
        .announce(&Changed::Orders(many.clone()))
        .await
        .unwrap();
    other.announce(&Changed::All).await.unwrap();
    let mut orders = Vec::new();
    while orders.len() < many.len() {
        match next_of(&mut *listener).await {
            Changed::Orders(some) => orders.extend(some),
            Changed::All => panic!("announced later"),
        }
    }
    assert_eq!(orders, many);
    assert_eq!(next_of(&mut *listener).await, Changed::All);
}

#[tokio::test]
async fn a_listener_whose_connection_is_lost_says_so() {
    let (one, database) = store().await;
    let mut listener = one.listen().await.unwrap().unwrap();
    let ended = format!(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{database}' AND query LIKE 'LISTEN%'"
    );
    assert_eq!(server().psql("postgres", &ended).unwrap(), "t");
    assert!(listener.next().await.unwrap_err().outage().is_some());
    one.listen().await.unwrap().unwrap();
}

/// A connection that is open and delivers nothing, as through a firewall that has forgotten it.
#[tokio::test]
async fn a_listener_whose_connection_is_silently_dead_says_so() {
    let database = database();
    let relay = Relay::start().await;
    let url = relay.url(&database);
    let one = PostgresStorage::open_with(&url, "test", LeaseClock::Caller);
    let one = one.await.unwrap();
    let mut listener = one.listen().await.unwrap().unwrap();
    relay.stall();
    let began = Instant::now();
    let failed = tokio::time::timeout(Duration::from_secs(15), listener.next()).await;
    assert!(failed.expect("it is noticed").is_err());
    assert!(began.elapsed() < Duration::from_secs(12));
}

/// What a view shows, and what the next poll depends on, has another version after each write.
#[tokio::test]
async fn every_write_of_an_order_changes_its_version() {
    let (one, database) = store().await;
    let (storage, other) = (shared(&one), another(&database).await);
    let version = async || {
        let found = other.versions(&[id(1), id(9)]).await.unwrap();
        assert_eq!(found.len(), 1, "an unknown order has none");
        found[0].1
    };
    order(&storage, 1).await;
    let mut before = version().await;
    assert_eq!(version().await, before);
    let mut is_new = async |write: &str| {
        let after = version().await;
        assert_ne!(after, before, "{write}");
        before = after;
        assert_eq!(version().await, before, "{write}");
    };
    let attempt = new_attempt(1);
    one.begin_attempt(&id(1), &attempt, at(0)).await.unwrap();
    let opened = one.open_attempt(&attempt.id, &invoice(1), at(0)).await;
    opened.unwrap();
    is_new("open").await;
    one.mark_as_paid(&id(1), None, at(1)).await.unwrap();
    is_new("mark").await;
    one.schedule_poll(&id(1), at(1)).await.unwrap();
    is_new("schedule").await;
    let due = one.due_attempts(PollPriority::Watched, at(2), at(60), 1);
    let due = due.await.unwrap().remove(0);
    is_new("lease").await;
    let mut observation = exact("PENDING");
    observation.invoice_id = Some(due.invoice_id.to_string());
    one.record_observation(&due, &observation).await.unwrap();
    is_new("record").await;
    let (mine, email) = (id(1), Some("buyer@shop.example"));
    one.keep_receipt_email(&mine, email, at(4)).await.unwrap();
    is_new("email").await;
    one.cancel_order(&mine, at(4)).await.unwrap();
    is_new("cancel").await;
    let refused = one.begin_attempt(&mine, &new_attempt(2), at(5)).await;
    refused.unwrap_err();
    assert_eq!(version().await, before, "a refused write is none");
}
