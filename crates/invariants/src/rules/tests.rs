//! Every rule reports broken evidence.

use std::collections::BTreeSet;

mod fixture;
mod restored;

use self::fixture::*;
use super::*;
use crate::evidence::{Part, Price, Report, Requested};

#[test]
fn good_evidence_breaks_no_rule_and_every_rule_checks_something() {
    for finding in check(&good(), Moment::Drained) {
        assert!(finding.holds(), "{finding}");
        assert!(finding.checked > 0, "{finding}");
    }
}

#[test]
fn every_rule_has_a_test() {
    let tests = [include_str!("tests.rs"), include_str!("tests/restored.rs")].concat();
    for finding in check(&good(), Moment::Drained) {
        let name = format!("\"{}\"", finding.name);
        assert!(tests.contains(&name), "no test breaks {name}");
    }
}

#[test]
fn a_running_proxy_may_have_unfinished_work() {
    let mut evidence = good();
    evidence.database.attempts[5].state = "creating".into();
    event(&mut evidence, "evt_ord_4_2").outbox = Some("pending".into());
    let deliveries = &mut evidence.shop.deliveries;
    deliveries.retain(|delivery| delivery.id != "evt_ord_4_2");
    for finding in check(&evidence, Moment::Running) {
        assert!(finding.holds(), "{finding}");
    }
}

#[test]
fn an_order_is_credited_once() {
    breaks("credited-once", |evidence| {
        let again = evidence.database.credits[0].clone();
        evidence.database.credits.push(again);
    });
}

#[test]
fn a_payment_is_credited() {
    breaks("payment-is-credited", |evidence| {
        evidence.database.credits.remove(0);
    });
}

#[test]
fn a_payment_that_was_reverted_or_contradicted_need_not_be_credited() {
    fn unpaid(evidence: &mut Evidence) {
        evidence.database.credits.remove(0);
        evidence.database.orders[0].status = "awaiting_payment".into();
        evidence.database.orders[0].sequence = 2;
        evidence
            .database
            .events
            .retain(|event| event.id != "evt_ord_1_3");
        listing(evidence).retain(|id| id != "evt_ord_1_3");
        evidence
            .shop
            .deliveries
            .retain(|delivery| delivery.id != "evt_ord_1_3");
    }
    is_allowed(|evidence| {
        unpaid(evidence);
        gateway_invoice(evidence, "inv_1").is_contradicted = true;
    });
    is_allowed(|evidence| {
        unpaid(evidence);
        let reports = &mut gateway_invoice(evidence, "inv_1").reports;
        let reverted = Report {
            at: START + 9_000,
            status: "FAILED".into(),
            ..reports[1].clone()
        };
        reports.push(reverted);
    });
    is_allowed(|evidence| {
        unpaid(evidence);
        evidence.due_at = START + 1_999;
    });
}

#[test]
fn a_credit_has_a_payment_that_covers_the_price() {
    breaks("credit-has-payment", |evidence| {
        gateway_invoice(evidence, "inv_1").reports[1].parts[0].received -= 1;
    });
    breaks("credit-has-payment", |evidence| {
        gateway_invoice(evidence, "inv_1").reports[1].status = "PROCESSING".into();
    });
    breaks("credit-has-payment", |evidence| {
        gateway_invoice(evidence, "inv_1").reports[1].parts.clear();
    });
    breaks("credit-has-payment", |evidence| {
        evidence.database.credits[0].attempt_id = "att_2".into();
    });
    breaks("credit-has-payment", |evidence| {
        evidence.database.credits[0].at = START + 1_999;
    });
}

#[test]
fn every_amount_must_cover_the_price_less_the_tolerance() {
    let price = Price {
        amount: amount("20.00"),
        tolerance: amount("0.50"),
    };
    let part = |requested, received| Part {
        requested: amount(requested),
        received: amount(received),
    };
    let covers = |parts| {
        Report {
            at: 0,
            status: "COMPLETED".into(),
            parts,
        }
        .covers(price)
    };
    assert!(covers(vec![
        part("0.25", "0.24375"),
        part("20.00", "19.50")
    ]));
    assert!(!covers(vec![part("0.25", "0.25"), part("20.00", "19.49")]));
    assert!(!covers(vec![
        part("0.25", "0.24374"),
        part("20.00", "19.50")
    ]));
}

#[test]
fn a_credit_has_its_observation() {
    breaks("credit-has-observation", |evidence| {
        evidence.database.credits[0].observation_id = 2;
    });
    breaks("credit-has-observation", |evidence| {
        evidence.database.observations[0].raw = r#"{"transaction_status":"PROCESSING"}"#.into();
    });
}

#[test]
fn credits_sum_up_to_the_prices() {
    breaks("sums-agree", |evidence| {
        evidence.database.credits[0].amount -= 1;
    });
}

#[test]
fn an_order_is_paid_if_it_has_a_credit_of_its_price() {
    breaks("paid-has-credit", |evidence| {
        evidence.database.orders[3].status = "paid".into();
    });
    breaks("paid-has-credit", |evidence| {
        evidence.database.orders[0].status = "underpaid".into();
    });
    breaks("paid-has-credit", |evidence| {
        evidence.database.credits[0].amount += 1;
    });
    breaks("paid-has-credit", |evidence| {
        evidence.database.credits[0].currency = "EUR".into();
    });
}

#[test]
fn an_order_costs_what_was_agreed_on() {
    breaks("price-is-agreed", |evidence| {
        evidence.database.orders[0].price.amount -= 1;
    });
}

#[test]
fn an_operators_credit_needs_no_completed_payment() {
    is_allowed(|evidence| {
        evidence.database.observations[0].raw = r#"{"transaction_status":"PROCESSING"}"#.into();
        let credited = evidence.database.credits[0].order_id.clone();
        let mut orders = evidence.database.orders.iter_mut();
        let order = orders.find(|order| order.id == credited).unwrap();
        order.decision = Some("accepted".into());
    });
}

#[test]
fn a_status_has_its_event() {
    breaks("state-has-event", |evidence| {
        evidence.database.orders[3].status = "expired".into();
    });
    is_allowed(|evidence| {
        evidence.database.orders[3].status = "checking".into();
        evidence.database.orders[3].is_marked_as_paid = true;
    });
}

#[test]
fn a_paid_order_stays_paid() {
    breaks("paid-stays-paid", |evidence| {
        evidence.database.orders[0].status = "underpaid".into();
    });
    breaks("paid-stays-paid", |evidence| {
        event(evidence, "evt_ord_2_5").kind = "donation.paid".into();
    });
    breaks("paid-stays-paid", |evidence| {
        event(evidence, "evt_ord_2_5").kind = "donation.failed".into();
    });
    // The commit was lost with its event.
    breaks("paid-stays-paid", |evidence| {
        evidence.database.orders[1].status = "awaiting_payment".into();
        evidence
            .database
            .events
            .retain(|event| event.name() != "paid");
    });
}

#[test]
fn a_second_payment_has_its_event() {
    breaks("late-payment-has-event", |evidence| {
        event(evidence, "evt_ord_2_5").kind = "donation.processing".into();
    });
}

#[test]
fn an_underpayment_is_reported_where_one_exists() {
    breaks("underpaid-has-short-invoice", |evidence| {
        gateway_invoice(evidence, "inv_4").reports[1].status = "PROCESSING".into();
    });
}

#[test]
fn events_are_numbered_without_a_gap() {
    breaks("no-gap", |evidence| {
        event(evidence, "evt_ord_1_3").sequence = 4;
    });
    breaks("no-gap", |evidence| {
        evidence.database.orders[0].sequence = 4;
    });
    breaks("no-gap", |evidence| {
        evidence.database.orders.pop();
    });
}

#[test]
fn a_payload_states_its_row() {
    breaks("payload-matches-event", |evidence| {
        let event = event(evidence, "evt_ord_1_2");
        event.payload = event.payload.replace("\"sequence\":2", "\"sequence\":9");
    });
}

#[test]
fn only_donations_are_named_so() {
    breaks("donation-has-prefix", |evidence| {
        evidence.database.orders[0].is_donation = true;
    });
}

#[test]
fn an_event_is_in_the_outbox() {
    breaks("event-in-outbox", |evidence| {
        event(evidence, "evt_ord_1_2").outbox = None;
    });
}

#[test]
fn no_event_waits_in_a_drained_outbox() {
    breaks("outbox-is-settled", |evidence| {
        event(evidence, "evt_ord_1_3").outbox = Some("pending".into());
    });
}

#[test]
fn an_event_waits_for_the_earlier_ones() {
    breaks("outbox-in-order", |evidence| {
        event(evidence, "evt_ord_1_2").outbox = Some("pending".into());
    });
}

#[test]
fn a_store_accepts_every_event() {
    breaks("event-is-accepted", |evidence| {
        evidence
            .shop
            .deliveries
            .retain(|delivery| delivery.id != "evt_ord_1_2");
    });
    breaks("event-is-accepted", |evidence| {
        evidence.shop.deliveries[1].is_accepted = false;
    });
    breaks("event-is-accepted", |evidence| {
        evidence.shop.subscribed = None;
        evidence.shop.deliveries[1].is_accepted = false;
    });
    is_allowed(|evidence| {
        evidence.shop.deliveries[1].is_accepted = false;
        event(evidence, "evt_ord_1_2").outbox = Some("given_up".into());
    });
}

#[test]
fn a_store_receives_known_events_alone() {
    breaks("delivery-has-event", |evidence| {
        evidence.shop.deliveries[0].id = "evt_9".into();
    });
}

#[test]
fn a_store_without_a_webhook_receives_nothing() {
    breaks("delivery-is-wanted", |evidence| {
        evidence.shop.subscribed = Some(BTreeSet::new());
    });
    breaks("delivery-is-wanted", |evidence| {
        evidence.shop.subscribed = None;
        event(evidence, "evt_ord_1_1").outbox = Some("no_webhook".into());
    });
}

#[test]
fn a_delivery_has_the_payload_of_its_event() {
    breaks("same-bytes", |evidence| {
        evidence.shop.deliveries[0].body.push(' ');
    });
}

#[test]
fn a_delivery_is_signed_in_time() {
    breaks("signed", |evidence| {
        evidence.shop.deliveries[0].signature = evidence.shop.deliveries[1].signature.clone();
    });
    breaks("signed", |evidence| evidence.shop.deliveries[0].at += HOUR);
    breaks("signed", |evidence| evidence.shop.deliveries[0].at -= HOUR);
}

#[test]
fn a_store_knows_what_is_paid() {
    breaks("shop-received-paid", |evidence| {
        evidence
            .shop
            .deliveries
            .retain(|delivery| delivery.id != "evt_ord_1_3");
    });
    breaks("shop-received-paid", |evidence| {
        evidence.database.orders[0].status = "underpaid".into();
    });
}

#[test]
fn a_store_accepts_events_in_their_order() {
    breaks("in-order", |evidence| evidence.shop.deliveries.swap(0, 1));
    breaks("in-order", |evidence| evidence.shop.deliveries.swap(0, 2));
    // It was given up and is delivered again after the later ones.
    is_allowed(|evidence| {
        event(evidence, "evt_ord_1_1").outbox = Some("given_up".into());
        evidence.shop.deliveries[..3].rotate_left(1);
    });
}

#[test]
fn an_invoice_belongs_to_one_attempt() {
    breaks("invoice-shown-once", |evidence| {
        evidence.database.attempts[1].invoice_id = Some("inv_1".into());
    });
    breaks("invoice-shown-once", |evidence| {
        evidence.database.attempts[1].shown.address = Some("address 1".into());
    });
}

#[test]
fn an_attempt_sends_one_request() {
    for index in [0, 4] {
        breaks("requested-once", |evidence| {
            let again = evidence.gateway.requested[index].clone();
            evidence.gateway.requested.push(again);
        });
    }
}

#[test]
fn an_attempt_requests_the_price() {
    breaks("requests-the-price", |evidence| {
        let Requested::Invoice { amounts, .. } = &mut evidence.database.attempts[0].requested
        else {
            panic!("it is an invoice");
        };
        amounts[1] = Some(amount("19.99"));
        amounts[2] = Some(amount("19.99"));
    });
    breaks("requests-the-price", |evidence| {
        let Requested::Session { currency, .. } = &mut evidence.database.attempts[4].requested
        else {
            panic!("it is a session");
        };
        *currency = "EUR".into();
    });
    breaks("requests-the-price", |evidence| {
        let rate = gateway_invoice(evidence, "inv_1").rate.as_mut().unwrap();
        rate[1] = amount("0.249");
    });
}

#[test]
fn a_lost_invoice_has_an_abandoned_attempt() {
    breaks("lost-is-explained", |evidence| {
        evidence.database.attempts[5].state = "refused".into();
    });
    breaks("lost-is-explained", |evidence| {
        let lost = evidence.gateway.invoices["inv_6"].clone();
        evidence.gateway.invoices.insert("inv_7".into(), lost);
    });
}

#[test]
fn money_arrives_for_attempts_alone() {
    breaks("paid-is-held", |evidence| {
        gateway_invoice(evidence, "inv_6").received = 1;
    });
}

#[test]
fn an_attempt_shows_the_invoice_of_the_gateway() {
    breaks("row-is-invoice", |evidence| {
        evidence.database.attempts[0].shown.address = Some("another".into());
    });
    breaks("row-is-invoice", |evidence| {
        evidence.database.attempts[0].shown.qr_string = Some("another".into());
    });
    breaks("row-is-invoice", |evidence| {
        evidence.database.attempts[0].shown.local_currency = Some("EUR".into());
    });
    breaks("row-is-invoice", |evidence| {
        evidence.database.attempts[4].shown.page_url = Some("another".into());
    });
    breaks("row-is-invoice", |evidence| {
        gateway_invoice(evidence, "inv_1").requested = requested(9, "20.00");
    });
    breaks("row-is-invoice", |evidence| {
        gateway_invoice(evidence, "inv_1").is_tainted = true;
    });
    breaks("row-is-invoice", |evidence| {
        evidence.database.attempts[0].invoice_id = Some("inv_9".into());
    });
}

#[test]
fn what_can_change_is_polled() {
    breaks("still-polled", |evidence| {
        evidence.database.attempts[0].is_scheduled = false;
    });
    breaks("still-polled", |evidence| {
        evidence.database.attempts[4].is_scheduled = false;
    });
    is_allowed(|evidence| {
        evidence.taken_at = START + 60 * 24 * HOUR;
        for attempt in &mut evidence.database.attempts {
            attempt.is_scheduled = false;
        }
    });
}

#[test]
fn no_attempt_is_half_made() {
    breaks("nothing-half-made", |evidence| {
        evidence.database.attempts[5].state = "creating".into();
    });
}

#[test]
fn an_older_response_is_not_recorded_after_a_newer_one() {
    breaks("newest-response-counts", |evidence| {
        evidence.database.observations[2].poll = 4;
    });
    breaks("newest-response-counts", |evidence| {
        evidence.database.observations[2].poll = 3;
    });
}

#[test]
fn a_pause_is_kept_by_the_process_that_knows_it() {
    breaks("pauses-kept", |evidence| {
        evidence.gateway.requests[1].at -= 1;
    });
    is_allowed(|evidence| {
        evidence.gateway.requests[1].at -= 1;
        evidence.gateway.requests[1].process = 2;
    });
    is_allowed(|evidence| {
        evidence.gateway.requests[1].at -= 1;
        evidence.gateway.pauses[0].known_after = 2;
    });
}

#[test]
fn a_damaged_file_is_reported() {
    breaks("file-is-sound", |evidence| {
        evidence.database.damage = Some(vec!["a page is never used".into()]);
    });
}

#[test]
fn a_token_in_the_clear_is_reported() {
    let token = "c".repeat(64);
    breaks("no-token-in-clear", |evidence| {
        evidence.files[0].bytes = format!("x{token}").into();
    });
    breaks("no-token-in-clear", |evidence| {
        evidence.shop.deliveries[0].body = format!("{{\"token\":\"{token}\"}}");
    });
}

#[test]
fn the_list_of_events_skips_and_repeats_none() {
    breaks("event-list-is-complete", |evidence| {
        listing(evidence).remove(1);
    });
    breaks("event-list-is-complete", |evidence| {
        let again = listing(evidence)[0].clone();
        listing(evidence).push(again);
    });
    breaks("event-list-is-complete", |evidence| {
        listing(evidence).swap(0, 1);
    });
    breaks("event-list-is-complete", |evidence| {
        listing(evidence).push("evt_ord_9_1".into());
    });
    is_allowed(|evidence| evidence.shop.listing = None);
}
