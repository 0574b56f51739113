//! State that processes share beside orders: counts of rate limits and reports of delays.

use jiff::SignedDuration;

use super::*;
use crate::LimitKey;

const EACH: SignedDuration = SignedDuration::from_secs(10);

#[tokio::test]
async fn a_key_has_one_minute_over_all_processes() {
    let (one, database) = store().await;
    let other = another(&database).await;
    let key = |name| LimitKey::new("orders", name);
    let count = async |storage: &PostgresStorage, name, now| {
        storage
            .count_request(key(name), EACH, at(now))
            .await
            .unwrap()
    };
    for number in 0..6 {
        let storage = if number % 2 == 0 { &one } else { &other };
        assert_eq!(count(storage, "a", 0).await, None, "{number}");
    }
    for storage in [&one, &other] {
        assert_eq!(count(storage, "a", 0).await, Some(EACH));
        assert_eq!(
            count(storage, "a", 4).await,
            Some(SignedDuration::from_secs(6))
        );
    }
    assert_eq!(count(&one, "b", 0).await, None, "another key");
    let other_limit = LimitKey::new("attempts", "a");
    assert_eq!(
        one.count_request(other_limit, EACH, at(0)).await.unwrap(),
        None
    );
    assert_eq!(count(&other, "a", 10).await, None);
    assert_eq!(count(&one, "a", 10).await, Some(EACH));
    assert_eq!(one.delete_unused_counts(at(69)).await.unwrap(), 2);
    assert_eq!(one.delete_unused_counts(at(70)).await.unwrap(), 1);
    assert_eq!(one.delete_unused_counts(at(70)).await.unwrap(), 0);
}

#[tokio::test]
async fn requests_at_once_are_counted_each() {
    let (one, database) = store().await;
    let other = another(&database).await;
    let mut tasks = tokio::task::JoinSet::new();
    for number in 0..16 {
        let storage = if number % 2 == 0 {
            one.clone()
        } else {
            other.clone()
        };
        tasks.spawn(async move {
            let key = LimitKey::new("orders", "a");
            let wait = storage.count_request(key, EACH, at(0)).await.unwrap();
            usize::from(wait.is_none())
        });
    }
    let counted = tasks.join_all().await;
    assert_eq!(counted.into_iter().sum::<usize>(), 6);
}

#[tokio::test]
async fn a_delay_is_reported_to_the_others_until_it_ends_or_its_process_does() {
    let (one, database) = store().await;
    let other = another(&database).await;
    let share = async |storage: &PostgresStorage, is_delayed, now| {
        storage.share_delay(is_delayed, at(now)).await.unwrap()
    };
    assert!(!share(&one, true, 0).await, "not to itself");
    assert!(share(&other, false, 0).await);
    assert!(share(&other, false, 14).await);
    assert!(!share(&one, false, 14).await);
    assert!(!share(&other, false, 14).await);
    share(&one, true, 20).await;
    assert!(share(&other, false, 34).await);
    assert!(!share(&other, false, 35).await, "not reported again");
}
