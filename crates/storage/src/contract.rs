//! The storage contract: tests that hold for both databases. They are one text, compiled for each with its `BACKEND`.

mod backend;
mod pooled;
mod postgres;
mod sqlite;

use std::fmt::Debug;

use async_trait::async_trait;
use florin_orders::fixtures::{
    ADDRESS, amount, at, exact, invoice, new_attempt, observed, received, terms,
};
use florin_orders::{
    Abandoned, Assessment, Attempt, AuditId, Destination, Event, EventId, EventType,
    EventType as E, NewOrder, NewRefund, Observation, OrderId, OrderStatus, PollPriority, Snapshot,
    StoreId, Stretch, TokenHash, TraceParent, TransactionHint, WebhookId,
};
use jiff::SignedDuration;

pub(crate) use self::backend::statements;
use self::backend::{Backend, Test};
use crate::{
    Delivery, DeliveryFilter, DeliveryOutcome, DueAttempt, DueDelivery, EmailChange, Endpoint,
    EndpointStatus, KeptEmail, NamedTransaction, OpenAttemptError, OpenError, Opened, OrderFilter,
    OrderOperationError, PROBE_INTERVAL, PollQueue, RecordedObservation, Result, Retry, Storage,
    StorageError,
};

/// The highest first.
const PRIORITIES: [PollPriority; 3] = [
    PollPriority::Callback,
    PollPriority::Watched,
    PollPriority::Unwatched,
];

pub(crate) fn id(number: u8) -> OrderId {
    OrderId::from_random([number; 16])
}

pub(crate) fn token(number: u8) -> TokenHash {
    TokenHash([number; 32])
}

pub(crate) fn demo() -> StoreId {
    shop("demo")
}

pub(crate) fn hook() -> Endpoint {
    demo().into()
}

fn shop(name: &str) -> StoreId {
    StoreId::parse(name).unwrap()
}

pub(crate) fn too_little(status: &str) -> Observation {
    received(status, "0.0001", "6.42", "6.42")
}

pub(crate) fn polled(number: u8, poll_seq: u32) -> DueAttempt {
    DueAttempt {
        attempt_id: new_attempt(number).id,
        order_id: id(number),
        invoice_id: invoice(number).id,
        priority: PollPriority::Unwatched,
        poll_seq,
        stretch: Stretch::NONE,
        traceparent: None,
    }
}

pub(crate) fn refund(number: u8, sent: &str) -> NewRefund {
    NewRefund {
        id: AuditId::from_random([number; 16]),
        amount_in_crypto: amount(sent),
        crypto_code: None,
        transaction_hash: None,
        version: None,
    }
}

pub(crate) fn tried(event: &EventId, second: i64, http_status: u16) -> Delivery {
    Delivery {
        event_id: event.clone(),
        webhook: WebhookId::default(),
        tried_at: at(second),
        took: SignedDuration::ZERO,
        http_status: Some(http_status),
        note: format!("answered {http_status}"),
    }
}

pub(crate) fn retry(failed: i64, again: i64) -> DeliveryOutcome {
    DeliveryOutcome::Retry(Retry {
        at: at(again),
        early_from: at(failed),
        probe_at: at(failed) + PROBE_INTERVAL,
        is_counted: true,
    })
}

pub(crate) fn closed_in<T: Debug>(done: Result<T, OrderOperationError>) -> OrderStatus {
    match done {
        Err(OrderOperationError::Closed { from, .. }) => from,
        other => panic!("{other:?}"),
    }
}

/// A storage as tests use it: times are seconds, leases last 30 of them, and the order, the attempt and the invoice of a number
/// belong together.
#[async_trait]
pub(crate) trait ByNumber: Storage {
    /// Opens an order of the demo store, `r1` for the first, at second 0.
    async fn order(&self, number: u8) -> Opened {
        let terms = terms(&format!("r{number}"));
        self.open(number, &terms, 0).await
    }

    async fn open(&self, number: u8, terms: &NewOrder, now: i64) -> Opened {
        let (id, ends) = (id(number), at(86_400));
        let opened = self.open_order(&id, terms, token(number), ends, at(now));
        opened.await.unwrap()
    }

    async fn awaiting(&self, number: u8) {
        self.order(number).await;
        self.add_attempt(number, number).await;
    }

    async fn add_attempt(&self, order: u8, number: u8) {
        self.begin(order, number, 0).await.unwrap();
        self.confirm(number, 0).await;
    }

    async fn begin(&self, order: u8, number: u8, now: i64) -> Result<Attempt, OrderOperationError> {
        let attempt = new_attempt(number);
        self.begin_attempt(&id(order), &attempt, at(now)).await
    }

    async fn confirm(&self, number: u8, now: i64) {
        let (attempt, invoice) = (new_attempt(number).id, invoice(number));
        let opened = self.open_attempt(&attempt, &invoice, at(now)).await;
        opened.unwrap();
    }

    async fn polls(&self, priority: PollPriority, now: i64) -> Vec<DueAttempt> {
        let due = self.due_attempts(priority, at(now), at(now + 30), 9);
        due.await.unwrap()
    }

    async fn poll(&self, now: i64) -> DueAttempt {
        for priority in PRIORITIES {
            let due = self.due_attempts(priority, at(now), at(now + 30), 1);
            if let Some(due) = due.await.unwrap().pop() {
                return due;
            }
        }
        panic!("an attempt is due");
    }

    async fn record(
        &self,
        due: &DueAttempt,
        now: i64,
        response: Observation,
    ) -> Option<RecordedObservation> {
        let observation = Observation {
            invoice_id: Some(due.invoice_id.to_string()),
            observed_at: at(now),
            ..response
        };
        self.record_observation(due, &observation).await.unwrap()
    }

    async fn observe(&self, now: i64, response: Observation) -> RecordedObservation {
        let due = self.poll(now).await;
        let recorded = self.record(&due, now, response).await;
        recorded.expect("the latest poll")
    }

    async fn callback(&self, number: u8, now: i64) -> bool {
        let invoice = invoice(number).id;
        let scheduled = self.schedule_poll_of_invoice(&invoice, at(now)).await;
        scheduled.unwrap()
    }

    async fn due(&self, now: i64) -> Vec<DueDelivery> {
        let due = self.due_deliveries(&hook(), at(now), at(now + 30), 9).await;
        due.unwrap()
    }

    async fn deliver(&self, due: &DueDelivery, second: i64, outcome: DeliveryOutcome) {
        let http_status = if outcome == DeliveryOutcome::Delivered {
            204
        } else {
            500
        };
        let tried = tried(&due.event.id, second, http_status);
        self.record_delivery(&tried, outcome).await.unwrap();
    }

    async fn found(&self, number: u8) -> Snapshot {
        self.snapshot(&id(number)).await.unwrap().unwrap()
    }

    async fn status(&self, number: u8) -> OrderStatus {
        self.found(number).await.order.status
    }

    async fn listed(&self) -> Vec<Event> {
        self.events(&demo(), None, 1_000).await.unwrap().unwrap()
    }

    async fn event_types(&self) -> Vec<EventType> {
        let events = self.listed().await;
        for (event, number) in events.iter().zip(1..) {
            assert_eq!(event.sequence, number, "events are numbered without a gap");
        }
        events.into_iter().map(|event| event.event_type).collect()
    }
}

impl<S: Storage + ?Sized> ByNumber for S {}
