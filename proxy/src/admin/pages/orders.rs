//! Orders: the list, one order, decisions about it, and the audit log.

use std::sync::Arc;

use axum::Extension;
use axum::extract::rejection::{FormRejection, QueryRejection};
use axum::extract::{Form, Path, Query, State};
use axum::response::{IntoResponse as _, Redirect, Response};
use florin_orders::{Aggregate, OrderId, OrderStatus};
use florin_storage::{AuditEntry, OrderHistory};
use maud::{Markup, html};
use serde::Deserialize;
use strum::VariantArray as _;
use url::form_urlencoded;

use crate::admin::api::orders::{AuditQuery, DecisionRequest, OrdersQuery, decide_as, history};
use crate::admin::api::{page_size, redeliver_as};
use crate::admin::pages::attention;
use crate::admin::pages::refunds::refund_form;
use crate::admin::pages::{self, Viewer, timeline};
use crate::admin::{OperatorError, PageError, PageFailure};
use crate::state::AppState;

pub(crate) async fn list(
    State(app): State<Arc<AppState>>,
    Extension(viewer): Extension<Viewer>,
    query: Result<Query<OrdersQuery>, QueryRejection>,
) -> Result<Markup, PageError> {
    let Query(query) = query?;
    let search = query.search(viewer.scope())?;
    let found = app.storage.find_orders(&search).await?;
    let pages_on = found.len() == search.limit as usize && search.text.is_none();
    let next = found.last().filter(|_| pages_on);
    let next = next.map(|last| next_page(&viewer, &query, &last.order.id));
    let statuses = OrderStatus::VARIANTS.iter().map(Into::into);
    let config = app.config();
    let stores = viewer.stores(&config).map(|store| store.id.as_str());
    let content = html! {
        form.search method="get" action={ (viewer.base()) "/orders" } {
            div {
                label for="q" { "Search" }
                input #q type="search" name="q" value=[query.q.as_deref()] maxlength="200" aria-describedby="q-hint";
            }
            (select("status", "Status", query.status.as_deref(), statuses))
            @if viewer.sees_all() {
                (select("store", "Store", query.store.as_deref(), stores))
            }
            button type="submit" { "Search" }
            p.muted #q-hint { "Order id, reference, email address, amount, blockchain address, transaction or invoice, in full." }
        }
        @if found.is_empty() {
            p.notice { "No order was found." }
        } @else {
            (table(&viewer, &found))
        }
        @if let Some(next) = next {
            p.pages { a href=(next) rel="next" { "Older orders" } }
        }
    };
    Ok(pages::page(&viewer, "/orders", "Orders", &content))
}

fn next_page(viewer: &Viewer, query: &OrdersQuery, after: &OrderId) -> String {
    let mut pairs = form_urlencoded::Serializer::new(String::new());
    for (name, value) in [("status", &query.status), ("store", &query.store)] {
        if let Some(value) = value.as_deref().filter(|value| !value.is_empty()) {
            pairs.append_pair(name, value);
        }
    }
    pairs.append_pair("after", after.as_str());
    format!("{}/orders?{}", viewer.base(), pairs.finish())
}

fn select<'o>(
    name: &str,
    label: &str,
    chosen: Option<&str>,
    options: impl Iterator<Item = &'o str>,
) -> Markup {
    html! {
        div {
            label for=(name) { (label) }
            select id=(name) name=(name) {
                option value="" { "all" }
                @for option in options {
                    option value=(option) selected[chosen == Some(option)] { (option.replace('_', " ")) }
                }
            }
        }
    }
}

fn table(viewer: &Viewer, found: &[Aggregate]) -> Markup {
    let mut columns = vec!["Order", "Status", "Price", "Asset", "Opened"];
    if viewer.sees_all() {
        columns.insert(4, "Store");
    }
    html! {
        table.list {
            (pages::head(&columns, &["Price"]))
            tbody { @for aggregate in found { (row(viewer, aggregate)) } }
        }
    }
}

fn row(viewer: &Viewer, aggregate: &Aggregate) -> Markup {
    let order = &aggregate.order;
    let current = order.current_attempt.as_ref();
    let current = current.and_then(|id| aggregate.attempt(id));
    let terms = current.and_then(|attempt| attempt.terms.custom());
    html! {
        tr {
            th scope="row" data-label="Order" {
                a href={ (viewer.base()) "/orders/" (order.id) } { (pages::id(order.terms.reference.as_str())) }
                @if !order.terms.title.is_empty() { span.muted.sub { (order.terms.title) } }
            }
            td data-label="Status" {
                (pages::status(order.status))
                @if aggregate.attention_since.is_some() { span.badge.bad { "needs attention" } }
            }
            td.number data-label="Price" { (pages::money(order.terms.amount, order.terms.currency)) }
            td data-label="Asset" { @if let Some(terms) = terms { (pages::asset(&terms.crypto_code)) } @else { "–" } }
            @if viewer.sees_all() { td data-label="Store" { (order.terms.store_id) } }
            td data-label="Opened" { (pages::time(order.created_at)) }
        }
    }
}

pub(crate) async fn show(
    State(app): State<Arc<AppState>>,
    Extension(viewer): Extension<Viewer>,
    Path(id): Path<String>,
) -> Result<Markup, PageError> {
    let history = history(&app, viewer.scope(), &id).await?;
    Ok(order_page(&viewer, &history, None))
}

/// `refused`: why a decision was refused, and the reason that the person wrote.
fn order_page(viewer: &Viewer, history: &OrderHistory, refused: Option<(&str, &str)>) -> Markup {
    let aggregate = &history.aggregate;
    let order = &aggregate.order;
    let (open, owed) = (aggregate.attention_causes(), aggregate.owed());
    // The open questions have it.
    let has_form = !open.is_empty() && !owed.is_empty();
    let has_refund = !owed.is_empty() || !aggregate.refundable().is_empty();
    let back = format!("/orders/{}", order.id);
    let written = refused.map_or("", |(_, written)| written);
    let content = html! {
        @if let Some((problem, written)) = refused {
            p.notice.bad role="alert" { "Nothing was done: " (problem) ". Your reason: " q { (written) } }
        }
        div.title {
            (pages::status(order.status))
            span.money { (pages::money(order.terms.amount, order.terms.currency)) }
            @if viewer.sees_all() { span.muted { (order.terms.store_id) } }
        }
        dl.facts {
            div { dt { "Order" } dd { (pages::id(order.id.as_str())) } }
            @if !order.terms.title.is_empty() { div { dt { "Title" } dd { (order.terms.title) } } }
            @if !order.terms.lines.is_empty() {
                div {
                    dt { "Lines" }
                    @for line in &order.terms.lines {
                        dd {
                            (line.quantity) " × " (line.title)
                            @if let Some(amount) = line.signed_amount() {
                                " " span.muted { (pages::signed_money(&amount, order.terms.currency.as_str())) }
                            }
                        }
                    }
                }
            }
            @if let Some(email) = &order.terms.customer_email { div { dt { "Customer" } dd { (email) } } }
            @if let Some(email) = &order.receipt_email { div { dt { "Receipt" } dd { (email) } } }
            div { dt { "Opened" } dd { (pages::time(order.created_at)) } }
            @if let Some(at) = order.settled_at {
                div {
                    dt { "Credited" }
                    dd { (pages::time(at)) @if order.is_accepted() { " by a decision" } }
                }
            }
        }
        @if !open.is_empty() {
            section.card.entry aria-labelledby="open" {
                h2 #open { (if aggregate.attention_since.is_some() { "Open questions" } else { "Snoozed or resolved" }) }
                (attention::body(viewer, history, &back, written))
            }
        }
        @if !has_form && has_refund {
            section.card aria-labelledby="refund" {
                h2 #refund { "Refund" }
                (refund_form(viewer, aggregate, &back))
            }
        }
        (timeline::attempts(viewer, aggregate))
        (timeline::timeline(viewer, history))
    };
    let title = format!("Order {}", order.terms.reference);
    pages::page(viewer, "/orders", &title, &content)
}

#[derive(Deserialize)]
pub(crate) struct DecisionForm {
    csrf: String,
    version: u64,
    back: String,
    reason: String,
    decision: String,
}

pub(crate) async fn decide(
    State(app): State<Arc<AppState>>,
    Extension(viewer): Extension<Viewer>,
    Path(id): Path<String>,
    form: Result<Form<DecisionForm>, FormRejection>,
) -> Result<Response, PageError> {
    let Form(form) = form?;
    viewer.check_form(&form.csrf)?;
    let request = DecisionRequest {
        decision: form.decision,
        reason: form.reason.clone(),
        version: form.version,
    };
    let decided = match decide_as(&app, viewer.actor.clone(), &id, request).await {
        Ok(decided) => decided,
        Err(error) => return Ok(refused(&app, &viewer, &id, error, &form.reason).await),
    };
    Ok(viewer
        .back_to(&form.back, &decided.order.id, "")
        .into_response())
}

/// The order as it is, why the decision was refused, and the reason that the person wrote.
async fn refused(
    app: &AppState,
    viewer: &Viewer,
    id: &str,
    error: OperatorError,
    written: &str,
) -> Response {
    let (status, _) = error.status();
    let history = match history(app, viewer.scope(), id).await {
        Ok(history) if !status.is_server_error() => history,
        _ => {
            let message = format!("{error}. Nothing was done. Your reason: “{written}”");
            return PageFailure::of(&error, &message);
        }
    };
    let page = order_page(viewer, &history, Some((&error.to_string(), written)));
    (status, page).into_response()
}

#[derive(Deserialize)]
pub(crate) struct RedeliverForm {
    csrf: String,
    event: String,
}

pub(crate) async fn redeliver(
    State(app): State<Arc<AppState>>,
    Extension(viewer): Extension<Viewer>,
    Path(_): Path<String>,
    form: Result<Form<RedeliverForm>, FormRejection>,
) -> Result<Redirect, PageError> {
    let Form(form) = form?;
    viewer.check_form(&form.csrf)?;
    let base = viewer.base();
    let event = redeliver_as(&app, viewer.actor, &form.event).await?;
    Ok(Redirect::to(&format!("{base}/orders/{}", event.order_id)))
}

pub(crate) async fn audit(
    State(app): State<Arc<AppState>>,
    Extension(viewer): Extension<Viewer>,
    query: Result<Query<AuditQuery>, QueryRejection>,
) -> Result<Markup, PageError> {
    let Query(query) = query?;
    let limit = page_size(query.limit)?;
    let found = app.storage.audit_log(query.after, limit).await?;
    let next = found.last().filter(|_| found.len() == limit as usize);
    let content = html! {
        @if found.is_empty() {
            p.notice { "The log is empty: every decision, redelivery and test will be here." }
        } @else {
            table.list {
                (pages::head(&["When", "Who", "What", "About", "Reason"], &[]))
                tbody { @for entry in &found { (audit_row(entry)) } }
            }
        }
        @if let Some(last) = next {
            p.pages { a href={ "/audit?after=" (last.position) } rel="next" { "Older entries" } }
        }
    };
    Ok(pages::page(&viewer, "/audit", "Audit log", &content))
}

fn audit_row(entry: &AuditEntry) -> Markup {
    let action: &str = entry.action.into();
    html! {
        tr {
            th scope="row" data-label="When" { (pages::time(entry.at)) }
            td data-label="Who" {
                (entry.actor.name)
                @if let Some(store) = entry.actor.scope.store() { span.muted.sub { "staff of " (store) } }
            }
            td data-label="What" {
                (action.replace('_', " "))
                @if let Some((before, after)) = entry.status {
                    span.muted.sub { (<&str>::from(before)) " → " (<&str>::from(after)) }
                }
            }
            td data-label="About" {
                @if let Some(order) = &entry.order_id {
                    a href={ "/orders/" (order) } { (pages::id(order.as_str())) }
                }
                @if let Some(subject) = &entry.subject { span.sub { (pages::id(subject)) } }
            }
            td data-label="Reason" { @if entry.reason.is_empty() { "–" } @else { (entry.reason) } }
        }
    }
}
