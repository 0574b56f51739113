//! Every rule reports broken evidence.

use std::collections::BTreeSet;

/// A row for each way to break a rule: its name, and the change of the evidence.
macro_rules! broken {
    ($it:ident; $($rule:literal: $change:expr;)*) => {
        &[$(($rule, |$it| { $change; })),*]
    };
}

mod fixture;

use self::fixture::*;
use super::*;
use crate::amount::Price;
use crate::evidence::Restore;
use crate::gateway::{Part, Report, Requested};

const BROKEN: &[Broken] = broken! { it;
    "credited-once": it.database.credits.push(it.database.credits[0].clone());
    "payment-is-credited": it.database.credits.remove(0);
    "credit-has-payment": gateway_invoice(it, "inv_1").reports[1].parts[0].received -= 1;
    "credit-has-payment": gateway_invoice(it, "inv_1").reports[1].status = "PROCESSING".into();
    "credit-has-payment": gateway_invoice(it, "inv_1").reports[1].parts.clear();
    "credit-has-payment": it.database.credits[0].attempt_id = "att_2".into();
    "credit-has-payment": it.database.credits[0].at = START + 1_999;
    "credit-has-observation": it.database.credits[0].observation_id = 2;
    "credit-has-observation": it.database.observations[0].raw = PROCESSING.into();
    "paid-has-credit": it.database.orders[3].status = "paid".into();
    "paid-has-credit": it.database.orders[0].status = "underpaid".into();
    "paid-has-credit": it.database.credits[0].amount += 1;
    "paid-has-credit": it.database.credits[0].currency = "EUR".into();
    "price-is-agreed": it.database.orders[0].price.amount -= 1;
    "refund-is-covered": it.database.refunds[0].amount = amount("0.52");
    "refund-is-covered": it.database.refunds[0].crypto_code = "BTC".into();
    "refund-is-covered": it.database.refunds.clear();
    "state-has-event": it.database.orders[3].status = "expired".into();
    "paid-stays-paid": it.database.orders[0].status = "underpaid".into();
    "paid-stays-paid": event(it, "evt_ord_2_5").kind = "donation.paid".into();
    "paid-stays-paid": event(it, "evt_ord_2_5").kind = "donation.failed".into();
    // The commit was lost with its event.
    "paid-stays-paid": {
        it.database.orders[1].status = "awaiting_payment".into();
        it.database.events.retain(|event| event.name() != "paid");
    };
    "late-payment-has-event": event(it, "evt_ord_2_5").kind = "donation.processing".into();
    "underpaid-has-short-invoice": gateway_invoice(it, "inv_4").reports[1].status = "PROCESSING".into();
    "no-gap": event(it, "evt_ord_1_3").sequence = 4;
    "no-gap": it.database.orders[0].sequence = 4;
    "no-gap": drop(it.database.orders.pop());
    "payload-matches-event": {
        let event = event(it, "evt_ord_1_2");
        event.payload = event.payload.replace("\"sequence\":2", "\"sequence\":9");
    };
    "donation-has-prefix": it.database.orders[0].is_donation = true;
    "event-in-outbox": event(it, "evt_ord_1_2").outbox = None;
    "outbox-is-settled": event(it, "evt_ord_1_3").outbox = Some("pending".into());
    "outbox-in-order": event(it, "evt_ord_1_2").outbox = Some("pending".into());
    "event-is-accepted": lose_delivery(it, "evt_ord_1_2");
    "event-is-accepted": it.shop.deliveries[1].is_accepted = false;
    "event-is-accepted": { it.shop.subscribed = None; it.shop.deliveries[1].is_accepted = false; };
    "delivery-has-event": it.shop.deliveries[0].id = "evt_9".into();
    "delivery-is-wanted": it.shop.subscribed = Some(BTreeSet::new());
    "delivery-is-wanted": { it.shop.subscribed = None; event(it, "evt_ord_1_1").outbox = Some("no_webhook".into()); };
    "id-has-one-content": it.shop.deliveries[0].body.push(' ');
    "signed": it.shop.deliveries[0].signature = it.shop.deliveries[1].signature.clone();
    "signed": it.shop.deliveries[0].at += HOUR;
    "signed": it.shop.deliveries[0].at -= HOUR;
    "in-order": it.shop.deliveries.swap(0, 1);
    "in-order": it.shop.deliveries.swap(0, 2);
    "invoice-shown-once": it.database.attempts[1].invoice_id = Some("inv_1".into());
    "invoice-shown-once": it.database.attempts[1].shown.address = Some("address 1".into());
    "requested-once": it.gateway.requested.push(it.gateway.requested[0].clone());
    "requested-once": it.gateway.requested.push(it.gateway.requested[4].clone());
    "requests-the-price": {
        let Requested::Invoice { amounts, .. } = &mut it.database.attempts[0].requested else {
            panic!("it is an invoice");
        };
        amounts[1] = Some(amount("19.99"));
        amounts[2] = Some(amount("19.99"));
    };
    "requests-the-price": {
        let Requested::Session { currency, .. } = &mut it.database.attempts[4].requested else {
            panic!("it is a session");
        };
        *currency = "EUR".into();
    };
    "requests-the-price": { let rate = gateway_invoice(it, "inv_1").rate.as_mut().unwrap(); rate[1] = amount("0.249"); };
    "lost-is-explained": it.database.attempts[5].state = "refused".into();
    "lost-is-explained": {
        let lost = it.gateway.invoices["inv_6"].clone();
        it.gateway.invoices.insert("inv_7".into(), lost);
    };
    "paid-is-held": gateway_invoice(it, "inv_6").received = 1;
    "row-is-invoice": it.database.attempts[0].shown.address = Some("another".into());
    "row-is-invoice": it.database.attempts[0].shown.qr_string = Some("another".into());
    "row-is-invoice": it.database.attempts[0].shown.local_currency = Some("EUR".into());
    "row-is-invoice": it.database.attempts[4].shown.page_url = Some("another".into());
    "row-is-invoice": gateway_invoice(it, "inv_1").requested = requested(9, "20.00");
    "row-is-invoice": gateway_invoice(it, "inv_1").is_tainted = true;
    "row-is-invoice": it.database.attempts[0].invoice_id = Some("inv_9".into());
    "still-polled": it.database.attempts[0].is_scheduled = false;
    "still-polled": it.database.attempts[4].is_scheduled = false;
    "nothing-half-made": it.database.attempts[5].state = "creating".into();
    "newest-response-counts": it.database.observations[2].poll = 4;
    "newest-response-counts": it.database.observations[2].poll = 3;
    "pauses-kept": it.gateway.requests[1].at -= 1;
    "file-is-sound": it.database.damage = Some(vec!["a page is never used".into()]);
    "no-token-in-clear": it.files[0].bytes = format!("x{}", token()).into();
    "no-token-in-clear": it.shop.deliveries[0].body = format!("{{\"token\":\"{}\"}}", token());
    "event-list-is-complete": drop(listing(it).remove(1));
    "event-list-is-complete": { let again = listing(it)[0].clone(); listing(it).push(again); };
    "event-list-is-complete": listing(it).swap(0, 1);
    "event-list-is-complete": listing(it).push("evt_ord_9_1".into());
};

/// Rules about restores, and what a restore does not excuse.
const BROKEN_RESTORES: &[Broken] = broken! { it;
    "backup-is-complete": it.restores[0].made_at = START + 251;
    "backup-is-kept": it.restores[0].backup.orders[0].currency = "EUR".into();
    "backup-is-kept": it.database.attempts[1].invoice_id = None;
    "backup-is-kept": {
        let mut credit = it.database.credits[0].clone();
        credit.amount -= 1;
        it.restores[0].backup.credits.push(credit);
    };
    "backup-is-kept": drop(it.restores[0].replaced.events.remove(0));
    "id-has-one-content": event(it, "evt_ord_2_3").id = "evt_ord_2_3_before".into();
    "payment-is-credited": it.database.credits.remove(1);
    // Without the restore nothing explains what is missing.
    "delivery-has-event": it.restores.clear();
    "requested-once": it.restores.clear();
    "paid-is-held": it.restores.clear();
    "lost-is-explained": it.restores.clear();
    // An event of the replaced database, delivered after the restore.
    "delivery-has-event": it.shop.deliveries.last_mut().unwrap().at = START + 301;
    "id-has-one-content": it.shop.deliveries.last_mut().unwrap().body.push(' ');
    "paid-is-held": add_lost_attempt_to_backup(it);
    "lost-is-explained": add_lost_attempt_to_backup(it);
    "paid-is-held": it.restores[0].replaced.attempts[1].invoice_id = None;
    // A replaced database is checked as well.
    "credited-once": { let credits = &mut it.restores[0].replaced.credits; credits.push(credits[0].clone()); };
    "no-gap": it.restores[0].replaced.orders[0].sequence += 1;
};

fn add_lost_attempt_to_backup(evidence: &mut Evidence) {
    let Restore {
        backup, replaced, ..
    } = &mut evidence.restores[0];
    backup.attempts.push(replaced.attempts[1].clone());
}

const PROCESSING: &str = r#"{"transaction_status":"PROCESSING"}"#;

#[test]
fn good_evidence_breaks_no_rule_and_every_rule_checks_something() {
    for finding in check(&good(), Moment::Drained) {
        assert!(finding.holds(), "{finding}");
        assert!(finding.checked > 0, "{finding}");
    }
}

#[test]
fn every_rule_reports_what_breaks_it() {
    let broken = [BROKEN, BROKEN_RESTORES].concat();
    for (number, (rule, change)) in broken.iter().enumerate() {
        let mut evidence = good();
        change(&mut evidence);
        let findings = check(&evidence, Moment::Drained);
        let finding = findings.iter().find(|finding| finding.name == *rule);
        let finding = finding.unwrap_or_else(|| panic!("there is no rule {rule}"));
        assert!(!finding.holds(), "row {number}: {rule} reports nothing");
    }
    for Finding { name, .. } in check(&good(), Moment::Drained) {
        let is_broken = broken.iter().any(|(rule, _)| *rule == name);
        assert!(is_broken, "no row breaks {name}");
    }
}

#[test]
fn a_running_proxy_may_have_unfinished_work() {
    let mut evidence = good();
    evidence.database.attempts[5].state = "creating".into();
    event(&mut evidence, "evt_ord_4_2").outbox = Some("pending".into());
    lose_delivery(&mut evidence, "evt_ord_4_2");
    for finding in check(&evidence, Moment::Running) {
        assert!(finding.holds(), "{finding}");
    }
}

#[test]
fn every_amount_must_cover_the_price_less_the_tolerance() {
    let price = Price {
        amount: amount("20.00"),
        tolerance: amount("0.50"),
    };
    let covers = |crypto, usd| {
        let part = |requested, received| Part {
            requested: amount(requested),
            received: amount(received),
        };
        let report = Report {
            at: 0,
            status: "COMPLETED".into(),
            parts: vec![part("0.25", crypto), part("20.00", usd)],
        };
        report.covers(price)
    };
    assert!(covers("0.24375", "19.50"));
    assert!(!covers("0.25", "19.49"));
    assert!(!covers("0.24374", "19.50"));
}

type Change = fn(&mut Evidence);

/// Changes that no rule may report, each with the reason.
const ALLOWED: &[(&str, Change)] = &[
    ("the gateway contradicted itself about the payment", |it| {
        lose_payment(it);
        gateway_invoice(it, "inv_1").is_contradicted = true;
    }),
    ("the payment was reverted", |it| {
        lose_payment(it);
        let reports = &mut gateway_invoice(it, "inv_1").reports;
        let reverted = Report {
            at: START + 9_000,
            status: "FAILED".into(),
            ..reports[1].clone()
        };
        reports.push(reverted);
    }),
    ("the payment is not due yet", |it| {
        lose_payment(it);
        it.due_at = START + 1_999;
    }),
    ("an operator credited the order", |it| {
        it.database.observations[0].raw = PROCESSING.into();
        let credited = it.database.credits[0].order_id.clone();
        let mut orders = it.database.orders.iter_mut();
        let order = orders.find(|order| order.id == credited).unwrap();
        order.decision = Some("accepted".into());
    }),
    ("a reported payment has no event", |it| {
        it.database.orders[3].status = "checking".into();
        it.database.orders[3].is_marked_as_paid = true;
    }),
    ("an event that was given up is missing", |it| {
        it.shop.deliveries[1].is_accepted = false;
        event(it, "evt_ord_1_2").outbox = Some("given_up".into());
    }),
    ("an event that was given up comes late", |it| {
        event(it, "evt_ord_1_1").outbox = Some("given_up".into());
        it.shop.deliveries[..3].rotate_left(1);
    }),
    (
        "an event that was given up before a restore comes late",
        |it| {
            it.restores[0].replaced.events[0].outbox = Some("given_up".into());
            let deliveries = &mut it.shop.deliveries;
            deliveries.retain(|delivery| delivery.at != START + 100);
            let first = deliveries.iter().position(|it| it.id == "evt_ord_2_1");
            let late = deliveries.remove(first.unwrap());
            deliveries.push(late);
        },
    ),
    ("after sixty days nothing is polled", |it| {
        it.taken_at = START + 60 * 24 * HOUR;
        for attempt in &mut it.database.attempts {
            attempt.is_scheduled = false;
        }
    }),
    ("another process does not know the pause", |it| {
        it.gateway.requests[1].at -= 1;
        it.gateway.requests[1].process = 2;
    }),
    ("the request was sent before the pause was known", |it| {
        it.gateway.requests[1].at -= 1;
        it.gateway.pauses[0].known_after = 2;
    }),
    ("no store reads the list of events", |it| {
        it.shop.listing = None;
    }),
];

fn lose_payment(evidence: &mut Evidence) {
    evidence.database.credits.remove(0);
    evidence.database.orders[0].status = "awaiting_payment".into();
    evidence.database.orders[0].sequence = 2;
    let events = &mut evidence.database.events;
    events.retain(|event| event.id != "evt_ord_1_3");
    listing(evidence).retain(|id| id != "evt_ord_1_3");
    lose_delivery(evidence, "evt_ord_1_3");
}

#[test]
fn no_rule_reports_what_is_allowed() {
    for (reason, change) in ALLOWED {
        let mut evidence = good();
        change(&mut evidence);
        for finding in check(&evidence, Moment::Drained) {
            assert!(finding.holds(), "{reason}: {finding}");
        }
    }
}
