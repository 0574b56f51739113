//! The first page: what needs attention, what was credited today, and the form of a decision.

use std::sync::Arc;
use std::time::Duration;

use axum::Extension;
use axum::extract::State;
use florin_orders::{Aggregate, DecisionKind, OrderStatus};
use florin_storage::{GivenUpEvent, OrderHistory, StorageError, Totals};
use jiff::tz::TimeZone;
use maud::{Markup, html};

use crate::admin::api::orders::possible;
use crate::admin::attention::{self, DISABLED_WEBHOOK, Finding, GIVEN_UP_EVENT, conditions};
use crate::admin::pages::refunds::refund_form;
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
        Ok(totals) => waiting(&app, &viewer, &totals, &found).await,
        Err(error) => Err(error.into()),
    };
    // While the database fails, its reason is more than that nothing can be read.
    let (title, content) = match waiting {
        Err(error) if !found.is_empty() => {
            let unread = html! {
                (proxy(&found))
                p.notice.bad { "What waits for you cannot be read: " (error) }
            };
            ("Needs attention".to_owned(), unread)
        }
        waiting => waiting?,
    };
    Ok(pages::page(&viewer, "/", &title, &content))
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

/// The title with the number of what waits and the sum of the day; and when the day began, what is wrong with the proxy, and the
/// entries.
async fn waiting(
    app: &AppState,
    viewer: &Viewer,
    totals: &Totals,
    found: &[Finding],
) -> Result<(String, Markup), OperatorError> {
    let (storage, scope) = (&app.storage, viewer.scope());
    let orders = storage.orders_for_attention(scope, MOST).await?;
    let given_up = storage.given_up_events(scope, MOST).await?;
    let outboxes = totals.outboxes.iter();
    let disabled = outboxes.filter(|outbox| outbox.is_disabled && scope.contains(&outbox.store_id));
    let disabled: Vec<_> = disabled.collect();
    let count = found.len() + orders.len() + given_up.len() + disabled.len();
    let need = match count {
        0 => "Nothing needs you".to_owned(),
        1 => "1 needs you".to_owned(),
        count if count >= MOST as usize => format!("{count}+ need you"),
        count => format!("{count} need you"),
    };
    let (today, day) = today(app, viewer).await?;
    let title = format!("{need} · {today}");
    let mut entries = Vec::with_capacity(orders.len());
    for order in &orders {
        entries.push(entry(app, viewer, order).await?);
    }
    let content = html! {
        (day)
        @if !found.is_empty() { (proxy(found)) }
        @if count == 0 {
            p.notice.good { "Nothing waits for you." }
        } @else if count == found.len() {
            p.muted { "No order, event or webhook waits for you." }
        }
        @for entry in &entries { (entry) }
        @if !disabled.is_empty() {
            section aria-labelledby="disabled" {
                h2 #disabled { "Disabled webhooks" }
                p { (DISABLED_WEBHOOK) }
                ul.rows {
                    @for outbox in &disabled {
                        li {
                            a href={ (viewer.base()) "/stores" } { strong { (outbox.store_id) } " " (outbox.webhook) }
                            span { (outbox.waiting) " pending events" }
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
    };
    Ok((title, content))
}

/// What was credited since midnight in the stores that the person may see: one sum for each currency; and when that was. The
/// day is that of the stores' time zone, of UTC where they have several.
async fn today(app: &AppState, viewer: &Viewer) -> Result<(String, Markup), OperatorError> {
    let (now, config) = (app.now(), app.config());
    let mut zones = viewer.stores(&config).map(|store| &store.time_zone);
    let zone = zones
        .next()
        .filter(|first| zones.all(|zone| zone == *first));
    let now_there = now.to_zoned(zone.cloned().unwrap_or(TimeZone::UTC));
    let midnight = now_there.start_of_day();
    let midnight = midnight.map_or(now, |midnight| midnight.timestamp());
    let sums = app.storage.credited(viewer.scope(), midnight).await?;
    let count = sums.iter().map(|(_, _, count)| count).sum::<u64>();
    let sums = sums.into_iter();
    let sums = sums.map(|(currency, sum, _)| pages::money(sum, currency));
    let sums = sums.collect::<Vec<_>>().join(" + ");
    let today = match count {
        0 => "today no payment".to_owned(),
        1 => format!("today {sums} in 1 order"),
        count => format!("today {sums} in {count} orders"),
    };
    let zone = zone.and_then(TimeZone::iana_name).unwrap_or("UTC");
    let day =
        html! { p.muted { "Today began at " (pages::time(midnight)) ", midnight in " (zone) "." } };
    Ok((today, day))
}

/// An order that waits: a row that opens in place.
async fn entry(
    app: &AppState,
    viewer: &Viewer,
    aggregate: &Aggregate,
) -> Result<Markup, OperatorError> {
    let order = &aggregate.order;
    let history = app.storage.order_history(viewer.scope(), &order.id).await?;
    let causes = aggregate.attention_causes().into_iter();
    let causes: Vec<&str> = causes.map(|cause| attention::texts(cause).0).collect();
    Ok(html! {
        details.card.entry {
            summary {
                h2 { (causes.join(", ")) }
                span.money { (pages::money(order.terms.amount, order.terms.currency)) }
                span {
                    (pages::id(order.terms.reference.as_str()))
                    @if viewer.sees_all() { span.muted { " " (order.terms.store_id) } }
                }
                @if let Some(since) = aggregate.attention_since {
                    span.muted title={ "waiting since " (since) } { (pages::duration(since, app.now())) " ago" }
                }
            }
            @if let Some(history) = &history { (body(viewer, history, "/", "")) }
        }
    })
}

/// Why an order waits, what is owed, the decision, and what the gateway says otherwise than was requested. `written`: the reason
/// of a decision that was refused.
pub(crate) fn body(viewer: &Viewer, history: &OrderHistory, back: &str, written: &str) -> Markup {
    let aggregate = &history.aggregate;
    html! {
        div.body {
            div {
                dl.causes {
                    @for cause in aggregate.attention_causes() {
                        @let (title, sentence) = attention::texts(cause);
                        dt { (title) }
                        dd { (sentence) }
                    }
                }
                @if !aggregate.owed().is_empty() { (refund_form(viewer, aggregate, back)) }
                p.muted {
                    @if back == "/" {
                        a href={ (viewer.base()) "/orders/" (aggregate.order.id) } { "Order" } " " (pages::status(aggregate.order.status))
                    }
                    @if let Some(since) = aggregate.attention_since { " Waiting since " (pages::time(since)) }
                }
            }
            (decision_form(viewer, aggregate, back, written))
            (timeline::comparison(viewer, history))
        }
    }
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
                span { (latest.delivery.webhook) ": " (timeline::outcome(&latest.delivery)) }
                (timeline::redeliver_form(viewer, &event.order_id, &latest.id))
            }
        }
    }
}

/// The form of a decision; a sentence for a person who may not decide.
fn decision_form(viewer: &Viewer, aggregate: &Aggregate, back: &str, written: &str) -> Markup {
    let order = &aggregate.order;
    if viewer.role == Role::Read {
        return html! { p.muted { "Your role is read: a person whose role is write decides." } };
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
                    button.plain[*kind != DecisionKind::AcceptAsPaid] type="submit" name="decision" value=(<&str>::from(*kind)) {
                        (name_and_effect(*kind, order.status).0)
                    }
                }
            }
            p.muted {
                @for kind in &possible {
                    @let (name, effect) = name_and_effect(*kind, order.status);
                    (name) " " (effect) " "
                }
            }
        }
    }
}

fn name_and_effect(kind: DecisionKind, status: OrderStatus) -> (&'static str, &'static str) {
    match kind {
        DecisionKind::AcceptAsPaid => ("Accept as paid", "credits the order for good."),
        DecisionKind::Snooze => ("Snooze", "hides the entry until there is news."),
        DecisionKind::Resolve if status.is_settled() => ("Resolve", "leaves the order paid."),
        DecisionKind::Resolve => ("Resolve", "cancels the order for good."),
    }
}
