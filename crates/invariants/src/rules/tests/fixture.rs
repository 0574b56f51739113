//! Evidence of a few orders that breaks no rule, and the checks of broken copies.

use std::collections::BTreeSet;

use serde_json::json;
use sha2::{Digest as _, Sha256};

use super::super::*;
use crate::Millis;
use crate::amount::{Price, units};
use crate::evidence::{
    Attempt, Credit, Database, Delivery, Event, Listing, Observation, Order, Refund, Restore, Shop,
    Signature, StoredFile,
};
use crate::gateway::{Gateway, Invoice, Part, Pause, Report, Request, Requested, Shown};
use crate::rules::deliveries::sign;

pub(super) const START: Millis = 1_790_000_000_000;
pub(super) const HOUR: Millis = 3_600_000;
pub(super) const SECRET: &[u8] = b"a secret";

pub(super) type Broken = (&'static str, fn(&mut Evidence));

#[track_caller]
pub(super) fn amount(text: &str) -> i128 {
    units(text).unwrap()
}

pub(super) fn order(id: &str, price: &str, status: &str, sequence: i64) -> Order {
    Order {
        id: id.into(),
        store: "demo".into(),
        price: Price {
            amount: amount(price),
            tolerance: 0,
        },
        currency: "USD".into(),
        status: status.into(),
        sequence,
        is_donation: false,
        is_marked_as_paid: false,
        decision: None,
    }
}

pub(super) fn requested(number: u32, price: &str) -> Requested {
    Requested::Invoice {
        conversion_id: format!("conv_{number}"),
        crypto_code: "LTC".into(),
        amounts: [
            Some(amount("0.25")),
            Some(amount(price)),
            Some(amount(price)),
        ],
    }
}

pub(super) fn attempt(number: u32, order: &Order, payment: &str) -> Attempt {
    Attempt {
        id: format!("att_{number}"),
        order_id: order.id.clone(),
        requested: requested(number, &crate::amount::text(order.price.amount)),
        shown: Shown {
            local_currency: Some("USD".into()),
            address: Some(format!("address {number}")),
            qr_string: Some(format!("litecoin:address {number}")),
            page_url: None,
        },
        state: "open".into(),
        invoice_id: Some(format!("inv_{number}")),
        payment: payment.into(),
        payment_since: Some(START),
        expires_at: Some(START + HOUR),
        polled_at: None,
        observed_at: None,
        is_scheduled: true,
    }
}

/// The invoice of an attempt, completed with `received` of the 0.25 that it asks for.
pub(super) fn invoice(attempt: &Attempt, received: &str) -> Invoice {
    let received = amount(received);
    let Requested::Invoice {
        amounts: [Some(requested), Some(usd), _],
        ..
    } = attempt.requested
    else {
        panic!("only for invoices");
    };
    let report = |at, status: &str, received| Report {
        at,
        status: status.into(),
        parts: vec![Part {
            requested,
            received,
        }],
    };
    Invoice {
        created_at: START,
        requested: attempt.requested.clone(),
        shown: attempt.shown.clone(),
        reports: vec![
            report(START, "CHECKING", 0),
            report(START + 2_000, "COMPLETED", received),
        ],
        received,
        is_tainted: false,
        expires_at: None,
        is_contradicted: false,
        rate: Some([usd * 4, requested, usd]),
    }
}

pub(super) fn events(order: &Order, facts: &str) -> Vec<Event> {
    let prefix = ["order", "donation"][usize::from(order.is_donation)];
    let event = |(sequence, fact): (i64, &str)| {
        let kind = format!("{prefix}.{fact}");
        let payload =
            json!({"type": kind, "data": {"sequence": sequence, "order": {"id": order.id}}});
        Event {
            id: format!("evt_{}_{sequence}", order.id),
            order_id: order.id.clone(),
            store: order.store.clone(),
            sequence,
            payload: payload.to_string(),
            kind,
            outbox: Some("delivered".into()),
        }
    };
    (1..).zip(facts.split(' ')).map(event).collect()
}

pub(super) fn delivery(event: &Event) -> Delivery {
    let timestamp = (START / 1000).to_string();
    Delivery {
        at: START + 400,
        id: event.id.clone(),
        body: event.payload.clone(),
        is_accepted: true,
        signature: Some(Signature {
            signature: sign(SECRET, &event.id, &timestamp, &event.payload),
            timestamp,
        }),
    }
}

pub(super) fn credit(attempt: &Attempt, observation_id: i64, order: &Order) -> Credit {
    Credit {
        order_id: order.id.clone(),
        attempt_id: attempt.id.clone(),
        observation_id,
        amount: order.price.amount,
        currency: order.currency.clone(),
        at: START + 3_000,
    }
}

pub(super) fn observation(id: i64, attempt: &Attempt, poll: i64) -> Observation {
    Observation {
        id,
        attempt_id: attempt.id.clone(),
        poll,
        raw: r#"{"transaction_status":"COMPLETED"}"#.into(),
    }
}

pub(super) fn session(hosted: &Order) -> (Requested, Shown) {
    let requested = Requested::Session {
        email: "ada@example.com".into(),
        currency: "USD".into(),
        amount: Some(hosted.price.amount),
    };
    let shown = Shown {
        page_url: Some("https://checkout.example/5".into()),
        ..Shown::default()
    };
    (requested, shown)
}

/// Two payments of a paid order and a donation, a second payment, an underpayment, a session, and a lost invoice.
pub(super) fn gateway(attempts: &[Attempt]) -> Gateway {
    let paid = |index: usize, received| invoice(&attempts[index], received);
    let session = Invoice {
        requested: attempts[4].requested.clone(),
        shown: attempts[4].shown.clone(),
        reports: Vec::new(),
        rate: None,
        ..paid(0, "0")
    };
    let lost = Invoice {
        is_tainted: true,
        reports: Vec::new(),
        ..paid(5, "0")
    };
    let invoices = [
        paid(0, "0.25"),
        paid(1, "0.25"),
        paid(2, "0.26"),
        paid(3, "0.24"),
        session,
        lost,
    ];
    let ids = (1..).map(|number: u32| format!("inv_{number}"));
    let request = |seconds: Millis, endpoint: &'static str| Request {
        at: START + seconds * 1000,
        process: 1,
        endpoint: endpoint.into(),
    };
    Gateway {
        requests: vec![request(0, "GET /prices"), request(40, "GET /invoice")],
        pauses: vec![Pause {
            process: 1,
            known_after: 1,
            until: START + 40_000,
        }],
        requested: attempts.iter().map(|it| it.requested.clone()).collect(),
        invoices: ids.zip(invoices).collect(),
    }
}

/// A paid order, a donation that is paid twice and refunded once, an underpaid order with a lost invoice, and a session.
pub(super) fn database() -> Database {
    let paid = order("ord_1", "20.00", "paid", 3);
    let donation = Order {
        is_donation: true,
        ..order("ord_2", "5.00", "paid", 6)
    };
    let underpaid = order("ord_3", "8.00", "underpaid", 3);
    let hosted = order("ord_4", "9.00", "awaiting_payment", 2);
    let (requested, shown) = session(&hosted);
    let page = Attempt {
        requested,
        shown,
        ..attempt(5, &hosted, "waiting")
    };
    let lost = Attempt {
        state: "outcome_unknown".into(),
        invoice_id: None,
        shown: Shown {
            local_currency: Some("USD".into()),
            ..Shown::default()
        },
        ..attempt(6, &underpaid, "waiting")
    };
    let attempts = vec![
        attempt(1, &paid, "settled"),
        attempt(2, &donation, "settled"),
        attempt(3, &donation, "settled"),
        attempt(4, &underpaid, "underpaid"),
        page,
        lost,
    ];
    let events = [
        events(&paid, "created attempt_opened paid"),
        events(
            &donation,
            "created attempt_opened attempt_opened paid late_payment refunded",
        ),
        events(&underpaid, "created attempt_opened underpaid"),
        events(&hosted, "created attempt_opened"),
    ];
    Database {
        observations: vec![
            observation(1, &attempts[0], 1),
            observation(2, &attempts[1], 4),
            observation(3, &attempts[1], 7),
        ],
        credits: vec![
            credit(&attempts[0], 1, &paid),
            credit(&attempts[1], 2, &donation),
        ],
        refunds: vec![Refund {
            order_id: donation.id.clone(),
            crypto_code: "LTC".into(),
            amount: amount("0.26"),
        }],
        orders: vec![paid, donation, underpaid, hosted],
        attempts,
        events: events.concat(),
        token_hashes: vec![Sha256::digest(token()).to_vec()],
        damage: Some(Vec::new()),
    }
}

pub(super) fn good() -> Evidence {
    let database = database();
    let paid = &database.orders[0];
    let mut evidence = Evidence {
        taken_at: START + HOUR,
        due_at: START + HOUR,
        shop: Shop {
            deliveries: database.events.iter().map(delivery).collect(),
            subscribed: Some(BTreeSet::from(["demo".into()])),
            webhook_secret: SECRET.into(),
            listing: Some(Listing {
                store: "demo".into(),
                events: database
                    .events
                    .iter()
                    .map(|event| event.id.clone())
                    .collect(),
            }),
        },
        gateway: gateway(&database.attempts),
        agreed: [(paid.id.clone(), paid.price)].into(),
        known_paid: ["ord_2".to_owned()].into(),
        files: vec![StoredFile {
            name: "florin.db".into(),
            bytes: "7".repeat(64).into(),
        }],
        restores: Vec::new(),
        database,
    };
    add_restore(&mut evidence);
    evidence
}

pub(super) fn event<'a>(evidence: &'a mut Evidence, id: &str) -> &'a mut Event {
    let mut events = evidence.database.events.iter_mut();
    events.find(|event| event.id == id).unwrap()
}

pub(super) fn lose_delivery(evidence: &mut Evidence, id: &str) {
    let deliveries = &mut evidence.shop.deliveries;
    deliveries.retain(|delivery| delivery.id != id);
}

pub(super) fn token() -> String {
    "c".repeat(64)
}

pub(super) fn listing(evidence: &mut Evidence) -> &mut Vec<String> {
    &mut evidence.shop.listing.as_mut().unwrap().events
}

pub(super) fn gateway_invoice<'a>(evidence: &'a mut Evidence, id: &str) -> &'a mut Invoice {
    evidence.gateway.invoices.get_mut(id).unwrap()
}

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
    let polled = database.attempts[0].clone();
    let donation = &mut database.orders[0];
    donation.status = "paid".into();
    donation.sequence = 3;
    let paid = events(donation, "created attempt_opened paid").remove(2);
    let paid = Event {
        id: "evt_ord_2_3_before".into(),
        ..paid
    };
    database.observations = vec![observation(2, &polled, 4)];
    database.credits = vec![credit(&polled, 2, donation)];
    database.events.push(paid);
    let later = order("ord_9", "7.00", "awaiting_payment", 2);
    database.attempts.push(attempt(9, &later, "waiting"));
    database
        .events
        .extend(events(&later, "created attempt_opened"));
    database.orders.push(later);
    database
}

fn add_restore(evidence: &mut Evidence) {
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
