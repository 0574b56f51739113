//! Tests of a file alone. The contract of both databases is in `crate::contract`.

mod growth;
mod plans;
mod writing;

use std::ops::Deref;

use florin_orders::fixtures::{amount, at, exact, observed, terms};
use florin_orders::{EventType as E, Observation, OrderStatus, PollPriority};
use tempfile::TempDir;

use super::*;
use crate::contract::{ByNumber as _, demo, id, polled, token};
use crate::{DeliveryOutcome, Opened, Storage as _};

/// Storage in a temporary folder that is removed on drop.
struct TestStorage {
    storage: SqliteStorage,
    folder: TempDir,
}

impl Deref for TestStorage {
    type Target = SqliteStorage;

    fn deref(&self) -> &SqliteStorage {
        &self.storage
    }
}

fn url(folder: &TempDir) -> String {
    format!("sqlite://{}", folder.path().join("florin.db").display())
}

async fn test() -> TestStorage {
    let mut folder = tempfile::Builder::new();
    let folder = folder.prefix("florin-storage-").tempdir().unwrap();
    let storage = SqliteStorage::open(&url(&folder), "test").await.unwrap();
    TestStorage { storage, folder }
}
