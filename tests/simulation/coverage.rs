//! Coverage of a run of some thousand orders: a fault that never happens proves nothing.

use support::{Counters, SeededRandom, names};

use crate::account::CHANGE_FAULTS;
use crate::behaviour::BEHAVIOURS;
use crate::disaster::DISASTERS;
use crate::faults::{Endpoint, Fault};
use crate::order_sources::ORDER_SOURCES;
use crate::sender::ENDPOINT_FAULTS;

/// What must happen, beside the kinds that are drawn from tables.
const MUST_HAPPEN: [(&str, &str); 14] = [
    ("customers", "CompletedAfterWeeks"),
    ("steps with a disaster", "Storage, Gateway, Webhook, Clock"),
    (
        "actions of customers",
        "paid, was cancelled, closed the page, returned to a new page",
    ),
    ("keys", "replayed"),
    ("restores", "lost orders, lost credits, lost events"),
    (
        "responses of the proxy",
        "409 request_in_progress, 422 idempotency_key_reused",
    ),
    ("callbacks", "sent, repeated, lost, a wrong status"),
    ("clock", "set back, set forward"),
    (
        "crashes",
        "at any time, during a call, before a response is read, before a delivery, \
         after a delivery and before it is recorded, before a commit, within a commit, \
         after a commit, a suspended process beside a new one",
    ),
    (
        "faults of the storage",
        "Before, Halfway, After, CrashBefore, CrashHalfway, CrashAfter, \
         a commit of unknown outcome",
    ),
    ("run", "worlds of three proxies"),
    (
        "orders",
        "open, awaiting_payment, paid, overpaid, underpaid, failed, cancelled, expired, blocked",
    ),
    (
        "assessments",
        "waiting, detected, confirming, settled, underpaid, failed, cancelled, expired, \
         address_changed, needs_review",
    ),
    (
        "events",
        "order.created, order.attempt_opened, order.payment_seen, order.processing, order.paid, \
         order.overpaid, order.underpaid, order.failed, order.expired, order.cancelled, \
         order.blocked, order.late_payment, order.reverted, donation.created, donation.paid",
    ),
];

pub(crate) fn missing(counters: &Counters) -> Vec<String> {
    let listed = MUST_HAPPEN.into_iter();
    let listed = listed.map(|(theme, kinds)| counters.missing(theme, kinds.split(", ")));
    let mut missing: Vec<String> = listed.flatten().collect();
    let sources = ORDER_SOURCES.map(|source| format!("{source:?}"));
    missing.extend(counters.missing("order sources", sources));
    missing.extend(counters.missing("customers", names(&BEHAVIOURS)));
    missing.extend(counters.missing("faults of the shared account", names(&CHANGE_FAULTS)));
    missing.extend(counters.missing("faults of the store", names(&ENDPOINT_FAULTS)));
    let disasters = DISASTERS.map(|(_, disaster)| disaster.name());
    missing.extend(counters.missing("disasters", disasters));
    let any = SeededRandom::new(0);
    for endpoint in [
        Endpoint::Prices,
        Endpoint::Create,
        Endpoint::Session,
        Endpoint::Lookup,
        Endpoint::Confirm,
    ] {
        let faults = Fault::all(endpoint, &any).into_iter();
        let kinds = faults.map(|(_, fault)| format!("{endpoint:?}: {}", fault.name()));
        missing.extend(counters.missing("faults of the gateway", kinds));
    }
    missing
}
