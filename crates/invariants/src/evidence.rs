//! The evidence of a run. A source fills what it knows; nothing here asks the proxy.

use std::collections::{BTreeMap, BTreeSet};

use crate::Millis;
use crate::amount::Price;
use crate::gateway::{Gateway, Invoice, Requested, Shown};

const DAY: Millis = 24 * 3_600_000;
/// A poll is planned before the moment at which it is due.
const ROUNDING: Millis = 5 * 60_000;

#[derive(Clone, Debug, Default)]
pub struct Evidence {
    /// When the database was read, by the proxy's clock.
    pub taken_at: Millis,
    /// What the gateway reported before this moment, by its clock, the proxy must have processed when it is drained.
    pub due_at: Millis,
    pub database: Database,
    pub gateway: Gateway,
    pub shop: Shop,
    /// Prices on which customer and store agreed, by order. An order that is missing has the price of its row.
    pub agreed: BTreeMap<String, Price>,
    pub known_paid: BTreeSet<String>,
    /// Backups that took the place of the database, oldest first.
    pub restores: Vec<Restore>,
    pub files: Vec<StoredFile>,
}

#[derive(Clone, Debug, Default)]
pub struct Restore {
    /// When the backup was requested, by the right clock: it contains everything that was done before.
    pub made_at: Millis,
    /// When it took the place of the database, by the right clock.
    pub at: Millis,
    pub backup: Database,
    /// The database that it replaced, as the proxy left it.
    pub replaced: Database,
}

#[derive(Clone, Debug, Default)]
pub struct Database {
    pub orders: Vec<Order>,
    /// Every attempt, oldest first.
    pub attempts: Vec<Attempt>,
    /// Every observation, by attempt and in the order of their recording.
    pub observations: Vec<Observation>,
    pub credits: Vec<Credit>,
    pub refunds: Vec<Refund>,
    /// Every event, by order and its place in the list.
    pub events: Vec<Event>,
    /// SHA-256 of each client token.
    pub token_hashes: Vec<Vec<u8>>,
    /// Defects of the file, or foreign keys without a row; `None` if the database was not checked.
    pub damage: Option<Vec<String>>,
}

#[derive(Clone, Debug)]
pub struct Order {
    /// `ord_…`
    pub id: String,
    pub store: String,
    pub price: Price,
    /// ISO 4217.
    pub currency: String,
    /// `awaiting_payment`, `paid`, …
    pub status: String,
    /// Number of its events.
    pub sequence: i64,
    /// `true` if a donor named the price.
    pub is_donation: bool,
    pub is_marked_as_paid: bool,
    /// An operator's decision: `accepted` or `closed`.
    pub decision: Option<String>,
}

#[derive(Clone, Debug)]
pub struct Attempt {
    /// `att_…`
    pub id: String,
    pub order_id: String,
    pub requested: Requested,
    pub shown: Shown,
    /// `creating`, `open`, `refused`, `outcome_unknown` or `blocked`.
    pub state: String,
    pub invoice_id: Option<String>,
    /// The payment's state: `waiting`, `settled`, …
    pub payment: String,
    /// Since when the payment is in this state, by the proxy's clock.
    pub payment_since: Option<Millis>,
    /// When the invoice expires, by the proxy's clock.
    pub expires_at: Option<Millis>,
    /// When the latest poll was sent, by the proxy's clock.
    pub polled_at: Option<Millis>,
    /// When the latest response was recorded, by the proxy's clock.
    pub observed_at: Option<Millis>,
    pub is_scheduled: bool,
}

#[derive(Clone, Debug)]
pub struct Observation {
    /// Ascending in the order of recording.
    pub id: i64,
    pub attempt_id: String,
    /// Ascending in the order of the requests.
    pub poll: i64,
    pub raw: String,
}

#[derive(Clone, Debug)]
pub struct Credit {
    pub order_id: String,
    pub attempt_id: String,
    pub observation_id: i64,
    /// In units.
    pub amount: i128,
    /// ISO 4217.
    pub currency: String,
    /// When it was written, by the gateway's clock.
    pub at: Millis,
}

#[derive(Clone, Debug)]
pub struct Refund {
    pub order_id: String,
    pub crypto_code: String,
    /// In units of the asset.
    pub amount: i128,
}

/// A row of `events`, with its row of `outbox` for the webhook `default`, the one that the shop's record is of.
#[derive(Clone, Debug)]
pub struct Event {
    /// `evt_…`
    pub id: String,
    pub order_id: String,
    pub store: String,
    /// 1, 2, … for each order.
    pub sequence: i64,
    /// `order.paid`
    pub kind: String,
    pub payload: String,
    /// `pending`, `delivered`, `given_up`, `no_webhook` or `unwanted`; `None` if it is in no outbox.
    pub outbox: Option<String>,
}

#[derive(Clone, Debug, Default)]
pub struct Shop {
    /// Every delivery that reached a store, oldest first.
    pub deliveries: Vec<Delivery>,
    /// Stores with a webhook; `None` if the source does not know.
    pub subscribed: Option<BTreeSet<String>>,
    pub webhook_secret: Vec<u8>,
    /// What a reader of the list of events has read; `None` if there was none.
    pub listing: Option<Listing>,
}

/// What a store has read of its list of events, page by page from the beginning.
#[derive(Clone, Debug)]
pub struct Listing {
    pub store: String,
    /// The id of each event, in the order of reading.
    pub events: Vec<String>,
}

#[derive(Clone, Debug)]
pub struct Delivery {
    /// By the store's clock.
    pub at: Millis,
    pub id: String,
    /// The exact text that was received.
    pub body: String,
    /// `true` if the store has accepted it, also if its response was lost.
    pub is_accepted: bool,
    /// `None` if the source does not sign.
    pub signature: Option<Signature>,
}

#[derive(Clone, Debug)]
pub struct Signature {
    pub timestamp: String,
    pub signature: String,
}

#[derive(Clone, Debug)]
pub struct StoredFile {
    pub name: String,
    pub bytes: Vec<u8>,
}

impl Evidence {
    pub fn invoice_of(&self, attempt: &Attempt) -> Option<&Invoice> {
        self.gateway.invoices.get(attempt.invoice_id.as_ref()?)
    }

    pub fn price_of(&self, order: &Order) -> Price {
        self.agreed.get(&order.id).copied().unwrap_or(order.price)
    }

    /// Every open attempt with its order and the gateway's record of its invoice.
    pub fn open_attempts(&self) -> impl Iterator<Item = (&Attempt, &Order, &Invoice)> {
        let orders: BTreeMap<&str, &Order> = self.database.orders_by_id();
        self.database.attempts.iter().filter_map(move |attempt| {
            let order = *orders.get(attempt.order_id.as_str())?;
            let invoice = self.invoice_of(attempt).filter(|_| attempt.is_open())?;
            Some((attempt, order, invoice))
        })
    }

    /// Every open attempt whose invoice is paid: it covers the price at [`Evidence::due_at`] and still does.
    ///
    /// After the end of an invoice polls become rarer: a payment is due a quarter of the time since the end later, a day at
    /// most.
    pub fn paid_attempts(&self) -> impl Iterator<Item = (&Attempt, &Order)> {
        self.open_attempts()
            .filter(|(_, order, invoice)| {
                let ended_for = invoice.expires_at.map_or(0, |end| self.due_at - end);
                let later = if ended_for > 0 {
                    (ended_for / 4).min(DAY) + ROUNDING
                } else {
                    0
                };
                !invoice.is_contradicted
                    && invoice.is_covered_since(self.price_of(order), self.due_at - later)
            })
            .map(|(attempt, order, _)| (attempt, order))
    }

    /// Returns `true` if an event must reach its store.
    pub fn is_wanted(&self, event: &Event) -> bool {
        match &self.shop.subscribed {
            Some(stores) => stores.contains(&event.store),
            None => !matches!(event.outbox.as_deref(), Some("no_webhook" | "unwanted")),
        }
    }

    pub fn first_accepted(&self) -> BTreeMap<&str, usize> {
        let mut first = BTreeMap::new();
        for (position, delivery) in self.shop.deliveries.iter().enumerate() {
            if delivery.is_accepted {
                first.entry(delivery.id.as_str()).or_insert(position);
            }
        }
        first
    }
}

impl Database {
    pub fn orders_by_id(&self) -> BTreeMap<&str, &Order> {
        let orders = self.orders.iter();
        orders.map(|order| (order.id.as_str(), order)).collect()
    }

    pub fn events_by_id(&self) -> BTreeMap<&str, &Event> {
        let events = self.events.iter();
        events.map(|event| (event.id.as_str(), event)).collect()
    }

    pub fn events_of(&self, order: &Order) -> &[Event] {
        let from = self
            .events
            .partition_point(|event| event.order_id < order.id);
        let to = self
            .events
            .partition_point(|event| event.order_id <= order.id);
        &self.events[from..to]
    }
}

impl Order {
    pub fn is_accepted(&self) -> bool {
        self.decision.as_deref() == Some("accepted")
    }

    pub fn is_closed(&self) -> bool {
        self.decision.as_deref() == Some("closed")
    }

    pub fn is_paid(&self) -> bool {
        matches!(self.status.as_str(), "paid" | "overpaid")
    }
}

impl Attempt {
    /// Returns `true` if it holds an invoice that may be shown.
    pub fn is_open(&self) -> bool {
        self.state == "open" && self.invoice_id.is_some()
    }
}

impl Event {
    /// The name without its prefix: `order.paid` and `donation.paid` are both `paid`.
    pub fn name(&self) -> &str {
        self.kind.split_once('.').map_or("", |(_, fact)| fact)
    }

    /// The order's status after it; `None` if it changes none.
    pub fn status_after(&self) -> Option<&'static str> {
        Some(match self.name() {
            "created" => "open",
            "attempt_opened" => "awaiting_payment",
            "payment_seen" => "checking",
            "processing" => "processing",
            "paid" => "paid",
            "overpaid" => "overpaid",
            "underpaid" => "underpaid",
            "failed" => "failed",
            "expired" => "expired",
            "cancelled" => "cancelled",
            "blocked" => "blocked",
            _ => return None,
        })
    }

    pub fn is_given_up(&self) -> bool {
        self.outbox.as_deref() == Some("given_up")
    }
}
