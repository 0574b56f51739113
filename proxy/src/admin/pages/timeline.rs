//! The history of one order: its attempts, its time line, and what the gateway says otherwise than we.

use florin_money::{Asset, CryptoCode, Currency};
use florin_orders::{
    Aggregate, Attempt, AttemptState, DeliveryId, Destination, Event, EventType, Invoice, OrderId,
};
use florin_storage::{
    AuditEntry, Delivery, EventState, OrderHistory, StoreScope, StoredObservation,
};
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
        ]);
        if terms.requested.local_currency != Currency::USD {
            members.push(("invoice_amount_in_usd", usd.to_string(), true));
            members.push(("received_amount_in_usd", usd.to_string(), false));
        }
        (local, terms.requested.local_currency)
    } else {
        (order.order.terms.amount, order.order.terms.currency)
    };
    let received = "received_amount_in_local_currency";
    members.extend([
        ("local_currency_code", local_currency.to_string(), true),
        ("invoice_amount_in_local_currency", local.to_string(), true),
        (received, local.to_string(), false),
    ]);
    members
}

/// What the latest response about the attempt in question says otherwise than was requested.
pub(crate) fn comparison(viewer: &Viewer, history: &OrderHistory) -> Markup {
    let aggregate = &history.aggregate;
    let found = aggregate.attempt_in_question().and_then(|attempt| {
        let mut observations = history.observations.iter();
        let latest = observations.find(|it| it.attempt_id == attempt.terms.id)?;
        Some((attempt, attempt.invoice()?, latest))
    });
    let Some((attempt, invoice, observation)) = found else {
        return html! { p.muted { "The gateway has reported no payment of this order." } };
    };
    let hash = invoice.progress.transaction_hash.as_deref();
    html! {
        div.comparison {
            p {
                "The gateway's response about " (asset(attempt)) " of " (pages::time(observation.last_at))
                @if observation.times > 1 { ", the same " (observation.times) " times" }
                ": " strong { (observation.assessment) }
            }
            @if let Some(hash) = hash {
                p { "Transaction " (pages::on_chain(viewer, code(attempt), hash, Asset::explorer_url)) }
            }
            (compared(&members(aggregate, attempt, invoice), observation))
        }
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
    let members = members.iter().map(|member| (member, reported(member.0)));
    let differing =
        members.filter(|((_, expected, _), value)| !is_equal(value.as_deref(), expected));
    let differing: Vec<_> = differing.filter(|_| data.is_some()).collect();
    html! {
        @if !differing.is_empty() {
            table.compared {
                (pages::head(&["Field", "Expected", "Received"], &[]))
                tbody {
                    @for ((name, expected, is_fixed), value) in &differing {
                        tr class=[is_fixed.then_some("differs")] {
                            th scope="row" { (name.replace('_', " ")) }
                            td data-label="Expected" { (pages::id(expected)) }
                            td data-label="Received" {
                                @if let Some(value) = value { (pages::id(value)) } @else { span.muted { "nothing" } }
                            }
                        }
                    }
                }
            }
        } @else if data.is_some() {
            p { "Nothing in it differs from what was requested." }
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

pub(crate) fn attempts(viewer: &Viewer, aggregate: &Aggregate) -> Markup {
    let mut attempts: Vec<&Attempt> = aggregate.attempts.iter().collect();
    attempts.sort_by_key(|attempt| std::cmp::Reverse(attempt.begun_at));
    html! {
        @if !attempts.is_empty() {
            section aria-labelledby="attempts" {
                h2 #attempts { "Attempts" }
                @for attempt in attempts { (one_attempt(viewer, aggregate, attempt)) }
            }
        }
    }
}

/// The asset of an attempt; the one that was paid where the customer picks it on the gateway's page.
fn code(attempt: &Attempt) -> Option<&CryptoCode> {
    let terms = attempt.terms.custom().map(|terms| &terms.crypto_code);
    terms.or_else(|| attempt.invoice()?.progress.paid_in.as_ref())
}

fn asset(attempt: &Attempt) -> String {
    code(attempt).map_or("the gateway's page".to_owned(), pages::asset)
}

fn one_attempt(viewer: &Viewer, aggregate: &Aggregate, attempt: &Attempt) -> Markup {
    let (asset, code) = (asset(attempt), code(attempt));
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
                        Destination::Address { address, .. } => div {
                            dt { "Address" }
                            dd { (pages::on_chain(viewer, code, address, Asset::explorer_address_url)) }
                        },
                        Destination::Page { url } => div { dt { "Page" } dd { (pages::id(url.as_str())) } },
                    }
                    div { dt { "Invoice" } dd { (pages::id(invoice.id.as_str())) } }
                    @if let Some(hash) = &invoice.progress.transaction_hash {
                        div {
                            dt { "Transaction" }
                            dd { (pages::on_chain(viewer, code, hash, Asset::explorer_url)) }
                        }
                    }
                    @if let Some((count, required)) = invoice.progress.confirmations {
                        div { dt { "Confirmations" } dd { (count) " of " (required) } }
                    }
                    div { dt { "Expires" } dd { (pages::time(invoice.expires_at)) } }
                    @if let Some(at) = invoice.next_poll_at {
                        div { dt { "Next poll" } dd { (pages::time(at)) } }
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
                    strong { "Address shown" } " " (pages::id(address))
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
    for refund in &aggregate.order.refunds {
        let sent = html! {
            strong { "Refunded" } " "
            span { (refund.amount_in_crypto) " " (pages::asset(&refund.crypto_code)) }
            @if let Some(hash) = &refund.transaction_hash {
                " " (pages::on_chain(viewer, Some(&refund.crypto_code), hash, Asset::explorer_url))
            }
        };
        entries.push((refund.at, 5, sent));
    }
    if let Some(at) = seen_at(history) {
        entries.push((at, 3, html! { strong { "Payment seen" } }));
    }
    let terms = &aggregate.order.terms;
    if let Some(at) = aggregate.order.settled_at {
        let credited = html! {
            strong { "Credited" } " " span { (pages::money(terms.amount, terms.currency)) ", once and for good" }
        };
        entries.push((at, 5, credited));
    }
    for recorded in &history.events {
        let event = &recorded.event;
        let (word, tone) = word_and_tone(recorded.state);
        let latest = recorded.deliveries.first();
        let latest = latest.filter(|_| recorded.state != EventState::NoWebhook);
        let sent = html! {
            strong { "Event " (event.kind) } " for " (recorded.webhook) " "
            @if let Some(address) = refund_address(event) { (pages::id(&address)) " " }
            span class={ "badge " (tone) } { (word) }
            @if let Some(latest) = latest {
                (redeliver_form(viewer, &event.order_id, &latest.id))
            }
        };
        entries.push((event.created_at, 6, sent));
        for delivery in &recorded.deliveries {
            let tried = &delivery.delivery;
            let line = html! {
                strong { "Delivery of " (event.kind) } " to " (recorded.webhook) " "
                span { (outcome(tried)) " in " (tried.took.as_millis()) " ms" }
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
                    div { strong { "Order opened" } " " span { (pages::money(terms.amount, terms.currency)) } }
                }
            }
        }
    }
}

/// The address that the customer named for a refund, of the event that says it.
fn refund_address(event: &Event) -> Option<String> {
    let payload: Value = serde_json::from_str(&event.payload).ok()?;
    let address = payload["data"]["order"]["refund_address"].as_str();
    let address = address.filter(|_| event.event_type == EventType::RefundAddressAdded);
    address.map(ToOwned::to_owned)
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
    use EventType::{Paid, PaymentSeen, Processing, Underpaid};
    let events = history.events.iter().map(|recorded| &recorded.event);
    let seen = events.filter(|event| {
        let kind = event.event_type;
        matches!(kind, PaymentSeen | Processing | Underpaid | Paid)
    });
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
        EventState::Pending => ("pending", "busy"),
        EventState::Delivered => ("delivered", "good"),
        EventState::GivenUp => ("given up", "bad"),
        EventState::NoWebhook => ("no webhook", "quiet"),
        EventState::Unwanted => ("not asked for", "quiet"),
    }
}

/// What became of a delivery: `answered 200`, `Not delivered: connection refused`.
pub(crate) fn outcome(delivery: &Delivery) -> String {
    let status = delivery.http_status;
    let is_accepted = status.is_some_and(|status| (200..300).contains(&status));
    let before = if is_accepted { "" } else { "Not delivered: " };
    format!("{before}{}", delivery.note)
}

/// The button that sends an event again to the webhook of a delivery; nothing for a person who may not.
pub(crate) fn redeliver_form(viewer: &Viewer, order: &OrderId, tried: &DeliveryId) -> Markup {
    if viewer.role == Role::Read {
        return html! {};
    }
    html! {
        form.inline method="post" action={ (viewer.base()) "/orders/" (order) "/redeliver" } {
            input type="hidden" name="csrf" value=(viewer.csrf);
            input type="hidden" name="event" value=(tried);
            button.plain type="submit" aria-label={ "Redeliver " (tried) } { "Redeliver" }
        }
    }
}
