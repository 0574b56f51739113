//! Every rule, and when it holds.

mod credits;
mod deliveries;
mod events;
mod files;
mod invoices;
mod restores;
#[cfg(test)]
mod tests;

use std::fmt;

use crate::evidence::Evidence;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    Running,
    /// After the proxy had time to finish what it had begun, without faults.
    Drained,
}

type Rule = fn(&Evidence) -> Finding;

/// Rules that hold between any two commits, in each database alone: also in one that a backup has replaced.
const DATABASE: [Rule; 16] = [
    credits::credited_once,
    credits::credit_has_payment,
    credits::credit_has_observation,
    credits::paid_has_credit,
    credits::price_is_agreed,
    credits::refund_is_covered,
    events::state_has_event,
    events::paid_stays_paid,
    events::no_gap,
    events::payload_matches_event,
    events::donation_has_prefix,
    deliveries::event_in_outbox,
    deliveries::outbox_in_order,
    deliveries::in_order,
    invoices::row_is_invoice,
    invoices::newest_response_counts,
];

/// Rules that hold between any two commits, over all databases.
const RUNNING: [Rule; 12] = [
    deliveries::delivery_has_event,
    deliveries::delivery_is_wanted,
    deliveries::signed,
    invoices::invoice_shown_once,
    invoices::requested_once,
    invoices::requests_the_price,
    invoices::paid_is_held,
    invoices::still_polled,
    invoices::pauses_kept,
    restores::backup_is_complete,
    restores::backup_is_kept,
    restores::id_has_one_content,
];

/// Rules that hold when the proxy is drained.
const DRAINED: [Rule; 10] = [
    credits::payment_is_credited,
    events::late_payment_has_event,
    events::underpaid_has_short_invoice,
    events::event_list_is_complete,
    deliveries::outbox_is_settled,
    deliveries::event_is_accepted,
    invoices::lost_is_explained,
    invoices::nothing_half_made,
    files::file_is_sound,
    files::no_token_in_clear,
];

/// Checks every rule that holds at a moment. Replaced databases do not change: they are checked at the end.
pub fn check(evidence: &Evidence, moment: Moment) -> Vec<Finding> {
    let drained: &[Rule] = match moment {
        Moment::Running => &[],
        Moment::Drained => &DRAINED,
    };
    let rules = DATABASE.iter().chain(&RUNNING).chain(drained);
    let mut findings: Vec<Finding> = rules.map(|rule| rule(evidence)).collect();
    let restores = evidence.restores.iter();
    for restore in restores.filter(|_| moment == Moment::Drained) {
        let before = evidence.before(restore);
        let place = format!("before the restore at {}", restore.at);
        for rule in DATABASE.into_iter().chain([files::file_is_sound as Rule]) {
            let found = rule(&before);
            let same = findings.iter_mut().find(|it| it.name == found.name);
            same.expect("it holds when the proxy is drained")
                .include(found, &place);
        }
    }
    findings
}

/// Offences that are printed; the others are counted.
const MAX_SHOWN: usize = 20;

#[derive(Debug)]
pub struct Finding {
    /// A short, stable name: `credited-once`.
    pub name: &'static str,
    pub claim: &'static str,
    pub checked: usize,
    pub offences: Vec<String>,
}

impl Finding {
    pub(crate) fn new(name: &'static str, claim: &'static str) -> Self {
        Self {
            name,
            claim,
            checked: 0,
            offences: Vec::new(),
        }
    }

    /// Counts one checked object, for which the claim must hold; `facts` are its name and what contradicts the claim.
    pub(crate) fn must(&mut self, holds: bool, facts: impl fmt::Debug) {
        self.checked += 1;
        if !holds {
            self.offences.push(format!("{facts:?}"));
        }
    }

    pub(crate) fn include(&mut self, other: Self, place: &str) {
        self.checked += other.checked;
        let offences = other.offences.into_iter();
        self.offences
            .extend(offences.map(|offence| format!("{place}: {offence}")));
    }

    pub fn holds(&self) -> bool {
        self.offences.is_empty()
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.holds() { "ok " } else { "BAD" };
        write!(
            f,
            "{sign} {:<22} {:>8}  {}",
            self.name, self.checked, self.claim
        )?;
        for offence in self.offences.iter().take(MAX_SHOWN) {
            write!(f, "\n    - {offence}")?;
        }
        let hidden = self.offences.len().saturating_sub(MAX_SHOWN);
        if hidden > 0 {
            write!(f, "\n    - and {hidden} more")?;
        }
        Ok(())
    }
}
