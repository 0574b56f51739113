//! The first page: what needs a person.

use std::sync::Arc;

use axum::extract::State;
use florin_orders::Aggregate;
use florin_storage::GivenUpEvent;
use maud::{Markup, html};

use crate::admin::attention::{DISABLED_WEBHOOK, GIVEN_UP_EVENT};
use crate::admin::error::OperatorError;
use crate::admin::pages::decision::{causes, decision_form};
use crate::admin::pages::error::PageError;
use crate::admin::pages::signed_in::SignedIn;
use crate::admin::pages::{layout, timeline};
use crate::state::AppState;

/// Entries of each kind: the longest waiting ones.
const MOST: u32 = 50;

/// GET /.
pub(crate) async fn page(
    State(app): State<Arc<AppState>>,
    operator: SignedIn,
) -> Result<Markup, PageError> {
    let storage = &app.deps.storage;
    let orders = storage.orders_for_attention(MOST).await?;
    let given_up = storage.given_up_events(MOST).await?;
    let totals = storage.totals().await?;
    let disabled = totals.outboxes.iter().filter(|outbox| outbox.is_disabled);
    let disabled: Vec<_> = disabled.collect();
    let is_empty = orders.is_empty() && given_up.is_empty() && disabled.is_empty();
    let mut entries = Vec::with_capacity(orders.len());
    for order in &orders {
        entries.push(entry(&app, &operator, order).await?);
    }
    let content = html! {
        @if is_empty {
            p.notice.good { "Nothing waits for you." }
        }
        @for entry in &entries { (entry) }
        @if !disabled.is_empty() {
            section aria-labelledby="disabled" {
                h2 #disabled { "Disabled webhooks" }
                p { (DISABLED_WEBHOOK) }
                ul.rows {
                    @for outbox in &disabled {
                        li {
                            a href="/stores" { strong { (outbox.store_id) } }
                            span { (outbox.waiting) " events wait" }
                            @if let Some(oldest) = outbox.oldest_at {
                                span.muted { "the oldest since " (layout::time(oldest)) }
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
                ul.rows { @for event in &given_up { (given_up_row(&operator, event)) } }
            }
        }
    };
    Ok(layout::page(&operator, "/", "Needs a person", &content))
}

/// An order that waits: why, what the gateway says beside what was requested, and the decision.
async fn entry(
    app: &AppState,
    operator: &SignedIn,
    aggregate: &Aggregate,
) -> Result<Markup, OperatorError> {
    let order = &aggregate.order;
    let history = app.deps.storage.order_history(&order.id).await?;
    let since = aggregate.attention_since;
    Ok(html! {
        article.card aria-labelledby=(order.id) {
            div.title {
                h2 id=(order.id) { a href={ "/orders/" (order.id) } { (order.terms.reference) } }
                (layout::status(order.status))
                span.money { (order.terms.amount) " " (order.terms.currency) }
                span.muted { (order.terms.store_id) }
                @if let Some(since) = since {
                    span.muted { "waits since " (layout::time(since)) ", " (layout::ago(since, app.now())) }
                }
            }
            (causes(&aggregate.attention_causes()))
            @if let Some(history) = &history {
                (timeline::comparison(history))
            }
            (decision_form(operator, aggregate, "/"))
        }
    })
}

fn given_up_row(operator: &SignedIn, given_up: &GivenUpEvent) -> Markup {
    let event = &given_up.event;
    html! {
        li {
            a href={ "/orders/" (event.order_id) } { strong { (event.kind) } }
            span.muted { (event.store_id) ", " (layout::time(event.created_at)) }
            @if let Some(latest) = &given_up.latest {
                span { (latest.delivery.note) }
            }
            (timeline::redeliver_form(operator, &event.order_id, &event.id))
        }
    }
}
