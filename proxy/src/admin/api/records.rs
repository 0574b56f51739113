//! Orders, deliveries and entries of the audit log as JSON for operators.

use florin_orders::{Aggregate, Attempt, AttemptState, DecisionKind, Destination, OrderRecord};
use florin_storage::{AuditEntry, RecordedEvent, StoredObservation};
use jiff::Timestamp;
use serde::Serialize;
use strum::VariantArray as _;

use crate::admin::attention;
use crate::http::store_api::events::DeliveryAttempt;

/// An order for operators: the store's record of it, and what the store does not see.
#[derive(Debug, Serialize)]
pub(crate) struct OrderJson {
    store: String,
    /// What a decision must name: it grows with every change.
    version: u64,
    /// Since when it waits for a person; null while it does not.
    attention_since: Option<String>,
    attention: Vec<CauseJson>,
    decisions: Vec<&'static str>,
    #[serde(flatten)]
    record: OrderRecord,
}

#[derive(Debug, Serialize)]
struct CauseJson {
    cause: &'static str,
    title: &'static str,
    sentence: &'static str,
}

impl OrderJson {
    pub(crate) fn of(aggregate: &Aggregate) -> Self {
        let order = &aggregate.order;
        let causes = aggregate.attention_causes().into_iter();
        let snapshot = aggregate.snapshot();
        Self {
            store: order.terms.store_id.to_string(),
            version: order.version,
            attention_since: time(aggregate.attention_since),
            attention: causes
                .map(|cause| CauseJson {
                    cause: cause.into(),
                    title: attention::title(cause),
                    sentence: attention::sentence(cause),
                })
                .collect(),
            decisions: possible(aggregate).into_iter().map(Into::into).collect(),
            record: OrderRecord::of(&snapshot),
        }
    }
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

#[derive(Debug, Serialize)]
pub(crate) struct AttemptJson {
    id: String,
    /// `creating`, `open`, `refused`, `unclear` or `blocked`.
    state: &'static str,
    begun_at: String,
    crypto_code: Option<String>,
    /// In the asset, US dollars, and local currency; null for a hosted attempt.
    requested: Option<[String; 3]>,
    local_currency_code: Option<String>,
    invoice: Option<InvoiceJson>,
}

#[derive(Debug, Serialize)]
struct InvoiceJson {
    id: String,
    address: Option<String>,
    page_url: Option<String>,
    opened_at: String,
    expires_at: String,
    marked_as_paid_at: Option<String>,
    payment_state: &'static str,
    state_since: String,
    /// In the asset, US dollars, and local currency.
    received: [String; 3],
    confirmations: Option<[u32; 2]>,
    transaction_hash: Option<String>,
    needs_review: bool,
    observed_at: Option<String>,
    next_poll_at: Option<String>,
}

impl AttemptJson {
    pub(crate) fn of(attempt: &Attempt) -> Self {
        let terms = attempt.terms.custom();
        let invoice = attempt.invoice();
        let picked = invoice.and_then(|invoice| invoice.progress.paid_in.as_ref());
        let asset = terms.map(|terms| &terms.crypto_code).or(picked);
        Self {
            id: attempt.terms.id.to_string(),
            state: match &attempt.state {
                AttemptState::Creating => "creating",
                AttemptState::Open(_) => "open",
                AttemptState::Abandoned(reason) => reason.into(),
            },
            begun_at: attempt.begun_at.to_string(),
            crypto_code: asset.map(ToString::to_string),
            requested: terms.map(|terms| {
                let requested = terms.requested.amounts.each();
                requested.map(|amount| amount.to_string())
            }),
            local_currency_code: terms.map(|terms| terms.requested.local_currency.to_string()),
            invoice: invoice.map(|invoice| {
                let (address, page_url) = match &invoice.destination {
                    Destination::Address { address, .. } => (Some(address.clone()), None),
                    Destination::Page { url } => (None, Some(url.to_string())),
                };
                let confirmations = invoice.progress.confirmations;
                InvoiceJson {
                    id: invoice.id.to_string(),
                    address,
                    page_url,
                    opened_at: invoice.opened_at.to_string(),
                    expires_at: invoice.expires_at.to_string(),
                    marked_as_paid_at: time(invoice.marked_as_paid_at),
                    payment_state: invoice.payment_state.into(),
                    state_since: invoice.state_since.to_string(),
                    received: (invoice.progress.received.each()).map(|amount| amount.to_string()),
                    confirmations: confirmations.map(|(count, required)| [count, required]),
                    transaction_hash: invoice.progress.transaction_hash.clone(),
                    needs_review: invoice.needs_review,
                    observed_at: time(invoice.observed_at),
                    next_poll_at: time(invoice.next_poll_at),
                }
            }),
        }
    }
}

#[derive(Debug, Serialize)]
pub(crate) struct ObservationJson {
    attempt: String,
    first_at: String,
    last_at: String,
    /// How often the same response came in a row.
    times: u64,
    assessment: String,
    /// The beginning of the response.
    raw: String,
}

impl ObservationJson {
    pub(crate) fn of(stored: &StoredObservation) -> Self {
        Self {
            attempt: stored.attempt_id.to_string(),
            first_at: stored.first_at.to_string(),
            last_at: stored.last_at.to_string(),
            times: stored.times,
            assessment: stored.assessment.clone(),
            raw: stored.raw.clone(),
        }
    }
}

#[derive(Debug, Serialize)]
pub(crate) struct EventJson {
    id: String,
    #[serde(rename = "type")]
    kind: String,
    sequence: u32,
    created_at: String,
    /// `pending`, `delivered`, `given_up` or `no_webhook`.
    state: &'static str,
    next_at: Option<String>,
    deliveries: Vec<DeliveryAttempt>,
}

impl EventJson {
    pub(crate) fn of(recorded: &RecordedEvent) -> Self {
        let event = &recorded.event;
        Self {
            id: event.id.to_string(),
            kind: event.kind.clone(),
            sequence: event.sequence,
            created_at: event.created_at.to_string(),
            state: recorded.state.into(),
            next_at: time(recorded.next_at),
            deliveries: recorded
                .deliveries
                .iter()
                .map(DeliveryAttempt::of)
                .collect(),
        }
    }
}

#[derive(Debug, Serialize)]
pub(crate) struct AuditJson {
    id: String,
    at: String,
    /// The operator's name, or that of the member of the staff.
    operator: String,
    /// The store whose staff it was; null for an operator.
    staff_of: Option<String>,
    action: &'static str,
    order: Option<String>,
    /// The event or the store.
    subject: Option<String>,
    reason: String,
    status_before: Option<&'static str>,
    status_after: Option<&'static str>,
}

impl AuditJson {
    pub(crate) fn of(entry: &AuditEntry) -> Self {
        let (before, after) = entry.status.unzip();
        Self {
            id: entry.id.to_string(),
            at: entry.at.to_string(),
            operator: entry.actor.name.clone(),
            staff_of: entry.actor.scope.store().map(ToString::to_string),
            action: entry.action.into(),
            order: entry.order_id.as_ref().map(ToString::to_string),
            subject: entry.subject.clone(),
            reason: entry.reason.clone(),
            status_before: before.map(Into::into),
            status_after: after.map(Into::into),
        }
    }
}
