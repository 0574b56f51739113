//! Leases: they end by the server's clock, or by the process that holds them.

use super::*;
use crate::{Fingerprint, RequestId};

/// A process in production: leases end by the server's clock.
async fn replica(database: &str) -> PostgresStorage {
    let url = server().url(database);
    PostgresStorage::open(&url, "test").await.unwrap()
}

const PLANNED: PollPriority = PollPriority::Unwatched;

#[tokio::test]
async fn a_process_with_a_clock_ahead_takes_no_lease_of_another() {
    let (storage, database) = store().await;
    awaiting(&shared(&storage), 1).await;
    let (ours, ahead) = (replica(&database).await, replica(&database).await);
    let due = ours.due_attempts(PLANNED, at(20), at(50), 9).await.unwrap();
    assert_eq!(due.len(), 1);
    let taken = ahead
        .due_attempts(PLANNED, at(60), at(90), 9)
        .await
        .unwrap();
    assert_eq!(taken, []);
    let events = ours
        .due_deliveries(&demo(), at(20), at(50), 9)
        .await
        .unwrap();
    assert_eq!(events.len(), 1);
    let taken = ahead
        .due_deliveries(&demo(), at(60), at(90), 9)
        .await
        .unwrap();
    assert_eq!(taken, []);
    let (request, asked) = (RequestId([1; 32]), Fingerprint([2; 32]));
    let claim = ours.claim_request(request, asked, at(20), at(50)).await;
    assert_eq!(claim.unwrap(), Claim::Acquired);
    let claim = ahead.claim_request(request, asked, at(60), at(90)).await;
    assert_eq!(claim.unwrap(), Claim::Running);
    order(&shared(&storage), 2).await;
    ours.begin_attempt(&id(2), &new_attempt(2), at(20))
        .await
        .unwrap();
    assert_eq!(
        ahead.abandon_stale_attempts(at(60), at(80)).await.unwrap(),
        0
    );
    assert_eq!(ahead.delete_expired_requests(at(60)).await.unwrap(), 0);
}

/// A clock that was set back too far still finds what it planned while it was ahead, and leaves what others have planned.
#[tokio::test]
async fn a_process_whose_clock_is_behind_plans_anew_by_that_of_the_server() {
    let (storage, database) = store().await;
    order(&shared(&storage), 1).await;
    let ours = replica(&database).await;
    let store = demo();
    let now = ours.server_state().await.unwrap().unwrap().now;
    let minute = SignedDuration::from_mins(1);
    let event = ours
        .events(&store, None, 1)
        .await
        .unwrap()
        .unwrap()
        .remove(0);
    for (planned_at, replanned) in [(now, 0), (now + 60 * minute, 1)] {
        let planned = ours.redeliver(&store, &event.id, planned_at);
        assert!(planned.await.unwrap());
        let searched = ours.replan_future(now - minute).await.unwrap();
        assert_eq!(searched, replanned, "{planned_at}");
    }
}

#[tokio::test]
async fn a_process_that_starts_ends_no_lease_and_one_that_closes_ends_its_leases() {
    let (storage, database) = store().await;
    awaiting(&shared(&storage), 1).await;
    awaiting(&shared(&storage), 2).await;
    let (one, two) = (replica(&database).await, replica(&database).await);
    assert_eq!(
        one.due_attempts(PLANNED, at(20), at(50), 1)
            .await
            .unwrap()
            .len(),
        1
    );
    assert_eq!(
        two.due_attempts(PLANNED, at(20), at(50), 1)
            .await
            .unwrap()
            .len(),
        1
    );
    let third = replica(&database).await;
    assert_eq!(
        third
            .due_attempts(PLANNED, at(60), at(90), 9)
            .await
            .unwrap(),
        []
    );
    one.close().await;
    assert_eq!(
        third
            .due_attempts(PLANNED, at(60), at(90), 9)
            .await
            .unwrap()
            .len(),
        1
    );
    assert_eq!(
        third
            .due_attempts(PLANNED, at(60), at(90), 9)
            .await
            .unwrap(),
        []
    );
}

#[tokio::test]
async fn a_slow_response_ends_no_lease_of_a_later_poll_and_is_ignored_after_its_response() {
    let (storage, database) = store().await;
    let two = another(&database).await;
    awaiting(&shared(&storage), 1).await;
    let due = async |storage: &PostgresStorage, now| {
        let due = storage
            .due_attempts(PLANNED, at(now), at(now + 30), 9)
            .await;
        due.unwrap()
    };
    let slow = due(&storage, 20).await.remove(0);
    let later = due(&two, 60).await.remove(0);
    let checking = Observation {
        observed_at: at(61),
        ..observed("CHECKING")
    };
    assert!(
        storage
            .record_observation(&slow, &checking)
            .await
            .unwrap()
            .is_some()
    );
    storage
        .reschedule_poll(&slow, at(62), at(61))
        .await
        .unwrap();
    assert_eq!(due(&storage, 89).await, [], "one poll at a time");
    let paid = Observation {
        observed_at: at(89),
        ..exact("COMPLETED")
    };
    assert!(
        two.record_observation(&later, &paid)
            .await
            .unwrap()
            .is_some()
    );
    assert_eq!(
        storage.record_observation(&slow, &checking).await.unwrap(),
        None
    );
    assert_eq!(status(&shared(&storage), 1).await, OrderStatus::Paid);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_store_receives_three_deliveries_without_money_at_once_from_all_processes() {
    let (storage, database) = store().await;
    for n in 1..=30 {
        order(&shared(&storage), n).await;
    }
    let mut processes = Vec::new();
    for _ in 0..3 {
        processes.push(another(&database).await);
    }
    let mut sent = 0;
    while sent < 30 {
        let leased = processes.iter().map(|process| {
            let process = process.clone();
            tokio::spawn(async move {
                let due = process.due_deliveries(&demo(), at(1), at(31), 4).await;
                (process, due.unwrap())
            })
        });
        let mut in_progress = Vec::new();
        for leased in leased.collect::<Vec<_>>() {
            let (process, due) = leased.await.unwrap();
            in_progress.extend(due.into_iter().map(|due| (process.clone(), due)));
        }
        assert!(
            (1..=3).contains(&in_progress.len()),
            "{}",
            in_progress.len()
        );
        sent += in_progress.len();
        for (process, due) in in_progress {
            let delivery = Delivery {
                event_id: due.event.id,
                tried_at: at(1),
                took: SignedDuration::ZERO,
                http_status: Some(204),
                note: String::new(),
            };
            let done = process.record_delivery(&delivery, DeliveryOutcome::Delivered);
            done.await.unwrap();
        }
    }
    assert_eq!(sent, 30, "each event once");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn an_endpoint_that_is_away_is_tried_by_one_of_all_processes() {
    let (storage, database) = store().await;
    for n in 1..=6 {
        awaiting(&shared(&storage), n).await;
        crate::contract::observe(&shared(&storage), 20, exact("COMPLETED")).await;
    }
    let mut failed = 0;
    while failed < 6 {
        for due in storage
            .due_deliveries(&demo(), at(20), at(50), 4)
            .await
            .unwrap()
        {
            let delivery = Delivery {
                event_id: due.event.id,
                tried_at: at(21),
                took: SignedDuration::ZERO,
                http_status: Some(500),
                note: String::new(),
            };
            let recorded = storage.record_delivery(&delivery, crate::contract::retry(21, 900));
            recorded.await.unwrap();
            failed += 1;
        }
    }
    let mut tried = Vec::new();
    for _ in 0..4 {
        let process = another(&database).await;
        let due = async move { process.due_deliveries(&demo(), at(30), at(60), 4).await };
        tried.push(tokio::spawn(due));
    }
    let mut leased = 0;
    for due in tried {
        leased += due.await.unwrap().unwrap().len();
    }
    assert_eq!(leased, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn due_polls_are_leased_to_one_process_each() {
    let (storage, database) = store().await;
    for n in 1..=100 {
        awaiting(&shared(&storage), n).await;
    }
    let mut processes = Vec::new();
    for _ in 0..4 {
        let process = another(&database).await;
        processes.push(tokio::spawn(async move {
            let mut leased = Vec::new();
            loop {
                let due = process
                    .due_attempts(PLANNED, at(20), at(50), 3)
                    .await
                    .unwrap();
                if due.is_empty() {
                    return leased;
                }
                leased.extend(due.into_iter().map(|due| due.attempt_id.to_string()));
            }
        }));
    }
    let mut leased = Vec::new();
    for process in processes {
        leased.extend(process.await.unwrap());
    }
    leased.sort_unstable();
    let count = leased.len();
    leased.dedup();
    assert_eq!((count, leased.len()), (100, 100));
}
