//! Every rule, and when it holds.

mod credits;
mod deliveries;
mod events;
mod files;
mod invoices;
mod polling;
#[cfg(test)]
mod tests;

use crate::evidence::Evidence;
use crate::finding::Finding;

/// When evidence was collected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// Between any two commits, while the proxy works.
    Running,
    /// After the proxy had time to finish what it had begun, without faults.
    Drained,
}

type Rule = fn(&Evidence) -> Finding;

/// Rules that hold between any two commits.
const RUNNING: [Rule; 26] = [
    credits::credited_once,
    credits::credit_has_payment,
    credits::credit_has_observation,
    credits::sums_agree,
    credits::paid_has_credit,
    credits::price_is_agreed,
    events::state_has_event,
    events::paid_stays_paid,
    events::no_gap,
    events::event_is_true,
    events::donation_is_named,
    deliveries::event_in_outbox,
    deliveries::outbox_in_order,
    deliveries::delivery_has_event,
    deliveries::delivery_is_wanted,
    deliveries::same_bytes,
    deliveries::signed,
    deliveries::in_order,
    invoices::invoice_shown_once,
    invoices::requested_once,
    invoices::requests_the_price,
    invoices::paid_is_held,
    invoices::row_is_invoice,
    polling::still_polled,
    polling::newest_response_counts,
    polling::pauses_kept,
];

/// Rules that hold when the proxy is drained.
const DRAINED: [Rule; 11] = [
    credits::payment_is_credited,
    events::late_payment_has_event,
    events::underpaid_is_true,
    events::list_skips_none,
    deliveries::outbox_is_settled,
    deliveries::event_is_accepted,
    deliveries::shop_received_paid,
    invoices::lost_is_explained,
    polling::nothing_half_made,
    files::file_is_sound,
    files::no_token_in_clear,
];

/// Checks every rule that holds at a moment.
pub fn check(evidence: &Evidence, moment: Moment) -> Vec<Finding> {
    let drained: &[Rule] = match moment {
        Moment::Running => &[],
        Moment::Drained => &DRAINED,
    };
    let rules = RUNNING.iter().chain(drained);
    rules.map(|rule| rule(evidence)).collect()
}
