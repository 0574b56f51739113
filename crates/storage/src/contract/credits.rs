//! Credits: once per order, with their events.

use super::*;

pub(super) async fn the_first_sale_is_credited_once_and_reported_in_order(backend: Backend) {
    let test = backend.test().await;
    awaiting(&test.storage, 1).await;
    assert_eq!(
        observe(&test.storage, 20, observed("CHECKING"))
            .await
            .assessment,
        Assessment::Waiting
    );
    observe(&test.storage, 40, exact("CHECKING")).await;
    observe(&test.storage, 60, exact("PROCESSING")).await;
    let paid = observe(&test.storage, 80, exact("COMPLETED")).await;
    assert_eq!(
        (paid.snapshot.order.status, paid.changed),
        (OrderStatus::Paid, true)
    );
    let credit = test.storage.credit_of(&id(1)).await.unwrap().unwrap();
    assert_eq!(
        (credit.amount, credit.attempt_id),
        (amount("19.90"), new_attempt(1).id)
    );
    let types = [
        E::Created,
        E::AttemptOpened,
        E::PaymentSeen,
        E::Processing,
        E::Paid,
    ];
    assert_eq!(event_types(&test.storage).await, types);
}

pub(super) async fn a_contradiction_is_reported_once_and_the_order_stays_paid(backend: Backend) {
    let test = backend.test().await;
    awaiting(&test.storage, 1).await;
    observe(&test.storage, 20, exact("COMPLETED")).await;
    for (minutes, observation, changed) in [
        (11, exact("FAILED"), true),
        (22, exact("FAILED"), false),
        (44, observed("CANCELLED"), true),
        (90, exact("LOST"), true),
        (180, exact("COMPLETED"), true),
        (360, exact("FAILED"), true),
    ] {
        let observed = observe(&test.storage, minutes * 60, observation).await;
        assert_eq!(
            (observed.snapshot.order.status, observed.changed),
            (OrderStatus::Paid, changed),
            "{minutes}"
        );
    }
    let types = event_types(&test.storage).await;
    let reverted = E::Reverted;
    assert_eq!(types[3..], [reverted, reverted, reverted]);
    let known = test.storage.snapshot(&id(1)).await.unwrap().unwrap();
    let reverted = known.order.reverted.unwrap();
    assert_eq!(
        (reverted.at, reverted.payment_state),
        (at(360 * 60), PaymentState::Failed)
    );
    let credited = known.attempt.unwrap().invoice().unwrap().clone();
    assert_eq!(
        credited.payment_state,
        PaymentState::Settled,
        "the record of the credit stays"
    );
    assert_eq!(credited.progress.received.crypto, amount("0.00030973"));
    let events = test
        .storage
        .events(&demo(), None, 9)
        .await
        .unwrap()
        .unwrap();
    let payload: serde_json::Value = serde_json::from_str(&events[3].payload).unwrap();
    assert_eq!(payload["data"]["order"]["status"], "paid");
    assert_eq!(
        payload["data"]["order"]["reverted"]["payment_state"],
        "failed"
    );
}

pub(super) async fn a_credited_invoice_that_the_gateway_forgets_is_no_alarm(backend: Backend) {
    let test = backend.test().await;
    awaiting(&test.storage, 1).await;
    observe(&test.storage, 20, exact("COMPLETED")).await;
    let mut forgotten = observed("");
    forgotten.is_known = false;
    let observed = observe(&test.storage, 3600, forgotten).await;
    assert_eq!(
        (observed.snapshot.order.status, observed.changed),
        (OrderStatus::Paid, false)
    );
    assert_eq!(event_types(&test.storage).await.last(), Some(&E::Paid));
}

pub(super) async fn a_credited_attempt_is_polled_ten_times(backend: Backend) {
    let test = backend.test().await;
    awaiting(&test.storage, 1).await;
    observe(&test.storage, 20, exact("COMPLETED")).await;
    let mut polls = 0;
    let mut now = 20;
    while now < 10 * 24 * 3600 {
        now += 600;
        for due in test
            .storage
            .due_attempts(PollPriority::Unwatched, at(now), at(now), 9)
            .await
            .unwrap()
        {
            let observation = Observation {
                observed_at: at(now),
                ..exact("COMPLETED")
            };
            test.storage
                .record_observation(&due, &observation)
                .await
                .unwrap();
            polls += 1;
        }
    }
    assert_eq!(polls, 10);
}

pub(super) async fn two_paid_attempts_credit_one_order_once(backend: Backend) {
    let test = backend.test().await;
    awaiting(&test.storage, 1).await;
    attempt(&test.storage, 1, 2).await;
    let mut due = test
        .storage
        .due_attempts(PollPriority::Unwatched, at(60), at(90), 9)
        .await
        .unwrap();
    assert_eq!(due.len(), 2, "the replaced attempt is still watched");
    due.sort_by_key(|due| due.attempt_id != new_attempt(2).id);
    for due in &due {
        let mut observation = exact("COMPLETED");
        observation.invoice_id = Some(due.invoice_id.to_string());
        test.storage
            .record_observation(due, &observation)
            .await
            .unwrap();
    }
    let types = event_types(&test.storage).await;
    let count = |wanted| types.iter().filter(|event| **event == wanted).count();
    assert_eq!(
        (count(EventType::Paid), count(EventType::LatePayment)),
        (1, 1)
    );
    let paid_by = test
        .storage
        .credit_of(&id(1))
        .await
        .unwrap()
        .unwrap()
        .attempt_id;
    let shown = test.storage.snapshot(&id(1)).await.unwrap().unwrap().order;
    assert_eq!(shown.current_attempt, Some(paid_by));
    assert_eq!(shown.late_payment, Some(LatePayment::Second));
}

async fn late_payment(test: &Test) -> Option<LatePayment> {
    let snapshot = test.storage.snapshot(&id(1)).await.unwrap().unwrap();
    snapshot.order.late_payment
}

pub(super) async fn what_pays_an_order_after_its_time_is_known_as_late_and_more_of_it_as_a_second(
    backend: Backend,
) {
    let test = backend.test().await;
    awaiting(&test.storage, 1).await;
    observe(&test.storage, 900, observed("FAILED")).await;
    observe(&test.storage, 960, exact("PROCESSING")).await;
    assert_eq!(late_payment(&test).await, None, "not before it is paid");
    observe(&test.storage, 1020, exact("COMPLETED")).await;
    assert_eq!(late_payment(&test).await, Some(LatePayment::Counted));
    let double = received("COMPLETED", "0.0006", "39.00", "39.00");
    observe(&test.storage, 1800, double).await;
    assert_eq!(late_payment(&test).await, Some(LatePayment::Second));
}

pub(super) async fn a_replaced_attempt_that_is_paid_in_its_time_is_not_called_late(
    backend: Backend,
) {
    let test = backend.test().await;
    awaiting(&test.storage, 1).await;
    attempt(&test.storage, 1, 2).await;
    let due = test
        .storage
        .due_attempts(PollPriority::Unwatched, at(60), at(90), 9);
    let due = due.await.unwrap();
    let replaced = due.iter().find(|due| due.attempt_id == new_attempt(1).id);
    let observation = Observation {
        invoice_id: replaced.map(|due| due.invoice_id.to_string()),
        ..exact("COMPLETED")
    };
    test.storage
        .record_observation(replaced.unwrap(), &observation)
        .await
        .unwrap();
    let types = event_types(&test.storage).await;
    assert_eq!(types[types.len() - 2..], [E::LatePayment, E::Paid]);
    assert_eq!(late_payment(&test).await, None);
}

pub(super) async fn an_underpayment_is_polled_on_and_completed_by_the_rest(backend: Backend) {
    let test = backend.test().await;
    awaiting(&test.storage, 1).await;
    observe(
        &test.storage,
        20,
        received("COMPLETED", "0.0001", "6.42", "6.42"),
    )
    .await;
    assert_eq!(status(&test.storage, 1).await, OrderStatus::Underpaid);
    assert_eq!(test.storage.credit_of(&id(1)).await.unwrap(), None);
    observe(&test.storage, 200, exact("COMPLETED")).await;
    assert_eq!(status(&test.storage, 1).await, OrderStatus::Paid);
}

pub(super) async fn a_late_payment_is_reported_with_its_own_invoice(backend: Backend) {
    let test = backend.test().await;
    awaiting(&test.storage, 1).await;
    attempt(&test.storage, 1, 2).await;
    let mut due = test
        .storage
        .due_attempts(PollPriority::Unwatched, at(60), at(90), 9)
        .await
        .unwrap();
    due.sort_by_key(|due| due.attempt_id != new_attempt(2).id);
    for (due, observation) in due.iter().zip([
        exact("COMPLETED"),
        received("COMPLETED", "0.0001", "6.42", "6.42"),
    ]) {
        let observation = Observation {
            invoice_id: Some(due.invoice_id.to_string()),
            ..observation
        };
        test.storage
            .record_observation(due, &observation)
            .await
            .unwrap();
    }
    let events = test
        .storage
        .events(&demo(), None, 9)
        .await
        .unwrap()
        .unwrap();
    let late = events.last().unwrap();
    assert_eq!(late.event_type, E::LatePayment);
    let payload: serde_json::Value = serde_json::from_str(&late.payload).unwrap();
    assert_eq!(payload["data"]["order"]["status"], "paid");
    assert_eq!(payload["data"]["order"]["attempt"]["invoice_id"], "inv_1");
    assert_eq!(
        payload["data"]["order"]["attempt"]["received_in_crypto"],
        "0.0001"
    );
}

pub(super) async fn a_second_payment_that_returns_is_reported_once_and_a_larger_one_again(
    backend: Backend,
) {
    let test = backend.test().await;
    awaiting(&test.storage, 1).await;
    attempt(&test.storage, 1, 2).await;
    let planned = PollPriority::Unwatched;
    let due = test.storage.due_attempts(planned, at(60), at(90), 9).await;
    let due = due.unwrap();
    let second = |poll_seq| DueAttempt {
        poll_seq,
        ..due[1].clone()
    };
    let half = received("COMPLETED", "0.0001", "6.42", "6.42");
    let double = received("COMPLETED", "0.0006", "39.00", "39.00");
    for (due, observation) in [
        (due[0].clone(), exact("COMPLETED")),
        (second(1), half.clone()),
        (second(2), observed("FAILED")),
        (second(3), half.clone()),
        (second(4), double.clone()),
        (second(5), half),
        (second(6), double),
    ] {
        let invoice_id = Some(due.invoice_id.to_string());
        let observation = Observation {
            invoice_id,
            ..observation
        };
        test.storage
            .record_observation(&due, &observation)
            .await
            .unwrap();
    }
    let types = event_types(&test.storage).await;
    let late = types.iter().filter(|event| **event == E::LatePayment);
    let of_the_first = usize::from(due[0].attempt_id != new_attempt(2).id);
    assert_eq!(late.count(), of_the_first + 2, "{types:?}");
    assert_eq!(types.iter().filter(|event| **event == E::Paid).count(), 1);
}

pub(super) async fn an_amount_reported_as_late_before_the_credit_is_not_reported_after_it(
    backend: Backend,
) {
    let test = backend.test().await;
    awaiting(&test.storage, 1).await;
    observe(&test.storage, 900, observed("FAILED")).await;
    let double = |word| received(word, "0.0006", "39.00", "39.00");
    observe(&test.storage, 960, double("PROCESSING")).await;
    observe(&test.storage, 1020, exact("COMPLETED")).await;
    observe(&test.storage, 1800, double("COMPLETED")).await;
    let types = event_types(&test.storage).await;
    let late = [E::LatePayment, E::Processing, E::Paid];
    assert_eq!(types[types.len() - 3..], late);
}
