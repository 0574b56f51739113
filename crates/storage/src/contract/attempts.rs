//! Attempts: when another may be opened, and when not.

use super::*;
use crate::StoreScope;

pub(super) async fn one_attempt_is_opened_at_a_time(backend: Backend) {
    let test = backend.test().await;
    order(&test.storage, 1).await;
    test.storage
        .begin_attempt(&id(1), &new_attempt(1), at(0))
        .await
        .unwrap();
    let second = test
        .storage
        .begin_attempt(&id(1), &new_attempt(2), at(0))
        .await;
    assert!(matches!(second, Err(OrderOperationError::InProgress)));
    assert_eq!(
        test.storage
            .abandon_stale_attempts(at(60), at(61))
            .await
            .unwrap(),
        1
    );
    test.storage
        .begin_attempt(&id(1), &new_attempt(2), at(61))
        .await
        .unwrap();
    // The invoice of the abandoned attempt comes late: it is not shown.
    test.storage
        .open_attempt(&new_attempt(1).id, &invoice(1), at(62))
        .await
        .unwrap();
    assert_eq!(status(&test.storage, 1).await, OrderStatus::Open);
}

pub(super) async fn no_customer_opens_a_dozen_attempts_in_a_minute(backend: Backend) {
    let test = backend.test().await;
    order(&test.storage, 1).await;
    for number in 1..=6 {
        attempt(&test.storage, 1, number).await;
    }
    let seventh = test
        .storage
        .begin_attempt(&id(1), &new_attempt(7), at(59))
        .await;
    assert!(matches!(seventh, Err(OrderOperationError::TooMany)));
    test.storage
        .begin_attempt(&id(1), &new_attempt(7), at(60))
        .await
        .unwrap();
}

pub(super) async fn a_blocked_invoice_is_reported_and_another_can_be_opened(backend: Backend) {
    let test = backend.test().await;
    order(&test.storage, 1).await;
    test.storage
        .begin_attempt(&id(1), &new_attempt(1), at(0))
        .await
        .unwrap();
    let blocked = Abandoned::Blocked;
    test.storage
        .abandon_attempt(&new_attempt(1).id, blocked, at(1))
        .await
        .unwrap();
    assert_eq!(status(&test.storage, 1).await, OrderStatus::Blocked);
    assert_eq!(
        event_types(&test.storage).await,
        [EventType::Created, EventType::Blocked]
    );
    attempt(&test.storage, 1, 2).await;
    assert_eq!(status(&test.storage, 1).await, OrderStatus::AwaitingPayment);
}

pub(super) async fn a_paid_or_cancelled_order_takes_no_attempt(backend: Backend) {
    let test = backend.test().await;
    awaiting(&test.storage, 1).await;
    observe(&test.storage, 20, exact("COMPLETED")).await;
    let refused = test
        .storage
        .begin_attempt(&id(1), &new_attempt(9), at(30))
        .await;
    assert!(matches!(
        refused,
        Err(OrderOperationError::Closed {
            from: OrderStatus::Paid,
            ..
        })
    ));
    let cancelled = test.storage.cancel_order(&id(1), at(30)).await;
    assert!(matches!(
        cancelled,
        Err(OrderOperationError::Closed {
            from: OrderStatus::Paid,
            ..
        })
    ));
    order(&test.storage, 2).await;
    test.storage.cancel_order(&id(2), at(30)).await.unwrap();
    test.storage.cancel_order(&id(2), at(31)).await.unwrap();
    let refused = test
        .storage
        .begin_attempt(&id(2), &new_attempt(9), at(30))
        .await;
    assert!(matches!(
        refused,
        Err(OrderOperationError::Closed {
            from: OrderStatus::Cancelled,
            ..
        })
    ));
}

pub(super) async fn a_cancelled_order_never_asks_for_money_again(backend: Backend) {
    let test = backend.test().await;
    awaiting(&test.storage, 1).await;
    test.storage.cancel_order(&id(1), at(5)).await.unwrap();
    for (now, word) in [
        (100, "CHECKING"),
        (1000, "CHECKING"),
        (2000, "FAILED"),
        (4000, "CANCELLED"),
    ] {
        observe(&test.storage, now, observed(word)).await;
        assert_eq!(status(&test.storage, 1).await, OrderStatus::Cancelled);
        let refused = test
            .storage
            .begin_attempt(&id(1), &new_attempt(9), at(now))
            .await;
        assert!(
            matches!(refused, Err(OrderOperationError::Closed { .. })),
            "{word}"
        );
    }
    assert_eq!(
        event_types(&test.storage).await,
        [E::Created, E::AttemptOpened, E::Cancelled]
    );
    observe(&test.storage, 9000, exact("COMPLETED")).await;
    assert_eq!(
        status(&test.storage, 1).await,
        OrderStatus::Paid,
        "late money is credited"
    );
}

pub(super) async fn an_invoice_that_comes_after_the_cancellation_is_not_shown(backend: Backend) {
    let test = backend.test().await;
    for (number, is_good) in [(1, true), (2, false)] {
        order(&test.storage, number).await;
        test.storage
            .begin_attempt(&id(number), &new_attempt(number), at(0))
            .await
            .unwrap();
        test.storage.cancel_order(&id(number), at(1)).await.unwrap();
        let attempt = new_attempt(number).id;
        if is_good {
            test.storage
                .open_attempt(&attempt, &invoice(number), at(2))
                .await
                .unwrap();
        } else {
            test.storage
                .abandon_attempt(&attempt, Abandoned::Blocked, at(2))
                .await
                .unwrap();
        }
        assert_eq!(status(&test.storage, number).await, OrderStatus::Cancelled);
    }
    assert_eq!(
        test.storage
            .due_attempts(PollPriority::Unwatched, at(60), at(90), 9)
            .await
            .unwrap()
            .len(),
        1,
        "watched"
    );
}

pub(super) async fn no_attempt_is_opened_while_a_payment_is_detected(backend: Backend) {
    for (name, observation) in [
        ("money-seen", exact("CHECKING")),
        ("money-confirming", exact("PROCESSING")),
        (
            "money-short",
            received("COMPLETED", "0.0001", "6.42", "6.42"),
        ),
    ] {
        let test = backend.test().await;
        awaiting(&test.storage, 1).await;
        // Another attempt is begun, and its invoice arrives only after a payment on the first was detected.
        test.storage
            .begin_attempt(&id(1), &new_attempt(2), at(1))
            .await
            .unwrap();
        let before = observe(&test.storage, 20, observation)
            .await
            .snapshot
            .order
            .status;
        test.storage
            .open_attempt(&new_attempt(2).id, &invoice(2), at(21))
            .await
            .unwrap();
        assert_eq!(status(&test.storage, 1).await, before, "{name}");
        let third = test
            .storage
            .begin_attempt(&id(1), &new_attempt(3), at(22))
            .await;
        assert!(
            matches!(third, Err(OrderOperationError::Closed { .. })),
            "{name}"
        );
        let cancelled = test.storage.cancel_order(&id(1), at(23)).await;
        assert!(
            matches!(cancelled, Err(OrderOperationError::Closed { .. })),
            "{name}"
        );
        let shown = test.storage.snapshot(&id(1)).await.unwrap().unwrap().order;
        assert_eq!(
            (shown.current_attempt, shown.has_money),
            (Some(new_attempt(1).id), true)
        );
    }
}

pub(super) async fn saying_paid_moves_the_screen_and_credits_nothing(backend: Backend) {
    let test = backend.test().await;
    order(&test.storage, 1).await;
    let nothing = test.storage.mark_as_paid(&id(1), None, at(1)).await;
    assert!(matches!(
        nothing,
        Err(OrderOperationError::Closed {
            from: OrderStatus::Open,
            ..
        })
    ));
    attempt(&test.storage, 1, 1).await;
    let marked = test
        .storage
        .mark_as_paid(&id(1), None, at(5))
        .await
        .unwrap();
    assert_eq!(marked.snapshot.order.status, OrderStatus::Checking);
    assert!(marked.is_first);
    let again = test
        .storage
        .mark_as_paid(&id(1), None, at(9))
        .await
        .unwrap();
    assert!(!again.is_first);
    let attempt = again.snapshot.attempt.unwrap();
    assert_eq!(attempt.invoice().unwrap().marked_as_paid_at, Some(at(5)));
    assert_eq!(test.storage.credit_of(&id(1)).await.unwrap(), None);
}

pub(super) async fn a_credited_order_is_not_marked_as_paid(backend: Backend) {
    let test = backend.test().await;
    awaiting(&test.storage, 1).await;
    observe(&test.storage, 20, exact("COMPLETED")).await;
    let marked = test
        .storage
        .mark_as_paid(&id(1), None, at(30))
        .await
        .unwrap();
    assert!(!marked.is_first);
    let attempt = marked.snapshot.attempt.unwrap();
    assert_eq!(attempt.invoice().unwrap().marked_as_paid_at, None);
}

pub(super) async fn a_wallets_transaction_is_kept_as_a_hint(backend: Backend) {
    let test = backend.test().await;
    awaiting(&test.storage, 1).await;
    let hint = |digit: &str| TransactionHint::parse(&format!("0x{}", digit.repeat(64))).unwrap();
    let (first, second) = (hint("a"), hint("b"));
    let named = |hint: &TransactionHint| NamedTransaction {
        hint: hint.clone(),
        address: None,
    };
    let kept = |marked: &MarkedAsPaid| {
        let attempt = marked.snapshot.attempt.as_ref().unwrap();
        attempt.invoice().unwrap().transaction_hint.clone()
    };
    let storage = &test.storage;
    let marked = storage
        .mark_as_paid(&id(1), Some(&named(&first)), at(5))
        .await;
    let marked = marked.unwrap();
    assert_eq!(
        (kept(&marked), marked.is_first),
        (Some(first.clone()), true)
    );
    assert_eq!(marked.snapshot.order.status, OrderStatus::Checking);
    // Pressed without a wallet, it stays.
    let again = storage.mark_as_paid(&id(1), None, at(6)).await.unwrap();
    assert_eq!((kept(&again), again.is_first), (Some(first.clone()), false));
    let same = storage
        .mark_as_paid(&id(1), Some(&named(&first)), at(7))
        .await;
    let same = same.unwrap();
    assert_eq!(same.snapshot.order.version, marked.snapshot.order.version);
    let other = storage
        .mark_as_paid(&id(1), Some(&named(&second)), at(8))
        .await;
    let other = other.unwrap();
    assert_eq!(
        (kept(&other), other.is_first),
        (Some(second.clone()), false)
    );
    // A page that waits for a change is shown it.
    assert!(other.snapshot.order.version > marked.snapshot.order.version);
    assert_eq!(storage.credit_of(&id(1)).await.unwrap(), None);

    observe(storage, 20, exact("COMPLETED")).await;
    let late = storage
        .mark_as_paid(&id(1), Some(&named(&first)), at(30))
        .await;
    let late = late.unwrap();
    assert_eq!((kept(&late), late.is_first), (Some(second), false));
}

pub(super) async fn a_transaction_for_an_earlier_attempt_marks_no_other(backend: Backend) {
    let test = backend.test().await;
    let storage = &test.storage;
    awaiting(storage, 1).await;
    let other = "tb1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3q0sl5k7";
    let mut second = invoice(2);
    if let Destination::Address { address, .. } = &mut second.destination {
        other.clone_into(address);
    }
    let begun = storage.begin_attempt(&id(1), &new_attempt(2), at(0)).await;
    let opened = storage
        .open_attempt(&begun.unwrap().terms.id, &second, at(0))
        .await;
    opened.unwrap();
    let named = |address: &str| NamedTransaction {
        hint: TransactionHint::parse(&format!("0x{}", "a".repeat(64))).unwrap(),
        address: Some(address.to_owned()),
    };
    let hints = async || {
        let history = storage
            .order_history(&StoreScope::All, &id(1))
            .await
            .unwrap()
            .unwrap();
        let hint = |attempt: &Attempt| attempt.invoice().unwrap().transaction_hint.is_some();
        let attempts = history.aggregate.attempts.iter();
        attempts.map(hint).collect::<Vec<_>>()
    };
    let earlier = named(&ADDRESS.to_uppercase());
    let marked = storage.mark_as_paid(&id(1), Some(&earlier), at(5)).await;
    let marked = marked.unwrap();
    assert!(!marked.is_first);
    assert_eq!(marked.snapshot.order.status, OrderStatus::AwaitingPayment);
    let current = marked.snapshot.attempt.unwrap();
    assert_eq!(current.invoice().unwrap().marked_as_paid_at, None);
    assert_eq!(hints().await, [true, false]);

    let foreign = storage
        .mark_as_paid(&id(1), Some(&named(&"9".repeat(30))), at(6))
        .await;
    assert!(matches!(foreign, Err(OrderOperationError::Closed { .. })));
    let own = storage
        .mark_as_paid(&id(1), Some(&named(other)), at(7))
        .await;
    assert!(own.unwrap().is_first);
    assert_eq!(hints().await, [true, true]);
}

pub(super) async fn an_invoice_belongs_to_one_attempt(backend: Backend) {
    let test = backend.test().await;
    awaiting(&test.storage, 1).await;
    order(&test.storage, 2).await;
    let second = new_attempt(2);
    test.storage
        .begin_attempt(&id(2), &second, at(1))
        .await
        .unwrap();
    let taken = test
        .storage
        .open_attempt(&second.id, &invoice(1), at(2))
        .await;
    assert!(
        matches!(&taken, Err(OpenAttemptError::InvoiceTaken { invoice, order })
            if invoice.as_str() == "inv_1" && *order == id(1)),
        "{taken:?}"
    );
    // Nothing was written: the attempt can be ended.
    test.storage
        .abandon_attempt(&second.id, Abandoned::Blocked, at(3))
        .await
        .unwrap();
    assert_eq!(status(&test.storage, 2).await, OrderStatus::Blocked);
    assert_eq!(status(&test.storage, 1).await, OrderStatus::AwaitingPayment);
    attempt(&test.storage, 2, 3).await;
    assert_eq!(status(&test.storage, 2).await, OrderStatus::AwaitingPayment);
}
