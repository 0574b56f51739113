//! Events, their deliveries, and the state of the store's webhooks.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use florin_checkout_api::ErrorCode;
use florin_orders::{DeliveryId, Event, EventId, WebhookId};
use florin_storage::{DeliveryFilter, RecordedDelivery};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::http::body::{EmptyBody, Parameters};
use crate::http::error::ApiError;
use crate::http::idempotency::{Caller, Done, Post, Replayed, idempotent};
use crate::http::openapi::EVENTS;
use crate::http::openapi::operation::{Auth, Operation, Types};
use crate::http::store_api::{AuthenticatedStore, MAX_PAGE, event_id, page_size};
use crate::state::AppState;

/// Which events.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct EventsQuery {
    /// The `next` of the page before: only what happened after this event.
    #[schemars(regex(pattern = "^evt_[0-9a-f]{32}_[0-9]{1,10}(_[0-9a-f]{16})?$"))]
    after: Option<String>,
    /// The largest number on a page; 20 when absent.
    #[schemars(range(min = 1, max = MAX_PAGE))]
    limit: Option<u32>,
}

/// A page of events.
#[derive(JsonSchema, Serialize)]
pub(crate) struct EventPage {
    #[schemars(schema_with = "crate::http::openapi::events")]
    events: Vec<EventBody>,
    /// What to pass as `after` for what follows; absent when there is nothing yet.
    next: Option<String>,
}

#[derive(Serialize)]
pub(crate) struct EventBody {
    id: String,
    #[serde(flatten)]
    body: Value,
}

pub(crate) async fn events(
    State(app): State<Arc<AppState>>,
    store: AuthenticatedStore,
    Parameters(wanted): Parameters<EventsQuery>,
) -> Result<Json<EventPage>, ApiError> {
    let after = wanted.after.as_deref().map(EventId::parse).transpose();
    let after = after.map_err(|error| ApiError::invalid("after", error.to_string()))?;
    let limit = page_size(wanted.limit)?;
    let found = app.storage.events(&store.id, after.as_ref(), limit);
    let unknown = || ApiError::invalid("after", "The store has no such event.");
    let found = found.await?.ok_or_else(unknown)?;
    let next = found.last().map(|event| event.id.to_string());
    let events = found.iter().map(event_body).collect::<Result<_, _>>()?;
    Ok(Json(EventPage { events, next }))
}

pub(crate) fn describe_events(types: &mut Types) -> Operation {
    Operation::new("list_events", EVENTS, Auth::StoreKey)
        .summary(
            "List events",
            "In the order in which they happened. Nothing is left out, whatever became of the webhooks.",
        )
        .query::<EventsQuery>(types)
        .responds::<EventPage>(200, "A page of events.", types)
        .link(200, "list_deliveries", "event", "/events/0/id")
        .link(200, "redeliver_event", "id", "/events/0/id")
}

fn event_body(event: &Event) -> Result<EventBody, ApiError> {
    let body = serde_json::from_str(&event.payload)?;
    Ok(EventBody {
        id: event.id.to_string(),
        body,
    })
}

/// Which tries.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DeliveriesQuery {
    /// Only tries at delivering this event.
    #[schemars(regex(pattern = "^evt_[0-9a-f]{32}_[0-9]{1,10}(_[0-9a-f]{16})?$"))]
    event: Option<String>,
    /// The `next` of the page before: only what is older than this try.
    #[schemars(regex(pattern = "^dlv_[0-9a-f]{32}_[0-9]{1,10}(_[0-9a-f]{16})?_[0-9]{1,10}$"))]
    after: Option<String>,
    /// The largest number on a page; 20 when absent.
    #[schemars(range(min = 1, max = MAX_PAGE))]
    limit: Option<u32>,
}

/// A page of tries, latest first.
#[derive(JsonSchema, Serialize)]
pub(crate) struct DeliveryPage {
    /// The tries.
    deliveries: Vec<DeliveryAttempt>,
    /// What to pass as `after` for the next page; absent on the last.
    next: Option<String>,
}

/// One try.
#[derive(Debug, JsonSchema, Serialize)]
#[schemars(rename = "Delivery")]
pub(crate) struct DeliveryAttempt {
    /// The try's own id.
    id: String,
    /// The event's id.
    event: String,
    /// The webhook's id.
    webhook: String,
    #[serde(rename = "type")]
    /// The event's type.
    kind: String,
    /// When it began.
    #[schemars(extend("format" = "date-time"))]
    tried_at: String,
    /// How long it took, in milliseconds.
    took_ms: u64,
    /// The store's HTTP status; absent when none came.
    http_status: Option<u16>,
    /// What happened, in words; for a refusal with the beginning of the store's own answer.
    note: String,
}

pub(crate) async fn deliveries(
    State(app): State<Arc<AppState>>,
    store: AuthenticatedStore,
    Parameters(wanted): Parameters<DeliveriesQuery>,
) -> Result<Json<DeliveryPage>, ApiError> {
    let event = wanted.event.as_deref().map(EventId::parse).transpose();
    let after = wanted.after.as_deref().map(DeliveryId::parse).transpose();
    let filter = DeliveryFilter {
        event: event.map_err(|error| ApiError::invalid("event", error.to_string()))?,
        after: after.map_err(|error| ApiError::invalid("after", error.to_string()))?,
        limit: page_size(wanted.limit)?,
    };
    let found = app.storage.deliveries(&store.id, &filter).await?;
    let found = found.ok_or(ApiError::NoSuchEvent)?;
    let is_full = found.len() == filter.limit as usize;
    let next = found.last().filter(|_| is_full);
    let next = next.map(|last| last.id.to_string());
    let deliveries = found.iter().map(DeliveryAttempt::of).collect();
    Ok(Json(DeliveryPage { deliveries, next }))
}

pub(crate) fn describe_deliveries(types: &mut Types) -> Operation {
    Operation::new("list_deliveries", EVENTS, Auth::StoreKey)
        .summary(
            "List deliveries",
            "The tries at delivering events, latest first.",
        )
        .query::<DeliveriesQuery>(types)
        .errors(&[ErrorCode::NotFound])
        .responds::<DeliveryPage>(200, "A page of tries.", types)
}

impl DeliveryAttempt {
    pub(crate) fn of(recorded: &RecordedDelivery) -> Self {
        let delivery = &recorded.delivery;
        Self {
            id: recorded.id.to_string(),
            event: delivery.event_id.to_string(),
            webhook: delivery.webhook.to_string(),
            kind: recorded.kind.clone(),
            tried_at: delivery.tried_at.to_string(),
            took_ms: u64::try_from(delivery.took.as_millis()).unwrap_or(0),
            http_status: delivery.http_status,
            note: delivery.note.clone(),
        }
    }
}

/// To which webhook.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RedeliverQuery {
    /// The webhook's id; all that ask for the event when absent.
    #[schemars(regex(pattern = "^[a-z0-9-]{1,32}$"))]
    webhook: Option<String>,
}

pub(crate) async fn redeliver(
    State(app): State<Arc<AppState>>,
    store: AuthenticatedStore,
    Path(id): Path<String>,
    Parameters(wanted): Parameters<RedeliverQuery>,
    Post(EmptyBody, request): Post<EmptyBody>,
) -> Result<(StatusCode, Replayed, ()), ApiError> {
    let caller = Caller::Store(store.id.clone());
    let done = idempotent(&app, request, caller, move |app| async move {
        let event = EventId::parse(&id).map_err(|_| ApiError::NoSuchEvent)?;
        let webhook = wanted.webhook.as_deref().map(WebhookId::parse).transpose();
        let webhook = webhook.map_err(|error| ApiError::invalid("webhook", error.to_string()))?;
        let (storage, webhook) = (&app.storage, webhook.as_ref());
        let planned = storage.redeliver(&store.id, &event, webhook, app.now());
        if !planned.await? {
            return Err(ApiError::NoSuchEvent);
        }
        app.dispatcher_wakeup.send_replace(());
        Ok(())
    })
    .await?;
    Ok((StatusCode::ACCEPTED, done.replayed(), ()))
}

pub(crate) fn describe_redeliver(types: &mut Types) -> Operation {
    Operation::new("redeliver_event", EVENTS, Auth::StoreKey)
        .summary(
            "Deliver an event again",
            "With all its tries, from the first.",
        )
        .idempotency_key(1)
        .path("id", "The event.", &event_id())
        .query::<RedeliverQuery>(types)
        .errors(&[ErrorCode::NotFound])
        .responds_empty(202, "It will be delivered again.")
}

/// The webhooks of a store.
#[derive(Deserialize, JsonSchema, Serialize)]
pub(crate) struct WebhookList {
    /// As they are in the configuration.
    webhooks: Vec<WebhookStatus>,
}

/// The state of a webhook.
#[derive(Deserialize, JsonSchema, Serialize)]
pub(crate) struct WebhookStatus {
    /// Its id.
    id: String,
    /// `enabled`; `disabled` after the endpoint has answered 410.
    #[schemars(extend("enum" = ["enabled", "disabled"]))]
    state: String,
    /// Since when it is disabled.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "date-time"))]
    disabled_at: Option<String>,
    /// Events that wait for delivery.
    events_waiting: u64,
}

pub(crate) async fn list_webhooks(
    State(app): State<Arc<AppState>>,
    store: AuthenticatedStore,
) -> Result<Json<WebhookList>, ApiError> {
    Ok(Json(webhook_list(&app, &store).await?))
}

pub(crate) fn describe_list_webhooks(types: &mut Types) -> Operation {
    Operation::new("list_webhooks", EVENTS, Auth::StoreKey)
        .summary(
            "The state of the webhooks",
            "Whether events are sent to each endpoint, and how many wait.",
        )
        .responds::<WebhookList>(200, "The state.", types)
}

/// POST /v1/webhooks/enable: re-enables the webhooks that answered 410; any other stays as it is.
pub(crate) async fn enable_webhooks(
    State(app): State<Arc<AppState>>,
    store: AuthenticatedStore,
    Post(EmptyBody, request): Post<EmptyBody>,
) -> Result<Done<WebhookList>, ApiError> {
    idempotent(&app, request, Caller::Store(store.id.clone()), move |app| async move {
            for webhook in &store.store().webhooks {
                if app.storage.enable_endpoint(&webhook.key, app.now()).await? {
                    tracing::info!(store = %store.id, webhook = %webhook.key.webhook, "the store enabled its webhook: events are sent again");
                    app.dispatcher_wakeup.send_replace(());
                }
            }
            webhook_list(&app, &store).await
        }).await
}

pub(crate) fn describe_enable_webhooks(types: &mut Types) -> Operation {
    Operation::new("enable_webhooks", EVENTS, Auth::StoreKey)
        .summary(
            "Enable the webhooks",
            "After an endpoint has responded 410. Events that waited are sent first. Any other endpoint stays as it is.",
        )
        .idempotency_key(1)
        .responds::<WebhookList>(200, "The state afterwards.", types)
}

async fn webhook_list(app: &AppState, store: &AuthenticatedStore) -> Result<WebhookList, ApiError> {
    let mut webhooks = Vec::new();
    for webhook in &store.store().webhooks {
        let status = app.storage.endpoint_status(&webhook.key).await?;
        let state = status.gone.map_or("enabled", |_| "disabled");
        webhooks.push(WebhookStatus {
            id: webhook.key.webhook.to_string(),
            state: state.to_owned(),
            disabled_at: status.gone.map(|gone| gone.since.to_string()),
            events_waiting: status.waiting,
        });
    }
    Ok(WebhookList { webhooks })
}
