//! Invoices are requested once, for the agreed price, and shown as the gateway made them. Nothing that can still change is left
//! unpolled, and the gateway's pauses are kept.

use std::collections::{BTreeMap, BTreeSet};

use crate::Millis;
use crate::amount::{ONE, at_least, text};
use crate::evidence::{Attempt, Evidence};
use crate::gateway::Requested;
use crate::rules::Finding;

const DAY: Millis = 24 * 3_600_000;
/// An unpaid attempt is polled for sixty days after its end; a day less allows for changes of the clock.
const AFTER_EXPIRY: Millis = 59 * DAY;
/// A settled payment may be reverted within a day.
const AFTER_PAYMENT: Millis = DAY;

/// The number of attempts of each content that fit. Two attempts with the same content are counted together.
fn count(evidence: &Evidence, fits: impl Fn(&Attempt) -> bool) -> BTreeMap<&Requested, usize> {
    let mut count = BTreeMap::new();
    let attempts = evidence.attempts_ever().into_iter();
    for attempt in attempts.filter(|attempt| fits(attempt)) {
        *count.entry(&attempt.requested).or_default() += 1;
    }
    count
}

/// The invoices that attempts hold, and those whose attempts a restore lost.
fn held(evidence: &Evidence) -> BTreeSet<&str> {
    let held = evidence.database.held_invoices();
    held.chain(evidence.lost_invoices()).collect()
}

pub(super) fn invoice_shown_once(evidence: &Evidence) -> Finding {
    let claim = "invoices of attempts: each belongs to one attempt, and so does its address";
    let mut finding = Finding::new("invoice-shown-once", claim);
    let mut seen: BTreeMap<&str, &str> = BTreeMap::new();
    for attempt in evidence.attempts_ever() {
        let names = [&attempt.invoice_id, &attempt.shown.address];
        for name in names.into_iter().flatten() {
            let other = seen.insert(name, &attempt.id);
            finding.must(other.is_none(), (name, &attempt.id, other));
        }
    }
    finding
}

pub(super) fn requested_once(evidence: &Evidence) -> Finding {
    let claim = "requests for an invoice or a session: no more of them than attempts that could have sent them";
    let mut finding = Finding::new("requested-once", claim);
    let attempts = count(evidence, |_| true);
    let mut requests: BTreeMap<&Requested, usize> = BTreeMap::new();
    for requested in &evidence.gateway.requested {
        *requests.entry(requested).or_default() += 1;
    }
    for (requested, times) in requests {
        let attempts = attempts.get(requested).copied().unwrap_or(0);
        finding.checked += times - 1;
        finding.must(times <= attempts, (requested, times, "by", attempts));
    }
    finding
}

pub(super) fn requests_the_price(evidence: &Evidence) -> Finding {
    let claim = "attempts: each requests its order's price, and enough of the asset for it";
    let mut finding = Finding::new("requests-the-price", claim);
    let orders = evidence.database.orders_by_id();
    for attempt in &evidence.database.attempts {
        let Some(order) = orders.get(attempt.order_id.as_str()) else {
            continue;
        };
        let price = evidence.price_of(order).amount;
        let fits = match &attempt.requested {
            Requested::Invoice { amounts, .. } => {
                let [_, usd, local] = *amounts;
                let is_local = attempt.shown.local_currency.as_ref() == Some(&order.currency);
                (order.currency == "USD" && usd == Some(price))
                    || (is_local && local == Some(price))
            }
            Requested::Session {
                currency, amount, ..
            } => *currency == order.currency && *amount == Some(price),
        };
        let price = (text(price), &order.currency);
        finding.must(fits, (&attempt.id, &attempt.requested, "for", price));
    }
    for (id, invoice) in &evidence.gateway.invoices {
        let Some([rate, crypto, usd]) = invoice.rate else {
            continue;
        };
        // The amount in the asset is exact; the dollars are rounded to a cent.
        let is_enough = at_least(crypto, rate, usd - ONE / 100, ONE);
        finding.must(is_enough, (id, text(crypto), "for", text(usd), text(rate)));
    }
    finding
}

pub(super) fn lost_is_explained(evidence: &Evidence) -> Finding {
    let claim = "invoices of the gateway that no attempt holds: each has an attempt that was abandoned, or that a restore lost";
    let mut finding = Finding::new("lost-is-explained", claim);
    let (lost, held_before) = (evidence.lost_attempts(), evidence.held_before());
    let mut abandoned = count(evidence, |attempt| {
        let id = attempt.id.as_str();
        let is_abandoned = match attempt.state.as_str() {
            "outcome_unknown" | "blocked" => true,
            "creating" => lost.contains(id),
            _ => false,
        };
        is_abandoned && attempt.invoice_id.is_none() && !held_before.contains(id)
    });
    let held = held(evidence);
    let invoices = evidence.gateway.invoices.iter();
    for (id, invoice) in invoices.filter(|(id, _)| !held.contains(id.as_str())) {
        let left = abandoned.get_mut(&invoice.requested);
        let is_explained = left.filter(|left| **left > 0).map(|left| *left -= 1);
        let facts = (id, &invoice.requested, "at", invoice.created_at);
        finding.must(is_explained.is_some(), facts);
    }
    finding
}

pub(super) fn paid_is_held(evidence: &Evidence) -> Finding {
    let claim = "invoices that received money: each belongs to an attempt, or did before a restore";
    let mut finding = Finding::new("paid-is-held", claim);
    let held = held(evidence);
    let invoices = evidence.gateway.invoices.iter();
    for (id, invoice) in invoices.filter(|(_, invoice)| invoice.received > 0) {
        let facts = (id, &invoice.requested, text(invoice.received));
        finding.must(held.contains(id.as_str()), facts);
    }
    finding
}

pub(super) fn row_is_invoice(evidence: &Evidence) -> Finding {
    let claim = "attempts with an invoice: its address or page, amounts and asset are the gateway's, and it may be shown";
    let mut finding = Finding::new("row-is-invoice", claim);
    let attempts = evidence.database.attempts.iter();
    for attempt in attempts.filter(|attempt| attempt.is_open()) {
        let invoice = evidence.invoice_of(attempt);
        let holds = invoice.is_some_and(|invoice| {
            let is_same = attempt.requested == invoice.requested && attempt.shown == invoice.shown;
            is_same && !invoice.is_tainted
        });
        finding.must(holds, (attempt, "for", invoice));
    }
    finding
}

pub(super) fn still_polled(evidence: &Evidence) -> Finding {
    let claim = "attempts that can still change: the next poll is scheduled";
    let mut finding = Finding::new("still-polled", claim);
    let now = evidence.taken_at;
    let attempts = evidence.database.attempts.iter();
    for attempt in attempts.filter(|attempt| attempt.state == "open") {
        let can_change = if attempt.payment == "settled" {
            let since = attempt.payment_since;
            since.is_some_and(|since| since > now - AFTER_PAYMENT)
        } else {
            let expires_at = attempt.expires_at;
            expires_at.is_none_or(|expires_at| expires_at > now - AFTER_EXPIRY)
        };
        let holds = attempt.is_scheduled || !can_change;
        finding.must(holds, (&attempt.id, &attempt.payment));
    }
    finding
}

pub(super) fn nothing_half_made(evidence: &Evidence) -> Finding {
    let mut finding = Finding::new("nothing-half-made", "attempts: none is left in `creating`");
    for attempt in &evidence.database.attempts {
        finding.must(attempt.state != "creating", &attempt.id);
    }
    finding
}

pub(super) fn newest_response_counts(evidence: &Evidence) -> Finding {
    let claim = "observations: none is recorded after the response to a later poll of its attempt";
    let mut finding = Finding::new("newest-response-counts", claim);
    let mut latest: BTreeMap<&str, i64> = BTreeMap::new();
    for observation in &evidence.database.observations {
        let before = latest.insert(&observation.attempt_id, observation.poll);
        let is_newer = before.is_none_or(|before| before < observation.poll);
        finding.must(is_newer, (observation, "after poll", before));
    }
    finding
}

pub(super) fn pauses_kept(evidence: &Evidence) -> Finding {
    let claim = "pauses that the gateway requested by Retry-After: no request was sent within";
    let mut finding = Finding::new("pauses-kept", claim);
    let requests = &evidence.gateway.requests;
    for pause in &evidence.gateway.pauses {
        let later = requests.get(pause.known_after..).unwrap_or_default();
        let mut within = later
            .iter()
            .filter(|request| request.process == pause.process && request.at < pause.until);
        let first = within.next();
        finding.must(first.is_none(), (first, pause, within.count(), "others"));
    }
    finding
}
