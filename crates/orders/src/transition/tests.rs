mod lives;

use strum::VariantArray as _;

use super::*;
use crate::fixtures::{attempt, exact, observed, order, received};
use crate::{AttemptState, Progress, assess};

use EventType as E;
use OrderStatus as S;

/// The transition of an observation of an order whose attempt is in a payment state.
#[track_caller]
fn change(status: S, payment_state: PaymentState, observation: &crate::Observation) -> Transition {
    change_of(1, status, payment_state, observation)
}

#[track_caller]
fn change_of(
    number: u8,
    status: S,
    payment_state: PaymentState,
    observation: &crate::Observation,
) -> Transition {
    let order = order(status);
    let mut attempt = attempt(number);
    if let AttemptState::Open(invoice) = &mut attempt.state {
        invoice.payment_state = payment_state;
        let assessment = assess(&order, &self::attempt(number), observation);
        if Some(payment_state) == assessment.payment_state() {
            invoice.progress = assessment.progress().cloned().unwrap_or(Progress::NONE);
        }
    }
    let assessment = assess(&order, &attempt, observation);
    transition(&order, &attempt, &assessment)
}

fn for_invoice(number: u8, mut observation: crate::Observation) -> crate::Observation {
    observation.invoice_id = Some(format!("inv_{number}"));
    observation
}

#[test]
fn the_first_sale() {
    let observation = change(
        S::AwaitingPayment,
        PaymentState::Waiting,
        &exact("CHECKING"),
    );
    assert_eq!(
        (observation.status, observation.events, observation.credits),
        (S::Checking, vec![E::PaymentSeen], false)
    );
    let confirming = change(S::Checking, PaymentState::Detected, &exact("PROCESSING"));
    assert_eq!(
        (confirming.status, confirming.events),
        (S::Processing, vec![E::Processing])
    );
    let paid = change(S::Processing, PaymentState::Confirming, &exact("COMPLETED"));
    assert_eq!(
        (paid.status, paid.events, paid.credits),
        (S::Paid, vec![E::Paid], true)
    );
}

#[test]
fn an_overpaid_order_emits_paid_first() {
    let observation = received("COMPLETED", "1", "64250", "64250");
    let change = change(S::Processing, PaymentState::Confirming, &observation);
    assert_eq!(change.events, [E::Paid, E::Overpaid]);
    assert_eq!((change.status, change.credits), (S::Overpaid, true));
}

#[test]
fn too_little_is_never_paid_and_the_rest_makes_it_so() {
    let observation = received("COMPLETED", "0.0001", "6.42", "6.42");
    let underpaid = change(S::Processing, PaymentState::Confirming, &observation);
    assert_eq!(
        (underpaid.status, underpaid.events),
        (S::Underpaid, vec![E::Underpaid])
    );
    assert!(!underpaid.credits);
    let rest = change(S::Underpaid, PaymentState::Underpaid, &exact("COMPLETED"));
    assert_eq!(
        (rest.status, rest.events, rest.credits),
        (S::Paid, vec![E::Paid], true)
    );
}

#[test]
fn a_payment_on_an_expired_attempt_is_reported_as_late_and_credited() {
    let observation = change(S::Expired, PaymentState::Expired, &exact("PROCESSING"));
    assert_eq!(
        (observation.status, observation.events),
        (S::Processing, vec![E::LatePayment, E::Processing])
    );
    let paid = change(S::Failed, PaymentState::Failed, &exact("COMPLETED"));
    assert_eq!(paid.events, [E::LatePayment, E::Paid]);
    assert!(paid.credits);
}

#[test]
fn money_on_a_replaced_attempt_is_credited_and_shown() {
    let observation = for_invoice(2, exact("COMPLETED"));
    let change = change_of(2, S::AwaitingPayment, PaymentState::Waiting, &observation);
    assert_eq!(change.events, [E::LatePayment, E::Paid]);
    assert!(change.credits && change.becomes_current);
}

#[test]
fn the_end_of_a_replaced_attempt_ends_no_order() {
    for status in ["FAILED", "CANCELLED"] {
        let change = change_of(
            2,
            S::AwaitingPayment,
            PaymentState::Waiting,
            &for_invoice(2, observed(status)),
        );
        assert_eq!((change.status, change.events), (S::AwaitingPayment, vec![]));
    }
}

/// What an observation of an order that its store cancelled changes.
#[track_caller]
fn change_of_cancelled(
    status: S,
    payment_state: PaymentState,
    observation: &crate::Observation,
) -> Transition {
    let mut order = order(status);
    order.cancelled_at = Some(crate::fixtures::at(5));
    let mut attempt = attempt(1);
    if let AttemptState::Open(invoice) = &mut attempt.state {
        invoice.payment_state = payment_state;
    }
    let assessment = assess(&order, &attempt, observation);
    transition(&order, &attempt, &assessment)
}

#[test]
fn the_end_of_an_invoice_changes_no_cancelled_order() {
    for word in ["FAILED", "CANCELLED", "CHECKING"] {
        let mut observation = observed(word);
        for second in [10, 1000] {
            observation.observed_at = crate::fixtures::at(second);
            let change = change_of_cancelled(S::Cancelled, PaymentState::Waiting, &observation);
            assert_eq!((change.status, change.events), (S::Cancelled, vec![]));
        }
    }
}

#[test]
fn the_end_of_a_late_payment_on_a_cancelled_order_is_reported() {
    let gone = crate::Observation {
        observed_at: crate::fixtures::at(1000),
        ..observed("CHECKING")
    };
    for (observation, status, event) in [
        (observed("FAILED"), S::Failed, E::Failed),
        (observed("CANCELLED"), S::Cancelled, E::Cancelled),
        (gone, S::Cancelled, E::Cancelled),
    ] {
        for (before, payment_state) in [
            (S::Checking, PaymentState::Detected),
            (S::Processing, PaymentState::Confirming),
        ] {
            let end = change_of_cancelled(before, payment_state, &observation);
            assert_eq!((end.status, end.events), (status, vec![event]));
        }
    }
}

#[test]
fn a_second_payment_on_a_paid_order_is_reported_and_not_credited() {
    let observation = for_invoice(2, exact("COMPLETED"));
    let change = change_of(2, S::Paid, PaymentState::Confirming, &observation);
    assert_eq!(
        (change.status, change.events),
        (S::Paid, vec![E::LatePayment])
    );
    assert!(!change.credits);
}

#[test]
fn a_paid_order_stays_paid_after_any_observation() {
    for paid in [S::Paid, S::Overpaid] {
        for (_, observation) in every_observation() {
            for payment_state in PaymentState::VARIANTS.iter().copied() {
                let change = change(paid, payment_state, &observation);
                assert_eq!((change.status, change.credits), (paid, false));
            }
        }
    }
}

#[test]
fn what_is_known_already_changes_nothing() {
    for (_, observation) in every_observation() {
        let assessment = assess(&order(S::AwaitingPayment), &attempt(1), &observation);
        let Some(payment_state) = assessment.payment_state() else {
            continue;
        };
        // What is known of a credited attempt is its credit: see below.
        for status in S::VARIANTS
            .iter()
            .copied()
            .filter(|status| !status.is_settled())
        {
            let again = change(status, payment_state, &observation);
            assert_eq!(
                (again.status, again.events.len(), again.credits),
                (status, 0, false)
            );
        }
    }
}

#[test]
fn every_change_of_status_emits_an_event() {
    for (_, observation) in every_observation() {
        for status in S::VARIANTS.iter().copied() {
            for payment_state in PaymentState::VARIANTS.iter().copied() {
                let change = change(status, payment_state, &observation);
                assert!(change.status == status || !change.events.is_empty());
                assert_eq!(
                    change.credits,
                    change.status.is_settled() && !status.is_settled()
                );
            }
        }
    }
}

/// The transition of a poll after the credit, while `known` contradicts it.
#[track_caller]
fn after_credit(known: Option<PaymentState>, observation: &crate::Observation) -> Transition {
    let mut order = order(S::Paid);
    order.reverted = known.map(|payment_state| crate::Reverted {
        at: crate::fixtures::at(5),
        payment_state,
    });
    let mut attempt = attempt(1);
    if let AttemptState::Open(invoice) = &mut attempt.state {
        invoice.payment_state = PaymentState::Settled;
        let credited = assess(&order, &self::attempt(1), &exact("COMPLETED"));
        invoice.progress = credited.progress().unwrap().clone();
    }
    let assessment = assess(&order, &attempt, observation);
    transition(&order, &attempt, &assessment)
}

#[test]
fn a_contradiction_is_reported_once_and_reverts_nothing() {
    let less = received("COMPLETED", "0.0001", "6.42", "6.42");
    let gone = crate::Observation {
        address: Some("tb1qother".into()),
        ..exact("COMPLETED")
    };
    for (observation, says) in [
        (exact("FAILED"), PaymentState::Failed),
        (observed("FAILED"), PaymentState::Failed),
        (observed("CANCELLED"), PaymentState::Cancelled),
        (observed("CHECKING"), PaymentState::Waiting),
        (exact("CHECKING"), PaymentState::Detected),
        (exact("PROCESSING"), PaymentState::Confirming),
        (less, PaymentState::Underpaid),
        (gone, PaymentState::AddressChanged),
    ] {
        let first = after_credit(None, &observation);
        assert_eq!((first.status, first.credits), (S::Paid, false));
        assert_eq!(
            (first.reverted, first.events),
            (Some(says), vec![E::Reverted])
        );
        let again = after_credit(Some(says), &observation);
        assert_eq!((again.reverted, again.events), (Some(says), vec![]));
        let stands = after_credit(Some(says), &exact("COMPLETED"));
        assert_eq!((stands.reverted, stands.events), (None, vec![]));
    }
}

#[test]
fn less_than_was_credited_is_against_the_credit_even_when_it_covers() {
    let mut order = order(S::Overpaid);
    order.terms.tolerance = crate::fixtures::amount("0.10");
    let mut attempt = attempt(1);
    if let AttemptState::Open(invoice) = &mut attempt.state {
        invoice.payment_state = PaymentState::Settled;
        invoice.progress.received.crypto = crate::fixtures::amount("0.0004");
    }
    let assessment = assess(&order, &attempt, &exact("COMPLETED"));
    let change = transition(&order, &attempt, &assessment);
    assert_eq!(change.reverted, Some(PaymentState::Settled));
    assert_eq!(change.events, [E::Reverted]);
}

#[test]
fn more_on_the_credited_attempt_is_a_late_payment() {
    let change = after_credit(None, &received("COMPLETED", "0.0004", "25.70", "25.70"));
    assert_eq!(
        (change.reverted, change.events),
        (None, vec![E::LatePayment])
    );
    assert_eq!(after_credit(None, &exact("COMPLETED")).events, []);
}

#[test]
fn a_second_payment_on_its_way_contradicts_no_credit() {
    for status in ["CHECKING", "PROCESSING"] {
        let on_its_way = received(status, "0.0004", "25.70", "25.70");
        for known in [None, Some(PaymentState::Failed)] {
            let change = after_credit(known, &on_its_way);
            assert_eq!((change.reverted, change.events), (known, vec![]));
        }
    }
}

#[test]
fn the_credit_stays_on_record_while_a_second_payment_is_on_its_way() {
    let order = order(S::Paid);
    let mut attempt = attempt(1);
    let credited = assess(&order, &attempt, &exact("COMPLETED"));
    if let AttemptState::Open(invoice) = &mut attempt.state {
        invoice.payment_state = PaymentState::Settled;
        invoice.progress = credited.progress().unwrap().clone();
    }
    let on_its_way = received("PROCESSING", "0.0004", "25.70", "25.70");
    let assessment = assess(&order, &attempt, &on_its_way);
    let change = transition(&order, &attempt, &assessment);
    let hours = crate::fixtures::at(1800);
    let kept = next_invoice(&order, &attempt, &assessment, &change, hours).unwrap();
    assert_eq!(kept.payment_state, PaymentState::Settled);
    assert_eq!(kept.progress, *credited.progress().unwrap());
    // Its end is noticed within a minute, however long ago the credit was.
    assert_eq!(kept.next_poll_at, Some(crate::fixtures::at(1830)));
}

#[test]
fn a_response_that_needs_review_contradicts_no_credit() {
    for known in [None, Some(PaymentState::Failed)] {
        let change = after_credit(known, &exact("REFUNDED"));
        assert_eq!((change.reverted, change.events), (known, vec![]));
    }
}

fn every_observation() -> Vec<(&'static str, crate::Observation)> {
    let mut observations = Vec::new();
    for status in [
        "CHECKING",
        "PROCESSING",
        "COMPLETED",
        "FAILED",
        "CANCELLED",
        "LOST",
    ] {
        for crypto in ["0", "0.0001", "0.00030973", "2"] {
            let money = if crypto == "0" { "0" } else { "6.42" };
            let money = if crypto == "2" || crypto == "0.00030973" {
                "19.90"
            } else {
                money
            };
            observations.push((status, received(status, crypto, money, money)));
        }
        observations.push((status, crate::fixtures::observed(status)));
    }
    observations
}
