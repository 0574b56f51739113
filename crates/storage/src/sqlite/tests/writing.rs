//! The writer: shared commits, failed ones, and callers that give up.

use super::*;
use crate::{Commits, Outage, PriceList};

async fn opened(storage: &SqliteStorage, number: u8) -> Result<Opened, crate::OpenError> {
    let (id, terms) = (id(number), terms(&format!("r{number}")));
    let opened = storage.open_order(&id, &terms, token(number), at(86_400), at(0));
    opened.await
}

async fn reopen(test: &mut TestStorage) {
    test.close().await;
    let again = SqliteStorage::open(&url(&test.folder), "test").await;
    test.storage = again.unwrap();
}

#[tokio::test]
async fn transactions_that_wait_together_share_commits_and_are_all_committed() {
    let mut test = test().await;
    let before = test.totals().await.unwrap().commits;
    let mut orders = tokio::task::JoinSet::new();
    for number in 1..=40 {
        let storage = test.storage.clone();
        orders.spawn(async move { opened(&storage, number).await.unwrap() });
    }
    orders.join_all().await;
    let after = test.totals().await.unwrap().commits;
    let commits = |commits: Commits| commits.by_duration.iter().sum::<u64>();
    assert_eq!(after.transactions - before.transactions, 40);
    let shared = commits(after) - commits(before);
    assert!((1..40).contains(&shared), "{shared} commits");
    assert!(after.total > before.total);
    assert!(after.waited > before.waited);
    reopen(&mut test).await;
    for number in 1..=40 {
        assert_eq!(test.status(number).await, OrderStatus::Open);
    }
}

#[tokio::test]
async fn the_size_of_the_log_and_the_room_on_the_volume_are_known() {
    let test = test().await;
    test.order(1).await;
    let totals = test.totals().await.unwrap();
    assert!(totals.wal_bytes.unwrap() > 0);
    assert!(totals.free_bytes.unwrap() > 0);
}

#[tokio::test]
async fn a_refused_transaction_leaves_the_others_of_its_batch_alone() {
    let test = test().await;
    test.order(1).await;
    let mut other_price = terms("r1");
    other_price.amount = amount("0.01");
    let (id2, id3) = (id(2), id(3));
    let (ours, before, after) = tokio::join!(
        test.open_order(&id2, &other_price, token(2), at(86_400), at(0)),
        opened(&test.storage, 4),
        opened(&test.storage, 5),
    );
    assert!(matches!(ours, Err(crate::OpenError::Conflict(_))));
    assert!(before.unwrap().is_new && after.unwrap().is_new);
    assert_eq!(test.snapshot(&id2).await.unwrap(), None);
    assert_eq!(test.snapshot(&id3).await.unwrap(), None);
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
            let polled = futures_util::future::poll_immediate(&mut given_up).await;
            if polled.is_some() {
                break;
            }
            tokio::task::yield_now().await;
        }
        drop(given_up);
        other.await.unwrap().unwrap();
        let found = test.snapshot(&id(1 + round)).await.unwrap();
        let events = test.listed().await;
        let created = events
            .iter()
            .filter(|event| event.order_id == id(1 + round));
        assert_eq!(created.count(), usize::from(found.is_some()));
    }
}

/// SQLite rolls the whole transaction back by itself when there is no room.
#[tokio::test]
async fn a_full_file_fails_its_transactions_and_no_later_one() {
    let test = test().await;
    test.order(1).await;
    let mut tx = test.begin().await.unwrap();
    let pages = sqlx::query_scalar("PRAGMA page_count").fetch_one(&mut *tx);
    let pages: i64 = pages.await.unwrap();
    let limit = format!("PRAGMA max_page_count = {pages}");
    let limited = sqlx::query(sqlx::AssertSqlSafe(limit));
    limited.execute(&mut *tx).await.unwrap();
    tx.commit().await.unwrap();
    let large = PriceList {
        fetched_at: at(0),
        body: "x".repeat(200_000),
    };
    let full = test.keep_prices(&large).await.unwrap_err();
    assert_eq!(full.outage(), Some(Outage::Full), "{full}");
    // The limit was that of the connection, which is thrown away.
    test.keep_prices(&large).await.unwrap();
    assert_eq!(test.status(1).await, OrderStatus::Open);
    test.check_writing(at(1)).await.unwrap();
    test.check_database().await.unwrap();
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
    test.order(1).await;
    // The journal goes into the file, and no connection has a page in its cache.
    reopen(&mut test).await;
    let good = pages(&test);
    let bad: Vec<_> = good
        .iter()
        .map(|(place, page)| (*place, vec![0x5a; page.len()]))
        .collect();
    write_pages(&test, &bad);
    let read = test.snapshot(&id(1)).await.unwrap_err();
    assert_eq!(read.outage(), Some(Outage::Damaged), "{read}");
    let found = test.check_database().await.unwrap_err();
    assert_eq!(found.outage(), Some(Outage::Damaged), "{found}");
    let refused = opened(&test.storage, 2).await.unwrap_err();
    assert!(refused.to_string().contains("is damaged"), "{refused}");
    write_pages(&test, &good);
    let mut turns = tokio::time::interval(std::time::Duration::from_millis(20));
    while test.check_database().await.is_err() && test.check_writing(at(1)).await.is_err() {
        turns.tick().await;
    }
    assert!(opened(&test.storage, 2).await.unwrap().is_new);
    assert_eq!(test.status(1).await, OrderStatus::Open);
}

/// Closes the database and spoils a page that no statement of a start reads.
async fn close_and_spoil(test: &TestStorage) {
    for number in 1..=60 {
        opened(&test.storage, number).await.unwrap();
    }
    let mut marked = terms("marked");
    marked.title = "x".repeat(3000);
    test.open(61, &marked, 0).await;
    test.close().await;
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

#[tokio::test]
async fn a_poll_interrupted_by_a_crash_is_due_at_the_next_start() {
    let mut test = test().await;
    test.awaiting(1).await;
    let polls = async |test: &TestStorage, now| test.polls(PollPriority::Unwatched, now).await;
    assert_eq!(polls(&test, 20).await[0].poll_seq, 1);
    reopen(&mut test).await;
    assert_eq!(polls(&test, 21).await[0].poll_seq, 2);
}
