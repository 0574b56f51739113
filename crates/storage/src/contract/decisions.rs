//! Decisions of operators: one transaction, one credit, and an entry in the audit log.

use florin_orders::{AuditId, DecisionError, DecisionKind, DecisionOutcome};

use super::*;
use crate::{Actor, AuditAction, DecideError, NewAuditEntry, NewDecision, OrderSearch, StoreScope};

fn decision(number: u8, kind: DecisionKind, version: u64) -> NewDecision {
    NewDecision {
        id: AuditId::from_random([number; 16]),
        kind,
        version,
        actor: Actor::operator("ada"),
        reason: "agreed by phone".into(),
    }
}

async fn version(storage: &Store, number: u8) -> u64 {
    let found = storage.snapshot(&id(number)).await.unwrap().unwrap();
    found.order.version
}

/// An order that is underpaid.
async fn underpaid(storage: &Store, number: u8) {
    awaiting(storage, number).await;
    let too_little = received("COMPLETED", "0.0001", "6.42", "6.42");
    observe(storage, 20, too_little).await;
}

pub(super) async fn an_acceptance_credits_once_and_is_audited(backend: Backend) {
    let test = backend.test().await;
    let storage = &test.storage;
    underpaid(storage, 1).await;
    let seen = version(storage, 1).await;
    let accept = decision(1, DecisionKind::AcceptAsPaid, seen);
    let decided = storage.decide(&id(1), &accept, at(30)).await.unwrap();
    assert_eq!(decided.order.status, OrderStatus::Paid);
    let credit = storage.credit_of(&id(1)).await.unwrap().unwrap();
    assert_eq!(
        (credit.amount, credit.attempt_id),
        (amount("19.90"), new_attempt(1).id)
    );
    let known = storage.snapshot(&id(1)).await.unwrap().unwrap();
    assert_eq!(known, decided);
    assert_eq!(
        known.order.decision.map(|it| (it.outcome, it.at)),
        Some((DecisionOutcome::Accepted, at(30)))
    );
    let types = event_types(storage).await;
    assert_eq!(types[types.len() - 2..], [E::Underpaid, E::Paid]);

    // The same request again, another one that saw the order as it was, and one that saw it as it is.
    let again = storage.decide(&id(1), &accept, at(31)).await.unwrap();
    assert_eq!(again, decided);
    let stale = decision(2, DecisionKind::AcceptAsPaid, seen);
    let refused = storage.decide(&id(1), &stale, at(31)).await.unwrap_err();
    assert!(matches!(refused, DecideError::Changed { found, .. } if found == seen + 1));
    let late = decision(2, DecisionKind::AcceptAsPaid, seen + 1);
    let refused = storage.decide(&id(1), &late, at(31)).await.unwrap_err();
    let already = DecisionError::AlreadyCredited;
    assert!(matches!(refused, DecideError::Refused(reason) if reason == already));
    assert_eq!(event_types(storage).await, types);

    let log = storage.audit_log(None, 9).await.unwrap();
    assert_eq!(log.len(), 1);
    assert_eq!(log[0].order_id, Some(id(1)));
    assert_eq!(
        (log[0].action, log[0].at, log[0].status),
        (
            AuditAction::AcceptAsPaid,
            at(30),
            Some((OrderStatus::Underpaid, OrderStatus::Paid))
        )
    );
    let settled = storage
        .settled_orders(&StoreScope::All, at(0), at(60), None, 9)
        .await
        .unwrap();
    assert_eq!(settled.len(), 1);
    assert_eq!(settled[0].decision, Some(DecisionOutcome::Accepted));
    let behind = settled.last();
    let rest = storage
        .settled_orders(&StoreScope::All, at(0), at(60), behind, 9)
        .await
        .unwrap();
    assert_eq!(rest, []);
}

pub(super) async fn of_a_decision_and_a_completion_at_the_same_moment_one_credits(
    backend: Backend,
) {
    for round in 0..4 {
        let test = backend.test().await;
        let storage = &test.storage;
        underpaid(storage, 1).await;
        let accept = decision(1, DecisionKind::AcceptAsPaid, version(storage, 1).await);
        let due = poll(storage, 900).await;
        let completed = Observation {
            observed_at: at(900),
            ..exact("COMPLETED")
        };
        let order = id(1);
        let (decided, recorded) = if round % 2 == 0 {
            tokio::join!(
                storage.decide(&order, &accept, at(900)),
                storage.record_observation(&due, &completed)
            )
        } else {
            let (recorded, decided) = tokio::join!(
                storage.record_observation(&due, &completed),
                storage.decide(&order, &accept, at(900))
            );
            (decided, recorded)
        };
        recorded.unwrap().expect("the latest poll");
        let paid = event_types(storage).await;
        let paid = paid.iter().filter(|event| **event == E::Paid).count();
        assert_eq!(paid, 1);
        let is_accepted = storage.snapshot(&order).await.unwrap().unwrap();
        assert_eq!(is_accepted.order.is_accepted(), decided.is_ok());
        assert_eq!(test.number("SELECT count(*) FROM credits").await, 1);
    }
}

pub(super) async fn orders_that_wait_for_a_person_are_listed_until_a_decision(backend: Backend) {
    let test = backend.test().await;
    let storage = &test.storage;
    underpaid(storage, 1).await;
    awaiting(storage, 2).await;
    observe(storage, 40, exact("REFUNDED")).await;
    let waiting = storage
        .orders_for_attention(&StoreScope::All, 9)
        .await
        .unwrap();
    let ids: Vec<OrderId> = waiting.iter().map(|it| it.order.id.clone()).collect();
    assert_eq!(ids, [id(1), id(2)]);
    assert_eq!(waiting[1].attention_since, Some(at(40)));
    for (number, kind) in [(1, DecisionKind::Close), (2, DecisionKind::KeepWaiting)] {
        let decision = decision(number, kind, version(storage, number).await);
        storage
            .decide(&id(number), &decision, at(50))
            .await
            .unwrap();
    }
    assert_eq!(
        storage
            .orders_for_attention(&StoreScope::All, 9)
            .await
            .unwrap(),
        []
    );
    assert_eq!(status(storage, 1).await, OrderStatus::Cancelled);
    assert_eq!(storage.totals().await.unwrap().needing_review, 0);
    let history = storage
        .order_history(&StoreScope::All, &id(2))
        .await
        .unwrap()
        .unwrap();
    assert_eq!(history.audit.len(), 1);
    assert!(
        history.observations[0]
            .assessment
            .starts_with("needs_review")
    );
    assert_eq!(history.events.len(), 2);
}

pub(super) async fn orders_are_found_by_status_store_and_text(backend: Backend) {
    let test = backend.test().await;
    let storage = &test.storage;
    underpaid(storage, 1).await;
    order(storage, 2).await;
    let count = async |search: OrderSearch| {
        let search = OrderSearch { limit: 9, ..search };
        storage.find_orders(&search).await.unwrap().len()
    };
    let containing = |text: &str| OrderSearch {
        text: Some(text.to_owned()),
        ..OrderSearch::default()
    };
    for (search, expected) in [
        (OrderSearch::default(), 2),
        (containing("r1"), 1),
        (containing("19.9"), 2),
        (containing("CAFE"), 1),
        (containing("inv_1"), 1),
        (containing(id(2).as_str()), 1),
        (
            containing(&florin_orders::fixtures::ADDRESS.to_uppercase()),
            1,
        ),
        (containing("r3"), 0),
    ] {
        assert_eq!(count(search.clone()).await, expected, "{search:?}");
    }
    for status in [None, Some(OrderStatus::Open)] {
        for scope in [StoreScope::All, StoreScope::Store(demo())] {
            for after in [None, Some(id(1))] {
                let search = OrderSearch {
                    status,
                    scope: scope.clone(),
                    after: after.clone(),
                    ..OrderSearch::default()
                };
                // Opened at the same time, the higher id is the newer one.
                let expected = match (status, after) {
                    (None, None) => 2,
                    (Some(_), None) => 1,
                    (_, Some(_)) => 0,
                };
                assert_eq!(count(search.clone()).await, expected, "{search:?}");
            }
        }
    }
}

pub(super) async fn the_audit_log_only_grows(backend: Backend) {
    let test = backend.test().await;
    let storage = &test.storage;
    underpaid(storage, 1).await;
    let entry = NewAuditEntry {
        id: AuditId::from_random([7; 16]),
        at: at(5),
        actor: Actor::operator("ada"),
        action: AuditAction::TestWebhook,
        subject: "demo".into(),
        reason: String::new(),
    };
    storage.record_audit(&entry).await.unwrap();
    storage.record_audit(&entry).await.unwrap();
    let accept = decision(1, DecisionKind::AcceptAsPaid, version(storage, 1).await);
    storage.decide(&id(1), &accept, at(30)).await.unwrap();
    let log = storage.audit_log(None, 9).await.unwrap();
    assert_eq!(log.len(), 2);
    let behind = storage.audit_log(Some(log[0].position), 9).await.unwrap();
    assert_eq!(behind[..], log[1..]);
    for (statement, refusal) in [
        (
            "UPDATE audit SET reason = ''",
            "entries of the audit log never change",
        ),
        (
            "DELETE FROM audit",
            "entries of the audit log are never deleted",
        ),
        (
            "UPDATE orders SET decision = NULL",
            "an acceptance is not taken back",
        ),
    ] {
        let refused = test.execute(statement).await.unwrap_err();
        assert!(
            refused.to_string().contains(refusal),
            "{statement}: {refused}"
        );
    }
    order(storage, 2).await;
    let unaudited =
        "UPDATE orders SET decision = 'closed', decided_at = created_at WHERE reference = 'r2'";
    let refused = test.execute(unaudited).await.unwrap_err();
    assert!(
        refused
            .to_string()
            .contains("a decision needs its entry in the audit log"),
        "{refused}"
    );
}
