//! Invoices: asked for once, shown once, and shown as the service made them.

use std::collections::{BTreeMap, BTreeSet};

use rust_decimal::Decimal;

use crate::evidence::{Asked, Attempt, Evidence, Invoice, Shown};
use crate::finding::Finding;

/// What the service was asked for, comparable: amounts of one value are one amount. Two attempts rarely have the same
/// terms, and are counted together when they do.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Terms<'a>([&'a str; 2], [Option<Decimal>; 3]);

fn terms(asked: &Asked) -> Terms<'_> {
    let exact = |text: &String| Decimal::from_str_exact(text).ok().map(|it| it.normalize());
    match asked {
        Asked::Invoice {
            conversion_id,
            crypto_code,
            amounts,
        } => Terms([conversion_id, crypto_code], amounts.each_ref().map(exact)),
        Asked::Session { currency, amount } => {
            Terms(["a session", currency], [exact(amount), None, None])
        }
    }
}

/// How many attempts of each terms fit.
fn count(evidence: &Evidence, fits: impl Fn(&Attempt) -> bool) -> BTreeMap<Terms<'_>, usize> {
    let mut count = BTreeMap::new();
    let attempts = evidence.ledger.attempts.iter();
    for attempt in attempts.filter(|attempt| fits(attempt)) {
        *count.entry(terms(&attempt.asked)).or_default() += 1;
    }
    count
}

/// The invoices that attempts hold.
fn held(evidence: &Evidence) -> BTreeSet<&str> {
    let attempts = evidence.ledger.attempts.iter();
    let ids = attempts.filter_map(|attempt| attempt.invoice_id.as_deref());
    ids.collect()
}

pub(super) fn no_invoice_is_shown_twice(evidence: &Evidence) -> Finding {
    let mut finding = Finding::new(
        "invoice-shown-once",
        "invoices of attempts: each is of one attempt, and so is its address",
    );
    let mut seen: BTreeMap<&str, &str> = BTreeMap::new();
    for attempt in &evidence.ledger.attempts {
        for name in [&attempt.invoice_id, &attempt.shown.address]
            .into_iter()
            .flatten()
        {
            let before = seen.insert(name, &attempt.id);
            finding
                .look(before.map(|before| format!("{before} and {} both show {name}", attempt.id)));
        }
    }
    finding
}

pub(super) fn every_attempt_asks_at_most_once(evidence: &Evidence) -> Finding {
    let mut finding = Finding::new(
        "asked-once",
        "requests for an invoice or a session: no more of them than attempts that could have sent them",
    );
    let attempts = count(evidence, |_| true);
    let mut asked: BTreeMap<Terms, usize> = BTreeMap::new();
    for request in &evidence.service.asked {
        *asked.entry(terms(request)).or_default() += 1;
    }
    for (terms, asked) in asked {
        let attempts = attempts.get(&terms).copied().unwrap_or(0);
        finding.judged += asked - 1;
        finding.must(asked <= attempts, || {
            let Terms([conversion, code], _) = terms;
            format!("{asked} requests for {code} at {conversion}, by {attempts} attempts")
        });
    }
    finding
}

pub(super) fn every_lost_invoice_is_explained(evidence: &Evidence) -> Finding {
    let mut finding = Finding::new(
        "lost-is-explained",
        "invoices at the service that no attempt holds: each has an attempt that was given up",
    );
    let mut given_up = count(evidence, |attempt| {
        attempt.invoice_id.is_none() && matches!(attempt.state.as_str(), "unclear" | "blocked")
    });
    let held = held(evidence);
    for (id, invoice) in &evidence.service.invoices {
        if held.contains(id.as_str()) {
            continue;
        }
        let left = given_up
            .get_mut(&terms(&invoice.asked))
            .filter(|left| **left > 0);
        let is_explained = left.map(|left| *left -= 1).is_some();
        finding.must(is_explained, || {
            let Invoice { asked, at, .. } = invoice;
            format!("{id} ({asked}) was created at {at} and belongs to no attempt")
        });
    }
    finding
}

pub(super) fn what_is_paid_is_held(evidence: &Evidence) -> Finding {
    let mut finding = Finding::new(
        "paid-is-held",
        "invoices that received money: each belongs to an attempt",
    );
    let held = held(evidence);
    for (id, invoice) in &evidence.service.invoices {
        if invoice.received > Decimal::ZERO {
            finding.must(held.contains(id.as_str()), || {
                let Invoice {
                    asked, received, ..
                } = invoice;
                format!("{received} came to {id} ({asked}), which belongs to no attempt")
            });
        }
    }
    finding
}

pub(super) fn shown_invoices_match_the_gateways(evidence: &Evidence) -> Finding {
    let mut finding = Finding::new(
        "row-is-invoice",
        "attempts with an invoice: its address or page, amounts and asset are the service's own",
    );
    for attempt in evidence
        .ledger
        .attempts
        .iter()
        .filter(|it| it.invoice_id.is_some())
    {
        let offence = match evidence.invoice_of(attempt) {
            None => Some("an invoice that the service never made"),
            Some(invoice) if terms(&attempt.asked) != terms(&invoice.asked) => Some("other terms"),
            Some(invoice) => difference(&attempt.shown, &invoice.shown),
        };
        finding.look(offence.map(|what| {
            let invoice = attempt.invoice_id.as_deref().unwrap_or_default();
            format!("{} holds {invoice} with {what}", attempt.id)
        }));
    }
    finding
}

fn difference(mine: &Shown, stated: &Shown) -> Option<&'static str> {
    let differences = [
        (
            mine.local_currency != stated.local_currency,
            "another currency",
        ),
        (mine.address != stated.address, "another address"),
        (mine.qr_string != stated.qr_string, "another QR code"),
        (mine.page_url != stated.page_url, "another page"),
    ];
    differences
        .into_iter()
        .find_map(|(differs, what)| differs.then_some(what))
}
