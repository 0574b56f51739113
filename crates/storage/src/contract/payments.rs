//! Money that arrived, and what the gateway calls it afterwards.

use super::*;

pub(super) async fn money_that_arrived_is_not_asked_for_again_whatever_the_gateway_calls_it(
    backend: Backend,
) {
    let short = received("COMPLETED", "0.0001", "6.42", "6.42");
    let as_underpaid = |word| received(word, "0.0001", "6.42", "6.42");
    for (name, before, after, status_after) in [
        (
            "failed",
            short.clone(),
            as_underpaid("FAILED"),
            OrderStatus::Underpaid,
        ),
        (
            "cancelled",
            short.clone(),
            as_underpaid("CANCELLED"),
            OrderStatus::Underpaid,
        ),
        (
            "unsaid",
            short.clone(),
            observed("FAILED"),
            OrderStatus::Underpaid,
        ),
        ("gone", short, observed("CHECKING"), OrderStatus::Underpaid),
        (
            "cancelled-in-full",
            exact("PROCESSING"),
            exact("CANCELLED"),
            OrderStatus::Cancelled,
        ),
    ] {
        let test = backend.test().await;
        awaiting(&test.storage, 1).await;
        observe(&test.storage, 20, before).await;
        observe(&test.storage, 120, after).await;
        let shown = test.storage.snapshot(&id(1)).await.unwrap().unwrap().order;
        assert_eq!(
            (shown.status, shown.has_money),
            (status_after, true),
            "{name}"
        );
        assert!(!shown.takes_attempts(at(121)), "{name}");
        let (order, another) = (id(1), new_attempt(2));
        let second = test.storage.begin_attempt(&order, &another, at(121)).await;
        assert!(
            matches!(second, Err(OrderOperationError::Closed { .. })),
            "{name}"
        );
        let cancelled = test.storage.cancel_order(&id(1), at(122)).await;
        let is_refused = matches!(cancelled, Err(OrderOperationError::Closed { .. }));
        assert!(is_refused, "{name}");
    }
}

pub(super) async fn a_payment_that_failed_on_its_way_may_be_made_anew(backend: Backend) {
    let test = backend.test().await;
    awaiting(&test.storage, 1).await;
    observe(&test.storage, 20, exact("PROCESSING")).await;
    observe(&test.storage, 120, exact("FAILED")).await;
    let (order, another) = (id(1), new_attempt(2));
    let second = test.storage.begin_attempt(&order, &another, at(121));
    second.await.unwrap();
}

pub(super) async fn a_payment_that_failed_before_anything_arrived_may_be_made_anew(
    backend: Backend,
) {
    for word in ["FAILED", "CANCELLED"] {
        let test = backend.test().await;
        awaiting(&test.storage, 1).await;
        observe(&test.storage, 20, received(word, "0.00", "0", "0")).await;
        let (order, another) = (id(1), new_attempt(2));
        let second = test.storage.begin_attempt(&order, &another, at(21));
        second.await.unwrap();
    }
}
