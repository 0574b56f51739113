mod lives;

use super::*;
use crate::fixtures::{attempt, exact, order, received, said};
use crate::{AttemptState, Progress, judge};

use EventType as E;
use OrderStatus as S;

/// What an observation changes about an order whose attempt stands at `standing`.
#[track_caller]
fn change(status: S, standing: Standing, seen: &crate::Observation) -> Change {
    change_of(1, status, standing, seen)
}

#[track_caller]
fn change_of(number: u8, status: S, standing: Standing, seen: &crate::Observation) -> Change {
    let order = order(status);
    let mut attempt = attempt(number);
    if let AttemptState::Open(invoice) = &mut attempt.state {
        invoice.standing = standing;
        let verdict = judge(&order, &self::attempt(number), seen);
        if Some(standing) == verdict.standing() {
            invoice.progress = verdict.progress().cloned().unwrap_or(Progress::NOTHING);
        }
    }
    let verdict = judge(&order, &attempt, seen);
    advance(&order, &attempt, &verdict)
}

fn for_invoice(number: u8, mut seen: crate::Observation) -> crate::Observation {
    seen.invoice_id = Some(format!("inv_{number}"));
    seen
}

#[test]
fn the_first_sale() {
    let seen = change(S::AwaitingPayment, Standing::Waiting, &exact("CHECKING"));
    assert_eq!(
        (seen.status, seen.events, seen.credits),
        (S::Checking, vec![E::PaymentSeen], false)
    );
    let confirming = change(S::Checking, Standing::Seen, &exact("PROCESSING"));
    assert_eq!(
        (confirming.status, confirming.events),
        (S::Processing, vec![E::Processing])
    );
    let paid = change(S::Processing, Standing::Confirming, &exact("COMPLETED"));
    assert_eq!(
        (paid.status, paid.events, paid.credits),
        (S::Paid, vec![E::Paid], true)
    );
}

#[test]
fn an_overpaid_order_is_told_as_paid_first() {
    let seen = received("COMPLETED", "1", "64250", "64250");
    let change = change(S::Processing, Standing::Confirming, &seen);
    assert_eq!(change.events, [E::Paid, E::Overpaid]);
    assert_eq!((change.status, change.credits), (S::Overpaid, true));
}

#[test]
fn too_little_is_never_paid_and_the_rest_makes_it_so() {
    let seen = received("COMPLETED", "0.0001", "6.42", "6.42");
    let short = change(S::Processing, Standing::Confirming, &seen);
    assert_eq!(
        (short.status, short.events),
        (S::Underpaid, vec![E::Underpaid])
    );
    assert!(!short.credits);
    let rest = change(S::Underpaid, Standing::Short, &exact("COMPLETED"));
    assert_eq!(
        (rest.status, rest.events, rest.credits),
        (S::Paid, vec![E::Paid], true)
    );
}

#[test]
fn money_on_an_expired_attempt_is_told_as_late_and_credited() {
    let seen = change(S::Expired, Standing::Expired, &exact("PROCESSING"));
    assert_eq!(
        (seen.status, seen.events),
        (S::Processing, vec![E::LatePayment, E::Processing])
    );
    let paid = change(S::Failed, Standing::Failed, &exact("COMPLETED"));
    assert_eq!(paid.events, [E::LatePayment, E::Paid]);
    assert!(paid.credits);
}

#[test]
fn money_on_a_replaced_attempt_is_credited_and_shown() {
    let seen = for_invoice(2, exact("COMPLETED"));
    let change = change_of(2, S::AwaitingPayment, Standing::Waiting, &seen);
    assert_eq!(change.events, [E::LatePayment, E::Paid]);
    assert!(change.credits && change.shows_attempt);
}

#[test]
fn the_end_of_a_replaced_attempt_ends_no_order() {
    for status in ["FAILED", "CANCELLED"] {
        let change = change_of(
            2,
            S::AwaitingPayment,
            Standing::Waiting,
            &for_invoice(2, said(status)),
        );
        assert_eq!((change.status, change.events), (S::AwaitingPayment, vec![]));
    }
}

/// What an observation of an order that its store cancelled changes.
#[track_caller]
fn change_of_cancelled(status: S, standing: Standing, seen: &crate::Observation) -> Change {
    let mut order = order(status);
    order.cancelled_at = Some(crate::fixtures::at(5));
    let mut attempt = attempt(1);
    if let AttemptState::Open(invoice) = &mut attempt.state {
        invoice.standing = standing;
    }
    let verdict = judge(&order, &attempt, seen);
    advance(&order, &attempt, &verdict)
}

#[test]
fn the_end_of_an_invoice_says_nothing_new_of_a_cancelled_order() {
    for word in ["FAILED", "CANCELLED", "CHECKING"] {
        let mut seen = said(word);
        for second in [10, 1000] {
            seen.observed_at = crate::fixtures::at(second);
            let change = change_of_cancelled(S::Cancelled, Standing::Waiting, &seen);
            assert_eq!((change.status, change.events), (S::Cancelled, vec![]));
        }
    }
}

#[test]
fn how_a_late_payment_of_a_cancelled_order_ends_is_told() {
    let gone = crate::Observation {
        observed_at: crate::fixtures::at(1000),
        ..said("CHECKING")
    };
    for (seen, status, told) in [
        (said("FAILED"), S::Failed, E::Failed),
        (said("CANCELLED"), S::Cancelled, E::Cancelled),
        (gone, S::Cancelled, E::Cancelled),
    ] {
        for (before, standing) in [
            (S::Checking, Standing::Seen),
            (S::Processing, Standing::Confirming),
        ] {
            let end = change_of_cancelled(before, standing, &seen);
            assert_eq!((end.status, end.events), (status, vec![told]));
        }
    }
}

#[test]
fn a_second_payment_on_a_paid_order_is_told_and_not_credited() {
    let seen = for_invoice(2, exact("COMPLETED"));
    let change = change_of(2, S::Paid, Standing::Confirming, &seen);
    assert_eq!(
        (change.status, change.events),
        (S::Paid, vec![E::LatePayment])
    );
    assert!(!change.credits);
}

#[test]
fn a_paid_order_stays_paid_whatever_is_said() {
    for paid in [S::Paid, S::Overpaid] {
        for (_, seen) in everything_said() {
            for (standing, _) in Standing::ALL {
                let change = change(paid, standing, &seen);
                assert_eq!((change.status, change.credits), (paid, false));
            }
        }
    }
}

#[test]
fn what_is_known_already_changes_nothing() {
    for (_, seen) in everything_said() {
        let verdict = judge(&order(S::AwaitingPayment), &attempt(1), &seen);
        let Some(standing) = verdict.standing() else {
            continue;
        };
        // What is known of a credited attempt is its credit: see below.
        for (status, _) in S::ALL.into_iter().filter(|(s, _)| !s.is_settled()) {
            let again = change(status, standing, &seen);
            assert_eq!(
                (again.status, again.events.len(), again.credits),
                (status, 0, false)
            );
        }
    }
}

#[test]
fn every_change_of_status_is_told() {
    for (_, seen) in everything_said() {
        for (status, _) in S::ALL {
            for (standing, _) in Standing::ALL {
                let change = change(status, standing, &seen);
                assert!(change.status == status || !change.events.is_empty());
                assert_eq!(
                    change.credits,
                    change.status.is_settled() && !status.is_settled()
                );
            }
        }
    }
}

/// What a look after the credit changes, while the service says `known` against it.
#[track_caller]
fn after_credit(known: Option<Standing>, seen: &crate::Observation) -> Change {
    let mut order = order(S::Paid);
    order.reverted = known.map(|says| crate::Reverted {
        at: crate::fixtures::at(5),
        says,
    });
    let mut attempt = attempt(1);
    if let AttemptState::Open(invoice) = &mut attempt.state {
        invoice.standing = Standing::Settled;
        let credited = judge(&order, &self::attempt(1), &exact("COMPLETED"));
        invoice.progress = credited.progress().unwrap().clone();
    }
    let verdict = judge(&order, &attempt, seen);
    advance(&order, &attempt, &verdict)
}

#[test]
fn what_is_said_against_a_credit_is_told_once_and_takes_nothing_back() {
    let less = received("COMPLETED", "0.0001", "6.42", "6.42");
    let gone = crate::Observation {
        address: Some("tb1qother".into()),
        ..exact("COMPLETED")
    };
    for (seen, says) in [
        (exact("FAILED"), Standing::Failed),
        (said("FAILED"), Standing::Failed),
        (said("CANCELLED"), Standing::Cancelled),
        (said("CHECKING"), Standing::Waiting),
        (exact("CHECKING"), Standing::Seen),
        (exact("PROCESSING"), Standing::Confirming),
        (less, Standing::Short),
        (gone, Standing::Frozen),
    ] {
        let first = after_credit(None, &seen);
        assert_eq!((first.status, first.credits), (S::Paid, false));
        assert_eq!(
            (first.reverted, first.events),
            (Some(says), vec![E::Reverted])
        );
        let again = after_credit(Some(says), &seen);
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
        invoice.standing = Standing::Settled;
        invoice.progress.received.crypto = crate::fixtures::amount("0.0004");
    }
    let verdict = judge(&order, &attempt, &exact("COMPLETED"));
    let change = advance(&order, &attempt, &verdict);
    assert_eq!(change.reverted, Some(Standing::Settled));
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
fn a_held_answer_says_nothing_against_a_credit() {
    for known in [None, Some(Standing::Failed)] {
        let change = after_credit(known, &exact("REFUNDED"));
        assert_eq!((change.reverted, change.events), (known, vec![]));
    }
}

fn everything_said() -> Vec<(&'static str, crate::Observation)> {
    let mut said = Vec::new();
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
            said.push((status, received(status, crypto, money, money)));
        }
        said.push((status, crate::fixtures::said(status)));
    }
    said
}
