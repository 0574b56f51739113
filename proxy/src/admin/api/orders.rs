//! Orders: search, one order's history, and decisions.

use std::sync::Arc;

use axum::extract::rejection::{JsonRejection, QueryRejection};
use axum::extract::{Path, Query, State};
use axum::{Extension, Json};
use florin_orders::{
    Aggregate, Attempt, AttemptState, AuditId, DecisionKind, Destination, OrderId, OrderRecord,
    OrderStatus, Snapshot, StoreId,
};
use florin_storage::{
    Actor, AuditEntry, NewDecision, OrderHistory, OrderSearch, RecordedEvent, StoreScope,
    StoredObservation,
};
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Value, json};
use strum::VariantArray as _;

use crate::admin::api::{page_size, reason, search_text};
use crate::admin::{OperatorError, attention};
use crate::http::store_api::events::DeliveryAttempt;
use crate::http::store_api::refunds::{Refund, record};
use crate::state::AppState;

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OrdersQuery {
    /// An id, reference, email address, amount, invoice, blockchain address or transaction.
    pub(crate) q: Option<String>,
    pub(crate) status: Option<String>,
    pub(crate) store: Option<String>,
    /// Only those that wait for a person, the longest first.
    pub(crate) attention: Option<bool>,
    /// The last order of the page before.
    pub(crate) after: Option<String>,
    pub(crate) limit: Option<u32>,
}

impl OrdersQuery {
    pub(crate) fn search(&self, scope: &StoreScope) -> Result<OrderSearch, OperatorError> {
        let given = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
        let status = given(&self.status).map(|word| {
            let known = word.parse::<OrderStatus>();
            known.map_err(|_| OperatorError::invalid("status", "there is no such status"))
        });
        let store = given(&self.store)
            .map(|id| StoreId::parse(&id).map_err(|error| OperatorError::invalid("store", &error)));
        let after = given(&self.after)
            .map(|id| OrderId::parse(&id).map_err(|error| OperatorError::invalid("after", &error)));
        let scope = match (scope, store.transpose()?) {
            (StoreScope::All, Some(store)) => StoreScope::Store(store),
            // Staff chooses no store.
            (scope, _) => scope.clone(),
        };
        Ok(OrderSearch {
            text: search_text(self.q.as_deref())?,
            status: status.transpose()?,
            scope,
            after: after.transpose()?,
            limit: page_size(self.limit)?,
        })
    }
}

pub(crate) async fn list(
    State(app): State<Arc<AppState>>,
    query: Result<Query<OrdersQuery>, QueryRejection>,
) -> Result<Json<Value>, OperatorError> {
    let Query(query) = query?;
    let search = query.search(&StoreScope::All)?;
    let storage = &app.storage;
    let waiting = query.attention == Some(true);
    let found = if waiting {
        storage
            .orders_for_attention(&search.scope, search.limit)
            .await?
    } else {
        storage.find_orders(&search).await?
    };
    let is_full = found.len() == search.limit as usize;
    let pages_on = is_full && !waiting && search.text.is_none();
    let next = found.last().filter(|_| pages_on);
    Ok(Json(json!({
        "orders": found.iter().map(order_record).collect::<Value>(),
        "next": next.map(|last| last.order.id.to_string()),
    })))
}

pub(crate) async fn show(
    State(app): State<Arc<AppState>>,
    Path(id): Path<String>,
) -> Result<Json<Value>, OperatorError> {
    let history = history(&app, &StoreScope::All, &id).await?;
    Ok(Json(history_record(&history)))
}

pub(crate) async fn history(
    app: &AppState,
    scope: &StoreScope,
    id: &str,
) -> Result<OrderHistory, OperatorError> {
    let id = OrderId::parse(id).map_err(|_| OperatorError::NotFound("order"))?;
    let found = app.storage.order_history(scope, &id).await?;
    found.ok_or(OperatorError::NotFound("order"))
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DecisionRequest {
    /// `accept_as_paid`, `snooze` or `resolve`.
    pub(crate) decision: String,
    /// Why; the audit log keeps it.
    pub(crate) reason: String,
    /// The version of the order that the person saw.
    pub(crate) version: u64,
}

pub(crate) async fn decide(
    State(app): State<Arc<AppState>>,
    Extension(actor): Extension<Actor>,
    Path(id): Path<String>,
    request: Result<Json<DecisionRequest>, JsonRejection>,
) -> Result<Json<Value>, OperatorError> {
    let Json(request) = request?;
    decide_as(&app, actor, &id, request).await?;
    let history = history(&app, &StoreScope::All, &id).await?;
    Ok(Json(json!({ "order": order_record(&history.aggregate) })))
}

pub(crate) async fn decide_as(
    app: &AppState,
    actor: Actor,
    id: &str,
    request: DecisionRequest,
) -> Result<Snapshot, OperatorError> {
    let id = OrderId::parse(id).map_err(|_| OperatorError::NotFound("order"))?;
    let kind: DecisionKind = request.decision.parse().map_err(|_| {
        OperatorError::invalid("decision", "write accept_as_paid, snooze or resolve")
    })?;
    let decision = NewDecision {
        id: new_audit_id(app),
        kind,
        version: request.version,
        actor,
        reason: reason(&request.reason)?,
    };
    let decided = app.storage.decide(&id, &decision, app.now()).await?;
    let Actor { name, scope } = &decision.actor;
    let staff_of = scope.store().map(StoreId::as_str);
    tracing::info!(order = %id, person = name, staff_of, decision = <&str>::from(kind), "a person decided about an order");
    if kind == DecisionKind::AcceptAsPaid {
        app.metrics.credited(&decided.order);
    }
    app.dispatcher_wakeup.send_replace(());
    Ok(decided)
}

pub(crate) async fn refund(
    State(app): State<Arc<AppState>>,
    Extension(actor): Extension<Actor>,
    Path(id): Path<String>,
    sent: Result<Json<Refund>, JsonRejection>,
) -> Result<Json<Value>, OperatorError> {
    let Json(sent) = sent?;
    let id = OrderId::parse(&id).map_err(|_| OperatorError::NotFound("order"))?;
    let refunded = record(&app, actor, &id, sent, None, None).await?;
    Ok(Json(json!({ "order": OrderRecord::of(&refunded) })))
}

pub(crate) fn new_audit_id(app: &AppState) -> AuditId {
    AuditId::from_random(app.random_bits())
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AuditQuery {
    /// The `next` of the page before.
    pub(crate) after: Option<i64>,
    pub(crate) limit: Option<u32>,
}

pub(crate) async fn audit(
    State(app): State<Arc<AppState>>,
    query: Result<Query<AuditQuery>, QueryRejection>,
) -> Result<Json<Value>, OperatorError> {
    let Query(query) = query?;
    let limit = page_size(query.limit)?;
    let found = app.storage.audit_log(query.after, limit).await?;
    let next = found.last().filter(|_| found.len() == limit as usize);
    Ok(Json(json!({
        "entries": found.iter().map(audit_record).collect::<Value>(),
        "next": next.map(|last| last.position),
    })))
}

// The records of this API: docs/operations/operators-page.md.

/// An order for operators: the store's record of it, and what the store does not see.
fn order_record(aggregate: &Aggregate) -> Value {
    let order = &aggregate.order;
    let causes = aggregate.attention_causes().into_iter().map(|cause| {
        let (title, sentence) = attention::texts(cause);
        json!({ "cause": <&str>::from(cause), "title": title, "sentence": sentence })
    });
    let decisions = possible(aggregate).into_iter().map(<&str>::from);
    let mut record = json!(OrderRecord::of(&aggregate.snapshot()));
    record["store"] = json!(order.terms.store_id.to_string());
    // What a decision must name: it grows with every change.
    record["version"] = json!(order.version);
    // Null while the order does not wait for a person.
    record["attention_since"] = json!(time(aggregate.attention_since));
    record["attention"] = causes.collect();
    record["decisions"] = decisions.collect();
    let owed = aggregate.owed().into_iter();
    let owed = owed.map(|(asset, amount)| {
        json!({ "crypto_code": asset.map(ToString::to_string), "amount_in_crypto": amount })
    });
    record["owed"] = owed.collect();
    record
}

pub(crate) fn possible(aggregate: &Aggregate) -> Vec<DecisionKind> {
    // The pure function decides; it is asked with a copy.
    let is_possible = |kind: &DecisionKind| {
        aggregate
            .clone()
            .decide(*kind, Timestamp::UNIX_EPOCH)
            .is_ok()
    };
    let kinds = DecisionKind::VARIANTS.iter().copied();
    kinds.filter(is_possible).collect()
}

fn time(time: Option<Timestamp>) -> Option<String> {
    time.map(|time| time.to_string())
}

fn history_record(history: &OrderHistory) -> Value {
    let aggregate = &history.aggregate;
    json!({
        "order": order_record(aggregate),
        "attempts": aggregate.attempts.iter().map(attempt_record).collect::<Value>(),
        "observations": history.observations.iter().map(observation_record).collect::<Value>(),
        "events": history.events.iter().map(event_record).collect::<Value>(),
        "audit": history.audit.iter().map(audit_record).collect::<Value>(),
    })
}

fn attempt_record(attempt: &Attempt) -> Value {
    let terms = attempt.terms.custom();
    let state: &str = match &attempt.state {
        AttemptState::Creating => "creating",
        AttemptState::Open(_) => "open",
        AttemptState::Abandoned(reason) => reason.into(),
    };
    let requested = terms.map(|terms| &terms.requested);
    let invoice = attempt.invoice().map(|invoice| {
        let (address, page_url) = match &invoice.destination {
            Destination::Address { address, .. } => (Some(address.clone()), None),
            Destination::Page { url } => (None, Some(url.to_string())),
        };
        let progress = &invoice.progress;
        json!({
            "id": invoice.id.to_string(),
            "address": address,
            "page_url": page_url,
            "opened_at": invoice.opened_at.to_string(),
            "expires_at": invoice.expires_at.to_string(),
            "marked_as_paid_at": time(invoice.marked_as_paid_at),
            "payment_state": <&str>::from(invoice.payment_state),
            "state_since": invoice.state_since.to_string(),
            "received": progress.received.each().map(|amount| amount.to_string()),
            "confirmations": progress.confirmations.map(|(count, required)| [count, required]),
            "transaction_hash": progress.transaction_hash,
            "needs_review": invoice.needs_review,
            "observed_at": time(invoice.observed_at),
            "next_poll_at": time(invoice.next_poll_at),
        })
    });
    json!({
        "id": attempt.terms.id.to_string(),
        "state": state,
        "begun_at": attempt.begun_at.to_string(),
        "crypto_code": attempt.asset().map(ToString::to_string),
        // In the asset, US dollars, and local currency; null for a hosted attempt.
        "requested": requested.map(|it| it.amounts.each().map(|amount| amount.to_string())),
        "local_currency_code": requested.map(|it| it.local_currency.to_string()),
        "invoice": invoice,
    })
}

fn observation_record(stored: &StoredObservation) -> Value {
    json!({
        "attempt": stored.attempt_id.to_string(),
        "first_at": stored.first_at.to_string(),
        "last_at": stored.last_at.to_string(),
        // How often the same response came in a row.
        "times": stored.times,
        "assessment": stored.assessment,
        // The beginning of the response.
        "raw": stored.raw,
    })
}

fn event_record(recorded: &RecordedEvent) -> Value {
    let event = &recorded.event;
    let deliveries = recorded.deliveries.iter().map(DeliveryAttempt::of);
    json!({
        "id": event.id.to_string(),
        "type": event.kind,
        "sequence": event.sequence,
        "webhook": recorded.webhook.to_string(),
        "created_at": event.created_at.to_string(),
        "state": <&str>::from(recorded.state),
        "next_at": time(recorded.next_at),
        "deliveries": deliveries.collect::<Vec<_>>(),
    })
}

fn audit_record(entry: &AuditEntry) -> Value {
    let (before, after) = entry.status.unzip();
    json!({
        "id": entry.id.to_string(),
        "at": entry.at.to_string(),
        // The operator's name, or that of the member of the staff.
        "operator": entry.actor.name,
        // The store whose staff it was; null for an operator.
        "staff_of": entry.actor.scope.store().map(ToString::to_string),
        "action": <&str>::from(entry.action),
        "order": entry.order_id.as_ref().map(ToString::to_string),
        // The event or the store.
        "subject": entry.subject,
        "reason": entry.reason,
        "status_before": before.map(<&str>::from),
        "status_after": after.map(<&str>::from),
    })
}
