//! Tests of the names in the database. They are derived from the variants' names: a variant that is renamed would make
//! the rows of earlier versions unreadable.

use std::fmt::Debug;
use std::str::FromStr;

use strum::VariantArray;

use crate::{
    Abandoned, AttentionCause, DecisionKind, DecisionOutcome, EventType, Flow, LatePayment,
    OrderStatus, PaymentState, PollPriority, PriceSource,
};

#[track_caller]
fn are_stored<T>(words: &str)
where
    T: VariantArray + Copy + PartialEq + Debug + Into<&'static str> + FromStr,
{
    let written: Vec<&str> = T::VARIANTS.iter().map(|word| (*word).into()).collect();
    assert_eq!(written.join(" "), words);
    for (variant, word) in T::VARIANTS.iter().zip(written) {
        assert_eq!(word.parse::<T>().ok().as_ref(), Some(variant));
    }
    assert!("unknown".parse::<T>().is_err());
}

#[test]
fn stored_names_never_change() {
    are_stored::<PriceSource>("catalogue store_server order_token customer");
    are_stored::<Flow>("custom hosted");
    are_stored::<OrderStatus>(
        "open awaiting_payment checking processing paid overpaid underpaid failed cancelled expired \
         blocked",
    );
    are_stored::<LatePayment>("counted second");
    are_stored::<DecisionKind>("accept_as_paid snooze resolve");
    are_stored::<DecisionOutcome>("accepted closed");
    are_stored::<AttentionCause>(
        "needs_review address_changed blocked underpaid ended_with_money reverted late_payment \
         second_payment overpaid",
    );
    are_stored::<Abandoned>("refused outcome_unknown blocked");
    are_stored::<PaymentState>(
        "waiting detected confirming settled underpaid failed cancelled expired address_changed",
    );
    are_stored::<PollPriority>("unwatched watched callback");
}

#[test]
fn names_of_events_never_change() {
    let facts = "created attempt_opened payment_seen processing paid overpaid underpaid failed \
                 expired cancelled blocked late_payment reverted email_added \
                 refund_address_added refunded";
    assert_eq!(EventType::VARIANTS.len(), facts.split(' ').count());
    for (event, fact) in EventType::VARIANTS.iter().zip(facts.split(' ')) {
        let (order, donation) = (format!("order.{fact}"), format!("donation.{fact}"));
        assert_eq!(<&str>::from(event), order);
        assert_eq!(event.name_for(PriceSource::Catalogue), order);
        assert_eq!(event.name_for(PriceSource::Customer), donation);
        assert_eq!(EventType::parse(&order), Some(*event));
        assert_eq!(EventType::parse(&donation), Some(*event));
        assert_eq!(EventType::parse(fact), None);
    }
}
