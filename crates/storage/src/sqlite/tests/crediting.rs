//! Money: credited once, and told.

use super::*;

#[tokio::test]
async fn the_first_sale_is_credited_once_and_told_in_order() {
    let home = home("sale").await;
    awaiting(&home.ledger, 1).await;
    assert_eq!(
        see(&home.ledger, 20, said("CHECKING")).await.verdict,
        Verdict::Waiting
    );
    see(&home.ledger, 40, exact("CHECKING")).await;
    see(&home.ledger, 60, exact("PROCESSING")).await;
    let paid = see(&home.ledger, 80, exact("COMPLETED")).await;
    assert_eq!((paid.status, paid.changed), (OrderStatus::Paid, true));
    let credit = home.ledger.settlement(&id(1)).await.unwrap().unwrap();
    assert_eq!(
        (credit.amount, credit.attempt_id),
        (amount("19.90"), new_attempt(1).id)
    );
    let told = [
        E::Created,
        E::AttemptOpened,
        E::PaymentSeen,
        E::Processing,
        E::Paid,
    ];
    assert_eq!(event_types(&home.ledger).await, told);
}

#[tokio::test]
async fn what_contradicts_a_credit_is_told_once_and_the_order_stays_paid() {
    let home = home("reverted").await;
    awaiting(&home.ledger, 1).await;
    see(&home.ledger, 20, exact("COMPLETED")).await;
    for (minutes, seen, changed) in [
        (11, exact("FAILED"), true),
        (22, exact("FAILED"), false),
        (44, said("CANCELLED"), true),
        (90, exact("LOST"), true),
        (180, exact("COMPLETED"), true),
        (360, exact("FAILED"), true),
    ] {
        let observed = see(&home.ledger, minutes * 60, seen).await;
        assert_eq!(
            (observed.status, observed.changed),
            (OrderStatus::Paid, changed),
            "{minutes}"
        );
    }
    let told = event_types(&home.ledger).await;
    let reverted = E::Reverted;
    assert_eq!(told[3..], [reverted, reverted, reverted]);
    let known = home.ledger.snapshot(&id(1)).await.unwrap().unwrap();
    let says = known.order.reverted.unwrap();
    assert_eq!((says.at, says.says), (at(360 * 60), Standing::Failed));
    let credited = known.attempt.unwrap().invoice().unwrap().clone();
    assert_eq!(
        credited.standing,
        Standing::Settled,
        "the record of the credit stays"
    );
    assert_eq!(credited.progress.received.crypto, amount("0.00030973"));
    let events = home.ledger.events(&demo(), None, 9).await.unwrap().unwrap();
    let payload: serde_json::Value = serde_json::from_str(&events[3].payload).unwrap();
    assert_eq!(payload["data"]["order"]["status"], "paid");
    assert_eq!(payload["data"]["order"]["reverted"]["says"], "failed");
}

#[tokio::test]
async fn a_credited_invoice_that_the_service_forgets_is_no_alarm() {
    let home = home("forgotten").await;
    awaiting(&home.ledger, 1).await;
    see(&home.ledger, 20, exact("COMPLETED")).await;
    let mut forgotten = said("");
    forgotten.is_known = false;
    let observed = see(&home.ledger, 3600, forgotten).await;
    assert_eq!(
        (observed.status, observed.changed),
        (OrderStatus::Paid, false)
    );
    assert_eq!(event_types(&home.ledger).await.last(), Some(&E::Paid));
}

#[tokio::test]
async fn a_credit_is_looked_at_ten_times_and_then_left_alone() {
    let home = home("settled").await;
    awaiting(&home.ledger, 1).await;
    see(&home.ledger, 20, exact("COMPLETED")).await;
    let mut looks = 0;
    let mut now = 20;
    while now < 10 * 24 * 3600 {
        now += 600;
        for due in home
            .ledger
            .due_attempts(Urgency::Planned, at(now), at(now), 9)
            .await
            .unwrap()
        {
            let seen = Observation {
                observed_at: at(now),
                ..exact("COMPLETED")
            };
            home.ledger.observe(&due, &seen).await.unwrap();
            looks += 1;
        }
    }
    assert_eq!(looks, 10);
}

#[tokio::test]
async fn two_paid_attempts_credit_one_order_once() {
    let home = home("twice").await;
    awaiting(&home.ledger, 1).await;
    attempt(&home.ledger, 1, 2).await;
    let mut due = home
        .ledger
        .due_attempts(Urgency::Planned, at(60), at(90), 9)
        .await
        .unwrap();
    assert_eq!(due.len(), 2, "the replaced attempt is still watched");
    due.sort_by_key(|due| due.attempt_id != new_attempt(2).id);
    for due in &due {
        let mut seen = exact("COMPLETED");
        seen.invoice_id = Some(due.invoice_id.to_string());
        home.ledger.observe(due, &seen).await.unwrap();
    }
    let told = event_types(&home.ledger).await;
    let count = |wanted| told.iter().filter(|event| **event == wanted).count();
    assert_eq!(
        (count(EventType::Paid), count(EventType::LatePayment)),
        (1, 1)
    );
    let paid_by = home
        .ledger
        .settlement(&id(1))
        .await
        .unwrap()
        .unwrap()
        .attempt_id;
    let shown = home.ledger.snapshot(&id(1)).await.unwrap().unwrap().order;
    assert_eq!(shown.current_attempt, Some(paid_by));
    assert_eq!(shown.late_payment, Some(LatePayment::Second));
}

async fn late_payment(home: &Home) -> Option<LatePayment> {
    let snapshot = home.ledger.snapshot(&id(1)).await.unwrap().unwrap();
    snapshot.order.late_payment
}

#[tokio::test]
async fn what_pays_an_order_after_its_time_is_known_as_late_and_more_of_it_as_a_second() {
    let home = home("late-counted").await;
    awaiting(&home.ledger, 1).await;
    see(&home.ledger, 900, said("FAILED")).await;
    see(&home.ledger, 960, exact("PROCESSING")).await;
    assert_eq!(late_payment(&home).await, None, "not before it is paid");
    see(&home.ledger, 1020, exact("COMPLETED")).await;
    assert_eq!(late_payment(&home).await, Some(LatePayment::Counted));
    let double = received("COMPLETED", "0.0006", "39.00", "39.00");
    see(&home.ledger, 1800, double).await;
    assert_eq!(late_payment(&home).await, Some(LatePayment::Second));
}

#[tokio::test]
async fn a_replaced_attempt_that_is_paid_in_its_time_is_not_called_late() {
    let home = home("late-replaced").await;
    awaiting(&home.ledger, 1).await;
    attempt(&home.ledger, 1, 2).await;
    let due = home
        .ledger
        .due_attempts(Urgency::Planned, at(60), at(90), 9);
    let due = due.await.unwrap();
    let replaced = due.iter().find(|due| due.attempt_id == new_attempt(1).id);
    let seen = Observation {
        invoice_id: replaced.map(|due| due.invoice_id.to_string()),
        ..exact("COMPLETED")
    };
    home.ledger.observe(replaced.unwrap(), &seen).await.unwrap();
    let told = event_types(&home.ledger).await;
    assert_eq!(told[told.len() - 2..], [E::LatePayment, E::Paid]);
    assert_eq!(late_payment(&home).await, None);
}

#[tokio::test]
async fn what_falls_short_is_watched_on_and_completed_by_the_rest() {
    let home = home("short").await;
    awaiting(&home.ledger, 1).await;
    see(
        &home.ledger,
        20,
        received("COMPLETED", "0.0001", "6.42", "6.42"),
    )
    .await;
    assert_eq!(status(&home.ledger, 1).await, OrderStatus::Underpaid);
    assert_eq!(home.ledger.settlement(&id(1)).await.unwrap(), None);
    see(&home.ledger, 200, exact("COMPLETED")).await;
    assert_eq!(status(&home.ledger, 1).await, OrderStatus::Paid);
}

#[tokio::test]
async fn a_late_payment_is_told_with_its_own_invoice() {
    let home = home("late-about").await;
    awaiting(&home.ledger, 1).await;
    attempt(&home.ledger, 1, 2).await;
    let mut due = home
        .ledger
        .due_attempts(Urgency::Planned, at(60), at(90), 9)
        .await
        .unwrap();
    due.sort_by_key(|due| due.attempt_id != new_attempt(2).id);
    for (due, seen) in due.iter().zip([
        exact("COMPLETED"),
        received("COMPLETED", "0.0001", "6.42", "6.42"),
    ]) {
        let seen = Observation {
            invoice_id: Some(due.invoice_id.to_string()),
            ..seen
        };
        home.ledger.observe(due, &seen).await.unwrap();
    }
    let events = home.ledger.events(&demo(), None, 9).await.unwrap().unwrap();
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

#[tokio::test]
async fn a_second_payment_that_goes_and_comes_is_told_once_and_a_larger_one_again() {
    let home = home("flip").await;
    awaiting(&home.ledger, 1).await;
    attempt(&home.ledger, 1, 2).await;
    let planned = Urgency::Planned;
    let due = home.ledger.due_attempts(planned, at(60), at(90), 9).await;
    let due = due.unwrap();
    let second = |look| DueAttempt {
        look,
        ..due[1].clone()
    };
    let half = received("COMPLETED", "0.0001", "6.42", "6.42");
    let double = received("COMPLETED", "0.0006", "39.00", "39.00");
    for (due, seen) in [
        (due[0].clone(), exact("COMPLETED")),
        (second(1), half.clone()),
        (second(2), said("FAILED")),
        (second(3), half.clone()),
        (second(4), double.clone()),
        (second(5), half),
        (second(6), double),
    ] {
        let invoice_id = Some(due.invoice_id.to_string());
        let seen = Observation { invoice_id, ..seen };
        home.ledger.observe(&due, &seen).await.unwrap();
    }
    let told = event_types(&home.ledger).await;
    let late = told.iter().filter(|event| **event == E::LatePayment);
    let of_the_first = usize::from(due[0].attempt_id != new_attempt(2).id);
    assert_eq!(late.count(), of_the_first + 2, "{told:?}");
    assert_eq!(told.iter().filter(|event| **event == E::Paid).count(), 1);
}

#[tokio::test]
async fn what_was_told_as_late_before_the_credit_is_not_told_again_after_it() {
    let home = home("late-before").await;
    awaiting(&home.ledger, 1).await;
    see(&home.ledger, 900, said("FAILED")).await;
    let double = |word| received(word, "0.0006", "39.00", "39.00");
    see(&home.ledger, 960, double("PROCESSING")).await;
    see(&home.ledger, 1020, exact("COMPLETED")).await;
    see(&home.ledger, 1800, double("COMPLETED")).await;
    let told = event_types(&home.ledger).await;
    let late = [E::LatePayment, E::Processing, E::Paid];
    assert_eq!(told[told.len() - 3..], late);
}
