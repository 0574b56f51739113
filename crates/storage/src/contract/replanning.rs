//! What a clock that was ahead has planned.

use super::polling::due_of;
use super::*;

pub(super) async fn what_a_clock_that_was_ahead_has_planned_is_due_when_it_is_right(
    backend: Backend,
) {
    let test = backend.test().await;
    let (ahead, right) = (5000, 1400);
    awaiting(&test.storage, 1).await;
    observe(&test.storage, 20, observed("CHECKING")).await;
    // By the clock that is ahead: a poll, an order with an event, and an invoice.
    observe(&test.storage, ahead, observed("FAILED")).await;
    order(&test.storage, 2).await;
    test.storage
        .begin_attempt(&id(2), &new_attempt(2), at(ahead))
        .await
        .unwrap();
    let mut shown = invoice(2);
    (shown.opened_at, shown.expires_at) = (at(ahead), at(ahead + 900));
    test.storage
        .open_attempt(&new_attempt(2).id, &shown, at(ahead))
        .await
        .unwrap();
    let due = async || {
        let store = demo();
        let deliveries = test
            .storage
            .due_deliveries(&store, at(right), at(right + 30), 9);
        let polls = due_of(&test.storage, PollPriority::Unwatched, right).await;
        (polls.len(), deliveries.await.unwrap().len())
    };
    let (polls, deliveries) = due().await;
    assert_eq!(
        (polls, deliveries),
        (0, 2),
        "the first events of both orders"
    );
    assert_eq!(test.storage.replan_future(at(right)).await.unwrap(), 4);
    assert_eq!(test.storage.replan_future(at(right)).await.unwrap(), 0);
    assert_eq!(due().await.0, 2);
    let snapshot = test.storage.snapshot(&id(2)).await.unwrap().unwrap();
    let attempt = snapshot.attempt.unwrap();
    let shown = attempt.invoice().unwrap();
    assert_eq!(
        (shown.opened_at, shown.expires_at),
        (at(right), at(right + 900))
    );
}

pub(super) async fn a_poll_that_ends_while_the_clock_is_ahead_is_planned_again(backend: Backend) {
    let test = backend.test().await;
    let (ahead, right) = (5000, 1400);
    awaiting(&test.storage, 1).await;
    awaiting(&test.storage, 2).await;
    // Both begin by the clock that is right.
    let mut polls = due_of(&test.storage, PollPriority::Unwatched, right - 100).await;
    let (answered, failed) = (polls.pop().unwrap(), polls.pop().unwrap());
    let observation = Observation {
        observed_at: at(ahead),
        ..observed("CHECKING")
    };
    let recorded = test.storage.record_observation(&answered, &observation);
    recorded.await.unwrap().unwrap();
    let (until, now) = (at(ahead + 60), at(ahead));
    let rescheduled = test.storage.reschedule_poll(&failed, until, now);
    rescheduled.await.unwrap();
    let due = async || due_of(&test.storage, PollPriority::Unwatched, right).await;
    assert_eq!(due().await, []);
    test.storage.replan_future(at(right)).await.unwrap();
    assert_eq!(due().await.len(), 2);
}

pub(super) async fn a_delivery_that_ends_while_the_clock_is_ahead_is_planned_again(
    backend: Backend,
) {
    let test = backend.test().await;
    let (storage, store) = (&test.storage, demo());
    let (ahead, right) = (5000, 1400);
    for number in 1..=3 {
        order(storage, number).await;
    }
    let due = async |now| {
        let due = storage.due_deliveries(&store, at(now), at(now + 30), 9);
        due.await.unwrap()
    };
    // The first is in progress as the clock jumps ahead, and its next one an hour later.
    let in_progress = due(right - 100).await;
    assert_eq!(in_progress.len(), 3);
    let ended = async |due: &DueDelivery, outcome| {
        let delivery = Delivery {
            event_id: due.event.id.clone(),
            tried_at: at(right - 100),
            took: SignedDuration::from_secs(ahead - right + 100),
            http_status: Some(500),
            note: "answered 500".into(),
        };
        storage.record_delivery(&delivery, outcome).await.unwrap();
    };
    ended(&in_progress[0], retry(ahead, ahead + 5)).await;
    ended(&in_progress[1], DeliveryOutcome::GivenUp).await;
    let again = &in_progress[1].event.id;
    assert!(storage.redeliver(&store, again, at(ahead)).await.unwrap());
    // By the clock that is ahead, a process leases another one and is killed.
    assert_eq!(due(ahead).await.len(), 2);
    assert_eq!(due(right).await, []);
    assert_eq!(storage.replan_future(at(right)).await.unwrap(), 3);
    // Of a lease of this store's own clock it waits until that has ended.
    let at_once = due(right).await;
    assert!(at_once.iter().any(|due| due.event == in_progress[0].event));
    assert_eq!(due(right + 60).await.len(), 3);
}

pub(super) async fn what_is_planned_while_plans_are_searched_keeps_its_plan(backend: Backend) {
    let test = backend.test().await;
    let (storage, store) = (&test.storage, demo());
    order(storage, 1).await;
    let events = storage.events(&store, None, 1).await.unwrap().unwrap();
    // Another task writes it before the search has its turn.
    for (ahead, replanned) in [(5, 0), (6, 1)] {
        let planned = storage.redeliver(&store, &events[0].id, at(100 + ahead));
        assert!(planned.await.unwrap());
        let searched = storage.replan_future(at(100)).await.unwrap();
        assert_eq!(searched, replanned, "{ahead} seconds");
    }
}

pub(super) async fn an_attempt_begun_by_a_clock_that_was_ahead_is_abandoned_when_it_is_right(
    backend: Backend,
) {
    let test = backend.test().await;
    let (ahead, right) = (5000, 1400);
    order(&test.storage, 1).await;
    let terms = new_attempt(1);
    test.storage
        .begin_attempt(&id(1), &terms, at(ahead))
        .await
        .unwrap();
    // The process ended before it had the invoice, and the clock is right since.
    let abandoned = async |now: i64| {
        let stale = test.storage.abandon_stale_attempts(at(now - 20), at(now));
        stale.await.unwrap()
    };
    test.storage.replan_future(at(right)).await.unwrap();
    assert_eq!(abandoned(right + 19).await, 0, "it may still be under way");
    assert_eq!(abandoned(right + 21).await, 1);
}
