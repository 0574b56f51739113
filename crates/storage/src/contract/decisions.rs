//! Decisions of operators: one transaction, one credit, and an entry in the audit log.

use florin_orders::{DecisionError, DecisionKind, DecisionOutcome, RefundError};

use super::*;
use crate::{
    Actor, AuditAction, DecideError, NewAuditEntry, NewDecision, OrderSearch, Settlement,
    StoreScope,
};

pub(super) fn decision(number: u8, kind: DecisionKind, version: u64) -> NewDecision {
    NewDecision {
        id: AuditId::from_random([number; 16]),
        kind,
        version,
        actor: Actor::operator("ada"),
        reason: "agreed by phone".into(),
    }
}

pub(super) fn entry(number: u8, action: AuditAction, subject: &str) -> NewAuditEntry {
    NewAuditEntry {
        id: AuditId::from_random([number; 16]),
        at: at(5),
        actor: Actor::operator("ada"),
        action,
        subject: subject.into(),
        reason: String::new(),
    }
}

async fn version(test: &Test, number: u8) -> u64 {
    test.found(number).await.order.version
}

pub(super) async fn underpaid(test: &Test, number: u8) {
    test.awaiting(number).await;
    test.observe(20, too_little("COMPLETED")).await;
}

#[tokio::test]
async fn an_acceptance_credits_once_and_is_audited() {
    let test = BACKEND.test().await;
    underpaid(&test, 1).await;
    let seen = version(&test, 1).await;
    let accept = decision(1, DecisionKind::AcceptAsPaid, seen);
    let decided = test.decide(&id(1), &accept, at(30)).await.unwrap();
    assert_eq!(decided.order.status, OrderStatus::Paid);
    let credits = format!(
        "SELECT count(*) FROM credits WHERE attempt_id = '{}'",
        new_attempt(1).id
    );
    assert_eq!(test.number(&credits).await, 1);
    let known = test.found(1).await;
    assert_eq!(known, decided);
    let final_decision = known.order.decision.unwrap();
    assert_eq!(
        (final_decision.outcome, final_decision.at),
        (DecisionOutcome::Accepted, at(30))
    );
    let types = test.event_types().await;
    assert_eq!(types[types.len() - 2..], [E::Underpaid, E::Paid]);

    // The same request again, another one that saw the order as it was, and one that saw it as it is.
    let again = test.decide(&id(1), &accept, at(31)).await.unwrap();
    assert_eq!(again, decided);
    let stale = decision(2, DecisionKind::AcceptAsPaid, seen);
    let refused = test.decide(&id(1), &stale, at(31)).await.unwrap_err();
    assert!(matches!(refused, DecideError::Changed { found, .. } if found == seen + 1));
    let late = decision(2, DecisionKind::AcceptAsPaid, seen + 1);
    let refused = test.decide(&id(1), &late, at(31)).await.unwrap_err();
    let already = DecisionError::AlreadyCredited;
    assert!(matches!(refused, DecideError::Refused(reason) if reason == already));
    assert_eq!(test.event_types().await, types);

    let log = test.audit_log(None, 9).await.unwrap();
    assert_eq!(log.len(), 1);
    assert_eq!(log[0].order_id, Some(id(1)));
    assert_eq!(
        (log[0].action, log[0].at),
        (AuditAction::AcceptAsPaid, at(30))
    );
    let statuses = (OrderStatus::Underpaid, OrderStatus::Paid);
    assert_eq!(log[0].status, Some(statuses));
    assert_eq!(settled(&test, 60).await, ["accepted ord 19.90 0.0001 BTC"]);
}

async fn settled(test: &Test, until: i64) -> Vec<String> {
    let [all, own] = [StoreScope::All, StoreScope::Store(demo())];
    let other = StoreScope::Store(shop("other"));
    let page = async |scope: &StoreScope, after: Option<&Settlement>, limit| {
        let after = after.map(|last| (last.at, last.id.as_str()));
        let page = test
            .settlements(scope, at(0), at(until), after, limit)
            .await;
        page.unwrap()
    };
    let (whole, mut lines) = (page(&all, None, 9).await, Vec::new());
    while let Some(line) = page(&own, lines.last(), 1).await.pop() {
        lines.push(line);
    }
    assert_eq!((&lines, page(&other, None, 9).await.len()), (&whole, 0));
    let texts = lines.iter().map(|line| {
        let (kind, asset) = (<&str>::from(line.kind), line.crypto_code.as_ref().unwrap());
        let (amount, sent) = (line.amount, line.amount_in_crypto);
        format!("{kind} {} {amount} {sent} {asset}", &line.id[..3])
    });
    texts.collect()
}

#[tokio::test]
async fn settlements_have_what_came_and_what_went_back_in_order() {
    let test = BACKEND.awaiting().await;
    test.add_attempt(1, 2).await;
    for second in [20, 30] {
        test.observe(second, exact("COMPLETED")).await;
    }
    let ada = Actor::operator("ada");
    let refunded = test
        .refund(&id(1), &refund(1, "0.0004"), &ada, at(40))
        .await;
    refunded.unwrap();
    let lines = [
        "payment ord 19.90 0.00030973 BTC",
        "uncredited att 0 0.00030973 BTC",
        "refund aud 5.80 0.0004 BTC",
    ];
    assert_eq!(settled(&test, 41).await, lines);
    assert_eq!(settled(&test, 40).await, lines[..2]);
}

#[tokio::test]
async fn a_refund_is_recorded_once_with_its_event_and_read_with_its_order() {
    let test = BACKEND.awaiting().await;
    test.observe(20, exact("COMPLETED")).await;
    let (one, ada) = (refund(1, "0.0001"), Actor::operator("ada"));
    let refunded = test.refund(&id(1), &one, &ada, at(30)).await.unwrap();
    assert_eq!(refunded.order.refunds[0].amount, amount("6.43"));
    let again = test.refund(&id(1), &one, &ada, at(31)).await.unwrap();
    assert_eq!((&again, &test.found(1).await), (&refunded, &refunded));
    let left = RefundError::Amount(amount("0.00020973"));
    for (new, expected) in [
        (refund(2, "0.0003"), left),
        (refund(1, "0.0002"), RefundError::Recorded),
    ] {
        let refused = test.refund(&id(1), &new, &ada, at(40)).await;
        assert!(matches!(refused, Err(DecideError::Refund(reason)) if reason == expected));
    }
    let foreign = Actor {
        scope: StoreScope::Store(shop("other")),
        ..ada
    };
    let unknown = test
        .refund(&id(1), &refund(2, "0.0001"), &foreign, at(40))
        .await;
    assert!(matches!(unknown, Err(DecideError::NoOrder(_))));
    let types = test.event_types().await;
    assert_eq!(types[types.len() - 2..], [E::Paid, E::Refunded]);
    let history = test.order_history(&StoreScope::All, &id(1)).await;
    let history = history.unwrap().unwrap();
    assert_eq!(history.aggregate.order, refunded.order);
    assert_eq!(history.audit.len(), 1);
    assert_eq!(history.audit[0].action, AuditAction::Refund);
    assert_eq!(history.audit[0].subject.as_deref(), Some("0.0001 BTC"));
    test.refuses("UPDATE refunds SET amount = '0'", "refunds never change")
        .await;
    test.refuses("DELETE FROM refunds", "refunds are never deleted")
        .await;
}

#[tokio::test]
async fn orders_that_wait_for_a_person_are_listed_until_a_decision() {
    let test = BACKEND.test().await;
    underpaid(&test, 1).await;
    test.awaiting(2).await;
    test.observe(40, exact("REFUNDED")).await;
    let waiting = async || {
        let waiting = test.orders_for_attention(&StoreScope::All, 9).await;
        waiting.unwrap()
    };
    let found = waiting().await;
    let ids: Vec<OrderId> = found.iter().map(|it| it.order.id.clone()).collect();
    assert_eq!(ids, [id(1), id(2)]);
    assert_eq!(found[1].attention_since, Some(at(40)));
    for (number, kind) in [(1, DecisionKind::Resolve), (2, DecisionKind::Snooze)] {
        let decision = decision(number, kind, version(&test, number).await);
        test.decide(&id(number), &decision, at(50)).await.unwrap();
    }
    assert_eq!(waiting().await, []);
    assert_eq!(test.status(1).await, OrderStatus::Cancelled);
    assert_eq!(test.totals().await.unwrap().needing_review, 0);
    let history = test.order_history(&StoreScope::All, &id(2)).await;
    let history = history.unwrap().unwrap();
    assert_eq!(history.audit.len(), 1);
    let assessment = &history.observations[0].assessment;
    assert!(assessment.starts_with("needs_review"), "{assessment}");
    assert_eq!(history.events.len(), 2);
}

#[tokio::test]
async fn orders_are_found_by_status_store_and_text() {
    let test = BACKEND.test().await;
    underpaid(&test, 1).await;
    test.order(2).await;
    let count = async |search: OrderSearch| {
        let search = OrderSearch { limit: 9, ..search };
        test.find_orders(&search).await.unwrap().len()
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
        (containing(&ADDRESS.to_uppercase()), 1),
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

#[tokio::test]
async fn the_audit_log_only_grows() {
    let test = BACKEND.test().await;
    underpaid(&test, 1).await;
    let entry = entry(7, AuditAction::TestWebhook, "demo");
    test.record_audit(&entry).await.unwrap();
    test.record_audit(&entry).await.unwrap();
    let accept = decision(1, DecisionKind::AcceptAsPaid, version(&test, 1).await);
    test.decide(&id(1), &accept, at(30)).await.unwrap();
    let log = test.audit_log(None, 9).await.unwrap();
    assert_eq!(log.len(), 2);
    let behind = test.audit_log(Some(log[0].position), 9).await.unwrap();
    assert_eq!(behind[..], log[1..]);
    test.order(2).await;
    let changes = "UPDATE audit SET reason = '': entries of the audit log never change
DELETE FROM audit: entries of the audit log are never deleted
UPDATE orders SET decision = NULL: an acceptance is not taken back
UPDATE orders SET decision = 'closed', decided_at = created_at WHERE reference = 'r2': a decision needs its entry in the audit log";
    for (statement, refusal) in changes.lines().filter_map(|line| line.split_once(": ")) {
        test.refuses(statement, refusal).await;
    }
}
