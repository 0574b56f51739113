//! Polls: leased, scheduled, rescheduled, and recorded in order. Callbacks and subscriptions during polls that are slow, lost or
//! rescheduled: no hint is lost.

use proptest::prelude::*;
use tokio::runtime::Builder;

use super::*;

const MONTH: i64 = 30 * 24 * 3600;

#[tokio::test]
async fn a_callback_only_brings_the_next_poll_forward() {
    let test = BACKEND.awaiting().await;
    assert!(test.callback(1, 3).await);
    assert!(!test.callback(1, 9).await, "never back");
    assert!(!test.callback(7, 1).await, "an unknown invoice");
    assert_eq!(test.polls(PollPriority::Callback, 3).await.len(), 1);
    assert_eq!(test.event_types().await.len(), 2);
}

#[tokio::test]
async fn a_callback_schedules_a_poll_long_after_the_last_one() {
    let test = BACKEND.awaiting().await;
    test.observe(MONTH, observed("FAILED")).await;
    let later = MONTH + 3600;
    assert_eq!(test.polls(PollPriority::Unwatched, later).await, []);
    assert!(test.callback(1, later).await);
    test.observe(later, exact("COMPLETED")).await;
    assert_eq!(test.status(1).await, OrderStatus::Paid);
    assert!(!test.callback(1, later).await, "settled");
}

#[tokio::test]
async fn a_callback_during_a_poll_schedules_another_unless_it_settles() {
    for (response, polls) in [(observed("CHECKING"), 1), (exact("COMPLETED"), 0)] {
        let test = BACKEND.awaiting().await;
        let under_way = test.poll(20).await;
        assert!(test.callback(1, 21).await);
        let due = async |now| test.polls(PollPriority::Callback, now).await;
        assert_eq!(due(21).await, [], "one at a time");
        test.record(&under_way, 22, response).await;
        assert_eq!(due(22).await.len(), polls);
        for priority in [PollPriority::Watched, PollPriority::Unwatched] {
            assert_eq!(test.polls(priority, 30).await, []);
        }
    }
}

#[tokio::test]
async fn a_payment_that_needs_review_is_news_once_and_polled_rarely() {
    let test = BACKEND.awaiting().await;
    assert!(test.observe(20, observed("LOST")).await.changed);
    assert_eq!(test.polls(PollPriority::Unwatched, 79).await, []);
    assert!(!test.observe(80, observed("LOST")).await.changed);
    assert_eq!(test.status(1).await, OrderStatus::AwaitingPayment);
}

async fn reschedule(test: &Test, due: &DueAttempt, until: i64, now: i64) {
    let rescheduled = test.reschedule_poll(due, at(until), at(now)).await;
    rescheduled.unwrap();
}

#[tokio::test]
async fn a_callback_schedules_a_poll_two_seconds_after_the_last_one() {
    let test = BACKEND.awaiting().await;
    let failed = test.poll(20).await;
    reschedule(&test, &failed, 25, 20).await;
    for _ in 0..100 {
        test.callback(1, 20).await;
    }
    assert_eq!(test.polls(PollPriority::Callback, 21).await, []);
    assert_eq!(test.polls(PollPriority::Callback, 22).await.len(), 1);
}

#[tokio::test]
async fn a_rescheduled_poll_keeps_its_priority() {
    let test = BACKEND.awaiting().await;
    assert!(
        test.schedule_poll(&id(1), SignedDuration::ZERO, at(5))
            .await
            .unwrap()
    );
    assert_eq!(test.polls(PollPriority::Unwatched, 5).await, []);
    let watched = test.polls(PollPriority::Watched, 5).await;
    reschedule(&test, &watched[0], 6, 5).await;
    let watched = test.polls(PollPriority::Watched, 6).await;
    assert_eq!(watched[0].priority, PollPriority::Watched);
    // A callback during the poll is kept when the poll is rescheduled.
    assert!(test.callback(1, 7).await);
    reschedule(&test, &watched[0], 8, 7).await;
    assert_eq!(test.polls(PollPriority::Watched, 8).await, []);
    assert_eq!(test.polls(PollPriority::Callback, 8).await.len(), 1);
    let again = test.polls(PollPriority::Unwatched, 8 + 30).await;
    assert_eq!(again.len(), 1, "a lost poll is made again");
}

#[tokio::test]
async fn a_watched_poll_comes_a_pause_after_the_last_one_whatever_a_page_knows_of_it() {
    let test = BACKEND.awaiting().await;
    let failed = test.poll(20).await;
    reschedule(&test, &failed, 60, 20).await;
    let pause = SignedDuration::from_secs(3);
    assert!(test.schedule_poll(&id(1), pause, at(21)).await.unwrap());
    assert!(!test.schedule_poll(&id(1), pause, at(22)).await.unwrap());
    assert_eq!(test.polls(PollPriority::Watched, 22).await, []);
    assert_eq!(test.polls(PollPriority::Watched, 23).await.len(), 1);
}

#[tokio::test]
async fn a_late_response_and_a_late_reschedule_end_no_later_poll() {
    let test = BACKEND.awaiting().await;
    let slow = test.poll(20).await;
    test.poll(60).await;
    let recorded = test.record(&slow, 61, observed("CHECKING")).await;
    assert!(recorded.is_some());
    reschedule(&test, &slow, 62, 61).await;
    assert_eq!(test.polls(PollPriority::Unwatched, 89).await, []);
}

#[tokio::test]
async fn only_a_contradicting_callback_schedules_a_recheck_after_a_minute() {
    let test = BACKEND.awaiting().await;
    let known = invoice(1).id;
    let recheck = async |now| test.schedule_recheck(&known, at(now)).await.unwrap();
    assert!(!recheck(5).await);
    test.observe(20, exact("COMPLETED")).await;
    // No longer fresh: the next scheduled poll is minutes away.
    test.observe(700, exact("COMPLETED")).await;
    assert!(!test.callback(1, 701).await);
    for _ in 0..100 {
        recheck(701).await;
    }
    assert_eq!(test.polls(PollPriority::Callback, 759).await, []);
    assert_eq!(test.polls(PollPriority::Callback, 760).await.len(), 1);
    test.observe(MONTH, exact("COMPLETED")).await;
    assert_eq!(test.polls(PollPriority::Unwatched, 2 * MONTH).await, []);
    assert!(recheck(2 * MONTH).await);
    test.observe(2 * MONTH, exact("FAILED")).await;
    assert_eq!(test.event_types().await.last(), Some(&E::Reverted));
}

#[tokio::test]
async fn a_failure_without_a_payment_is_distinguished() {
    for (responses, was_seen) in [
        (vec![observed("CHECKING"), observed("FAILED")], false),
        // Gone from the chain, and then from the gateway's record.
        (
            vec![exact("CHECKING"), observed("CHECKING"), observed("FAILED")],
            true,
        ),
        (vec![exact("FAILED")], true),
    ] {
        let test = BACKEND.awaiting().await;
        for (response, now) in responses.into_iter().zip([20, 60, 120]) {
            test.observe(now, response).await;
        }
        let found = test.found(1).await;
        assert_eq!(found.order.status, OrderStatus::Failed);
        let attempt = found.attempt.unwrap();
        assert_eq!(attempt.invoice().unwrap().was_seen, was_seen);
    }
}

#[tokio::test]
async fn all_attempts_of_an_order_are_polled_for_a_second_payment() {
    let test = BACKEND.awaiting().await;
    test.add_attempt(1, 2).await;
    test.awaiting(3).await;
    for _ in 0..3 {
        test.observe(5000, observed("FAILED")).await;
    }
    let (order, pause) = (id(1), SignedDuration::from_secs(45));
    for (is_new, claim) in [(true, "scheduled"), (false, "a repetition changes nothing")] {
        let scheduled = test.schedule_polls_of_order(&order, pause, at(5010));
        assert_eq!(scheduled.await.unwrap(), is_new, "{claim}");
    }
    assert_eq!(test.polls(PollPriority::Watched, 5044).await, []);
    let due = test.polls(PollPriority::Watched, 5045).await;
    assert_eq!(due.len(), 2);
    assert!(due.iter().all(|due| due.order_id == order));
}

#[tokio::test]
async fn polls_that_wait_are_counted() {
    let test = BACKEND.test().await;
    let queue = async |until, most| test.poll_queue(at(until), most).await.unwrap();
    assert_eq!(queue(9, 9).await, PollQueue::default());
    for number in 1..=3 {
        test.awaiting(number).await;
    }
    test.schedule_poll(&id(1), SignedDuration::ZERO, at(5))
        .await
        .unwrap();
    let first = [
        (PollPriority::Unwatched, at(15)),
        (PollPriority::Watched, at(5)),
    ];
    let mut expected = PollQueue {
        due: 1,
        due_prioritised: 1,
        first: first.into(),
    };
    assert_eq!(queue(14, 9).await, expected);
    assert_eq!(expected.first_at(), Some(at(5)));
    expected.due = 3;
    assert_eq!(queue(15, 9).await, expected);
    assert_eq!(queue(15, 1).await.due, 2, "at most one of each priority");
}

#[tokio::test]
async fn a_poll_is_put_off_by_the_stretch() {
    let test = BACKEND.awaiting().await;
    let mut due = test.poll(20).await;
    due.stretch = Stretch::NONE.next(1000, 100);
    test.record(&due, 200, observed("CHECKING")).await;
    // Half a minute and a quarter of it.
    let queue = test.poll_queue(at(0), 9).await.unwrap();
    let next = queue.first_at().unwrap().duration_since(at(200));
    assert_eq!(next, SignedDuration::from_millis(37_500));
}

#[derive(Clone, Copy, Debug)]
enum Action {
    Callback,
    Subscription,
    PollStart,
    Response(&'static str),
    Deferral(i64),
}

/// The lease of [`ByNumber::polls`]: no other poll starts within it.
const LEASE: i64 = 30;

fn actions() -> impl Strategy<Value = Vec<(i64, Action)>> {
    let words = prop::sample::select(vec!["CHECKING", "PROCESSING", "FAILED", "REFUNDED"]);
    let action = prop_oneof![
        3 => Just(Action::Callback),
        2 => Just(Action::Subscription),
        5 => Just(Action::PollStart),
        4 => words.prop_map(Action::Response),
        1 => (1_i64..20).prop_map(Action::Deferral),
    ];
    let pause = prop_oneof![4 => 0_i64..4, 1 => 4_i64..90];
    prop::collection::vec((pause, action), 1..30)
}

struct Watching<'a> {
    test: &'a Test,
    now: i64,
    under_way: Option<(DueAttempt, i64)>,
    is_hinted: bool,
}

impl Watching<'_> {
    async fn perform(&mut self, action: Action) {
        let (test, now) = (self.test, self.now);
        match action {
            Action::Callback => {
                test.callback(1, now).await;
                self.is_hinted = true;
            }
            Action::Subscription => {
                test.schedule_poll(&id(1), SignedDuration::ZERO, at(now))
                    .await
                    .unwrap();
            }
            Action::PollStart => {
                if let Some(due) = self.begins().await {
                    self.under_way = Some((due, now + LEASE));
                }
            }
            Action::Response(word) => {
                if let Some((due, _)) = self.under_way.take() {
                    let is_sent = word == "PROCESSING";
                    let response = if is_sent { exact(word) } else { observed(word) };
                    test.record(&due, now, response).await;
                }
            }
            Action::Deferral(seconds) => {
                if let Some((due, _)) = self.under_way.take() {
                    let deferred = test.reschedule_poll(&due, at(now + seconds), at(now));
                    deferred.await.unwrap();
                }
            }
        }
    }

    async fn begins(&mut self) -> Option<DueAttempt> {
        for priority in PRIORITIES {
            if let Some(due) = self.test.polls(priority, self.now).await.pop() {
                let is_over = |(_, ends): &(DueAttempt, i64)| self.now >= *ends;
                assert!(
                    self.under_way.as_ref().is_none_or(is_over),
                    "one poll at a time"
                );
                self.is_hinted = false;
                return Some(due);
            }
        }
        None
    }
}

async fn watched(first: i64, actions: &[(i64, Action)]) {
    let test = BACKEND.awaiting().await;
    test.observe(first, observed("FAILED")).await;
    let mut watching = Watching {
        test: &test,
        now: first + 2,
        under_way: None,
        is_hinted: false,
    };
    for (pause, action) in actions {
        watching.now += pause;
        watching.perform(*action).await;
    }
    // Nothing more happens; what was under way never comes back.
    watching.now += LEASE;
    if watching.is_hinted {
        assert!(watching.begins().await.is_some(), "the hint is lost");
    }
    if first < 86_400 {
        watching.now += 15 * 60;
        assert!(
            watching.begins().await.is_some(),
            "the attempt is forgotten"
        );
    }
}

#[test]
fn no_callback_is_lost_and_no_two_polls_overlap() {
    let config = ProptestConfig::with_cases(24);
    proptest!(config, |(is_old in any::<bool>(), actions in actions())| {
        // Just expired, or so long ago that it is polled only on request.
        let first = if is_old { 30 * 86_400 } else { 1000 };
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(watched(first, &actions));
    });
}
