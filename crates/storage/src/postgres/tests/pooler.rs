//! Stores behind a PgBouncer in transaction mode. The contract holds there as well: `crate::contract`.

use super::relay::{Cut, Relay};
use super::*;
use crate::PostgresOptions;

/// A database, and the addresses that lead to it through the pooler and past it.
fn pooled_database() -> (String, String, String) {
    let name = database();
    let url = server().url_at(pooler().port(), &name);
    let direct = server().url(&name);
    (name, url, direct)
}

async fn pooled(url: &str, direct: &str) -> Result<PostgresStorage> {
    let (clock, limits) = (LeaseClock::Caller, PostgresOptions::DEFAULT);
    PostgresStorage::open_limited(url, Some(direct), "test", clock, &limits).await
}

#[tokio::test]
async fn processes_behind_a_pooler_receive_each_others_changes() {
    let (_, url, direct) = pooled_database();
    let one = pooled(&url, &direct).await.unwrap();
    let two = pooled(&url, &direct).await.unwrap();
    let mut listener = two.listen().await.unwrap().unwrap();
    one.order(1).await;
    one.announce(&Changed::Orders(vec![id(1)])).await.unwrap();
    assert_eq!(listener.next().await.unwrap(), Changed::Orders(vec![id(1)]));
}

#[tokio::test]
async fn limits_hold_behind_a_pooler() {
    let (database, url, direct) = pooled_database();
    let limits = PostgresOptions {
        lock_timeout: std::time::Duration::from_millis(50),
        ..PostgresOptions::DEFAULT
    };
    let clock = LeaseClock::Caller;
    let storage = PostgresStorage::open_limited(&url, Some(&direct), "test", clock, &limits).await;
    let storage = storage.unwrap();
    storage.order(1).await;
    let other = another(&database).await;
    let mut holder = other.writer.begin().await.unwrap();
    let locked = sqlx::query("SELECT 1 FROM orders FOR UPDATE");
    locked.execute(&mut *holder).await.unwrap();
    let refused = storage.cancel_order(&id(1), at(1)).await.unwrap_err();
    assert!(
        format!("{refused:?}").contains("lock timeout"),
        "{refused:?}"
    );
    holder.rollback().await.unwrap();
    storage.cancel_order(&id(1), at(1)).await.unwrap();
}

#[tokio::test]
async fn a_read_survives_a_restart_of_the_pooler() {
    let (relay, database) = (Relay::to(pooler().port()).await, database());
    let direct = server().url(&database);
    let storage = pooled(&relay.url(&database), &direct).await.unwrap();
    storage.order(1).await;
    let one = id(1);
    let snapshots = [1, 2, 3].map(|_| storage.snapshot(&one));
    for snapshot in futures_util::future::join_all(snapshots).await {
        assert!(snapshot.unwrap().is_some());
    }
    relay.cut_all();
    for _ in 0..3 {
        assert!(storage.snapshot(&id(1)).await.unwrap().is_some());
    }
    // The response is there, and the end of the transaction is lost.
    relay.arm(Cut::Before);
    assert!(storage.snapshot(&id(1)).await.unwrap().is_some());
    assert!(relay.has_cut());
    assert!(storage.snapshot(&id(1)).await.unwrap().is_some());
}

#[tokio::test]
async fn a_direct_address_of_another_database_is_refused() {
    let (_, url, _) = pooled_database();
    let direct = server().url(&database());
    let refused = pooled(&url, &direct).await.unwrap_err().to_string();
    assert!(refused.contains("leads to another database"), "{refused}");
    assert!(!refused.contains(&direct), "no password: {refused}");
}

/// Without the direct address nothing is half right: the pooler refuses the connection's limits.
#[tokio::test]
async fn a_pooler_without_a_direct_address_is_refused() {
    let (_, url, _) = pooled_database();
    let refused = PostgresStorage::open(&url, "test").await.unwrap_err();
    assert!(
        refused.to_string().contains("database_url_direct"),
        "{refused}"
    );
    let unknown = server().url_at(pooler().port(), &new_name());
    PostgresStorage::open(&unknown, "test").await.unwrap_err();
}
