//! Deliveries: what was tried, redelivery, and a test of a store's webhook.

use std::sync::Arc;

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use florin_orders::{DeliveryId, Event, EventId, EventType, OrderId, StoreId};
use florin_storage::{Actor, AuditAction, DeliveryFilter, NewAuditEntry, StoreScope};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::admin::api::orders::new_audit_id;
use crate::admin::api::{Reader, Writer, page_size};
use crate::admin::error::OperatorError;
use crate::http::store_api::events::DeliveryAttempt;
use crate::state::AppState;
use crate::webhooks::send::{SendOutcome, StoreResponse};
use crate::webhooks::{TEST_EVENT, test_payload};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DeliveriesQuery {
    /// The store; may be left out if there is one.
    pub(crate) store: Option<String>,
    /// Only those of this event.
    pub(crate) event: Option<String>,
    /// The last delivery of the page before.
    pub(crate) after: Option<String>,
    pub(crate) limit: Option<u32>,
}

/// GET /api/deliveries: a page of a store's deliveries, the latest first.
pub(crate) async fn list(
    State(app): State<Arc<AppState>>,
    _: Reader,
    query: Result<Query<DeliveriesQuery>, QueryRejection>,
) -> Result<Json<Value>, OperatorError> {
    let Query(query) = query?;
    let event = query.event.as_deref().map(EventId::parse).transpose();
    let after = query.after.as_deref().map(DeliveryId::parse).transpose();
    let filter = DeliveryFilter {
        event: event.map_err(|error| OperatorError::invalid("event", &error))?,
        after: after.map_err(|error| OperatorError::invalid("after", &error))?,
        limit: page_size(query.limit)?,
    };
    let store = store_of(&app, query.store.as_deref(), filter.event.as_ref()).await?;
    let found = app.deps.storage.deliveries(&store, &filter).await?;
    let found = found.ok_or(OperatorError::NotFound("event or delivery"))?;
    let next = found
        .last()
        .filter(|_| found.len() == filter.limit as usize);
    let deliveries: Vec<DeliveryAttempt> = found.iter().map(DeliveryAttempt::of).collect();
    Ok(Json(json!({
        "deliveries": deliveries,
        "next": next.map(|last| last.id.to_string()),
    })))
}

/// The named store, the store of the event, or the only one.
async fn store_of(
    app: &AppState,
    store: Option<&str>,
    event: Option<&EventId>,
) -> Result<StoreId, OperatorError> {
    if let Some(id) = store {
        let id = StoreId::parse(id).map_err(|error| OperatorError::invalid("store", &error))?;
        return Ok(id);
    }
    if let Some(event) = event {
        let found = app.deps.storage.event(&StoreScope::All, event).await?;
        return found
            .map(|event| event.store_id)
            .ok_or(OperatorError::NotFound("event"));
    }
    match &app.config().stores[..] {
        [only] => Ok(only.id.clone()),
        _ => Err(OperatorError::invalid(
            "store",
            "there are several stores: name one",
        )),
    }
}

/// POST /api/deliveries/{id}/redeliver: schedules the event of a delivery, or an event, again.
pub(crate) async fn redeliver(
    State(app): State<Arc<AppState>>,
    Writer(actor): Writer,
    Path(id): Path<String>,
) -> Result<(StatusCode, Json<Value>), OperatorError> {
    let event = redeliver_as(&app, actor, &id).await?;
    let response = json!({ "event": event.id.to_string(), "type": event.kind });
    Ok((StatusCode::ACCEPTED, Json(response)))
}

pub(crate) async fn redeliver_as(
    app: &AppState,
    actor: Actor,
    id: &str,
) -> Result<Event, OperatorError> {
    let id = match DeliveryId::parse(id) {
        Ok(delivery) => delivery.parts().0,
        Err(_) => id.to_owned(),
    };
    let id = EventId::parse(&id).map_err(|_| OperatorError::NotFound("event or delivery"))?;
    let storage = &app.deps.storage;
    let event = storage.event(&actor.scope, &id).await?;
    let event = event.ok_or(OperatorError::NotFound("event or delivery"))?;
    record(app, actor, AuditAction::Redeliver, id.to_string()).await?;
    storage.redeliver(&event.store_id, &id, app.now()).await?;
    app.dispatcher_wakeup.send_replace(());
    Ok(event)
}

/// POST /api/webhooks/{store}/test: sends a signed test event once, and returns what the store responded.
pub(crate) async fn test(
    State(app): State<Arc<AppState>>,
    Writer(actor): Writer,
    Path(store): Path<String>,
) -> Result<Json<Value>, OperatorError> {
    let sent = test_as(&app, actor, &store).await?;
    let (status, message) = outcome(&sent);
    let is_accepted = status.is_some_and(|status| (200..300).contains(&status));
    Ok(Json(json!({
        "accepted": is_accepted,
        "http_status": status,
        "message": message,
    })))
}

pub(crate) fn outcome(sent: &SendOutcome) -> (Option<u16>, String) {
    match sent {
        SendOutcome::Failed(reason) => (None, reason.clone()),
        SendOutcome::Response(StoreResponse {
            status, excerpt, ..
        }) if excerpt.is_empty() => (Some(*status), format!("answered {status}")),
        SendOutcome::Response(StoreResponse {
            status, excerpt, ..
        }) => (Some(*status), format!("answered {status}: {excerpt}")),
    }
}

/// Sends a person's test event. It is stored in no outbox, and no order has it.
pub(crate) async fn test_as(
    app: &AppState,
    actor: Actor,
    store: &str,
) -> Result<SendOutcome, OperatorError> {
    let id = StoreId::parse(store).map_err(|_| OperatorError::NotFound("store"))?;
    let config = app.config();
    let store = config.store(&id).filter(|_| actor.scope.contains(&id));
    let store = store.ok_or(OperatorError::NotFound("store"))?;
    let webhook = store.webhook.as_ref();
    let webhook = webhook.ok_or_else(|| OperatorError::NoWebhook(id.to_string()))?;
    record(app, actor, AuditAction::TestWebhook, id.to_string()).await?;
    let now = app.now();
    let mut bits = [0; 16];
    app.deps.random.fill(&mut bits);
    let order_id = OrderId::from_random(bits);
    let payload = test_payload(&id, now);
    let event = Event {
        position: 0,
        id: EventId::of(&order_id, 0, &payload),
        store_id: id,
        order_id,
        sequence: 0,
        event_type: EventType::Created,
        kind: TEST_EVENT.to_owned(),
        created_at: now,
        payload,
    };
    Ok(app.deps.webhooks.send(webhook, &event, now).await)
}

pub(crate) async fn record(
    app: &AppState,
    actor: Actor,
    action: AuditAction,
    subject: String,
) -> Result<(), OperatorError> {
    let entry = NewAuditEntry {
        id: new_audit_id(app),
        at: app.now(),
        actor,
        action,
        subject,
        reason: String::new(),
    };
    Ok(app.deps.storage.record_audit(&entry).await?)
}
