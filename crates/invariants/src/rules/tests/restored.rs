//! A restored backup: its evidence, and what the rules report about it.

use sha2::{Digest as _, Sha256};

use super::fixture::*;
use crate::evidence::{Database, Event, Evidence, Order, Restore};

/// The donation when its first invoice was open.
fn backup(last: &Database) -> Database {
    let donation = Order {
        status: "awaiting_payment".into(),
        sequence: 2,
        ..last.orders[1].clone()
    };
    Database {
        events: last.events_of(&donation)[..2].to_vec(),
        attempts: vec![last.attempts[1].clone()],
        orders: vec![donation],
        token_hashes: vec![Sha256::digest("b").to_vec()],
        damage: Some(Vec::new()),
        ..Database::default()
    }
}

/// The same database later: the donation is paid, and there is another order.
fn replaced(last: &Database) -> Database {
    let mut database = backup(last);
    let attempt = database.attempts[0].clone();
    let donation = &mut database.orders[0];
    donation.status = "paid".into();
    donation.sequence = 3;
    let paid = events(donation, &["created", "attempt_opened", "paid"]).remove(2);
    let paid = Event {
        id: "evt_ord_2_3_before".into(),
        ..paid
    };
    database.observations = vec![observation(2, &attempt, 4)];
    database.credits = vec![credit(&attempt, 2, donation)];
    database.events.push(paid);
    let later = order("ord_9", "7.00", "awaiting_payment", 2);
    database
        .attempts
        .push(super::fixture::attempt(9, &later, "waiting"));
    database
        .events
        .extend(events(&later, &["created", "attempt_opened"]));
    database.orders.push(later);
    database
}

/// Adds a restore, and what gateway and store knew before it.
pub(super) fn add_restore(evidence: &mut Evidence) {
    let last = &evidence.database;
    let (backup, replaced) = (backup(last), replaced(last));
    let missing = &replaced.attempts[1];
    evidence.gateway.requested.push(missing.requested.clone());
    let invoice = invoice(missing, "0.25");
    evidence.gateway.invoices.insert("inv_9".into(), invoice);
    let (made_at, at) = (START + 200, START + 300);
    let mut deliver = |event: &Event, at| {
        let mut delivery = delivery(event);
        delivery.at = at;
        evidence.shop.deliveries.push(delivery);
    };
    deliver(&backup.events[0], START + 100);
    for event in &replaced.events[1..] {
        deliver(event, START + 250);
    }
    evidence.restores.push(Restore {
        made_at,
        at,
        backup,
        replaced,
    });
}

#[test]
fn a_backup_contains_what_was_delivered_before() {
    breaks("backup-is-complete", |evidence| {
        evidence.restores[0].made_at = START + 251;
    });
}

#[test]
fn a_backup_is_in_every_later_database() {
    breaks("backup-is-kept", |evidence| {
        evidence.restores[0].backup.orders[0].currency = "EUR".into();
    });
    breaks("backup-is-kept", |evidence| {
        evidence.database.attempts[1].invoice_id = None;
    });
    breaks("backup-is-kept", |evidence| {
        let mut credit = evidence.database.credits[0].clone();
        credit.amount -= 1;
        evidence.restores[0].backup.credits.push(credit);
    });
    breaks("backup-is-kept", |evidence| {
        evidence.restores[0].replaced.events.remove(0);
    });
}

#[test]
fn an_id_has_one_content() {
    breaks("id-has-one-content", |evidence| {
        event(evidence, "evt_ord_2_3").id = "evt_ord_2_3_before".into();
    });
}

#[test]
fn an_order_of_a_backup_is_credited_again() {
    breaks("restored-is-credited", |evidence| {
        evidence.database.credits.remove(1);
    });
}

#[test]
fn a_restore_excuses_what_it_lost_alone() {
    for rule in [
        "delivery-has-event",
        "requested-once",
        "paid-is-held",
        "lost-is-explained",
    ] {
        breaks(rule, |evidence| evidence.restores.clear());
    }
    // An event of the replaced database, delivered after the restore.
    breaks("delivery-has-event", |evidence| {
        evidence.shop.deliveries.last_mut().unwrap().at = START + 301;
    });
    breaks("same-bytes", |evidence| {
        let lost = evidence.shop.deliveries.last_mut().unwrap();
        lost.body.push(' ');
    });
    // The backup knew the invoice.
    for rule in ["paid-is-held", "lost-is-explained"] {
        breaks(rule, |evidence| {
            let Restore {
                backup, replaced, ..
            } = &mut evidence.restores[0];
            backup.attempts.push(replaced.attempts[1].clone());
        });
    }
    breaks("paid-is-held", |evidence| {
        evidence.restores[0].replaced.attempts[1].invoice_id = None;
    });
}

#[test]
fn a_replaced_database_is_checked_as_well() {
    breaks("credited-once", |evidence| {
        let credits = &mut evidence.restores[0].replaced.credits;
        credits.push(credits[0].clone());
    });
    breaks("no-gap", |evidence| {
        evidence.restores[0].replaced.orders[0].sequence += 1;
    });
}

#[test]
fn an_event_that_was_given_up_before_a_restore_may_come_late() {
    is_allowed(|evidence| {
        let events = &mut evidence.restores[0].replaced.events;
        events[0].outbox = Some("given_up".into());
        let deliveries = &mut evidence.shop.deliveries;
        deliveries.retain(|delivery| delivery.at != START + 100);
        let first = deliveries.iter().position(|it| it.id == "evt_ord_2_1");
        let late = deliveries.remove(first.unwrap());
        deliveries.push(late);
    });
}
