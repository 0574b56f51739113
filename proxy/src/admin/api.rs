//! The operator's JSON API, for the command line and for scripts.
//!
//! An operator's token authenticates it, not a password: a token is random, so that guessing it needs no lock-out and checking it
//! no slow hash; it opens no page, and it is withdrawn without a new password. No cookie is read here, so that no page in a
//! browser can send these requests.

pub(crate) mod orders;

use std::sync::Arc;

use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::middleware::Next;
use axum::response::Response;
use axum::{Extension, Json};
use florin_orders::{DeliveryId, Event, EventId, StoreId};
use florin_storage::{Actor, AuditAction, DeliveryFilter, Endpoint, NewAuditEntry, StoreScope};
use headers::authorization::Bearer;
use headers::{Authorization, HeaderMapExt as _};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::admin::OperatorError;
use crate::admin::api::orders::new_audit_id;
use crate::auth::operator::by_token;
use crate::config::Role;
use crate::http::store_api::events::DeliveryAttempt;
use crate::settlements::{Period, SettlementsQuery, respond};
use crate::state::AppState;
use crate::webhooks::send::SendOutcome;
use crate::webhooks::test_event;

/// Page sizes: the largest, and the default.
const MAX_PAGE: u32 = 100;
const DEFAULT_PAGE: u32 = 20;
/// Characters of a reason.
const MAX_REASON: usize = 500;
/// Characters of a search.
const MAX_SEARCH: usize = 200;

/// Lets operators pass whose role allows the request, and names them as its [`Actor`].
pub(crate) async fn require_token(
    State(app): State<Arc<AppState>>,
    mut request: Request,
    next: Next,
) -> Result<Response, OperatorError> {
    let token = request.headers().typed_get::<Authorization<Bearer>>();
    let token = token.ok_or(OperatorError::Unauthorized)?;
    let config = app.config();
    let operator = by_token(&config.operators, token.token());
    let operator = operator.ok_or(OperatorError::Unauthorized)?;
    let name = operator.name.clone();
    if operator.role == Role::Read && !request.method().is_safe() {
        return Err(OperatorError::ReadOnly(name));
    }
    request.extensions_mut().insert(Actor::operator(name));
    Ok(next.run(request).await)
}

pub(crate) fn page_size(limit: Option<u32>) -> Result<u32, OperatorError> {
    match limit.unwrap_or(DEFAULT_PAGE) {
        size @ 1..=MAX_PAGE => Ok(size),
        _ => Err(OperatorError::invalid("limit", "ask for 1 to 100 at once")),
    }
}

/// The text of a search; `None` for an empty one.
pub(crate) fn search_text(text: Option<&str>) -> Result<Option<String>, OperatorError> {
    let text = text.map(str::trim).filter(|text| !text.is_empty());
    let Some(text) = text else {
        return Ok(None);
    };
    if text.chars().count() > MAX_SEARCH || text.chars().any(char::is_control) {
        let message = "write up to 200 characters on one line";
        return Err(OperatorError::invalid("q", message));
    }
    Ok(Some(text.to_owned()))
}

pub(crate) fn reason(text: &str) -> Result<String, OperatorError> {
    let text = text.trim();
    let is_short = (1..=MAX_REASON).contains(&text.chars().count());
    let is_plain = !text
        .chars()
        .any(|c| c.is_control() && c != '\n' && c != '\r');
    if is_short && is_plain {
        return Ok(text.to_owned());
    }
    let message = "write why, in 1 to 500 characters: the audit log keeps it";
    Err(OperatorError::invalid("reason", message))
}

// Deliveries: what was tried, redelivery, and a test of a store's webhook.

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

pub(crate) async fn deliveries(
    State(app): State<Arc<AppState>>,
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
    let found = app.storage.deliveries(&store, &filter).await?;
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

pub(crate) async fn settlements(
    State(app): State<Arc<AppState>>,
    headers: HeaderMap,
    query: Result<Query<SettlementsQuery>, QueryRejection>,
) -> Result<Response, OperatorError> {
    let Query(query) = query?;
    let store = store_of(&app, query.store.as_deref(), None).await?;
    let period = Period::of(&app, store, &query)?;
    Ok(respond(&app, &period, &query, &headers).await?)
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
        let found = app.storage.event(&StoreScope::All, event).await?;
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

/// POST /api/deliveries/{id}/redeliver: schedules the event of a delivery again, for its webhook, or an event, for all.
pub(crate) async fn redeliver(
    State(app): State<Arc<AppState>>,
    Extension(actor): Extension<Actor>,
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
    let unknown = || OperatorError::NotFound("event or delivery");
    let delivery = DeliveryId::parse(id).ok();
    let id = (delivery.as_ref()).map_or_else(|| id.to_owned(), |delivery| delivery.parts().0);
    let id = EventId::parse(&id).map_err(|_| unknown())?;
    let (storage, now) = (&app.storage, app.now());
    let event = storage.event(&actor.scope, &id).await?;
    let event = event.ok_or_else(unknown)?;
    let mut webhook = None;
    if let Some(delivery) = delivery {
        let mut tries = DeliveryFilter::default();
        (tries.event, tries.limit) = (Some(id.clone()), u32::MAX);
        let tries = storage.deliveries(&event.store_id, &tries).await?;
        let known = (tries.into_iter().flatten()).find(|known| known.id == delivery);
        webhook = Some(known.ok_or_else(unknown)?.delivery.webhook);
    }
    record(app, actor, AuditAction::Redeliver, id.to_string()).await?;
    let (store, webhook) = (&event.store_id, webhook.as_ref());
    storage.redeliver(store, &id, webhook, now).await?;
    app.dispatcher_wakeup.send_replace(());
    Ok(event)
}

/// POST /api/webhooks/{store}/{webhook}/test: sends a signed test event once, and returns what the store responded.
pub(crate) async fn test(
    State(app): State<Arc<AppState>>,
    Extension(actor): Extension<Actor>,
    Path((store, webhook)): Path<(String, String)>,
) -> Result<Json<Value>, OperatorError> {
    let (_, sent) = test_as(&app, actor, &store, &webhook).await?;
    let status = sent.http_status();
    let is_accepted = status.is_some_and(|status| (200..300).contains(&status));
    Ok(Json(json!({
        "accepted": is_accepted,
        "http_status": status,
        "message": sent.note(),
    })))
}

/// Sends a person's test event. It is stored in no outbox, and no order has it.
pub(crate) async fn test_as(
    app: &AppState,
    actor: Actor,
    store: &str,
    webhook: &str,
) -> Result<(Endpoint, SendOutcome), OperatorError> {
    let id = StoreId::parse(store).map_err(|_| OperatorError::NotFound("store"))?;
    let config = app.config();
    let store = config.store(&id).filter(|_| actor.scope.contains(&id));
    let store = store.ok_or(OperatorError::NotFound("store"))?;
    let mut webhooks = store.webhooks.iter();
    let found = webhooks.find(|it| it.key.webhook.as_str() == webhook);
    let no_webhook = || OperatorError::NoWebhook(id.to_string(), webhook.to_owned());
    let webhook = found.ok_or_else(no_webhook)?;
    record(app, actor, AuditAction::TestWebhook, id.to_string()).await?;
    let now = app.now();
    let event = test_event(&id, app.random_order_id(), now);
    let sent = app.webhooks.send(webhook, &event, now).await;
    Ok((webhook.key.clone(), sent))
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
    Ok(app.storage.record_audit(&entry).await?)
}
