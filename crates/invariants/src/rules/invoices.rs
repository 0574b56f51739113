//! Invoices are requested once, for the agreed price, and shown as the gateway made them.

use std::collections::{BTreeMap, BTreeSet};

use crate::amount::{ONE, at_least, text};
use crate::evidence::{Attempt, Evidence};
use crate::finding::Finding;
use crate::gateway::{Invoice, Requested, Shown};

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
    let mut finding = Finding::new(
        "invoice-shown-once",
        "invoices of attempts: each belongs to one attempt, and so does its address",
    );
    let mut seen: BTreeMap<&str, &str> = BTreeMap::new();
    for attempt in evidence.attempts_ever() {
        let names = [&attempt.invoice_id, &attempt.shown.address];
        for name in names.into_iter().flatten() {
            let other = seen.insert(name, &attempt.id);
            finding
                .check(other.map(|other| format!("{other} and {} both show {name}", attempt.id)));
        }
    }
    finding
}

pub(super) fn requested_once(evidence: &Evidence) -> Finding {
    let mut finding = Finding::new(
        "requested-once",
        "requests for an invoice or a session: no more of them than attempts that could have sent them",
    );
    let attempts = count(evidence, |_| true);
    let mut requests: BTreeMap<&Requested, usize> = BTreeMap::new();
    for requested in &evidence.gateway.requested {
        *requests.entry(requested).or_default() += 1;
    }
    for (requested, times) in requests {
        let attempts = attempts.get(requested).copied().unwrap_or(0);
        finding.checked += times - 1;
        finding.must(times <= attempts, || {
            format!("{requested:?} was sent {times} times, by {attempts} attempts")
        });
    }
    finding
}

pub(super) fn requests_the_price(evidence: &Evidence) -> Finding {
    let mut finding = Finding::new(
        "requests-the-price",
        "attempts: each requests its order's price, and enough of the asset for it",
    );
    let orders = evidence.database.orders_by_id();
    for attempt in &evidence.database.attempts {
        let Some(order) = orders.get(attempt.order_id.as_str()) else {
            continue;
        };
        let price = evidence.price_of(order).amount;
        let fits = match &attempt.requested {
            Requested::Invoice {
                amounts: [_, usd, local],
                ..
            } => {
                let is_local = attempt.shown.local_currency.as_ref() == Some(&order.currency);
                (order.currency == "USD" && *usd == Some(price))
                    || (is_local && *local == Some(price))
            }
            Requested::Session {
                currency, amount, ..
            } => *currency == order.currency && *amount == Some(price),
        };
        finding.must(fits, || {
            let (id, price) = (&attempt.id, text(price));
            format!(
                "{id} requests {:?} for {price} {}",
                attempt.requested, order.currency
            )
        });
    }
    for (id, invoice) in &evidence.gateway.invoices {
        let Some([rate, crypto, usd]) = invoice.rate else {
            continue;
        };
        // The amount in the asset is exact; the dollars are rounded to a cent.
        finding.must(at_least(crypto, rate, usd - ONE / 100, ONE), || {
            let (crypto, usd) = (text(crypto), text(usd));
            format!(
                "{id} requests {crypto} {} for {usd} dollars",
                invoice.requested.describe()
            )
        });
    }
    finding
}

pub(super) fn lost_is_explained(evidence: &Evidence) -> Finding {
    let mut finding = Finding::new(
        "lost-is-explained",
        "invoices of the gateway that no attempt holds: each has an attempt that was abandoned, or that a restore lost",
    );
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
    for (id, invoice) in &evidence.gateway.invoices {
        if held.contains(id.as_str()) {
            continue;
        }
        let left = abandoned
            .get_mut(&invoice.requested)
            .filter(|left| **left > 0);
        let is_explained = left.map(|left| *left -= 1).is_some();
        finding.must(is_explained, || {
            let Invoice {
                requested,
                created_at,
                ..
            } = invoice;
            let what = requested.describe();
            format!("{id} ({what}) was created at {created_at} and belongs to no attempt")
        });
    }
    finding
}

pub(super) fn paid_is_held(evidence: &Evidence) -> Finding {
    let mut finding = Finding::new(
        "paid-is-held",
        "invoices that received money: each belongs to an attempt, or did before a restore",
    );
    let held = held(evidence);
    let invoices = evidence.gateway.invoices.iter();
    for (id, invoice) in invoices.filter(|(_, invoice)| invoice.received > 0) {
        finding.must(held.contains(id.as_str()), || {
            let (received, what) = (text(invoice.received), invoice.requested.describe());
            format!("{received} arrived at {id} ({what}), which belongs to no attempt")
        });
    }
    finding
}

pub(super) fn row_is_invoice(evidence: &Evidence) -> Finding {
    let mut finding = Finding::new(
        "row-is-invoice",
        "attempts with an invoice: its address or page, amounts and asset are the gateway's, and it may be shown",
    );
    let attempts = evidence.database.attempts.iter();
    for attempt in attempts.filter(|attempt| attempt.is_open()) {
        let offence = match evidence.invoice_of(attempt) {
            None => Some("an invoice that the gateway never made"),
            Some(invoice) if attempt.requested != invoice.requested => Some("other amounts"),
            Some(invoice) if invoice.is_tainted => Some("a response that was lost or wrong"),
            Some(invoice) => difference(&attempt.shown, &invoice.shown),
        };
        finding.check(offence.map(|what| {
            let invoice = attempt.invoice_id.as_deref().unwrap_or_default();
            format!("{} holds {invoice} with {what}", attempt.id)
        }));
    }
    finding
}

fn difference(row: &Shown, stated: &Shown) -> Option<&'static str> {
    let differences = [
        (
            row.local_currency != stated.local_currency,
            "another currency",
        ),
        (row.address != stated.address, "another address"),
        (row.qr_string != stated.qr_string, "another QR code"),
        (row.page_url != stated.page_url, "another page"),
    ];
    differences
        .into_iter()
        .find_map(|(differs, what)| differs.then_some(what))
}
