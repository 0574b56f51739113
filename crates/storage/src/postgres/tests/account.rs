//! The row of a gateway account: changes one after another, by the server's clock, each exactly once.

use std::sync::atomic::{AtomicI64, Ordering};

use super::relay::{Cut, Relay};
use super::*;
use crate::rows::Time;
use crate::{GatewayAccountStep, NewGatewayAccount};

const ACCOUNT: &str = "https://pay.example/api 1";

/// Counts in the row.
fn count() -> GatewayAccountStep {
    count_to(Arc::default())
}

/// Counts in the row, and keeps the number that the last call has found.
fn count_to(found: Arc<AtomicI64>) -> GatewayAccountStep {
    Arc::new(move |state, _| {
        let number = state.map_or(0, |state| state.parse::<i64>().unwrap());
        found.store(number, Ordering::SeqCst);
        Some(NewGatewayAccount {
            state: (number + 1).to_string(),
            is_durable: number % 2 == 0,
        })
    })
}

async fn counted(storage: &PostgresStorage) -> (Option<String>, i64) {
    let account = storage.gateway_account(ACCOUNT, at(0)).await.unwrap();
    (account.state, account.version)
}

async fn change(storage: &PostgresStorage) -> i64 {
    let changed = storage.change_gateway_account(ACCOUNT, at(0), count());
    changed.await.unwrap()
}

#[tokio::test]
async fn an_account_begins_without_a_state() {
    let (storage, _) = store().await;
    assert_eq!(counted(&storage).await, (None, 0));
    let untouched = storage.change_gateway_account(ACCOUNT, at(0), Arc::new(|_, _| None));
    assert_eq!(untouched.await.unwrap(), 0);
    assert_eq!(change(&storage).await, 1);
    let other = storage.gateway_account("another", at(0)).await.unwrap();
    assert_eq!((other.state, other.version), (None, 0));
    assert_eq!(counted(&storage).await, (Some("1".into()), 1));
}

/// Each step finds the state that the step before has stored, in either order. Both begin with a row that is missing.
#[tokio::test]
async fn no_change_of_two_processes_is_lost() {
    let (one, database) = store().await;
    let two = another(&database).await;
    for n in 1..=40 {
        let (first, second) = tokio::join!(change(&one), change(&two));
        let mut versions = [first, second];
        versions.sort_unstable();
        assert_eq!(versions, [2 * n - 1, 2 * n]);
    }
    assert_eq!(counted(&one).await, (Some("80".into()), 80));
}

/// The second step waits for the first one, and its time is the one after the wait.
#[tokio::test]
async fn a_step_that_waits_for_another_process_sees_its_state_and_a_later_time() {
    let (_, database) = store().await;
    let (one, two) = (replica(&database).await, replica(&database).await);
    for (first, second) in [(&one, &two), (&two, &one)] {
        change(first).await;
        let mut held = first.writer.acquire().await.unwrap();
        let begin = "BEGIN; SELECT FROM gateway_accounts FOR UPDATE";
        sqlx::raw_sql(begin).execute(&mut *held).await.unwrap();
        let seen = Arc::new(std::sync::Mutex::new(None));
        let times = seen.clone();
        let step: GatewayAccountStep = Arc::new(move |state, now| {
            *times.lock().unwrap() = Some((state.map(str::to_owned), now));
            None
        });
        let waiting = tokio::spawn({
            let second = second.clone();
            async move { second.change_gateway_account(ACCOUNT, at(0), step).await }
        });
        waits_for_the_row(first).await;
        let set = "UPDATE gateway_accounts SET state = '700', version = version + 1";
        sqlx::raw_sql(set).execute(&mut *held).await.unwrap();
        let now = "SELECT clock_timestamp()";
        let Time(released) = sqlx::query_scalar(now).fetch_one(&mut *held).await.unwrap();
        sqlx::raw_sql("COMMIT").execute(&mut *held).await.unwrap();
        waiting.await.unwrap().unwrap();
        let (state, now) = seen.lock().unwrap().take().unwrap();
        assert_eq!(state.unwrap(), "700");
        assert!(now >= released, "{now} is before {released}");
    }
}

/// Waits until a session waits for the lock.
async fn waits_for_the_row(storage: &PostgresStorage) {
    let waiting = "SELECT count(*) FROM pg_stat_activity
         WHERE wait_event_type = 'Lock' AND datname = current_database()";
    while number(storage, waiting).await == 0 {}
}

#[tokio::test]
async fn the_time_is_the_servers_and_not_the_callers() {
    let (_, database) = store().await;
    let storage = replica(&database).await;
    let year_of_now = jiff::civil::date(2026, 1, 1).to_zoned(jiff::tz::TimeZone::UTC);
    let account = storage.gateway_account(ACCOUNT, at(0)).await.unwrap();
    assert!(account.now >= year_of_now.unwrap().timestamp());
}

#[tokio::test]
async fn a_change_whose_commit_is_not_answered_is_made_once() {
    let database = database();
    let relay = Relay::start().await;
    let url = relay.url(&database);
    let storage = PostgresStorage::open_with(&url, "test", LeaseClock::Caller);
    let storage = storage.await.unwrap();
    for n in 1..=20 {
        let cut = if n % 2 == 0 { Cut::Before } else { Cut::After };
        relay.arm(cut);
        let found = Arc::new(AtomicI64::new(-1));
        let changed = storage.change_gateway_account(ACCOUNT, at(0), count_to(found.clone()));
        assert_eq!(changed.await.unwrap(), n, "{cut:?}");
        assert_eq!(found.load(Ordering::SeqCst), n - 1, "the step that counts");
        assert!(relay.has_cut());
    }
    assert_eq!(counted(&storage).await, (Some("20".into()), 20));
}
