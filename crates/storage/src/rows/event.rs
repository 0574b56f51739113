//! Events, their deliveries, and the credit that they report.

use florin_money::{Amount, Currency};
use florin_orders::{AttemptId, DeliveryId, EndpointHash, Event, EventId, OrderId, StoreId};
use jiff::{SignedDuration, Timestamp};

use super::{Record, read, traceparent};
use crate::{
    Credit, Delivery, DisabledEndpoint, DueDelivery, EventState, Outbox, RecordedDelivery,
    RecordedEvent, Result,
};

pub(crate) fn event(row: &impl Record) -> Result<Event> {
    Ok(Event {
        position: row.integer("position")?,
        id: row.parsed("id", EventId::parse)?,
        store_id: row.parsed("store_id", StoreId::parse)?,
        order_id: row.parsed("order_id", OrderId::parse)?,
        sequence: row.number("sequence")?,
        event_type: row.event_type("type")?,
        kind: row.string("type")?,
        created_at: row.time("created_at")?,
        payload: row.string("payload")?,
    })
}

/// An event that is leased at `now`.
pub(crate) fn due_delivery(row: &impl Record, now: Timestamp) -> Result<DueDelivery> {
    Ok(DueDelivery {
        event: event(row)?,
        tries: row.number("tries")?,
        wakes: row.number("early_tries")?,
        ahead_of: row.maybe_time("retry_at")?.filter(|at| *at > now),
        traceparent: traceparent(row)?,
    })
}

pub(crate) fn delivery(row: &impl Record) -> Result<RecordedDelivery> {
    let event_id = row.parsed("event_id", EventId::parse)?;
    Ok(RecordedDelivery {
        id: DeliveryId::of(&event_id, row.number("number")?),
        kind: row.string("type")?,
        delivery: Delivery {
            event_id,
            tried_at: row.time("tried_at")?,
            took: SignedDuration::from_millis(row.integer("took_ms")?),
            http_status: row.maybe_number("http_status")?,
            note: row.string("note")?,
        },
    })
}

pub(crate) fn recorded_event(
    row: &impl Record,
    event: Event,
    deliveries: Vec<RecordedDelivery>,
) -> Result<RecordedEvent> {
    let state = row.word("state")?;
    let next_at = row.time("next_at")?;
    Ok(RecordedEvent {
        event,
        state,
        next_at: (state == EventState::Pending).then_some(next_at),
        deliveries,
    })
}

pub(crate) fn disabled_endpoint(row: &impl Record) -> Result<DisabledEndpoint> {
    let endpoint = row.bytes("endpoint")?.try_into();
    Ok(DisabledEndpoint {
        endpoint: EndpointHash(read("endpoint", endpoint)?),
        since: row.time("since")?,
    })
}

/// What waits for a store's endpoint.
pub(crate) fn outbox(row: &impl Record) -> Result<Outbox> {
    Ok(Outbox {
        store_id: row.parsed("store_id", StoreId::parse)?,
        waiting: row.number("waiting")?,
        oldest_at: row.maybe_time("oldest_at")?,
        is_disabled: row.flag("is_disabled")?,
    })
}

/// How the order was credited.
pub(crate) fn credit(row: &impl Record, id: &OrderId) -> Result<Credit> {
    Ok(Credit {
        order_id: id.clone(),
        attempt_id: row.parsed("attempt_id", AttemptId::parse)?,
        amount: row.parsed("amount", Amount::parse)?,
        currency: row.parsed("currency", Currency::parse_stored)?,
    })
}
