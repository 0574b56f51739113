//! A file that is opened again: leases of the process before, and a restored backup.

use super::*;

#[tokio::test]
async fn a_poll_interrupted_by_a_crash_is_due_at_the_next_start() {
    let mut test = test().await;
    awaiting(&test.store(), 1).await;
    let planned = PollPriority::Unwatched;
    let before = test.storage.due_attempts(planned, at(20), at(80), 9).await;
    assert_eq!(before.unwrap()[0].poll_seq, 1);
    test.storage.close().await;
    test.storage = SqliteStorage::open(&url(&test.folder), "test")
        .await
        .unwrap();
    let after = test.storage.due_attempts(planned, at(21), at(81), 9).await;
    assert_eq!(after.unwrap()[0].poll_seq, 2);
}

/// A restored backup repeats the numbers of events, with other content.
#[tokio::test]
async fn an_event_after_a_restore_has_an_id_of_its_own() {
    let mut test = test().await;
    awaiting(&test.store(), 1).await;
    test.storage.close().await;
    let file = test.folder.path().join("florin.db");
    let backup = test.folder.path().join("backup.db");
    std::fs::copy(&file, &backup).unwrap();
    let reopened = async |test: &TestStorage| SqliteStorage::open(&url(&test.folder), "test").await;
    let third = async |storage: &Store| {
        let events = storage.events(&demo(), None, 9).await.unwrap().unwrap();
        assert_eq!(events[2].sequence, 3);
        events[2].clone()
    };
    test.storage = reopened(&test).await.unwrap();
    observe(&test.store(), 20, exact("PROCESSING")).await;
    let lost = third(&test.store()).await;
    assert_eq!(lost.event_type, E::Processing);
    test.storage.close().await;
    std::fs::copy(&backup, &file).unwrap();
    for journal in ["florin.db-wal", "florin.db-shm"] {
        let _ = std::fs::remove_file(test.folder.path().join(journal));
    }
    test.storage = reopened(&test).await.unwrap();
    observe(&test.store(), 900, exact("COMPLETED")).await;
    let other = third(&test.store()).await;
    assert_eq!(other.event_type, E::Paid);
    assert_ne!(other.id, lost.id);
}
