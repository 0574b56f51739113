//! Attempts: when another may be opened, and when not.

use super::*;
use crate::StoreScope;

const CREDITS: &str = "SELECT count(*) FROM credits";

#[tokio::test]
async fn one_attempt_is_opened_at_a_time() {
    let test = BACKEND.test().await;
    test.order(1).await;
    test.begin(1, 1, 0).await.unwrap();
    let second = test.begin(1, 2, 0).await;
    assert!(matches!(second, Err(OrderOperationError::InProgress)));
    let stale = test.abandon_stale_attempts(at(60), at(61)).await;
    assert_eq!(stale.unwrap(), 1);
    test.begin(1, 2, 61).await.unwrap();
    // The invoice of the abandoned attempt comes late: it is not shown.
    test.confirm(1, 62).await;
    assert_eq!(test.status(1).await, OrderStatus::Open);
}

#[tokio::test]
async fn no_customer_opens_a_dozen_attempts_in_a_minute() {
    let test = BACKEND.test().await;
    test.order(1).await;
    for number in 1..=6 {
        test.add_attempt(1, number).await;
    }
    let seventh = test.begin(1, 7, 59).await;
    assert!(matches!(seventh, Err(OrderOperationError::TooMany)));
    test.begin(1, 7, 60).await.unwrap();
}

async fn block(test: &Test, number: u8, now: i64) {
    let (attempt, reason) = (new_attempt(number).id, Abandoned::Blocked);
    let blocked = test.abandon_attempt(&attempt, reason, at(now)).await;
    blocked.unwrap();
}

#[tokio::test]
async fn a_blocked_invoice_is_reported_and_another_can_be_opened() {
    let test = BACKEND.test().await;
    test.order(1).await;
    test.begin(1, 1, 0).await.unwrap();
    block(&test, 1, 1).await;
    assert_eq!(test.status(1).await, OrderStatus::Blocked);
    assert_eq!(test.event_types().await, [E::Created, E::Blocked]);
    test.add_attempt(1, 2).await;
    assert_eq!(test.status(1).await, OrderStatus::AwaitingPayment);
}

#[tokio::test]
async fn a_paid_or_cancelled_order_takes_no_attempt() {
    let test = BACKEND.awaiting().await;
    test.observe(20, exact("COMPLETED")).await;
    assert_eq!(closed_in(test.begin(1, 9, 30).await), OrderStatus::Paid);
    let cancelled = test.cancel_order(&id(1), at(30)).await;
    assert_eq!(closed_in(cancelled), OrderStatus::Paid);
    test.order(2).await;
    for second in [30, 31] {
        test.cancel_order(&id(2), at(second)).await.unwrap();
    }
    let refused = test.begin(2, 9, 32).await;
    assert_eq!(closed_in(refused), OrderStatus::Cancelled);
}

#[tokio::test]
async fn an_invoice_that_comes_after_the_cancellation_is_not_shown() {
    let test = BACKEND.test().await;
    for number in [1, 2] {
        test.order(number).await;
        test.begin(number, number, 0).await.unwrap();
        test.cancel_order(&id(number), at(1)).await.unwrap();
    }
    test.confirm(1, 2).await;
    block(&test, 2, 2).await;
    for number in [1, 2] {
        assert_eq!(test.status(number).await, OrderStatus::Cancelled);
    }
    let watched = test.polls(PollPriority::Unwatched, 60).await;
    assert_eq!(watched.len(), 1);
}

/// What arrived is not asked for again, whatever the gateway calls it afterwards.
#[tokio::test]
async fn no_attempt_is_opened_while_a_payment_is_detected() {
    for (responses, status) in [
        (vec![exact("CHECKING")], OrderStatus::Checking),
        (
            vec![too_little("COMPLETED"), observed("FAILED")],
            OrderStatus::Underpaid,
        ),
    ] {
        let test = BACKEND.awaiting().await;
        // Another attempt is begun, and its invoice arrives only after a payment on the first was detected.
        test.begin(1, 2, 1).await.unwrap();
        for (response, now) in responses.iter().zip([20, 120]) {
            test.observe(now, response.clone()).await;
        }
        test.confirm(2, 121).await;
        let third = test.begin(1, 3, 122).await;
        assert_eq!(closed_in(third), status, "{responses:?}");
        let cancelled = test.cancel_order(&id(1), at(123)).await;
        assert_eq!(closed_in(cancelled), status, "{responses:?}");
        let shown = test.found(1).await.order;
        let first = Some(new_attempt(1).id);
        assert_eq!(
            (shown.current_attempt, shown.has_money),
            (first, true),
            "{responses:?}"
        );
    }
}

#[tokio::test]
async fn saying_paid_moves_the_screen_and_credits_nothing() {
    let test = BACKEND.test().await;
    test.order(1).await;
    let nothing = test.mark_as_paid(&id(1), None, at(1)).await;
    assert_eq!(closed_in(nothing), OrderStatus::Open);
    test.add_attempt(1, 1).await;
    let marked = test.mark_as_paid(&id(1), None, at(5)).await.unwrap();
    assert_eq!(marked.snapshot.order.status, OrderStatus::Checking);
    assert!(marked.is_first);
    let again = test.mark_as_paid(&id(1), None, at(9)).await.unwrap();
    assert!(!again.is_first);
    let attempt = again.snapshot.attempt.unwrap();
    assert_eq!(attempt.invoice().unwrap().marked_as_paid_at, Some(at(5)));
    assert_eq!(test.number(CREDITS).await, 0);
}

#[tokio::test]
async fn a_credited_order_is_not_marked_as_paid() {
    let test = BACKEND.awaiting().await;
    test.observe(20, exact("COMPLETED")).await;
    let marked = test.mark_as_paid(&id(1), None, at(30)).await.unwrap();
    assert!(!marked.is_first);
    let attempt = marked.snapshot.attempt.unwrap();
    assert_eq!(attempt.invoice().unwrap().marked_as_paid_at, None);
}

/// A transaction to an address; to that of the current attempt without one.
fn named(digit: &str, address: Option<&str>) -> NamedTransaction {
    NamedTransaction {
        hint: TransactionHint::parse(&format!("0x{}", digit.repeat(64))).unwrap(),
        address: address.map(str::to_owned),
    }
}

#[tokio::test]
async fn a_wallets_transaction_is_kept_as_a_hint() {
    let test = BACKEND.awaiting().await;
    let (first, second) = (named("a", None), named("b", None));
    let mark = async |named: Option<&NamedTransaction>, now| {
        let marked = test.mark_as_paid(&id(1), named, at(now)).await.unwrap();
        let attempt = marked.snapshot.attempt.as_ref().unwrap();
        let hint = attempt.invoice().unwrap().transaction_hint.clone();
        (
            hint.unwrap(),
            marked.is_first,
            marked.snapshot.order.version,
        )
    };
    let (hint, is_first, version) = mark(Some(&first), 5).await;
    assert_eq!((&hint, is_first), (&first.hint, true));
    assert_eq!(test.status(1).await, OrderStatus::Checking);
    // Pressed without a wallet, it stays; and the same again changes nothing.
    for named in [None, Some(&first)] {
        assert_eq!(mark(named, 6).await, (first.hint.clone(), false, version));
    }
    let (hint, is_first, later) = mark(Some(&second), 8).await;
    assert_eq!((&hint, is_first), (&second.hint, false));
    assert!(
        later > version,
        "a page that waits for a change is shown it"
    );
    assert_eq!(test.number(CREDITS).await, 0);

    test.observe(20, exact("COMPLETED")).await;
    let (hint, is_first, _) = mark(Some(&first), 30).await;
    assert_eq!((hint, is_first), (second.hint, false));
}

#[tokio::test]
async fn a_transaction_for_an_earlier_attempt_marks_no_other() {
    let test = BACKEND.awaiting().await;
    let other = "tb1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3q0sl5k7";
    let mut second = invoice(2);
    if let Destination::Address { address, .. } = &mut second.destination {
        other.clone_into(address);
    }
    let begun = test.begin(1, 2, 0).await.unwrap();
    let opened = test.open_attempt(&begun.terms.id, &second, at(0)).await;
    opened.unwrap();
    let hints = async || {
        let history = test.order_history(&StoreScope::All, &id(1)).await;
        let hint = |attempt: &Attempt| attempt.invoice().unwrap().transaction_hint.is_some();
        let attempts = history.unwrap().unwrap().aggregate.attempts;
        attempts.iter().map(hint).collect::<Vec<_>>()
    };
    let mark = async |address: &str, now| {
        let named = named("a", Some(address));
        test.mark_as_paid(&id(1), Some(&named), at(now)).await
    };
    let marked = mark(&ADDRESS.to_uppercase(), 5).await.unwrap();
    assert!(!marked.is_first);
    assert_eq!(marked.snapshot.order.status, OrderStatus::AwaitingPayment);
    let current = marked.snapshot.attempt.unwrap();
    assert_eq!(current.invoice().unwrap().marked_as_paid_at, None);
    assert_eq!(hints().await, [true, false]);

    closed_in(mark(&"9".repeat(30), 6).await);
    assert!(mark(other, 7).await.unwrap().is_first);
    assert_eq!(hints().await, [true, true]);
}

#[tokio::test]
async fn an_invoice_belongs_to_one_attempt() {
    let test = BACKEND.awaiting().await;
    test.order(2).await;
    let second = test.begin(2, 2, 1).await.unwrap().terms.id;
    let taken = test.open_attempt(&second, &invoice(1), at(2)).await;
    assert!(
        matches!(&taken, Err(OpenAttemptError::InvoiceTaken { invoice, order })
            if invoice.as_str() == "inv_1" && *order == id(1)),
        "{taken:?}"
    );
    // Nothing was written: the attempt can be ended.
    block(&test, 2, 3).await;
    assert_eq!(test.status(2).await, OrderStatus::Blocked);
    assert_eq!(test.status(1).await, OrderStatus::AwaitingPayment);
    test.add_attempt(2, 3).await;
    assert_eq!(test.status(2).await, OrderStatus::AwaitingPayment);
}
