//! The first page: what needs a person, and the form of a decision.

use std::sync::Arc;
use std::time::Duration;

use axum::Extension;
use axum::extract::State;
use florin_orders::{Aggregate, AttentionCause, DecisionKind, OrderStatus};
use florin_storage::{GivenUpEvent, StorageError, Totals};
use maud::{Markup, html};

use crate::admin::api::orders::possible;
use crate::admin::attention::{self, Finding, GIVEN_UP_EVENT, conditions, disabled_webhook};
use crate::admin::pages::{self, Place, Viewer, timeline};
use crate::admin::{OperatorError, PageError};
use crate::config::Role;
use crate::state::AppState;

/// While the disk hangs, what is wrong is shown without what waits.
const LONGEST_READ: Duration = Duration::from_secs(3);
/// Entries of each kind: the longest waiting ones.
const MOST: u32 = 50;

pub(crate) async fn page(
    State(app): State<Arc<AppState>>,
    Extension(viewer): Extension<Viewer>,
) -> Result<Markup, PageError> {
    let totals = tokio::time::timeout(LONGEST_READ, app.storage.totals()).await;
    let totals = totals.unwrap_or_else(|_| {
        let reason = format!("no response within {} s", LONGEST_READ.as_secs());
        Err(StorageError::Unreachable(reason))
    });
    let found = match viewer.place {
        Place::Operator => conditions(&app, totals.as_ref().ok()),
        // The proxy itself is not the staff's.
        Place::Staff => Vec::new(),
    };
    let waiting = match totals {
        Ok(totals) => waiting(&app, &viewer, &totals, found.is_empty()).await,
        Err(error) => Err(error.into()),
    };
    // While the database fails, its reason is more than that nothing can be read.
    let waiting = match waiting {
        Err(error) if !found.is_empty() => {
            html! { p.notice.bad { "What waits for you cannot be read: " (error) } }
        }
        waiting => waiting?,
    };
    let content = html! {
        @if !found.is_empty() { (proxy(&found)) }
        (waiting)
    };
    Ok(pages::page(&viewer, "/", "Needs attention", &content))
}

fn proxy(found: &[Finding]) -> Markup {
    html! {
        section.card aria-labelledby="proxy" {
            h2 #proxy { "The proxy" }
            dl.causes {
                @for Finding { condition, detail } in found {
                    @let [title, sentence, page] = condition.texts();
                    dt { (title) }
                    dd {
                        @if !detail.is_empty() { strong { (detail) } " " }
                        (sentence)
                        span.muted.sub { (page) }
                    }
                }
            }
        }
    }
}

async fn waiting(
    app: &AppState,
    viewer: &Viewer,
    totals: &Totals,
    is_well: bool,
) -> Result<Markup, OperatorError> {
    let (storage, scope) = (&app.storage, viewer.scope());
    let orders = storage.orders_for_attention(scope, MOST).await?;
    let given_up = storage.given_up_events(scope, MOST).await?;
    let outboxes = totals.outboxes.iter();
    let disabled = outboxes.filter(|outbox| outbox.is_disabled && scope.contains(&outbox.store_id));
    let disabled: Vec<_> = disabled.collect();
    let is_empty = orders.is_empty() && given_up.is_empty() && disabled.is_empty();
    let mut entries = Vec::with_capacity(orders.len());
    for order in &orders {
        entries.push(entry(app, viewer, order).await?);
    }
    Ok(html! {
        @if is_empty && is_well {
            p.notice.good { "Nothing waits for you." }
        } @else if is_empty {
            p.muted { "No order, event or webhook waits for you." }
        }
        @for entry in &entries { (entry) }
        @if !disabled.is_empty() {
            section aria-labelledby="disabled" {
                h2 #disabled { "Disabled webhooks" }
                p { (disabled_webhook(viewer.place)) }
                ul.rows {
                    @for outbox in &disabled {
                        li {
                            a href={ (viewer.base()) "/stores" } { strong { (outbox.store_id) } }
                            span { (outbox.waiting) " events wait" }
                            @if let Some(oldest) = outbox.oldest_at {
                                span.muted { "the oldest since " (pages::time(oldest)) }
                            }
                        }
                    }
                }
            }
        }
        @if !given_up.is_empty() {
            section aria-labelledby="given-up" {
                h2 #given-up { "Events that were given up" }
                p { (GIVEN_UP_EVENT) }
                ul.rows { @for event in &given_up { (given_up_row(viewer, event)) } }
            }
        }
    })
}

/// An order that waits: why, what the gateway says beside what was requested, and the decision.
async fn entry(
    app: &AppState,
    viewer: &Viewer,
    aggregate: &Aggregate,
) -> Result<Markup, OperatorError> {
    let order = &aggregate.order;
    let history = app.storage.order_history(viewer.scope(), &order.id).await?;
    let since = aggregate.attention_since;
    Ok(html! {
        article.card aria-labelledby=(order.id) {
            div.title {
                h2 id=(order.id) { a href={ (viewer.base()) "/orders/" (order.id) } { (order.terms.reference) } }
                (pages::status(order.status))
                span.money { (order.terms.amount) " " (order.terms.currency) }
                @if viewer.sees_all() { span.muted { (order.terms.store_id) } }
                @if let Some(since) = since {
                    span.muted { "waits since " (pages::time(since)) ", " (pages::ago(since, app.now())) }
                }
            }
            (causes(&aggregate.attention_causes()))
            @if let Some(history) = &history {
                (timeline::comparison(history))
            }
            (decision_form(viewer, aggregate, "/", ""))
        }
    })
}

fn given_up_row(viewer: &Viewer, given_up: &GivenUpEvent) -> Markup {
    let event = &given_up.event;
    html! {
        li {
            a href={ (viewer.base()) "/orders/" (event.order_id) } { strong { (event.kind) } }
            span.muted {
                @if viewer.sees_all() { (event.store_id) ", " }
                (pages::time(event.created_at))
            }
            @if let Some(latest) = &given_up.latest {
                span { (latest.delivery.note) }
            }
            (timeline::redeliver_form(viewer, &event.order_id, &event.id))
        }
    }
}

pub(crate) fn causes(causes: &[AttentionCause]) -> Markup {
    html! {
        dl.causes {
            @for cause in causes {
                @let (title, sentence) = attention::texts(*cause);
                dt { (title) }
                dd { (sentence) }
            }
        }
    }
}

/// The form of a decision, with the reason of one that was refused; a sentence for a person who may not decide.
pub(crate) fn decision_form(
    viewer: &Viewer,
    aggregate: &Aggregate,
    back: &str,
    written: &str,
) -> Markup {
    let order = &aggregate.order;
    if viewer.role == Role::Read {
        let another = match viewer.place {
            Place::Operator => "Your role is read: another operator decides.",
            Place::Staff => "You see this order; a colleague whose link allows it decides.",
        };
        return html! { p.muted { (another) } };
    }
    let possible = possible(aggregate);
    if possible.is_empty() {
        return html! {};
    }
    let reason = format!("reason-{}", order.id);
    html! {
        form.decision method="post" action={ (viewer.base()) "/orders/" (order.id) "/decision" } {
            input type="hidden" name="csrf" value=(viewer.csrf);
            input type="hidden" name="version" value=(order.version);
            input type="hidden" name="back" value=(back);
            label for=(reason) { "Reason, for the audit log" }
            textarea id=(reason) name="reason" rows="2" required maxlength="500" { (written) }
            div.buttons {
                @for kind in &possible {
                    @let (name, tone) = name_and_tone(*kind);
                    button class=(tone) type="submit" name="decision" value=(<&str>::from(*kind)) { (name) }
                }
            }
            p.muted {
                @for kind in &possible { (effect(*kind, order.status)) " " }
            }
        }
    }
}

fn name_and_tone(kind: DecisionKind) -> (&'static str, &'static str) {
    match kind {
        DecisionKind::AcceptAsPaid => ("Accept as paid", "main"),
        DecisionKind::Snooze => ("Keep waiting", "plain"),
        DecisionKind::Resolve => ("Close", "danger"),
    }
}

fn effect(kind: DecisionKind, status: OrderStatus) -> &'static str {
    match kind {
        DecisionKind::AcceptAsPaid => {
            "Accept as paid credits the order for good and sends order.paid."
        }
        DecisionKind::Snooze => {
            "Keep waiting changes nothing and calls you again when there is news."
        }
        DecisionKind::Resolve if status.is_settled() => {
            "Close ends this entry; the order stays paid."
        }
        DecisionKind::Resolve => {
            "Close cancels the order for good and sends order.cancelled; no payment credits it any more."
        }
    }
}
