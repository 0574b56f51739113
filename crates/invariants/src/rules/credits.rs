//! Money is credited once, only for a payment that covers the price, and exactly.

use std::collections::{BTreeMap, BTreeSet};

use crate::amount::text;
use crate::evidence::{Credit, Evidence, Order};
use crate::finding::Finding;

/// The credits of each order.
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
        finding.must(credits == 1, || format!("{order} has {credits} credits"));
    }
    finding
}

pub(super) fn payment_is_credited(evidence: &Evidence) -> Finding {
    let mut finding = Finding::new(
        "payment-is-credited",
        "invoices that the gateway completed with enough: their order is credited, or was closed",
    );
    let count = count(evidence);
    let paid = evidence.paid_attempts();
    for (attempt, order) in paid.filter(|(_, order)| !order.is_closed()) {
        finding.must(count.contains_key(order.id.as_str()), || {
            let invoice = attempt.invoice_id.as_deref().unwrap_or_default();
            format!("{}: {invoice} is paid, and there is no credit", order.id)
        });
    }
    finding
}

/// Credits that no operator decided.
fn credits_by_payment(evidence: &Evidence) -> impl Iterator<Item = &Credit> {
    let orders = evidence.database.orders.iter();
    let accepted: BTreeSet<&str> = orders
        .filter(|order| order.is_accepted())
        .map(|order| order.id.as_str())
        .collect();
    let credits = evidence.database.credits.iter();
    credits.filter(move |credit| !accepted.contains(credit.order_id.as_str()))
}

pub(super) fn credit_has_payment(evidence: &Evidence) -> Finding {
    let mut finding = Finding::new(
        "credit-has-payment",
        "credits: each for an invoice of that order, completed before with enough, or by an operator",
    );
    let covered: BTreeMap<(&str, &str), i64> = evidence
        .open_attempts()
        .filter_map(|(attempt, order, invoice)| {
            let covered_at = invoice.covered_at(evidence.price_of(order))?;
            Some(((order.id.as_str(), attempt.id.as_str()), covered_at))
        })
        .collect();
    for credit in credits_by_payment(evidence) {
        let (order, attempt) = (credit.order_id.as_str(), credit.attempt_id.as_str());
        finding.check(match covered.get(&(order, attempt)) {
            None => Some(format!(
                "{order} is credited by {attempt}, whose invoice was never completed with enough"
            )),
            Some(covered_at) if *covered_at > credit.at => Some(format!(
                "{order} was credited {} ms before its invoice was completed",
                covered_at - credit.at
            )),
            Some(_) => None,
        });
    }
    finding
}

pub(super) fn credit_has_observation(evidence: &Evidence) -> Finding {
    let mut finding = Finding::new(
        "credit-has-observation",
        "credits by a payment: each refers to an observation of its attempt with COMPLETED",
    );
    let observations = evidence.database.observations.iter();
    let observations: BTreeMap<i64, _> = observations.map(|it| (it.id, it)).collect();
    for credit in credits_by_payment(evidence) {
        let Credit {
            order_id,
            attempt_id,
            observation_id,
            ..
        } = credit;
        let observation = observations.get(observation_id);
        let fits = observation
            .is_some_and(|it| it.attempt_id == *attempt_id && it.raw.contains("COMPLETED"));
        finding.must(fits, || {
            format!(
                "{order_id} is credited by observation {observation_id}, which does not show it"
            )
        });
    }
    finding
}

pub(super) fn sums_agree(evidence: &Evidence) -> Finding {
    let mut finding = Finding::new(
        "sums-agree",
        "currencies: the sum of credits is the sum of the prices of paid orders",
    );
    let mut credited: BTreeMap<&str, i128> = BTreeMap::new();
    let mut priced: BTreeMap<&str, i128> = BTreeMap::new();
    for credit in &evidence.database.credits {
        *credited.entry(&credit.currency).or_default() += credit.amount;
    }
    for order in evidence
        .database
        .orders
        .iter()
        .filter(|order| order.is_paid())
    {
        *priced.entry(&order.currency).or_default() += evidence.price_of(order).amount;
    }
    let currencies: BTreeSet<&str> = credited.keys().chain(priced.keys()).copied().collect();
    for currency in currencies {
        let sum = |of: &BTreeMap<&str, i128>| of.get(currency).copied().unwrap_or_default();
        let (credited, priced) = (sum(&credited), sum(&priced));
        finding.must(credited == priced, || {
            let (credited, priced) = (text(credited), text(priced));
            format!("{credited} {currency} are credited, and paid orders cost {priced} {currency}")
        });
    }
    finding
}

pub(super) fn paid_has_credit(evidence: &Evidence) -> Finding {
    let mut finding = Finding::new(
        "paid-has-credit",
        "orders: paid or overpaid if there is a credit of their price, and only then",
    );
    let credits = evidence.database.credits.iter();
    let credits: BTreeMap<&str, _> = credits.map(|it| (it.order_id.as_str(), it)).collect();
    for order in &evidence.database.orders {
        let credit = credits.get(order.id.as_str());
        let price = evidence.price_of(order).amount;
        let fits =
            credit.is_none_or(|credit| credit.amount == price && credit.currency == order.currency);
        finding.must(credit.is_some() == order.is_paid() && fits, || {
            let Order { id, status, .. } = order;
            let credit = credit.map_or("no credit".to_owned(), |it| {
                format!("a credit of {}", text(it.amount))
            });
            format!("{id} of {} is {status}, with {credit}", text(price))
        });
    }
    finding
}

pub(super) fn price_is_agreed(evidence: &Evidence) -> Finding {
    let mut finding = Finding::new(
        "price-is-agreed",
        "orders with a known agreement: their row has the agreed price",
    );
    for order in &evidence.database.orders {
        if let Some(agreed) = evidence.agreed.get(&order.id) {
            finding.must(order.price == *agreed, || {
                let (row, agreed) = (text(order.price.amount), text(agreed.amount));
                format!("{} costs {row}, and {agreed} was agreed on", order.id)
            });
        }
    }
    finding
}
