//! Polls: leased, scheduled, rescheduled, and recorded in order.

use super::*;

pub(super) async fn a_slow_response_never_overwrites_a_later_one(backend: Backend) {
    let test = backend.test().await;
    awaiting(&test.storage, 1).await;
    let slow = poll(&test.storage, 20).await;
    let quick = poll(&test.storage, 60).await;
    let paid = test
        .storage
        .record_observation(&quick, &exact("COMPLETED"))
        .await
        .unwrap()
        .unwrap();
    assert_eq!(paid.snapshot.order.status, OrderStatus::Paid);
    assert_eq!(
        test.storage
            .record_observation(&slow, &observed("FAILED"))
            .await
            .unwrap(),
        None
    );
    assert_eq!(
        test.storage
            .record_observation(&quick, &exact("COMPLETED"))
            .await
            .unwrap(),
        None
    );
    assert_eq!(status(&test.storage, 1).await, OrderStatus::Paid);
}

pub(super) async fn an_attempt_is_leased_to_one_poller_at_a_time(backend: Backend) {
    let test = backend.test().await;
    awaiting(&test.storage, 1).await;
    assert_eq!(
        test.storage
            .due_attempts(PollPriority::Unwatched, at(20), at(50), 9)
            .await
            .unwrap()
            .len(),
        1
    );
    assert_eq!(
        test.storage
            .due_attempts(PollPriority::Unwatched, at(49), at(80), 9)
            .await
            .unwrap()
            .len(),
        0
    );
    let again = test
        .storage
        .due_attempts(PollPriority::Unwatched, at(50), at(80), 9)
        .await
        .unwrap();
    assert_eq!(
        again[0].poll_seq, 2,
        "a poll without a response is made again"
    );
}

pub(super) async fn a_callback_only_brings_the_next_poll_forward(backend: Backend) {
    let test = backend.test().await;
    awaiting(&test.storage, 1).await;
    let known = invoice(1).id;
    assert!(
        test.storage
            .schedule_poll_of_invoice(&known, at(3))
            .await
            .unwrap()
    );
    assert!(
        !test
            .storage
            .schedule_poll_of_invoice(&known, at(9))
            .await
            .unwrap(),
        "never back"
    );
    assert!(
        !test
            .storage
            .schedule_poll_of_invoice(&invoice(7).id, at(1))
            .await
            .unwrap()
    );
    assert_eq!(
        test.storage
            .due_attempts(PollPriority::Callback, at(3), at(33), 9)
            .await
            .unwrap()
            .len(),
        1
    );
    assert_eq!(event_types(&test.storage).await.len(), 2);
}

pub(super) async fn a_callback_schedules_a_poll_long_after_the_last_one(backend: Backend) {
    let test = backend.test().await;
    awaiting(&test.storage, 1).await;
    let month = 30 * 24 * 3600;
    observe(&test.storage, month, observed("FAILED")).await;
    let much_later = at(month + 3600);
    assert_eq!(
        test.storage
            .due_attempts(PollPriority::Unwatched, much_later, much_later, 9)
            .await
            .unwrap(),
        []
    );
    assert!(
        test.storage
            .schedule_poll_of_invoice(&invoice(1).id, much_later)
            .await
            .unwrap()
    );
    observe(&test.storage, month + 3600, exact("COMPLETED")).await;
    assert_eq!(status(&test.storage, 1).await, OrderStatus::Paid);
    assert!(
        !test
            .storage
            .schedule_poll_of_invoice(&invoice(1).id, much_later)
            .await
            .unwrap(),
        "settled"
    );
}

pub(super) async fn a_callback_during_a_poll_schedules_another(backend: Backend) {
    let test = backend.test().await;
    awaiting(&test.storage, 1).await;
    let under_way = poll(&test.storage, 20).await;
    assert!(
        test.storage
            .schedule_poll_of_invoice(&invoice(1).id, at(21))
            .await
            .unwrap()
    );
    assert_eq!(
        test.storage
            .due_attempts(PollPriority::Callback, at(21), at(51), 9)
            .await
            .unwrap(),
        [],
        "one at a time"
    );
    let observation = Observation {
        observed_at: at(22),
        ..observed("CHECKING")
    };
    test.storage
        .record_observation(&under_way, &observation)
        .await
        .unwrap();
    assert_eq!(
        test.storage
            .due_attempts(PollPriority::Callback, at(22), at(52), 9)
            .await
            .unwrap()
            .len(),
        1
    );
}

pub(super) async fn a_callback_during_the_settling_poll_schedules_none(backend: Backend) {
    let test = backend.test().await;
    awaiting(&test.storage, 1).await;
    let under_way = poll(&test.storage, 20).await;
    test.storage
        .schedule_poll_of_invoice(&invoice(1).id, at(21))
        .await
        .unwrap();
    let observation = Observation {
        observed_at: at(22),
        ..exact("COMPLETED")
    };
    test.storage
        .record_observation(&under_way, &observation)
        .await
        .unwrap();
    for priority in [
        PollPriority::Callback,
        PollPriority::Watched,
        PollPriority::Unwatched,
    ] {
        assert_eq!(due_of(&test.storage, priority, 30).await, []);
    }
}

pub(super) async fn a_payment_that_needs_review_is_news_once_and_polled_rarely(backend: Backend) {
    let test = backend.test().await;
    awaiting(&test.storage, 1).await;
    assert!(observe(&test.storage, 20, observed("LOST")).await.changed);
    assert_eq!(
        test.storage
            .due_attempts(PollPriority::Unwatched, at(79), at(109), 9)
            .await
            .unwrap(),
        []
    );
    assert!(!observe(&test.storage, 80, observed("LOST")).await.changed);
    assert_eq!(status(&test.storage, 1).await, OrderStatus::AwaitingPayment);
}

pub(super) async fn due_of(storage: &Store, priority: PollPriority, now: i64) -> Vec<DueAttempt> {
    let due = storage
        .due_attempts(priority, at(now), at(now + 30), 9)
        .await;
    due.unwrap()
}

pub(super) async fn a_callback_schedules_a_poll_two_seconds_after_the_last_one(backend: Backend) {
    let test = backend.test().await;
    awaiting(&test.storage, 1).await;
    let known = invoice(1).id;
    let failed = poll(&test.storage, 20).await;
    test.storage
        .reschedule_poll(&failed, at(25), at(20))
        .await
        .unwrap();
    for _ in 0..100 {
        test.storage
            .schedule_poll_of_invoice(&known, at(20))
            .await
            .unwrap();
    }
    assert_eq!(due_of(&test.storage, PollPriority::Callback, 21).await, []);
    assert_eq!(
        due_of(&test.storage, PollPriority::Callback, 22)
            .await
            .len(),
        1
    );
}

pub(super) async fn a_rescheduled_poll_keeps_its_priority(backend: Backend) {
    let test = backend.test().await;
    awaiting(&test.storage, 1).await;
    let (order, known) = (id(1), invoice(1).id);
    assert!(test.storage.schedule_poll(&order, at(5)).await.unwrap());
    assert_eq!(due_of(&test.storage, PollPriority::Unwatched, 5).await, []);
    let watched = due_of(&test.storage, PollPriority::Watched, 5).await;
    test.storage
        .reschedule_poll(&watched[0], at(6), at(5))
        .await
        .unwrap();
    let watched = due_of(&test.storage, PollPriority::Watched, 6).await;
    assert_eq!(watched[0].priority, PollPriority::Watched);
    // A callback during the poll is kept when the poll is rescheduled.
    assert!(
        test.storage
            .schedule_poll_of_invoice(&known, at(7))
            .await
            .unwrap()
    );
    test.storage
        .reschedule_poll(&watched[0], at(8), at(7))
        .await
        .unwrap();
    assert_eq!(due_of(&test.storage, PollPriority::Watched, 8).await, []);
    assert_eq!(
        due_of(&test.storage, PollPriority::Callback, 8).await.len(),
        1
    );
    let later = at(8 + 30);
    let again = test
        .storage
        .due_attempts(PollPriority::Unwatched, later, later, 9);
    assert_eq!(again.await.unwrap().len(), 1, "a lost poll is made again");
}

pub(super) async fn a_late_reschedule_does_not_end_a_later_poll(backend: Backend) {
    let test = backend.test().await;
    awaiting(&test.storage, 1).await;
    let slow = poll(&test.storage, 20).await;
    poll(&test.storage, 60).await;
    test.storage
        .reschedule_poll(&slow, at(61), at(60))
        .await
        .unwrap();
    assert_eq!(due_of(&test.storage, PollPriority::Unwatched, 62).await, []);
}

pub(super) async fn a_callback_during_the_last_poll_schedules_another(backend: Backend) {
    let test = backend.test().await;
    awaiting(&test.storage, 1).await;
    let (month, known) = (30 * 24 * 3600, invoice(1).id);
    observe(&test.storage, month, observed("FAILED")).await;
    // A poll for a callback returns FAILED; meanwhile the payment completes, with another callback.
    test.storage
        .schedule_poll_of_invoice(&known, at(month + 60))
        .await
        .unwrap();
    let under_way = poll(&test.storage, month + 60).await;
    test.storage
        .schedule_poll_of_invoice(&known, at(month + 61))
        .await
        .unwrap();
    let observation = Observation {
        observed_at: at(month + 62),
        ..observed("FAILED")
    };
    test.storage
        .record_observation(&under_way, &observation)
        .await
        .unwrap();
    observe(&test.storage, month + 63, exact("COMPLETED")).await;
    assert_eq!(status(&test.storage, 1).await, OrderStatus::Paid);
}

pub(super) async fn only_a_contradicting_callback_schedules_a_recheck_after_a_minute(
    backend: Backend,
) {
    let test = backend.test().await;
    awaiting(&test.storage, 1).await;
    let known = invoice(1).id;
    assert!(!test.storage.schedule_recheck(&known, at(5)).await.unwrap());
    observe(&test.storage, 20, exact("COMPLETED")).await;
    // No longer fresh: the next scheduled poll is minutes away.
    observe(&test.storage, 700, exact("COMPLETED")).await;
    assert!(
        !test
            .storage
            .schedule_poll_of_invoice(&known, at(701))
            .await
            .unwrap()
    );
    for _ in 0..100 {
        test.storage
            .schedule_recheck(&known, at(701))
            .await
            .unwrap();
    }
    assert_eq!(due_of(&test.storage, PollPriority::Callback, 759).await, []);
    assert_eq!(
        due_of(&test.storage, PollPriority::Callback, 760)
            .await
            .len(),
        1
    );
    let later = 30 * 24 * 3600;
    observe(&test.storage, later, exact("COMPLETED")).await;
    assert_eq!(
        due_of(&test.storage, PollPriority::Unwatched, 2 * later).await,
        []
    );
    assert!(
        test.storage
            .schedule_recheck(&known, at(2 * later))
            .await
            .unwrap()
    );
    observe(&test.storage, 2 * later, exact("FAILED")).await;
    assert_eq!(event_types(&test.storage).await.last(), Some(&E::Reverted));
}

/// Returns `true` if the order's attempt failed after a payment was detected.
async fn failed_seen(storage: &Store) -> bool {
    let snapshot = storage.snapshot(&id(1)).await.unwrap().unwrap();
    assert_eq!(snapshot.order.status, OrderStatus::Failed);
    snapshot.attempt.unwrap().invoice().unwrap().was_seen
}

pub(super) async fn a_failure_without_a_payment_is_distinguished(backend: Backend) {
    let test = backend.test().await;
    awaiting(&test.storage, 1).await;
    observe(&test.storage, 20, observed("CHECKING")).await;
    observe(&test.storage, 60, observed("FAILED")).await;
    assert!(!failed_seen(&test.storage).await);

    let test = backend.test().await;
    awaiting(&test.storage, 1).await;
    observe(&test.storage, 20, exact("CHECKING")).await;
    // Gone from the chain, and then from the gateway's record.
    observe(&test.storage, 60, observed("CHECKING")).await;
    observe(&test.storage, 120, observed("FAILED")).await;
    assert!(failed_seen(&test.storage).await);

    let test = backend.test().await;
    awaiting(&test.storage, 1).await;
    observe(&test.storage, 20, exact("FAILED")).await;
    assert!(failed_seen(&test.storage).await);
}

pub(super) async fn all_attempts_of_an_order_are_polled_for_a_second_payment(backend: Backend) {
    let test = backend.test().await;
    awaiting(&test.storage, 1).await;
    attempt(&test.storage, 1, 2).await;
    awaiting(&test.storage, 3).await;
    for _ in 0..3 {
        let due = poll(&test.storage, 5000).await;
        let mut observation = observed("FAILED");
        observation.invoice_id = Some(due.invoice_id.to_string());
        observation.observed_at = at(5000);
        test.storage
            .record_observation(&due, &observation)
            .await
            .unwrap();
    }
    let (order, pause) = (id(1), SignedDuration::from_secs(45));
    let schedule = async || {
        let scheduled = test
            .storage
            .schedule_polls_of_order(&order, pause, at(5010));
        scheduled.await.unwrap()
    };
    assert!(schedule().await);
    assert!(!schedule().await, "a repetition changes nothing");
    let due = async |now| due_of(&test.storage, PollPriority::Watched, now).await;
    assert_eq!(due(5044).await, []);
    let due = due(5045).await;
    assert_eq!(due.len(), 2);
    assert!(due.iter().all(|due| due.order_id == order));
}

pub(super) async fn polls_that_wait_are_counted(backend: Backend) {
    let test = backend.test().await;
    let queue = async |until, most| test.storage.poll_queue(at(until), most).await.unwrap();
    assert_eq!(queue(9, 9).await, PollQueue::default());
    for number in 1..=3 {
        awaiting(&test.storage, number).await;
    }
    test.storage.schedule_poll(&id(1), at(5)).await.unwrap();
    let first = [
        (PollPriority::Unwatched, at(15)),
        (PollPriority::Watched, at(5)),
    ];
    let some = PollQueue {
        due: 1,
        due_prioritised: 1,
        first: first.into(),
    };
    assert_eq!(queue(14, 9).await, some);
    assert_eq!(some.first_at(), Some(at(5)));
    assert_eq!(
        queue(15, 9).await,
        PollQueue {
            due: 3,
            ..some.clone()
        }
    );
    assert_eq!(queue(15, 1).await.due, 2, "at most one of each priority");
}

pub(super) async fn a_poll_is_put_off_by_the_stretch(backend: Backend) {
    let test = backend.test().await;
    awaiting(&test.storage, 1).await;
    let mut due = poll(&test.storage, 20).await;
    due.stretch = florin_orders::Stretch::NONE.next(1000, 100);
    let observation = Observation {
        observed_at: at(200),
        ..observed("CHECKING")
    };
    test.storage
        .record_observation(&due, &observation)
        .await
        .unwrap();
    // Half a minute and a quarter of it.
    let queue = test.storage.poll_queue(at(0), 9).await.unwrap();
    let next = queue.first_at().unwrap().duration_since(at(200));
    assert_eq!(next, SignedDuration::from_millis(37_500));
}
