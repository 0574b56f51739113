//! Leases: they end by the server's clock, or by the process that holds them.

use std::collections::HashSet;

use super::*;

const PLANNED: PollPriority = PollPriority::Unwatched;

#[tokio::test]
async fn a_process_with_a_clock_ahead_takes_no_lease_of_another() {
    let (storage, database) = store().await;
    storage.awaiting(1).await;
    let (ours, ahead) = (replica(&database).await, replica(&database).await);
    assert_eq!(ours.polls(PLANNED, 20).await.len(), 1);
    assert_eq!(ahead.polls(PLANNED, 60).await, []);
    assert_eq!(ours.due(20).await.len(), 1);
    assert_eq!(ahead.due(60).await, []);
    let (request, asked) = (RequestId([1; 32]), Fingerprint([2; 32]));
    let claim = ours.claim_request(request, asked, at(20), at(50)).await;
    assert_eq!(claim.unwrap(), Claim::Acquired);
    let claim = ahead.claim_request(request, asked, at(60), at(90)).await;
    assert_eq!(claim.unwrap(), Claim::Running);
    storage.order(2).await;
    ours.begin(2, 2, 20).await.unwrap();
    let abandoned = ahead.abandon_stale_attempts(at(60), at(80)).await;
    assert_eq!(abandoned.unwrap(), 0);
    assert_eq!(ahead.delete_expired_requests(at(60)).await.unwrap(), 0);
}

/// A clock that was set back too far still finds what it planned while it was ahead, and leaves what others have planned.
#[tokio::test]
async fn a_process_whose_clock_is_behind_plans_anew_by_that_of_the_server() {
    let (storage, database) = store().await;
    storage.order(1).await;
    let ours = replica(&database).await;
    let now = ours.server_state().await.unwrap().unwrap().now;
    let minute = SignedDuration::from_mins(1);
    let event = ours.listed().await.remove(0);
    for (planned_at, replanned) in [(now, 0), (now + 60 * minute, 1)] {
        let planned = ours.redeliver(&demo(), &event.id, None, planned_at).await;
        assert!(planned.unwrap());
        let searched = ours.replan_future(now - minute).await.unwrap();
        assert_eq!(searched, replanned, "{planned_at}");
    }
}

#[tokio::test]
async fn a_process_that_starts_ends_no_lease_and_one_that_closes_ends_its_leases() {
    let (storage, database) = store().await;
    storage.awaiting(1).await;
    storage.awaiting(2).await;
    let (one, two) = (replica(&database).await, replica(&database).await);
    for process in [&one, &two] {
        let due = process.due_attempts(PLANNED, at(20), at(50), 1).await;
        assert_eq!(due.unwrap().len(), 1);
    }
    let third = replica(&database).await;
    assert_eq!(third.polls(PLANNED, 60).await, []);
    one.close().await;
    assert_eq!(third.polls(PLANNED, 60).await.len(), 1);
    assert_eq!(third.polls(PLANNED, 60).await, []);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_store_receives_three_deliveries_without_money_at_once_from_all_processes() {
    let (storage, database) = store().await;
    for n in 1..=30 {
        storage.order(n).await;
    }
    let mut processes = Vec::new();
    for _ in 0..3 {
        processes.push(another(&database).await);
    }
    let mut sent = HashSet::new();
    while sent.len() < 30 {
        let leased = processes.iter().map(|process| {
            let process = process.clone();
            tokio::spawn(async move {
                let due = process.due_deliveries(&hook(), at(1), at(31), 4).await;
                (process, due.unwrap())
            })
        });
        let mut in_progress = Vec::new();
        for leased in leased.collect::<Vec<_>>() {
            let (process, due) = leased.await.unwrap();
            in_progress.extend(due.into_iter().map(|due| (process.clone(), due)));
        }
        let count = in_progress.len();
        assert!((1..=3).contains(&count), "{count}");
        for (process, due) in in_progress {
            assert!(
                sent.insert(due.event.id.as_str().to_owned()),
                "each event once"
            );
            process.deliver(&due, 1, DeliveryOutcome::Delivered).await;
        }
    }
    assert_eq!(sent.len(), 30);
}
