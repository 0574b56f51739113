//! State that processes share beside orders: changes that one announces and another receives, versions that make a lost
//! announcement harmless, counts of rate limits, reports of delays, and the row of a gateway account.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use tokio::time::Instant;

use super::relay::{Cut, Relay};
use super::*;
use crate::rows::Time;
use crate::{ChangeListener, GatewayAccountStep, NewGatewayAccount};

async fn next_of(listener: &mut dyn ChangeListener) -> Changed {
    let next = tokio::time::timeout(Duration::from_secs(5), listener.next());
    next.await.expect("an announcement arrives").unwrap()
}

#[tokio::test]
async fn a_process_receives_what_others_announce_and_not_its_own() {
    let (one, database) = store().await;
    let other = another(&database).await;
    let mut listener = one.listen().await.unwrap().unwrap();
    one.announce(&Changed::Orders(vec![id(1)])).await.unwrap();
    let announced = Changed::Orders(vec![id(2)]);
    for changed in [&announced, &Changed::All] {
        other.announce(changed).await.unwrap();
        assert_eq!(next_of(&mut *listener).await, *changed);
    }
}

#[tokio::test]
async fn a_listener_whose_connection_is_lost_says_so() {
    let (one, database) = store().await;
    let mut listener = one.listen().await.unwrap().unwrap();
    let ended = format!(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{database}' AND query LIKE 'LISTEN%'"
    );
    assert_eq!(server().psql("postgres", &ended).unwrap(), "t");
    assert!(listener.next().await.unwrap_err().outage().is_some());
    one.listen().await.unwrap().unwrap();
}

/// A connection that is open and delivers nothing, as through a firewall that has forgotten it.
#[tokio::test]
async fn a_listener_whose_connection_is_silently_dead_says_so() {
    let database = database();
    let relay = Relay::start().await;
    let one = relay.store(&database).await;
    let mut listener = one.listen().await.unwrap().unwrap();
    relay.stall();
    let began = Instant::now();
    let failed = tokio::time::timeout(Duration::from_secs(15), listener.next()).await;
    assert!(failed.expect("it is noticed").is_err());
    assert!(began.elapsed() < Duration::from_secs(12));
}

/// What a view shows, and what the next poll depends on, has another version after each write.
#[tokio::test]
async fn every_write_of_an_order_changes_its_version() {
    let (one, database) = store().await;
    let other = another(&database).await;
    let version = async || {
        let found = other.versions(&[id(1), id(9)]).await.unwrap();
        assert_eq!(found.len(), 1, "an unknown order has none");
        found[0].1
    };
    one.order(1).await;
    let mut before = version().await;
    assert_eq!(version().await, before);
    let mut is_new = async |write: &str| {
        let after = version().await;
        assert_ne!(after, before, "{write}");
        before = after;
        assert_eq!(version().await, before, "{write}");
    };
    one.add_attempt(1, 1).await;
    is_new("open").await;
    one.mark_as_paid(&id(1), None, at(1)).await.unwrap();
    is_new("mark").await;
    one.schedule_poll(&id(1), SignedDuration::ZERO, at(1))
        .await
        .unwrap();
    is_new("schedule").await;
    let due = one.polls(PollPriority::Watched, 2).await.remove(0);
    is_new("lease").await;
    one.record(&due, 3, exact("PENDING")).await;
    is_new("record").await;
    let (mine, email) = (id(1), Some("buyer@shop.example"));
    one.keep_receipt_email(&mine, email, at(4)).await.unwrap();
    is_new("email").await;
    one.cancel_order(&mine, at(4)).await.unwrap();
    is_new("cancel").await;
    one.begin(1, 2, 5).await.unwrap_err();
    assert_eq!(version().await, before, "a refused write is none");
}

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
        let rest = SignedDuration::from_secs(6);
        assert_eq!(count(storage, "a", 4).await, Some(rest));
    }
    assert_eq!(count(&one, "b", 0).await, None, "another key");
    let other_limit = LimitKey::new("attempts", "a");
    let counted = one.count_request(other_limit, EACH, at(0)).await;
    assert_eq!(counted.unwrap(), None);
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
        let storage = [&one, &other][number % 2].clone();
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

const ACCOUNT: &str = "https://pay.example/api 1";

fn count() -> GatewayAccountStep {
    count_to(Arc::default())
}

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

async fn change_account(storage: &PostgresStorage) -> i64 {
    let changed = storage.change_gateway_account(ACCOUNT, at(0), count());
    changed.await.unwrap()
}

#[tokio::test]
async fn an_account_begins_without_a_state() {
    let (storage, _) = store().await;
    assert_eq!(counted(&storage).await, (None, 0));
    let untouched = storage.change_gateway_account(ACCOUNT, at(0), Arc::new(|_, _| None));
    assert_eq!(untouched.await.unwrap(), 0);
    assert_eq!(change_account(&storage).await, 1);
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
        let (first, second) = tokio::join!(change_account(&one), change_account(&two));
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
        change_account(first).await;
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
    let storage = relay.store(&database).await;
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
