//! Money is credited once, only for a payment that covers the price, and exactly.

use std::collections::{BTreeMap, BTreeSet};

use crate::amount::text;
use crate::evidence::{Credit, Evidence};
use crate::gateway::Requested;
use crate::rules::Finding;

fn count(evidence: &Evidence) -> BTreeMap<&str, usize> {
    let mut count = BTreeMap::new();
    for credit in &evidence.database.credits {
        *count.entry(credit.order_id.as_str()).or_default() += 1;
    }
    count
}

pub(super) fn credited_once(evidence: &Evidence) -> Finding {
    let mut finding = Finding::new("credited-once", "credited orders: each has one credit");
    for (order, credits) in count(evidence) {
        finding.must(credits == 1, (order, credits));
    }
    finding
}

pub(super) fn payment_is_credited(evidence: &Evidence) -> Finding {
    let claim =
        "invoices that the gateway completed with enough: their order is credited, or was closed";
    let mut finding = Finding::new("payment-is-credited", claim);
    let count = count(evidence);
    let paid = evidence.paid_attempts();
    for (attempt, order) in paid.filter(|(_, order)| !order.is_closed()) {
        let is_credited = count.contains_key(order.id.as_str());
        finding.must(is_credited, (&order.id, &attempt.invoice_id));
    }
    finding
}

fn credits_by_payment(evidence: &Evidence) -> impl Iterator<Item = &Credit> {
    let orders = evidence.database.orders.iter();
    let accepted = orders.filter(|order| order.is_accepted());
    let accepted: BTreeSet<&str> = accepted.map(|order| order.id.as_str()).collect();
    let credits = evidence.database.credits.iter();
    credits.filter(move |credit| !accepted.contains(credit.order_id.as_str()))
}

pub(super) fn credit_has_payment(evidence: &Evidence) -> Finding {
    let claim = "credits: each for an invoice of that order, completed before with enough, or by an operator";
    let mut finding = Finding::new("credit-has-payment", claim);
    let covered = evidence
        .open_attempts()
        .filter_map(|(attempt, order, invoice)| {
            let covered_at = invoice.covered_at(evidence.price_of(order))?;
            Some(((order.id.as_str(), attempt.id.as_str()), covered_at))
        });
    let covered: BTreeMap<(&str, &str), i64> = covered.collect();
    for credit in credits_by_payment(evidence) {
        let covered_at = covered.get(&(&*credit.order_id, &*credit.attempt_id));
        let is_covered = covered_at.is_some_and(|at| *at <= credit.at);
        finding.must(is_covered, (credit, "covered at", covered_at));
    }
    finding
}

pub(super) fn credit_has_observation(evidence: &Evidence) -> Finding {
    let claim = "credits by a payment: each refers to an observation of its attempt with COMPLETED";
    let mut finding = Finding::new("credit-has-observation", claim);
    let observations = evidence.database.observations.iter();
    let observations: BTreeMap<i64, _> = observations.map(|it| (it.id, it)).collect();
    for credit in credits_by_payment(evidence) {
        let observation = observations.get(&credit.observation_id);
        let fits = observation
            .is_some_and(|it| it.attempt_id == credit.attempt_id && it.raw.contains("COMPLETED"));
        finding.must(fits, (credit, observation));
    }
    finding
}

pub(super) fn paid_has_credit(evidence: &Evidence) -> Finding {
    let claim = "orders: paid or overpaid if there is a credit of their price, and only then";
    let mut finding = Finding::new("paid-has-credit", claim);
    let credits = evidence.database.credits.iter();
    let credits: BTreeMap<&str, _> = credits.map(|it| (it.order_id.as_str(), it)).collect();
    for order in &evidence.database.orders {
        let credit = credits.get(order.id.as_str());
        let price = evidence.price_of(order).amount;
        let fits = credit.is_none_or(|it| it.amount == price && it.currency == order.currency);
        let holds = credit.is_some() == order.is_paid() && fits;
        finding.must(holds, (&order.id, text(price), &order.status, credit));
    }
    finding
}

pub(super) fn price_is_agreed(evidence: &Evidence) -> Finding {
    let claim = "orders with a known agreement: their row has the agreed price";
    let mut finding = Finding::new("price-is-agreed", claim);
    for order in &evidence.database.orders {
        if let Some(agreed) = evidence.agreed.get(&order.id) {
            finding.must(order.price == *agreed, (order, agreed));
        }
    }
    finding
}

pub(super) fn refund_is_covered(evidence: &Evidence) -> Finding {
    let claim =
        "refunded orders: no more of an asset went back than came, and each refund has its event";
    let mut finding = Finding::new("refund-is-covered", claim);
    // The asset of a session is the customer's choice.
    for order in &evidence.database.orders {
        let mut sums: BTreeMap<&str, i128> = BTreeMap::new();
        let refunds = evidence.database.refunds.iter();
        let refunds: Vec<_> = refunds
            .filter(|refund| refund.order_id == order.id)
            .collect();
        for refund in &refunds {
            *sums.entry(&refund.crypto_code).or_default() += refund.amount;
        }
        for (asset, refunded) in sums {
            let paid = evidence.open_attempts().filter(|(_, of, invoice)| {
                let requested = &invoice.requested;
                of.id == order.id
                    && !matches!(requested, Requested::Invoice { crypto_code, .. } if crypto_code != asset)
            });
            let received: i128 = paid.map(|(_, _, invoice)| invoice.received).sum();
            finding.must(
                refunded <= received,
                (&order.id, [refunded, received].map(text)),
            );
        }
        let events = evidence.database.events_of(order).iter();
        let events = events.filter(|event| event.name() == "refunded").count();
        finding.must(events == refunds.len(), (&order.id, events, refunds.len()));
    }
    finding
}
