//! Orders: search, one order's history, and decisions.

use std::sync::Arc;

use axum::Json;
use axum::extract::rejection::{JsonRejection, QueryRejection};
use axum::extract::{Path, Query, State};
use florin_orders::{AuditId, DecisionKind, OrderId, OrderStatus, Snapshot, StoreId};
use florin_storage::{Actor, NewDecision, OrderHistory, OrderSearch, StoreScope};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::admin::api::{Reader, Writer, page_size, reason, records, search_text};
use crate::admin::error::OperatorError;
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

/// GET /api/orders: a page of orders.
pub(crate) async fn list(
    State(app): State<Arc<AppState>>,
    _: Reader,
    query: Result<Query<OrdersQuery>, QueryRejection>,
) -> Result<Json<Value>, OperatorError> {
    let Query(query) = query?;
    let search = query.search(&StoreScope::All)?;
    let storage = &app.deps.storage;
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
        "orders": found.iter().map(records::order).collect::<Value>(),
        "next": next.map(|last| last.order.id.to_string()),
    })))
}

/// GET /api/orders/{id}: one order with all that happened.
pub(crate) async fn show(
    State(app): State<Arc<AppState>>,
    _: Reader,
    Path(id): Path<String>,
) -> Result<Json<Value>, OperatorError> {
    let history = history(&app, &StoreScope::All, &id).await?;
    Ok(Json(records::history(&history)))
}

pub(crate) async fn history(
    app: &AppState,
    scope: &StoreScope,
    id: &str,
) -> Result<OrderHistory, OperatorError> {
    let id = OrderId::parse(id).map_err(|_| OperatorError::NotFound("order"))?;
    let found = app.deps.storage.order_history(scope, &id).await?;
    found.ok_or(OperatorError::NotFound("order"))
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DecisionRequest {
    /// `accept_as_paid`, `keep_waiting` or `close`.
    pub(crate) decision: String,
    /// Why; the audit log keeps it.
    pub(crate) reason: String,
    /// The version of the order that the person saw.
    pub(crate) version: u64,
}

/// POST /api/orders/{id}/decision: carries out a decision.
pub(crate) async fn decide(
    State(app): State<Arc<AppState>>,
    Writer(actor): Writer,
    Path(id): Path<String>,
    request: Result<Json<DecisionRequest>, JsonRejection>,
) -> Result<Json<Value>, OperatorError> {
    let Json(request) = request?;
    decide_as(&app, actor, &id, request).await?;
    let history = history(&app, &StoreScope::All, &id).await?;
    Ok(Json(json!({ "order": records::order(&history.aggregate) })))
}

pub(crate) async fn decide_as(
    app: &AppState,
    actor: Actor,
    id: &str,
    request: DecisionRequest,
) -> Result<Snapshot, OperatorError> {
    let id = OrderId::parse(id).map_err(|_| OperatorError::NotFound("order"))?;
    let kind: DecisionKind = request.decision.parse().map_err(|_| {
        OperatorError::invalid("decision", "write accept_as_paid, keep_waiting or close")
    })?;
    let decision = NewDecision {
        id: new_audit_id(app),
        kind,
        version: request.version,
        actor,
        reason: reason(&request.reason)?,
    };
    let decided = app.deps.storage.decide(&id, &decision, app.now()).await?;
    let Actor { name, scope } = &decision.actor;
    let staff_of = scope.store().map(StoreId::as_str);
    tracing::info!(order = %id, person = name, staff_of, decision = <&str>::from(kind), "a person decided about an order");
    if kind == DecisionKind::AcceptAsPaid {
        app.metrics.credited(&decided.order);
    }
    app.dispatcher_wakeup.send_replace(());
    Ok(decided)
}

pub(crate) fn new_audit_id(app: &AppState) -> AuditId {
    let mut bits = [0; 16];
    app.deps.random.fill(&mut bits);
    AuditId::from_random(bits)
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AuditQuery {
    /// The `next` of the page before.
    pub(crate) after: Option<i64>,
    pub(crate) limit: Option<u32>,
}

/// GET /api/audit: a page of the audit log, the latest entry first.
pub(crate) async fn audit(
    State(app): State<Arc<AppState>>,
    _: Reader,
    query: Result<Query<AuditQuery>, QueryRejection>,
) -> Result<Json<Value>, OperatorError> {
    let Query(query) = query?;
    let limit = page_size(query.limit)?;
    let found = app.deps.storage.audit_log(query.after, limit).await?;
    let next = found.last().filter(|_| found.len() == limit as usize);
    Ok(Json(json!({
        "entries": found.iter().map(records::audit).collect::<Value>(),
        "next": next.map(|last| last.position),
    })))
}
