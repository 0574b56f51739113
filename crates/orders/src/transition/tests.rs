mod lives;

use std::fmt::Debug;

use strum::VariantArray;

use super::*;
use crate::fixtures::{amount, at, attempt, exact, invoice_of, observed, order, received};
use crate::{Observation, assess};

use EventType as E;
use OrderStatus as S;
use PaymentState as P;

/// An attempt whose invoice was last observed in a payment state.
fn attempt_in(number: u8, payment_state: P) -> Attempt {
    let mut attempt = attempt(number);
    invoice_of(&mut attempt).payment_state = payment_state;
    attempt
}

fn less() -> Observation {
    received("COMPLETED", "0.0001", "6.42", "6.42")
}

/// Another payment on the way, to the address of the first.
fn more(status: &str) -> Observation {
    received(status, "0.0004", "25.70", "25.70")
}

/// Attempt, order's status and invoice's state before; the response; status and events afterwards. The current attempt of a
/// `cancelled` order was cancelled by its store; a `replaced` attempt is not the current one.
const CHANGES: &str = "
current   AwaitingPayment Waiting    exact CHECKING    Checking   PaymentSeen
current   Checking        Detected   exact PROCESSING  Processing Processing
current   Processing      Confirming exact COMPLETED   Paid       Paid
current   Processing      Confirming more  COMPLETED   Overpaid   Paid Overpaid
current   Processing      Confirming less  COMPLETED   Underpaid  Underpaid
current   Underpaid       Underpaid  exact COMPLETED   Paid       Paid
current   Underpaid       Underpaid  none  FAILED      Underpaid
current   Underpaid       Underpaid  late  CHECKING    Underpaid
current   Processing      Confirming none  CHECKING    Checking   PaymentSeen
current   Expired         Detected   exact CHECKING    Expired
current   Expired         Expired    exact PROCESSING  Processing LatePayment Processing
current   Expired         Expired    less  COMPLETED   Underpaid  LatePayment Underpaid
current   Failed          Failed     exact COMPLETED   Paid       LatePayment Paid
replaced  AwaitingPayment Waiting    exact COMPLETED   Paid       LatePayment Paid
replaced  AwaitingPayment Waiting    none  FAILED      AwaitingPayment
replaced  AwaitingPayment Waiting    none  CANCELLED   AwaitingPayment
replaced  AwaitingPayment Underpaid  less  COMPLETED   AwaitingPayment
replaced  Paid            Confirming exact COMPLETED   Paid       LatePayment
cancelled Cancelled       Waiting    none  FAILED      Cancelled
cancelled Cancelled       Waiting    none  CANCELLED   Cancelled
cancelled Cancelled       Waiting    late  CHECKING    Cancelled
cancelled Cancelled       Waiting    exact COMPLETED   Paid       LatePayment Paid
cancelled Checking        Detected   none  FAILED      Failed     Failed
cancelled Processing      Confirming none  CANCELLED   Cancelled  Cancelled
cancelled Checking        Detected   late  CHECKING    Cancelled  Cancelled
";

fn variant<T: VariantArray + Copy + Debug>(name: &str) -> T {
    let mut variants = T::VARIANTS.iter().copied();
    variants
        .find(|variant| format!("{variant:?}") == name)
        .unwrap_or_else(|| panic!("{name}"))
}

#[test]
fn an_observation_changes_status_and_emits_events() {
    for line in CHANGES.lines().filter(|line| !line.is_empty()) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [
            which,
            before,
            payment_state,
            arrived,
            word,
            after,
            events @ ..,
        ] = &words[..]
        else {
            panic!("{line}");
        };
        let number = if *which == "replaced" { 2 } else { 1 };
        let mut observation = match *arrived {
            "exact" => exact(word),
            "more" => more(word),
            "less" => less(),
            _ => observed(word),
        };
        observation.invoice_id = Some(format!("inv_{number}"));
        if *arrived == "late" {
            observation.observed_at = at(1000);
        }
        let mut order = order(variant(before));
        order.cancelled_at = (*which == "cancelled").then_some(at(5));
        let mut attempt = attempt_in(number, variant(payment_state));
        let assessment = assess(&order, &attempt, &observation);
        // A repeated observation repeats the amounts as well.
        let invoice = invoice_of(&mut attempt);
        if assessment.payment_state() == Some(invoice.payment_state) {
            invoice.progress = assessment.progress().cloned().unwrap_or(Progress::NONE);
        }
        let change = transition(&order, &attempt, &assessment);
        let events: Vec<E> = events.iter().map(|event| variant(event)).collect();
        let expected = (variant::<S>(after), events);
        assert_eq!((change.status, change.events), expected, "{line}");
        let is_credited = expected.0.is_settled() && !order.status.is_settled();
        assert_eq!(change.credits, is_credited, "{line}");
        assert!(change.becomes_current || !is_credited, "{line}");
    }
}

/// The attempt that credited an order with exactly its price.
fn credited() -> Attempt {
    let mut attempt = attempt_in(1, P::Settled);
    let assessment = assess(&order(S::Paid), &attempt, &exact("COMPLETED"));
    invoice_of(&mut attempt).progress = assessment.progress().unwrap().clone();
    attempt
}

/// The transition of a poll after the credit, while `known` contradicts it.
#[track_caller]
fn after_credit(known: Option<P>, observation: &Observation) -> (Option<P>, Vec<E>) {
    let mut order = order(S::Paid);
    order.reverted = known.map(|payment_state| crate::Reverted {
        at: at(5),
        payment_state,
    });
    let attempt = credited();
    let assessment = assess(&order, &attempt, observation);
    let change = transition(&order, &attempt, &assessment);
    assert_eq!((change.status, change.credits), (S::Paid, false));
    (change.reverted, change.events)
}

#[test]
fn a_contradiction_is_reported_once_and_reverts_nothing() {
    let elsewhere = Observation {
        address: Some("tb1qother".into()),
        ..exact("COMPLETED")
    };
    for (observation, says) in [
        (exact("FAILED"), P::Failed),
        (observed("FAILED"), P::Failed),
        (observed("CANCELLED"), P::Cancelled),
        (observed("CHECKING"), P::Waiting),
        (exact("CHECKING"), P::Detected),
        (exact("PROCESSING"), P::Confirming),
        (less(), P::Underpaid),
        (elsewhere, P::AddressChanged),
    ] {
        let says = Some(says);
        assert_eq!(after_credit(None, &observation), (says, vec![E::Reverted]));
        assert_eq!(after_credit(says, &observation), (says, vec![]));
        assert_eq!(after_credit(says, &exact("COMPLETED")), (None, vec![]));
    }
}

#[test]
fn an_additional_payment_or_an_unclear_response_contradicts_no_credit() {
    let late = (None, vec![E::LatePayment]);
    assert_eq!(after_credit(None, &more("COMPLETED")), late);
    for known in [None, Some(P::Failed)] {
        for observation in [more("CHECKING"), more("PROCESSING"), exact("REFUNDED")] {
            assert_eq!(after_credit(known, &observation), (known, vec![]));
        }
    }
}

#[test]
fn less_than_was_credited_is_against_the_credit_even_when_it_covers() {
    let mut order = order(S::Overpaid);
    order.terms.tolerance = amount("0.10");
    let mut attempt = credited();
    invoice_of(&mut attempt).progress.received.crypto = amount("0.0004");
    let assessment = assess(&order, &attempt, &exact("COMPLETED"));
    let change = transition(&order, &attempt, &assessment);
    assert_eq!(change.reverted, Some(P::Settled));
    assert_eq!(change.events, [E::Reverted]);
}

#[test]
fn a_second_payment_that_vanishes_contradicts_no_credit() {
    let mut order = order(S::Paid);
    order.late_payment = Some(LatePayment::Second);
    let mut attempt = credited();
    let invoice = invoice_of(&mut attempt);
    invoice.progress.received.crypto = amount("0.0004");
    invoice.late_amount_notified = Some(amount("0.0004"));
    for (observation, reverted) in [(exact("COMPLETED"), None), (less(), Some(P::Underpaid))] {
        let assessment = assess(&order, &attempt, &observation);
        let change = transition(&order, &attempt, &assessment);
        assert_eq!(change.reverted, reverted);
        assert_eq!(change.events.contains(&E::Reverted), reverted.is_some());
    }
}

#[test]
fn the_credit_stays_on_record_while_a_second_payment_is_on_its_way() {
    let (order, attempt) = (order(S::Paid), credited());
    let assessment = assess(&order, &attempt, &more("PROCESSING"));
    let change = transition(&order, &attempt, &assessment);
    let kept = next_invoice(&order, &attempt, &assessment, &change, at(1800)).unwrap();
    assert_eq!(kept.payment_state, P::Settled);
    assert_eq!(kept.progress, attempt.invoice().unwrap().progress);
    // Its end is noticed within a minute, however long ago the credit was.
    assert_eq!(kept.next_poll_at, Some(at(1830)));
}
