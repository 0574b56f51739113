//! The history of one order: its attempts, its time line, and the gateway's word beside ours.

use florin_orders::{
    Aggregate, Attempt, AttemptState, Destination, EventId, EventType, Invoice, OrderId,
};
use florin_storage::{AuditEntry, EventState, OrderHistory, StoreScope, StoredObservation};
use jiff::Timestamp;
use maud::{Markup, html};
use serde_json::Value;

use crate::admin::pages::{self, Place, Viewer};
use crate::config::Role;

/// A member of a response that is compared: its name, what was requested, and `true` if another value is a contradiction, not
/// progress. Source: payment-service.md, "Invoice status record".
type Member = (&'static str, String, bool);

fn members(order: &Aggregate, attempt: &Attempt, invoice: &Invoice) -> Vec<Member> {
    let mut members = vec![
        ("invoice_id", invoice.id.to_string(), true),
        ("transaction_status", "COMPLETED".to_owned(), false),
    ];
    if let Destination::Address { address, .. } = &invoice.destination {
        members.push(("wallet_address", address.clone(), true));
    }
    let (local, local_currency) = if let Some(terms) = attempt.terms.custom() {
        let [crypto, usd, local] = terms.requested.amounts.each();
        members.extend([
            ("transaction_crypto", terms.crypto_code.to_string(), true),
            ("invoice_crypto_amount", crypto.to_string(), true),
            ("received_crypto_amount", crypto.to_string(), false),
            ("invoice_amount_in_usd", usd.to_string(), true),
            ("received_amount_in_usd", usd.to_string(), false),
        ]);
        (local, terms.requested.local_currency)
    } else {
        (order.order.terms.amount, order.order.terms.currency)
    };
    members.extend([
        ("local_currency_code", local_currency.to_string(), true),
        ("invoice_amount_in_local_currency", local.to_string(), true),
        (
            "received_amount_in_local_currency",
            local.to_string(),
            false,
        ),
    ]);
    members
}

/// What the latest response about the attempt in question says, beside what was requested.
pub(crate) fn comparison(history: &OrderHistory) -> Markup {
    let aggregate = &history.aggregate;
    let latest = |attempt: &Attempt| {
        let id = &attempt.terms.id;
        history.observations.iter().find(|it| it.attempt_id == *id)
    };
    let rank = |attempt: &&Attempt| {
        let needs_review = attempt.invoice().is_some_and(|it| it.needs_review);
        let is_current = aggregate.order.is_current(attempt);
        (
            needs_review,
            attempt.has_money(),
            is_current,
            attempt.begun_at,
        )
    };
    let observed = aggregate
        .attempts
        .iter()
        .filter(|attempt| attempt.invoice().is_some() && latest(attempt).is_some());
    let Some(attempt) = observed.max_by_key(rank) else {
        return html! { p.muted { "The gateway has reported nothing about this order." } };
    };
    let (Some(invoice), Some(observation)) = (attempt.invoice(), latest(attempt)) else {
        return html! {};
    };
    html! {
        p {
            "The gateway's response of " (pages::time(observation.last_at)) " UTC"
            @if observation.times > 1 { ", the same " (observation.times) " times" }
            ": " strong { (observation.assessment) }
        }
        (compared(&members(aggregate, attempt, invoice), observation))
    }
}

fn compared(members: &[Member], observation: &StoredObservation) -> Markup {
    let parsed: Option<Value> = serde_json::from_str(&observation.raw).ok();
    let data = parsed.as_ref().map(|root| match &root["data"] {
        data @ Value::Object(_) => data,
        _ => root,
    });
    let reported = |name: &str| match data.map(|data| &data[name]) {
        Some(Value::String(text)) => Some(text.clone()),
        None | Some(Value::Null) => None,
        Some(other) => Some(other.to_string()),
    };
    html! {
        @if data.is_some() {
            table.compared {
                (pages::head(&["Member", "Requested", "The gateway says"], &[]))
                tbody {
                    @for (name, expected, is_fixed) in members {
                        @let value = reported(name);
                        @let differs = *is_fixed && !is_equal(value.as_deref(), expected);
                        tr class=[differs.then_some("differs")] {
                            th scope="row" { code { (name) } }
                            td data-label="Requested" { (expected) }
                            td data-label="The gateway says" {
                                @if let Some(value) = &value { (value) } @else { span.muted { "nothing" } }
                                @if differs { " " span.badge.bad { "differs" } }
                            }
                        }
                    }
                }
            }
        }
        details {
            summary { "The whole response" }
            pre tabindex="0" { code { (observation.raw) } }
        }
    }
}

/// Amounts are equal however they are written.
fn is_equal(reported: Option<&str>, expected: &str) -> bool {
    let amount = |text: &str| florin_money::Amount::parse(text).ok();
    reported.is_some_and(|reported| {
        reported == expected
            || amount(reported).is_some_and(|reported| Some(reported) == amount(expected))
    })
}

pub(crate) fn attempts(aggregate: &Aggregate) -> Markup {
    let mut attempts: Vec<&Attempt> = aggregate.attempts.iter().collect();
    attempts.sort_by_key(|attempt| std::cmp::Reverse(attempt.begun_at));
    html! {
        @if !attempts.is_empty() {
            section aria-labelledby="attempts" {
                h2 #attempts { "Attempts" }
                @for attempt in attempts { (one_attempt(aggregate, attempt)) }
            }
        }
    }
}

fn asset(attempt: &Attempt) -> String {
    let terms = attempt.terms.custom();
    terms.map_or("the gateway's page".to_owned(), |terms| {
        terms.crypto_code.to_string()
    })
}

fn one_attempt(aggregate: &Aggregate, attempt: &Attempt) -> Markup {
    let asset = asset(attempt);
    let invoice = attempt.invoice();
    html! {
        article.card {
            div.title {
                h3 { (asset) }
                @if aggregate.order.is_current(attempt) { span.badge.quiet { "shown" } }
                @match &attempt.state {
                    AttemptState::Creating => span.badge.busy { "being opened" },
                    AttemptState::Open(invoice) => span.badge.quiet { (<&str>::from(invoice.payment_state)) },
                    AttemptState::Abandoned(reason) => span.badge.bad { (<&str>::from(*reason)) },
                }
            }
            dl.facts {
                @if let Some(terms) = attempt.terms.custom() {
                    div { dt { "Requested" } dd { (terms.requested.amounts.crypto) " " (asset) } }
                }
                @if let Some(invoice) = invoice {
                    div { dt { "Received" } dd { (invoice.progress.received.crypto) " " (asset) } }
                    @match &invoice.destination {
                        Destination::Address { address, .. } => div { dt { "Address" } dd { code { (address) } } },
                        Destination::Page { url } => div { dt { "Page" } dd { code { (url) } } },
                    }
                    div { dt { "Invoice" } dd { code { (invoice.id) } } }
                    @if let Some(hash) = &invoice.progress.transaction_hash {
                        div { dt { "Transaction" } dd { code { (hash) } } }
                    }
                    @if let Some((count, required)) = invoice.progress.confirmations {
                        div { dt { "Confirmations" } dd { (count) " of " (required) } }
                    }
                    div { dt { "Expires, UTC" } dd { (pages::time(invoice.expires_at)) } }
                    @if let Some(at) = invoice.next_poll_at {
                        div { dt { "Next poll, UTC" } dd { (pages::time(at)) } }
                    }
                }
            }
        }
    }
}

pub(crate) fn timeline(viewer: &Viewer, history: &OrderHistory) -> Markup {
    let mut entries: Vec<(Timestamp, u8, Markup)> = Vec::new();
    let aggregate = &history.aggregate;
    for attempt in &aggregate.attempts {
        let asset = asset(attempt);
        let quoted =
            html! { strong { "Attempt begun" } " " span { (asset) ": an invoice is requested" } };
        entries.push((attempt.begun_at, 1, quoted));
        if let Some(invoice) = attempt.invoice() {
            let shown = match &invoice.destination {
                Destination::Address { address, .. } => html! {
                    strong { "Address shown" } " " code { (address) }
                },
                Destination::Page { .. } => html! { strong { "Gateway's page opened" } },
            };
            entries.push((invoice.opened_at, 2, shown));
            if let Some(at) = invoice.marked_as_paid_at {
                entries.push((
                    at,
                    3,
                    html! { strong { "The customer reports the payment" } },
                ));
            }
        }
    }
    for observation in &history.observations {
        let reported = html! {
            strong { "Gateway's response" } " " span { (observation.assessment) }
            @if let Some(confirmations) = confirmations(observation) {
                " " span { (confirmations) " confirmations" }
            }
            @if observation.times > 1 {
                " " span.muted { (observation.times) " times, until " (pages::time(observation.last_at)) }
            }
        };
        entries.push((observation.first_at, 4, reported));
    }
    for entry in &history.audit {
        entries.push((entry.at, 5, done(viewer, entry)));
    }
    if let Some(at) = seen_at(history) {
        entries.push((at, 3, html! { strong { "Payment seen" } }));
    }
    if let Some(at) = aggregate.order.settled_at {
        let terms = &aggregate.order.terms;
        let credited = html! {
            strong { "Credited" } " " span { (terms.amount) " " (terms.currency) ", once and for good" }
        };
        entries.push((at, 5, credited));
    }
    for recorded in &history.events {
        let event = &recorded.event;
        let (word, tone) = word_and_tone(recorded.state);
        let sent = html! {
            strong { "Event " (event.kind) } " "
            span class={ "badge " (tone) } { (word) }
            @if recorded.state != EventState::NoWebhook {
                (redeliver_form(viewer, &event.order_id, &event.id))
            }
        };
        entries.push((event.created_at, 6, sent));
        for delivery in &recorded.deliveries {
            let tried = &delivery.delivery;
            let line = html! {
                strong { "Delivery of " (event.kind) } " "
                span { (tried.note) " in " (tried.took.as_millis()) " ms" }
            };
            entries.push((tried.tried_at, 7, line));
        }
    }
    entries.sort_by_key(|(at, rank, _)| std::cmp::Reverse((*at, *rank)));
    html! {
        section aria-labelledby="timeline" {
            h2 #timeline { "Time line" }
            ol.timeline reversed {
                @for (at, _, entry) in &entries {
                    li { span.when { (pages::time(*at)) } div { (entry) } }
                }
                li {
                    span.when { (pages::time(aggregate.order.created_at)) }
                    div { strong { "Order opened" } " " span { (aggregate.order.terms.amount) " " (aggregate.order.terms.currency) } }
                }
            }
        }
    }
}

/// What a person did. A store's staff learns what operators did, and neither their names nor their notes.
fn done(viewer: &Viewer, entry: &AuditEntry) -> Markup {
    let action: &str = entry.action.into();
    let action = action.replace('_', " ");
    let is_hidden = viewer.place == Place::Staff && entry.actor.scope == StoreScope::All;
    if is_hidden {
        return html! { strong { "Operator: " (action) } };
    }
    let kind = match entry.actor.scope {
        StoreScope::All => "Operator",
        StoreScope::Store(_) => "Staff",
    };
    html! {
        strong { (kind) " " (entry.actor.name) ": " (action) }
        @if !entry.reason.is_empty() { " " q { (entry.reason) } }
    }
}

/// When a payment was first noticed: a transaction without confirmations, or the first poll that found it with some.
fn seen_at(history: &OrderHistory) -> Option<Timestamp> {
    let events = history.events.iter().map(|recorded| &recorded.event);
    let is_of_money = |kind: EventType| {
        matches!(
            kind,
            EventType::PaymentSeen | EventType::Processing | EventType::Underpaid | EventType::Paid
        )
    };
    let seen = events.filter(|event| is_of_money(event.event_type));
    seen.map(|event| event.created_at).min()
}

/// The confirmations that a response names, as the gateway writes them: `1/3`.
fn confirmations(observation: &StoredObservation) -> Option<String> {
    let parsed: Value = serde_json::from_str(&observation.raw).ok()?;
    let data = parsed.get("data").unwrap_or(&parsed);
    let text = data.get("blockchain_confirmations")?.as_str()?;
    (!text.is_empty()).then(|| text.to_owned())
}

fn word_and_tone(state: EventState) -> (&'static str, &'static str) {
    match state {
        EventState::Pending => ("waits", "busy"),
        EventState::Delivered => ("delivered", "good"),
        EventState::GivenUp => ("given up", "bad"),
        EventState::NoWebhook => ("no webhook", "quiet"),
    }
}

/// The button that sends an event again; nothing for a person who may not.
pub(crate) fn redeliver_form(viewer: &Viewer, order: &OrderId, event: &EventId) -> Markup {
    if viewer.role == Role::Read {
        return html! {};
    }
    html! {
        form.inline method="post" action={ (viewer.base()) "/orders/" (order) "/redeliver" } {
            input type="hidden" name="csrf" value=(viewer.csrf);
            input type="hidden" name="event" value=(event);
            button.plain type="submit" aria-label={ "Redeliver " (event) } { "Redeliver" }
        }
    }
}
