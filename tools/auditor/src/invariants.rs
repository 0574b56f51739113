//! The invariants, each judged by itself.

mod credits;
mod deliveries;
mod events;
mod file;
mod invoices;
mod pauses;
mod watching;

use crate::evidence::Evidence;
use crate::finding::Finding;

/// Judges all of them.
pub(crate) fn judge(evidence: &Evidence) -> Vec<Finding> {
    let judges: [fn(&Evidence) -> Finding; 25] = [
        credits::every_payment_is_credited_once,
        credits::every_credit_has_its_payment,
        credits::sums_agree,
        credits::a_credit_is_what_makes_an_order_paid,
        events::every_state_has_its_event,
        events::what_is_paid_stays_paid,
        events::every_second_payment_has_its_event,
        events::no_sequence_has_a_gap,
        events::every_event_says_what_it_is,
        deliveries::every_event_is_waited_for_to_the_end,
        deliveries::every_event_is_taken,
        deliveries::every_delivery_is_of_an_event,
        deliveries::every_delivery_is_the_same,
        deliveries::every_delivery_is_signed,
        deliveries::the_shop_ships_what_is_paid,
        deliveries::events_are_taken_in_their_order,
        invoices::no_invoice_is_shown_twice,
        invoices::every_attempt_asks_at_most_once,
        invoices::every_lost_invoice_is_explained,
        invoices::what_is_paid_is_held,
        invoices::shown_invoices_match_the_gateways,
        pauses::every_pause_is_kept,
        watching::every_open_attempt_is_watched,
        file::the_file_is_sound,
        file::no_token_stands_in_clear,
    ];
    judges.iter().map(|judge| judge(evidence)).collect()
}
