//! Totals that a file has alone: its commits, and the room on its volume.

use super::*;
use crate::{Commits, Totals};

async fn totals(storage: &SqliteStorage) -> Totals {
    storage.totals().await.unwrap()
}

#[tokio::test]
async fn transactions_that_share_a_commit_are_counted() {
    let test = test().await;
    let before = totals(&test.storage).await.commits;
    let tasks: Vec<_> = (1..=40)
        .map(|number| {
            let storage = test.store();
            tokio::spawn(async move { order(&storage, number).await })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    let after = totals(&test.storage).await.commits;
    let commits = |commits: Commits| commits.by_duration.iter().sum::<u64>();
    assert_eq!(after.transactions - before.transactions, 40);
    let shared = commits(after) - commits(before);
    assert!((1..40).contains(&shared), "{shared} commits");
    assert!(after.total > before.total);
    assert!(after.waited > before.waited);
}

#[tokio::test]
async fn the_size_of_the_log_is_known() {
    let test = test().await;
    order(&test.store(), 1).await;
    assert!(totals(&test.storage).await.wal_bytes.unwrap() > 0);
}

#[tokio::test]
async fn the_room_on_the_volume_is_known() {
    let test = test().await;
    assert!(totals(&test.storage).await.free_bytes.unwrap() > 0);
}
