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
    let far = at(10_000_000);
    assert_eq!(
        home.ledger.due_attempts(far, far, 9).await.unwrap(),
        [],
        "settled is left alone"
    );
}

#[tokio::test]
async fn two_paid_attempts_credit_one_order_once() {
    let home = home("twice").await;
    awaiting(&home.ledger, 1).await;
    attempt(&home.ledger, 1, 2).await;
    let mut due = home.ledger.due_attempts(at(60), at(90), 9).await.unwrap();
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
    let shown = home
        .ledger
        .snapshot(&id(1))
        .await
        .unwrap()
        .unwrap()
        .order
        .current_attempt;
    assert_eq!(shown, Some(paid_by));
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
    let mut due = home.ledger.due_attempts(at(60), at(90), 9).await.unwrap();
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
