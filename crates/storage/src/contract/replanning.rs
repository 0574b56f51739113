//! What a clock that was ahead has planned.

use super::*;

const AHEAD: i64 = 5000;
const RIGHT: i64 = 1400;

async fn replan(test: &Test, now: i64) -> u64 {
    test.replan_future(at(now)).await.unwrap()
}

#[tokio::test]
async fn what_a_clock_that_was_ahead_has_planned_is_due_when_it_is_right() {
    let test = BACKEND.awaiting().await;
    test.observe(20, observed("CHECKING")).await;
    // By the clock that is ahead: a poll, an order with an event, and an invoice.
    test.observe(AHEAD, observed("FAILED")).await;
    test.order(2).await;
    test.begin(2, 2, AHEAD).await.unwrap();
    let mut shown = invoice(2);
    (shown.opened_at, shown.expires_at) = (at(AHEAD), at(AHEAD + 900));
    let attempt = new_attempt(2).id;
    let opened = test.open_attempt(&attempt, &shown, at(AHEAD)).await;
    opened.unwrap();
    let polls = async || test.polls(PollPriority::Unwatched, RIGHT).await;
    assert_eq!(polls().await, []);
    assert_eq!(
        test.due(RIGHT).await.len(),
        2,
        "the first events of both orders"
    );
    assert_eq!(replan(&test, RIGHT).await, 4);
    assert_eq!(replan(&test, RIGHT).await, 0);
    assert_eq!(polls().await.len(), 2);
    let attempt = test.found(2).await.attempt.unwrap();
    let shown = attempt.invoice().unwrap();
    assert_eq!(shown.opened_at, at(RIGHT));
    assert_eq!(shown.expires_at, at(RIGHT + 900));
}

#[tokio::test]
async fn a_poll_that_ends_while_the_clock_is_ahead_is_planned_again() {
    let test = BACKEND.awaiting().await;
    test.awaiting(2).await;
    // Both begin by the clock that is right.
    let polls = test.polls(PollPriority::Unwatched, RIGHT - 100).await;
    let recorded = test.record(&polls[1], AHEAD, observed("CHECKING")).await;
    assert!(recorded.is_some());
    let rescheduled = test.reschedule_poll(&polls[0], at(AHEAD + 60), at(AHEAD));
    rescheduled.await.unwrap();
    let due = async || test.polls(PollPriority::Unwatched, RIGHT).await;
    assert_eq!(due().await, []);
    replan(&test, RIGHT).await;
    assert_eq!(due().await.len(), 2);
}

#[tokio::test]
async fn a_delivery_that_ends_while_the_clock_is_ahead_is_planned_again() {
    let test = BACKEND.test().await;
    for number in 1..=3 {
        test.order(number).await;
    }
    // The first is in progress as the clock jumps ahead, and its next one an hour later.
    let in_progress = test.due(RIGHT - 100).await;
    assert_eq!(in_progress.len(), 3);
    let ended = async |due: &DueDelivery, outcome| {
        let delivery = Delivery {
            took: SignedDuration::from_secs(AHEAD - RIGHT + 100),
            ..tried(&due.event.id, RIGHT - 100, 500)
        };
        test.record_delivery(&delivery, outcome).await.unwrap();
    };
    ended(&in_progress[0], retry(AHEAD, AHEAD + 5)).await;
    ended(&in_progress[1], DeliveryOutcome::GivenUp).await;
    let again = &in_progress[1].event.id;
    assert!(
        test.redeliver(&demo(), again, None, at(AHEAD))
            .await
            .unwrap()
    );
    // By the clock that is ahead, a process leases another one and is killed.
    assert_eq!(test.due(AHEAD).await.len(), 2);
    assert_eq!(test.due(RIGHT).await, []);
    assert_eq!(replan(&test, RIGHT).await, 3);
    // Of a lease of this store's own clock it waits until that has ended.
    let at_once = test.due(RIGHT).await;
    assert!(at_once.iter().any(|due| due.event == in_progress[0].event));
    assert_eq!(test.due(RIGHT + 60).await.len(), 3);
}

#[tokio::test]
async fn what_is_planned_while_plans_are_searched_keeps_its_plan() {
    let test = BACKEND.test().await;
    test.order(1).await;
    let event = test.listed().await.remove(0).id;
    // Another task writes it before the search has its turn.
    for (ahead, replanned) in [(5, 0), (6, 1)] {
        let planned = test.redeliver(&demo(), &event, None, at(100 + ahead)).await;
        assert!(planned.unwrap());
        assert_eq!(replan(&test, 100).await, replanned, "{ahead} seconds");
    }
}

#[tokio::test]
async fn an_attempt_begun_by_a_clock_that_was_ahead_is_abandoned_when_it_is_right() {
    let test = BACKEND.test().await;
    test.order(1).await;
    test.begin(1, 1, AHEAD).await.unwrap();
    // The process ended before it had the invoice, and the clock is right since.
    let abandoned = async |now: i64| {
        let stale = test.abandon_stale_attempts(at(now - 20), at(now));
        stale.await.unwrap()
    };
    replan(&test, RIGHT).await;
    assert_eq!(abandoned(RIGHT + 19).await, 0, "it may still be under way");
    assert_eq!(abandoned(RIGHT + 21).await, 1);
}
