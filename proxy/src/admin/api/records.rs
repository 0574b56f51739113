//! Orders, deliveries and entries of the audit log as JSON for operators: docs/operations/operators-page.md.

use florin_orders::{Aggregate, Attempt, AttemptState, DecisionKind, Destination, OrderRecord};
use florin_storage::{AuditEntry, OrderHistory, RecordedEvent, StoredObservation};
use jiff::Timestamp;
use serde_json::{Value, json};
use strum::VariantArray as _;

use crate::admin::attention;
use crate::http::store_api::events::DeliveryAttempt;

/// An order for operators: the store's record of it, and what the store does not see.
pub(crate) fn order(aggregate: &Aggregate) -> Value {
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

/// One order with all that happened.
pub(crate) fn history(history: &OrderHistory) -> Value {
    let aggregate = &history.aggregate;
    json!({
        "order": order(aggregate),
        "attempts": aggregate.attempts.iter().map(attempt).collect::<Value>(),
        "observations": history.observations.iter().map(observation).collect::<Value>(),
        "events": history.events.iter().map(event).collect::<Value>(),
        "audit": history.audit.iter().map(audit).collect::<Value>(),
    })
}

fn attempt(attempt: &Attempt) -> Value {
    let terms = attempt.terms.custom();
    let paid_in = attempt
        .invoice()
        .and_then(|it| it.progress.paid_in.as_ref());
    let asset = terms.map(|terms| &terms.crypto_code).or(paid_in);
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
        "crypto_code": asset.map(ToString::to_string),
        // In the asset, US dollars, and local currency; null for a hosted attempt.
        "requested": requested.map(|it| it.amounts.each().map(|amount| amount.to_string())),
        "local_currency_code": requested.map(|it| it.local_currency.to_string()),
        "invoice": invoice,
    })
}

fn observation(stored: &StoredObservation) -> Value {
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

fn event(recorded: &RecordedEvent) -> Value {
    let event = &recorded.event;
    let deliveries = recorded.deliveries.iter().map(DeliveryAttempt::of);
    json!({
        "id": event.id.to_string(),
        "type": event.kind,
        "sequence": event.sequence,
        "created_at": event.created_at.to_string(),
        "state": <&str>::from(recorded.state),
        "next_at": time(recorded.next_at),
        "deliveries": deliveries.collect::<Vec<_>>(),
    })
}

pub(crate) fn audit(entry: &AuditEntry) -> Value {
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
