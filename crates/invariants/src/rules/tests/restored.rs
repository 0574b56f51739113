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
    let paid = events(donation, "created attempt_opened paid").remove(2);
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
        .extend(events(&later, "created attempt_opened"));
    database.orders.push(later);
    database
}

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

/// Rules about restores, and what a restore does not excuse.
pub(super) const BROKEN_RESTORES: &[Broken] = broken! { it;
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
    "restored-is-credited": it.database.credits.remove(1);
    // Without the restore nothing explains what is missing.
    "delivery-has-event": it.restores.clear();
    "requested-once": it.restores.clear();
    "paid-is-held": it.restores.clear();
    "lost-is-explained": it.restores.clear();
    // An event of the replaced database, delivered after the restore.
    "delivery-has-event": it.shop.deliveries.last_mut().unwrap().at = START + 301;
    "same-bytes": it.shop.deliveries.last_mut().unwrap().body.push(' ');
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
