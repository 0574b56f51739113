//! The writer: shared commits, failed ones, and callers that give up.

use super::*;
use crate::Outage;

async fn opened(storage: &SqliteStorage, number: u8) -> Result<Opened, crate::OpenError> {
    let terms = terms(&format!("r{number}"));
    storage
        .open_order(&id(number), &terms, token(number), at(86_400), at(0))
        .await
}

#[tokio::test]
async fn transactions_that_wait_together_are_all_committed() {
    let test = test().await;
    let tasks: Vec<_> = (1..=40)
        .map(|number| {
            let storage = test.storage.clone();
            tokio::spawn(async move { opened(&storage, number).await })
        })
        .collect();
    for task in tasks {
        task.await.unwrap().unwrap();
    }
    test.storage.close().await;
    let again = SqliteStorage::open(&url(&test.folder), "test").await;
    let again: Store = Arc::new(again.unwrap());
    for number in 1..=40 {
        assert_eq!(status(&again, number).await, OrderStatus::Open);
    }
}

#[tokio::test]
async fn a_refused_transaction_leaves_the_others_of_its_batch_alone() {
    let test = test().await;
    order(&test.store(), 1).await;
    let mut other_price = terms("r1");
    other_price.amount = amount("0.01");
    let (id2, id3) = (id(2), id(3));
    let (ours, before, after) = tokio::join!(
        test.storage
            .open_order(&id2, &other_price, token(2), at(86_400), at(0)),
        opened(&test.storage, 4),
        opened(&test.storage, 5),
    );
    assert!(matches!(ours, Err(crate::OpenError::Conflict(_))));
    assert!(before.unwrap().is_new && after.unwrap().is_new);
    assert_eq!(test.storage.snapshot(&id2).await.unwrap(), None);
    assert_eq!(test.storage.snapshot(&id3).await.unwrap(), None);
}

#[tokio::test]
async fn a_caller_that_gives_up_fails_no_other_and_leaves_nothing_half_done() {
    let test = test().await;
    for round in 0..60_u8 {
        let storage = test.storage.clone();
        let other = tokio::spawn(async move { opened(&storage, 100 + round).await });
        // Dropped after some polls, at another place in each round.
        let mut given_up = Box::pin(opened(&test.storage, 1 + round));
        for _ in 0..round {
            if poll_immediate_of(&mut given_up).await {
                break;
            }
            tokio::task::yield_now().await;
        }
        drop(given_up);
        other.await.unwrap().unwrap();
        let found = test.storage.snapshot(&id(1 + round)).await.unwrap();
        let events = test.storage.events(&demo(), None, 1000).await.unwrap();
        let events = events.unwrap();
        let created = events
            .iter()
            .filter(|event| event.order_id == id(1 + round));
        assert_eq!(created.count(), usize::from(found.is_some()));
    }
}

/// Polls a future once; returns `true` if it is done.
async fn poll_immediate_of<F: Future + Unpin>(future: &mut F) -> bool {
    let mut polled = Box::pin(async {
        std::future::poll_fn(|context| {
            std::task::Poll::Ready(std::pin::Pin::new(&mut *future).poll(context).is_ready())
        })
        .await
    });
    polled.as_mut().await
}

/// SQLite rolls the whole transaction back by itself when there is no room.
#[tokio::test]
async fn a_full_file_fails_its_transactions_and_no_later_one() {
    let test = test().await;
    order(&test.store(), 1).await;
    let mut tx = test.storage.begin().await.unwrap();
    let pages: i64 = sqlx::query_scalar("PRAGMA page_count")
        .fetch_one(&mut *tx)
        .await
        .unwrap();
    let limit = format!("PRAGMA max_page_count = {pages}");
    sqlx::query(sqlx::AssertSqlSafe(limit))
        .execute(&mut *tx)
        .await
        .unwrap();
    tx.commit().await.unwrap();
    let mut large = terms("r2");
    large.title = "x".repeat(200_000);
    let full = test
        .storage
        .open_order(&id(2), &large, token(2), at(86_400), at(0))
        .await;
    let Err(crate::OpenError::Storage(full)) = full else {
        panic!("{full:?}")
    };
    assert_eq!(full.outage(), Some(Outage::Full), "{full}");
    // The limit was that of the connection, which is thrown away.
    let found = test
        .storage
        .open_order(&id(2), &large, token(2), at(86_400), at(0))
        .await;
    assert!(found.unwrap().is_new);
    assert_eq!(status(&test.store(), 1).await, OrderStatus::Open);
    test.storage.check_writing(at(1)).await.unwrap();
    test.storage.check_database().await.unwrap();
}

/// Pages of the file without the first two, which SQLite reads at the start.
fn pages(test: &TestStorage) -> Vec<(u64, Vec<u8>)> {
    let file = std::fs::read(test.folder.path().join("florin.db")).unwrap();
    let pages = file.chunks(4096).enumerate().skip(2);
    pages
        .map(|(number, page)| (number as u64 * 4096, page.to_vec()))
        .collect()
}

fn write_pages(test: &TestStorage, pages: &[(u64, Vec<u8>)]) {
    use std::os::unix::fs::FileExt as _;
    let path = test.folder.path().join("florin.db");
    let file = std::fs::File::options().write(true).open(path).unwrap();
    for (place, page) in pages {
        file.write_all_at(page, *place).unwrap();
    }
    // Closing a descriptor would release the locks that SQLite holds on the file.
    std::mem::forget(file);
}

#[tokio::test]
async fn damage_that_a_reader_meets_stops_writing_until_it_is_repaired() {
    let mut test = test().await;
    order(&test.store(), 1).await;
    // The journal goes into the file, and no connection has a page in its cache.
    test.storage.close().await;
    test.storage = SqliteStorage::open(&url(&test.folder), "test")
        .await
        .unwrap();
    let good = pages(&test);
    let bad: Vec<_> = good
        .iter()
        .map(|(place, page)| (*place, vec![0x5a; page.len()]))
        .collect();
    write_pages(&test, &bad);
    let read = test.storage.snapshot(&id(1)).await.unwrap_err();
    assert_eq!(read.outage(), Some(Outage::Damaged), "{read}");
    let found = test.storage.check_database().await.unwrap_err();
    assert_eq!(found.outage(), Some(Outage::Damaged), "{found}");
    let refused = opened(&test.storage, 2).await.unwrap_err();
    assert!(refused.to_string().contains("is damaged"), "{refused}");
    write_pages(&test, &good);
    let mut turns = tokio::time::interval(std::time::Duration::from_millis(20));
    while test.storage.check_database().await.is_err()
        && test.storage.check_writing(at(1)).await.is_err()
    {
        turns.tick().await;
    }
    assert!(opened(&test.storage, 2).await.unwrap().is_new);
    assert_eq!(status(&test.store(), 1).await, OrderStatus::Open);
}

/// Closes the database and spoils a page that no statement of a start reads.
async fn close_and_spoil(test: &TestStorage) {
    for number in 1..=60 {
        opened(&test.storage, number).await.unwrap();
    }
    let mut marked = terms("marked");
    marked.title = "x".repeat(3000);
    test.storage
        .open_order(&id(61), &marked, token(61), at(86_400), at(0))
        .await
        .unwrap();
    test.storage.close().await;
    let title = [b'x'; 200];
    let mut page = pages(test)
        .into_iter()
        .find(|(_, page)| page.windows(200).any(|bytes| bytes == title))
        .unwrap();
    page.1[..100].fill(0x5a);
    write_pages(test, &[page]);
}

#[tokio::test]
async fn damage_that_no_statement_of_the_start_meets_prevents_it() {
    let test = test().await;
    close_and_spoil(&test).await;
    let refused = SqliteStorage::open(&url(&test.folder), "test").await;
    assert_eq!(refused.unwrap_err().outage(), Some(Outage::Damaged));
}

#[tokio::test]
async fn damage_of_a_large_file_is_found_while_it_is_served() {
    let test = test().await;
    close_and_spoil(&test).await;
    // SQLite ignores what follows the pages that the header counts.
    let path = test.folder.path().join("florin.db");
    let file = std::fs::File::options().write(true).open(path).unwrap();
    file.set_len(65 * 1024 * 1024).unwrap();
    drop(file);
    let storage = SqliteStorage::open(&url(&test.folder), "test").await;
    let storage = storage.unwrap();
    let mut turns = tokio::time::interval(std::time::Duration::from_millis(20));
    let mut found = Ok(());
    for _ in 0..1_000 {
        turns.tick().await;
        found = storage.check_database().await;
        if found.is_err() {
            break;
        }
    }
    assert_eq!(found.unwrap_err().outage(), Some(Outage::Damaged));
}
