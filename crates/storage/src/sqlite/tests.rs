//! The storage contract, tested with SQLite.

mod attempts;
mod callbacks;
mod credits;
mod deliveries;
mod growth;
mod migrations;
mod model;
mod orders;
mod payments;
mod plans;
mod polling;
mod requests;
mod totals;
mod writing;

use florin_orders::fixtures::{amount, at, exact, invoice, new_attempt, observed, received, terms};
use florin_orders::{
    Assessment, EventType, EventType as E, LatePayment, OrderStatus, PaymentState,
};
use tempfile::TempDir;

use super::*;

/// Storage in a temporary folder that is removed on drop.
struct TestStorage {
    storage: SqliteStorage,
    folder: TempDir,
}

fn url(folder: &TempDir) -> String {
    format!("sqlite://{}", folder.path().join("florin.db").display())
}

fn temporary_folder() -> TempDir {
    tempfile::Builder::new()
        .prefix("florin-storage-")
        .tempdir()
        .unwrap()
}

async fn test() -> TestStorage {
    let folder = temporary_folder();
    let storage = SqliteStorage::open(&url(&folder), "test").await.unwrap();
    TestStorage { storage, folder }
}

fn id(number: u8) -> OrderId {
    OrderId::from_random([number; 16])
}

fn token(number: u8) -> TokenHash {
    TokenHash([number; 32])
}

async fn order(storage: &SqliteStorage, number: u8) -> Opened {
    let terms = terms(&format!("r{number}"));
    storage
        .open_order(&id(number), &terms, token(number), at(86_400), at(0))
        .await
        .unwrap()
}

/// An order with an open attempt of the same number.
async fn awaiting(storage: &SqliteStorage, number: u8) {
    order(storage, number).await;
    attempt(storage, number, number).await;
}

async fn attempt(storage: &SqliteStorage, order: u8, number: u8) {
    storage
        .begin_attempt(&id(order), &new_attempt(number), at(0))
        .await
        .unwrap();
    let invoice = invoice(number);
    storage
        .open_attempt(&new_attempt(number).id, &invoice, at(0))
        .await
        .unwrap();
}

async fn poll(storage: &SqliteStorage, now: i64) -> DueAttempt {
    // All priorities, the highest first.
    for priority in [
        PollPriority::Callback,
        PollPriority::Watched,
        PollPriority::Scheduled,
    ] {
        let due = storage
            .due_attempts(priority, at(now), at(now + 30), 1)
            .await;
        if let Some(due) = due.unwrap().pop() {
            return due;
        }
    }
    panic!("an attempt is due");
}

async fn observe(
    storage: &SqliteStorage,
    now: i64,
    mut observation: Observation,
) -> RecordedObservation {
    let due = poll(storage, now).await;
    observation.invoice_id = Some(due.invoice_id.to_string());
    observation.observed_at = at(now);
    storage
        .record_observation(&due, &observation)
        .await
        .unwrap()
        .expect("the latest poll")
}

fn demo() -> StoreId {
    StoreId::parse("demo").unwrap()
}

async fn event_types(storage: &SqliteStorage) -> Vec<EventType> {
    let events = storage.events(&demo(), None, 100).await.unwrap().unwrap();
    for (event, number) in events.iter().zip(1..) {
        assert_eq!(event.sequence, number, "events are numbered without a gap");
    }
    events.into_iter().map(|event| event.event_type).collect()
}

async fn status(storage: &SqliteStorage, number: u8) -> OrderStatus {
    storage
        .snapshot(&id(number))
        .await
        .unwrap()
        .unwrap()
        .order
        .status
}
