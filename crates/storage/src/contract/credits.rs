//! Credits: once per order, with their events. The model shows the same for all that may happen to an order.

use super::*;

#[tokio::test]
async fn the_first_sale_is_credited_once_and_reported_in_order() {
    let test = BACKEND.test().await;
    test.awaiting(1).await;
    let waiting = test.observe(20, observed("CHECKING")).await;
    assert_eq!(waiting.assessment, Assessment::Waiting);
    test.observe(40, exact("CHECKING")).await;
    test.observe(60, exact("PROCESSING")).await;
    let paid = test.observe(80, exact("COMPLETED")).await;
    assert_eq!(
        (paid.snapshot.order.status, paid.changed),
        (OrderStatus::Paid, true)
    );
    let credit = test.credit_of(&id(1)).await.unwrap().unwrap();
    assert_eq!(credit.amount, amount("19.90"));
    assert_eq!(credit.attempt_id, new_attempt(1).id);
    let types = [
        E::Created,
        E::AttemptOpened,
        E::PaymentSeen,
        E::Processing,
        E::Paid,
    ];
    assert_eq!(test.event_types().await, types);
}

#[tokio::test]
async fn a_contradiction_is_news_once_and_the_order_stays_paid() {
    let test = BACKEND.test().await;
    test.awaiting(1).await;
    test.observe(20, exact("COMPLETED")).await;
    let mut forgotten = observed("");
    forgotten.is_known = false;
    for (minutes, response, changed) in [
        (11, exact("FAILED"), true),
        (22, exact("FAILED"), false),
        (44, exact("COMPLETED"), true),
        (90, forgotten, false),
    ] {
        let observed = test.observe(minutes * 60, response).await;
        let status = observed.snapshot.order.status;
        assert_eq!(
            (status, observed.changed),
            (OrderStatus::Paid, changed),
            "{minutes}"
        );
    }
    assert_eq!(test.event_types().await[2..], [E::Paid, E::Reverted]);
}

/// The polls of an order's two attempts, that of the current one first.
async fn two_polls(test: &Test) -> [DueAttempt; 2] {
    test.awaiting(1).await;
    test.add_attempt(1, 2).await;
    let mut due = test.polls(PollPriority::Unwatched, 60).await;
    due.sort_by_key(|due| due.attempt_id != new_attempt(2).id);
    due.try_into()
        .expect("the replaced attempt is still watched")
}

#[tokio::test]
async fn two_paid_attempts_credit_one_order_once() {
    let test = BACKEND.test().await;
    for due in &two_polls(&test).await {
        test.record(due, 60, exact("COMPLETED")).await;
    }
    let types = test.event_types().await;
    let count = |wanted| types.iter().filter(|event| **event == wanted).count();
    assert_eq!((count(E::Paid), count(E::LatePayment)), (1, 1));
    let paid_by = test.credit_of(&id(1)).await.unwrap().unwrap().attempt_id;
    let shown = test.found(1).await.order;
    assert_eq!(shown.current_attempt, Some(paid_by));
    assert_eq!(shown.late_payment, Some(LatePayment::Second));
}

#[tokio::test]
async fn a_late_payment_is_reported_with_its_own_invoice() {
    let test = BACKEND.test().await;
    let [current, replaced] = two_polls(&test).await;
    test.record(&current, 60, exact("COMPLETED")).await;
    test.record(&replaced, 60, too_little("COMPLETED")).await;
    let late = test.listed().await.pop().unwrap();
    assert_eq!(late.event_type, E::LatePayment);
    let payload: serde_json::Value = serde_json::from_str(&late.payload).unwrap();
    let order = &payload["data"]["order"];
    assert_eq!(order["status"], "paid");
    assert_eq!(order["attempt"]["invoice_id"], "inv_1");
    assert_eq!(order["attempt"]["received_in_crypto"], "0.0001");
}

#[tokio::test]
async fn a_second_payment_that_returns_is_reported_once_and_a_larger_one_again() {
    let test = BACKEND.test().await;
    let [first, second] = two_polls(&test).await;
    test.record(&first, 60, exact("COMPLETED")).await;
    let half = || too_little("COMPLETED");
    let double = || received("COMPLETED", "0.0006", "39.00", "39.00");
    let responses = [
        half(),
        observed("FAILED"),
        half(),
        double(),
        half(),
        double(),
    ];
    for (response, poll_seq) in responses.into_iter().zip(1..) {
        let due = DueAttempt {
            poll_seq,
            ..second.clone()
        };
        test.record(&due, 60, response).await;
    }
    let types = test.event_types().await;
    assert_eq!(types[3..], [E::Paid, E::LatePayment, E::LatePayment]);
}

#[tokio::test]
async fn a_response_that_repeats_is_counted_and_a_padded_one_is_cut() {
    let test = BACKEND.test().await;
    test.awaiting(1).await;
    for (poll, status, raw) in [
        (1, "WAITING", "1".to_owned()),
        (2, "WAITING", "2".to_owned()),
        (3, "PENDING", "3".to_owned()),
        (4, "WAITING", "4".to_owned()),
        (5, "PROCESSING", "ü".repeat(100_000)),
    ] {
        let response = Observation {
            raw,
            ..observed(status)
        };
        let (due, now) = (polled(1, poll), 10 + i64::from(poll));
        let recorded = test.record(&due, now, response).await;
        recorded.expect("the latest poll");
    }
    for (times, rows) in [(2, 1), (1, 3)] {
        let of = format!(
            "SELECT count(*) FROM observations WHERE times = {times} AND (last_at > observed_at) = (times > 1)"
        );
        assert_eq!(test.number(&of).await, rows, "{times} times");
    }
    assert_eq!(test.number("SELECT count(*) FROM observations").await, 4);
    let longest = "SELECT CAST(max(octet_length(raw)) AS bigint) FROM observations";
    assert_eq!(test.number(longest).await, 4096);
}
