//! Tests of a file alone. The contract of every store is in `crate::contract`.

mod growth;
mod plans;
mod restart;
mod totals;
mod writing;

use florin_orders::fixtures::{amount, at, exact, invoice, new_attempt, observed, terms};
use florin_orders::{EventType as E, Observation, OrderStatus, PollPriority};
use jiff::SignedDuration;
use tempfile::TempDir;

use super::*;
use crate::contract::{Store, awaiting, demo, id, observe, order, status, token};
use crate::{Delivery, DeliveryOutcome, DueAttempt, Opened, RecordedObservation, Storage as _};

/// Storage in a temporary folder that is removed on drop.
struct TestStorage {
    storage: SqliteStorage,
    folder: TempDir,
}

impl TestStorage {
    fn store(&self) -> Store {
        Arc::new(self.storage.clone())
    }
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
