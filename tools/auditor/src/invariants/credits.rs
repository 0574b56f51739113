//! Money: credited once, only for what arrived, and to the cent.

use std::collections::{BTreeMap, BTreeSet};

use rust_decimal::Decimal;

use crate::evidence::{Evidence, Order};
use crate::finding::Finding;

/// Where an order stands when it is paid.
pub(super) fn is_paid(order: &Order) -> bool {
    matches!(order.status.as_str(), "paid" | "overpaid")
}

/// The credits of each order.
fn count(evidence: &Evidence) -> BTreeMap<&str, usize> {
    let mut count = BTreeMap::new();
    for credit in &evidence.ledger.credits {
        *count.entry(credit.order_id.as_str()).or_default() += 1;
    }
    count
}

pub(super) fn every_payment_is_credited_once(evidence: &Evidence) -> Finding {
    let mut finding = Finding::new(
        "credited-once",
        "invoices that the service completed with enough money: their order is credited, once",
    );
    let count = count(evidence);
    for (attempt, covered_at) in evidence.paid_attempts() {
        let order = attempt.order_id.as_str();
        let credits = count.get(order).copied().unwrap_or(0);
        finding.must(credits == 1, || {
            let invoice = attempt.invoice_id.as_deref().unwrap_or_default();
            format!(
                "{order}: {invoice} was completed at {covered_at}, and there are {credits} credits"
            )
        });
    }
    finding
}

pub(super) fn every_credit_has_its_payment(evidence: &Evidence) -> Finding {
    let mut finding = Finding::new(
        "credit-has-payment",
        "credits: each for an invoice of that order, completed before with enough money",
    );
    let paid: BTreeMap<(&str, &str), i64> = evidence
        .paid_attempts()
        .map(|(attempt, covered_at)| {
            let key = (attempt.order_id.as_str(), attempt.id.as_str());
            (key, covered_at.as_millisecond())
        })
        .collect();
    for credit in &evidence.ledger.credits {
        let (order, attempt) = (credit.order_id.as_str(), credit.attempt_id.as_str());
        finding.look(match paid.get(&(order, attempt)) {
            None => Some(format!(
                "{order} is credited by {attempt}, whose invoice the service never completed with enough"
            )),
            Some(completed) if *completed > credit.credited_at_ms => Some(format!(
                "{order} was credited {} ms before its invoice was completed",
                completed - credit.credited_at_ms
            )),
            Some(_) => None,
        });
    }
    finding
}

pub(super) fn sums_agree(evidence: &Evidence) -> Finding {
    let mut finding = Finding::new(
        "sums-agree",
        "currencies: the sum of credits is the sum of the prices of paid orders",
    );
    let mut credited: BTreeMap<&str, Decimal> = BTreeMap::new();
    let mut priced: BTreeMap<&str, Decimal> = BTreeMap::new();
    for credit in &evidence.ledger.credits {
        add(
            &mut credited,
            &mut finding,
            &credit.currency,
            &credit.amount,
        );
    }
    for order in evidence.ledger.orders.iter().filter(|order| is_paid(order)) {
        add(&mut priced, &mut finding, &order.currency, &order.amount);
    }
    let currencies: BTreeSet<&str> = credited.keys().chain(priced.keys()).copied().collect();
    for currency in currencies {
        let sum = |of: &BTreeMap<&str, Decimal>| of.get(currency).copied().unwrap_or_default();
        let (credited, priced) = (sum(&credited), sum(&priced));
        finding.must(credited == priced, || {
            format!("{credited} {currency} are credited, and paid orders cost {priced} {currency}")
        });
    }
    finding
}

fn add<'a>(
    sums: &mut BTreeMap<&'a str, Decimal>,
    finding: &mut Finding,
    currency: &'a str,
    amount: &str,
) {
    let sum = sums.entry(currency).or_default();
    let more = Decimal::from_str_exact(amount).ok();
    match more.and_then(|more| sum.checked_add(more)) {
        Some(more) => *sum = more,
        None => finding.look(Some(format!("{amount:?} {currency} cannot be added up"))),
    }
}

pub(super) fn a_credit_is_what_makes_an_order_paid(evidence: &Evidence) -> Finding {
    let mut finding = Finding::new(
        "paid-has-credit",
        "orders: paid or overpaid, when there is a credit of their price, and only then",
    );
    let credits = evidence.ledger.credits.iter();
    let credits: BTreeMap<&str, _> = credits.map(|it| (it.order_id.as_str(), it)).collect();
    for order in &evidence.ledger.orders {
        let credit = credits.get(order.id.as_str());
        let fits = credit.is_none_or(|credit| {
            credit.amount == order.amount && credit.currency == order.currency
        });
        finding.must(credit.is_some() == is_paid(order) && fits, || {
            let Order {
                id, status, amount, ..
            } = order;
            let credit = credit.map_or("no credit".to_owned(), |it| {
                format!("a credit of {}", it.amount)
            });
            format!("{id} of {amount} is {status}, with {credit}")
        });
    }
    finding
}
