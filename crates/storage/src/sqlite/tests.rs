//! The contract of a ledger's store, shown on SQLite.

mod arriving;
mod attempting;
mod crediting;
mod hints;
mod keeping;
mod lives;
mod opening;
mod requesting;
mod telling;
mod watching;

use std::path::PathBuf;

use jiff::SignedDuration;

use super::*;
use florin_orders::EventType as E;
use florin_orders::fixtures::{amount, at, exact, invoice, new_attempt, received, said, terms};
use florin_orders::{EventType, LatePayment, OrderStatus, Standing, Verdict};

/// A ledger in a folder of its own, gone with the value.
struct Home {
    ledger: SqliteLedger,
    folder: PathBuf,
}

impl Drop for Home {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn url(folder: &std::path::Path) -> String {
    format!("sqlite://{}", folder.join("florin.db").display())
}

async fn home(name: &str) -> Home {
    let folder = std::env::temp_dir().join(format!("florin-ledger-{}-{name}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    let ledger = SqliteLedger::open(&url(&folder), "test").await.unwrap();
    Home { ledger, folder }
}

fn id(number: u8) -> OrderId {
    OrderId::from_random([number; 16])
}

fn token(number: u8) -> TokenHash {
    TokenHash([number; 32])
}

async fn order(ledger: &SqliteLedger, number: u8) -> Opened {
    let terms = terms(&format!("r{number}"));
    ledger
        .open_order(&id(number), &terms, token(number), at(86_400), at(0))
        .await
        .unwrap()
}

/// An order with an open attempt of the same number.
async fn awaiting(ledger: &SqliteLedger, number: u8) {
    order(ledger, number).await;
    attempt(ledger, number, number).await;
}

async fn attempt(ledger: &SqliteLedger, order: u8, number: u8) {
    ledger
        .begin_attempt(&id(order), &new_attempt(number), at(0))
        .await
        .unwrap();
    let invoice = invoice(number);
    ledger
        .open_attempt(&new_attempt(number).id, &invoice, at(0))
        .await
        .unwrap();
}

async fn look(ledger: &SqliteLedger, now: i64) -> DueAttempt {
    // Whatever it is for, the most urgent first.
    for urgency in [Urgency::Hinted, Urgency::Watched, Urgency::Planned] {
        let due = ledger.due_attempts(urgency, at(now), at(now + 30), 1).await;
        if let Some(due) = due.unwrap().pop() {
            return due;
        }
    }
    panic!("an attempt is due");
}

async fn see(ledger: &SqliteLedger, now: i64, mut seen: Observation) -> Observed {
    let due = look(ledger, now).await;
    seen.invoice_id = Some(due.invoice_id.to_string());
    seen.observed_at = at(now);
    ledger
        .observe(&due, &seen)
        .await
        .unwrap()
        .expect("the latest look")
}

fn demo() -> StoreId {
    StoreId::parse("demo").unwrap()
}

async fn event_types(ledger: &SqliteLedger) -> Vec<EventType> {
    let events = ledger.events(&demo(), None, 100).await.unwrap().unwrap();
    for (event, number) in events.iter().zip(1..) {
        assert_eq!(event.sequence, number, "events are numbered without a gap");
    }
    events.into_iter().map(|event| event.event_type).collect()
}

async fn status(ledger: &SqliteLedger, number: u8) -> OrderStatus {
    ledger
        .snapshot(&id(number))
        .await
        .unwrap()
        .unwrap()
        .order
        .status
}
