use florin_money::CryptoCode;
use proptest::prelude::*;

use super::*;
use crate::fixtures::life::{Life, polls};
use crate::fixtures::{amount, at, attempt, exact, observed, order, received};
use crate::{Flow, Observation, assess};

use DecisionKind as D;
use EventType as E;
use OrderStatus as S;

fn awaiting() -> Aggregate {
    Aggregate {
        order: order(S::AwaitingPayment),
        attempts: vec![attempt(1)],
        late_event_at: None,
        attention_since: None,
    }
}

fn observe(aggregate: &mut Aggregate, second: i64, observation: Observation) -> Vec<EventType> {
    let attempt = &aggregate.attempts[0];
    let id = attempt.terms.id.clone();
    let observation = Observation {
        observed_at: at(second),
        ..observation
    };
    let assessment = assess(&aggregate.order, attempt, &observation);
    let applied = aggregate.apply(&id, &assessment, at(second)).unwrap();
    applied.transition.events
}

fn too_little() -> Observation {
    received("COMPLETED", "0.0001", "6.42", "6.42")
}

/// An underpaid order that was decided about at second 30.
fn underpaid(decision: D) -> Aggregate {
    let mut aggregate = awaiting();
    assert_eq!(observe(&mut aggregate, 20, too_little()), [E::Underpaid]);
    assert_eq!(aggregate.attention_since, Some(at(20)));
    aggregate.decide(decision, at(30)).unwrap();
    assert_eq!(aggregate.attention_since, None);
    aggregate
}

#[test]
fn an_accepted_order_is_paid_and_shows_who_decided() {
    let mut aggregate = awaiting();
    observe(&mut aggregate, 20, too_little());
    let before = aggregate.order.clone();
    let applied = aggregate.decide(D::AcceptAsPaid, at(30)).unwrap();
    assert_eq!(applied.events, [E::Paid]);
    assert_eq!(
        applied.credited_by.as_ref(),
        Some(&aggregate.attempts[0].terms.id)
    );
    let order = &aggregate.order;
    assert_eq!((order.status, order.settled_at), (S::Paid, Some(at(30))));
    assert!(order.is_accepted());
    assert_eq!(
        (order.sequence, order.version),
        (before.sequence + 1, before.version + 1)
    );
}

#[test]
fn a_payment_that_the_gateway_completes_after_the_acceptance_credits_nothing() {
    let mut aggregate = underpaid(D::AcceptAsPaid);
    assert_eq!(observe(&mut aggregate, 40, exact("COMPLETED")), []);
    assert_eq!(aggregate.order.status, S::Paid);
    assert_eq!(aggregate.order.reverted, None);
    assert_eq!(aggregate.attention_since, None);
}

#[test]
fn what_the_operator_knew_does_not_contradict_the_acceptance_and_less_does() {
    let mut aggregate = underpaid(D::AcceptAsPaid);
    assert_eq!(observe(&mut aggregate, 40, too_little()), []);
    assert_eq!(
        observe(&mut aggregate, 50, observed("FAILED")),
        [E::Reverted]
    );
    assert_eq!(aggregate.attention_since, Some(at(50)));
    assert_eq!(aggregate.order.status, S::Paid);
    assert_eq!(observe(&mut aggregate, 60, observed("FAILED")), []);
}

#[test]
fn more_than_the_price_of_an_accepted_order_is_a_late_payment() {
    let mut aggregate = underpaid(D::AcceptAsPaid);
    let twice = received("COMPLETED", "0.00061946", "39.80", "39.80");
    assert_eq!(observe(&mut aggregate, 40, twice.clone()), [E::LatePayment]);
    assert_eq!(observe(&mut aggregate, 50, twice), []);
    assert_eq!(aggregate.order.late_payment, Some(LatePayment::Second));
}

#[test]
fn what_exceeds_the_price_is_owed_and_waits_for_a_person() {
    let mut aggregate = awaiting();
    let twice = received("COMPLETED", "0.00061946", "39.80", "39.80");
    assert_eq!(observe(&mut aggregate, 20, twice), [E::Paid, E::Overpaid]);
    assert_eq!(aggregate.attention_causes(), [AttentionCause::Overpaid]);
    assert_eq!(aggregate.attention_since, Some(at(20)));
    let bitcoin = CryptoCode::parse("BTC").unwrap();
    assert_eq!(aggregate.owed(), [(Some(&bitcoin), amount("0.00030973"))]);
    aggregate.decide(D::Resolve, at(30)).unwrap();
    assert_eq!(aggregate.attention_since, None);
}

#[test]
fn no_payment_credits_a_closed_order() {
    let mut aggregate = underpaid(D::Resolve);
    assert_eq!(aggregate.order.status, S::Cancelled);
    assert!(!aggregate.order.takes_attempts(at(40)));
    assert_eq!(
        observe(&mut aggregate, 40, exact("COMPLETED")),
        [E::LatePayment]
    );
    assert_eq!(aggregate.order.status, S::Cancelled);
    assert_eq!(aggregate.order.settled_at, None);
    // A person decides about that payment.
    assert_eq!(aggregate.attention_since, Some(at(40)));
    aggregate.decide(D::AcceptAsPaid, at(50)).unwrap();
    assert!(aggregate.order.is_accepted());
}

#[test]
fn waiting_changes_nothing_and_news_calls_again() {
    let mut aggregate = underpaid(D::Snooze);
    assert_eq!(aggregate.order.status, S::Underpaid);
    assert_eq!(observe(&mut aggregate, 40, too_little()), []);
    assert_eq!(aggregate.attention_since, None);
    let more = received("COMPLETED", "0.0002", "12.84", "12.84");
    assert_eq!(observe(&mut aggregate, 50, more), [E::Underpaid]);
    assert_eq!(aggregate.attention_since, Some(at(50)));
    assert_eq!(observe(&mut aggregate, 60, exact("COMPLETED")), [E::Paid]);
    assert_eq!(aggregate.attention_since, None);
}

#[test]
fn an_unclear_response_needs_attention_until_a_clear_one() {
    let mut aggregate = awaiting();
    observe(&mut aggregate, 20, exact("REFUNDED"));
    assert_eq!(aggregate.attention_causes(), [AttentionCause::NeedsReview]);
    assert_eq!(aggregate.attention_since, Some(at(20)));
    observe(&mut aggregate, 30, exact("PROCESSING"));
    assert_eq!(aggregate.attention_since, None);
}

#[test]
fn a_refused_decision_changes_nothing() {
    let (mut waits, mut completed, closed) = (awaiting(), awaiting(), underpaid(D::Resolve));
    observe(&mut waits, 20, observed("CHECKING"));
    observe(&mut completed, 20, too_little());
    observe(&mut completed, 25, exact("COMPLETED"));
    let nothing = DecisionError::NothingToDecide(S::AwaitingPayment);
    for (aggregate, decision, error) in [
        (&waits, D::AcceptAsPaid, nothing),
        (&waits, D::Snooze, nothing),
        (&waits, D::Resolve, nothing),
        (&completed, D::AcceptAsPaid, DecisionError::AlreadyCredited),
        (
            &underpaid(D::AcceptAsPaid),
            D::AcceptAsPaid,
            DecisionError::AlreadyCredited,
        ),
        (&closed, D::Resolve, DecisionError::AlreadyClosed),
    ] {
        let mut after = aggregate.clone();
        assert_eq!(after.decide(decision, at(40)), Err(error));
        assert_eq!(after, *aggregate);
    }
}

#[test]
fn a_blocked_order_without_an_invoice_has_no_payment_to_accept() {
    let mut aggregate = awaiting();
    aggregate.order.status = S::Blocked;
    aggregate.attempts[0].state = crate::AttemptState::Abandoned(crate::Abandoned::Blocked);
    let refused = aggregate.decide(D::AcceptAsPaid, at(30));
    assert_eq!(refused, Err(DecisionError::NoPayment));
    aggregate.decide(D::Resolve, at(30)).unwrap();
    assert_eq!(aggregate.order.status, S::Cancelled);
}

proptest! {
    /// Whatever polls and decisions happen in whatever order, an order is credited at most once, and stays credited.
    #[test]
    fn an_order_is_credited_at_most_once(
        polls in polls(12),
        decisions in prop::collection::vec((0_usize..12, prop::sample::select(D::VARIANTS)), 0..6),
        is_hosted in any::<bool>(),
    ) {
        let life = Life::new(if is_hosted { Flow::Hosted } else { Flow::Custom });
        let mut aggregate = life.aggregate;
        let (mut credits, mut paid_events) = (0, 0);
        for (index, poll) in polls.iter().enumerate() {
            let attempt = &aggregate.attempts[poll.attempt];
            let id = attempt.terms.id.clone();
            let observation = poll.response.about(poll.attempt, poll.at);
            let assessment = assess(&aggregate.order, attempt, &observation);
            let applied = aggregate.apply(&id, &assessment, at(poll.at)).unwrap();
            credits += u32::from(applied.transition.credits);
            paid_events += applied.transition.events.iter().filter(|it| **it == E::Paid).count();
            for (_, decision) in decisions.iter().filter(|(when, _)| *when == index) {
                let before = aggregate.clone();
                if let Ok(applied) = aggregate.decide(*decision, at(poll.at)) {
                    credits += u32::from(applied.credited_by.is_some());
                    paid_events += applied.events.iter().filter(|it| **it == E::Paid).count();
                } else {
                    prop_assert_eq!(&aggregate, &before);
                }
            }
            prop_assert!(credits <= 1 && paid_events <= 1);
            prop_assert_eq!(credits == 1, aggregate.order.status.is_settled());
            prop_assert_eq!(credits == 1, aggregate.order.settled_at.is_some());
        }
    }
}
