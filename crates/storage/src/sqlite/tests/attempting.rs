//! Attempts: when another may be opened, and when not.

use super::*;

#[tokio::test]
async fn one_attempt_is_opened_at_a_time() {
    let home = home("one").await;
    order(&home.ledger, 1).await;
    home.ledger
        .begin_attempt(&id(1), &new_attempt(1), at(0))
        .await
        .unwrap();
    let second = home
        .ledger
        .begin_attempt(&id(1), &new_attempt(2), at(0))
        .await;
    assert!(matches!(second, Err(BeginError::InProgress)));
    assert_eq!(
        home.ledger
            .abandon_stale_attempts(at(60), at(61))
            .await
            .unwrap(),
        1
    );
    home.ledger
        .begin_attempt(&id(1), &new_attempt(2), at(61))
        .await
        .unwrap();
    // The invoice of the abandoned attempt comes late: nobody is shown it.
    home.ledger
        .open_attempt(&new_attempt(1).id, &invoice(1), at(62))
        .await
        .unwrap();
    assert_eq!(status(&home.ledger, 1).await, OrderStatus::Open);
}

#[tokio::test]
async fn no_customer_opens_a_dozen_attempts_in_a_minute() {
    let home = home("many").await;
    order(&home.ledger, 1).await;
    for number in 1..=6 {
        attempt(&home.ledger, 1, number).await;
    }
    let seventh = home
        .ledger
        .begin_attempt(&id(1), &new_attempt(7), at(59))
        .await;
    assert!(matches!(seventh, Err(BeginError::TooMany)));
    home.ledger
        .begin_attempt(&id(1), &new_attempt(7), at(60))
        .await
        .unwrap();
}

#[tokio::test]
async fn a_blocked_invoice_is_told_and_another_can_be_opened() {
    let home = home("blocked").await;
    order(&home.ledger, 1).await;
    home.ledger
        .begin_attempt(&id(1), &new_attempt(1), at(0))
        .await
        .unwrap();
    let blocked = Abandoned::Blocked;
    home.ledger
        .abandon_attempt(&new_attempt(1).id, blocked, at(1))
        .await
        .unwrap();
    assert_eq!(status(&home.ledger, 1).await, OrderStatus::Blocked);
    assert_eq!(
        event_types(&home.ledger).await,
        [EventType::Created, EventType::Blocked]
    );
    attempt(&home.ledger, 1, 2).await;
    assert_eq!(status(&home.ledger, 1).await, OrderStatus::AwaitingPayment);
}

#[tokio::test]
async fn a_paid_or_cancelled_order_takes_no_attempt() {
    let home = home("closed").await;
    awaiting(&home.ledger, 1).await;
    see(&home.ledger, 20, exact("COMPLETED")).await;
    let refused = home
        .ledger
        .begin_attempt(&id(1), &new_attempt(9), at(30))
        .await;
    assert!(matches!(
        refused,
        Err(BeginError::Closed {
            from: OrderStatus::Paid,
            ..
        })
    ));
    let cancelled = home.ledger.cancel_order(&id(1), at(30)).await;
    assert!(matches!(
        cancelled,
        Err(BeginError::Closed {
            from: OrderStatus::Paid,
            ..
        })
    ));
    order(&home.ledger, 2).await;
    home.ledger.cancel_order(&id(2), at(30)).await.unwrap();
    home.ledger.cancel_order(&id(2), at(31)).await.unwrap();
    let refused = home
        .ledger
        .begin_attempt(&id(2), &new_attempt(9), at(30))
        .await;
    assert!(matches!(
        refused,
        Err(BeginError::Closed {
            from: OrderStatus::Cancelled,
            ..
        })
    ));
}

#[tokio::test]
async fn a_cancelled_order_never_asks_for_money_again() {
    let home = home("cancelled").await;
    awaiting(&home.ledger, 1).await;
    home.ledger.cancel_order(&id(1), at(5)).await.unwrap();
    for (now, word) in [
        (100, "CHECKING"),
        (1000, "CHECKING"),
        (2000, "FAILED"),
        (4000, "CANCELLED"),
    ] {
        see(&home.ledger, now, said(word)).await;
        assert_eq!(status(&home.ledger, 1).await, OrderStatus::Cancelled);
        let refused = home
            .ledger
            .begin_attempt(&id(1), &new_attempt(9), at(now))
            .await;
        assert!(matches!(refused, Err(BeginError::Closed { .. })), "{word}");
    }
    assert_eq!(
        event_types(&home.ledger).await,
        [E::Created, E::AttemptOpened, E::Cancelled]
    );
    see(&home.ledger, 9000, exact("COMPLETED")).await;
    assert_eq!(
        status(&home.ledger, 1).await,
        OrderStatus::Paid,
        "late money is credited"
    );
}

#[tokio::test]
async fn an_invoice_that_comes_after_the_cancellation_is_not_shown() {
    let home = home("crossing").await;
    for (number, is_good) in [(1, true), (2, false)] {
        order(&home.ledger, number).await;
        home.ledger
            .begin_attempt(&id(number), &new_attempt(number), at(0))
            .await
            .unwrap();
        home.ledger.cancel_order(&id(number), at(1)).await.unwrap();
        let attempt = new_attempt(number).id;
        if is_good {
            home.ledger
                .open_attempt(&attempt, &invoice(number), at(2))
                .await
                .unwrap();
        } else {
            home.ledger
                .abandon_attempt(&attempt, Abandoned::Blocked, at(2))
                .await
                .unwrap();
        }
        assert_eq!(status(&home.ledger, number).await, OrderStatus::Cancelled);
    }
    assert_eq!(
        home.ledger
            .due_attempts(Urgency::Planned, at(60), at(90), 9)
            .await
            .unwrap()
            .len(),
        1,
        "watched"
    );
}

#[tokio::test]
async fn while_money_is_seen_nothing_more_is_asked_for() {
    for (name, seen) in [
        ("money-seen", exact("CHECKING")),
        ("money-confirming", exact("PROCESSING")),
        (
            "money-short",
            received("COMPLETED", "0.0001", "6.42", "6.42"),
        ),
    ] {
        let home = home(name).await;
        awaiting(&home.ledger, 1).await;
        // Another attempt is begun, and its invoice arrives only after the money on the first was seen.
        home.ledger
            .begin_attempt(&id(1), &new_attempt(2), at(1))
            .await
            .unwrap();
        let before = see(&home.ledger, 20, seen).await.status;
        home.ledger
            .open_attempt(&new_attempt(2).id, &invoice(2), at(21))
            .await
            .unwrap();
        assert_eq!(status(&home.ledger, 1).await, before, "{name}");
        let third = home
            .ledger
            .begin_attempt(&id(1), &new_attempt(3), at(22))
            .await;
        assert!(matches!(third, Err(BeginError::Closed { .. })), "{name}");
        let cancelled = home.ledger.cancel_order(&id(1), at(23)).await;
        assert!(
            matches!(cancelled, Err(BeginError::Closed { .. })),
            "{name}"
        );
        let shown = home.ledger.snapshot(&id(1)).await.unwrap().unwrap().order;
        assert_eq!(
            (shown.current_attempt, shown.has_money),
            (Some(new_attempt(1).id), true)
        );
    }
}

#[tokio::test]
async fn saying_paid_moves_the_screen_and_credits_nothing() {
    let home = home("says-paid").await;
    order(&home.ledger, 1).await;
    let nothing = home.ledger.mark_as_paid(&id(1), at(1)).await;
    assert!(matches!(
        nothing,
        Err(BeginError::Closed {
            from: OrderStatus::Open,
            ..
        })
    ));
    attempt(&home.ledger, 1, 1).await;
    let marked = home.ledger.mark_as_paid(&id(1), at(5)).await.unwrap();
    assert_eq!(marked.order.status, OrderStatus::Checking);
    let again = home.ledger.mark_as_paid(&id(1), at(9)).await.unwrap();
    assert_eq!(
        again.attempt.unwrap().invoice().unwrap().marked_as_paid_at,
        Some(at(5))
    );
    assert_eq!(home.ledger.settlement(&id(1)).await.unwrap(), None);
}
