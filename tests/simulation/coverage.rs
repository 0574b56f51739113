//! Coverage of a run of some thousand orders: a fault that never happens proves nothing.

use crate::counters::Counters;
use crate::disaster::DISASTERS;
use crate::faults::{Endpoint, Fault};
use crate::random::SeededRandom;

const MUST_HAPPEN: [(&str, &[&str]); 17] = [
    (
        "order sources",
        &["Product", "OrderToken", "Donation", "StoreServer", "Hosted"],
    ),
    (
        "customers",
        &[
            "Exactly",
            "MuchLess",
            "SlightlyLess",
            "InTwoParts",
            "More",
            "Twice",
            "Late",
            "Never",
            "SecondAttempt",
            "FirstAttempt",
            "BothAttempts",
            "TooLowFee",
            "Reorganisation",
            "RevertedLater",
            "Leave",
            "CompletedAfterWeeks",
        ],
    ),
    (
        "steps with a disaster",
        &["Storage", "Gateway", "Webhook", "Clock"],
    ),
    (
        "actions of customers",
        &[
            "paid",
            "was cancelled",
            "closed the page",
            "returned to a new page",
        ],
    ),
    ("keys", &["replayed"]),
    ("restores", &["lost orders", "lost credits", "lost events"]),
    (
        "responses of the proxy",
        &["409 request_in_progress", "422 idempotency_key_reused"],
    ),
    ("callbacks", &["sent", "repeated", "lost", "a wrong status"]),
    ("clock", &["set back", "set forward"]),
    (
        "crashes",
        &[
            "at any time",
            "during a call",
            "before a response is read",
            "before a delivery",
            "after a delivery and before it is recorded",
            "before a commit",
            "within a commit",
            "after a commit",
            "a suspended process beside a new one",
        ],
    ),
    (
        "faults of the storage",
        &[
            "Before",
            "Halfway",
            "After",
            "CrashBefore",
            "CrashHalfway",
            "CrashAfter",
            "a commit of unknown outcome",
        ],
    ),
    ("run", &["worlds of three proxies"]),
    (
        "faults of the shared account",
        &["Before", "After", "CrashBefore", "CrashAfter"],
    ),
    (
        "faults of the store",
        &[
            "Refused",
            "Error",
            "Redirect",
            "LostBefore",
            "LostAfter",
            "ErrorAfter",
            "Gone",
            "Slow",
            "CrashBefore",
            "CrashAfter",
        ],
    ),
    (
        "orders",
        &[
            "open",
            "awaiting_payment",
            "paid",
            "overpaid",
            "underpaid",
            "failed",
            "cancelled",
            "expired",
            "blocked",
        ],
    ),
    (
        "assessments",
        &[
            "waiting",
            "detected",
            "confirming",
            "settled",
            "underpaid",
            "failed",
            "cancelled",
            "expired",
            "address_changed",
            "needs_review",
        ],
    ),
    (
        "events",
        &[
            "order.created",
            "order.attempt_opened",
            "order.payment_seen",
            "order.processing",
            "order.paid",
            "order.overpaid",
            "order.underpaid",
            "order.failed",
            "order.expired",
            "order.cancelled",
            "order.blocked",
            "order.late_payment",
            "order.reverted",
            "donation.created",
            "donation.paid",
        ],
    ),
];

/// Returns a message for every kind that never happened.
pub(crate) fn missing(counters: &Counters) -> Vec<String> {
    let mut missing = Vec::new();
    let mut must = |theme: &'static str, kind: &str| {
        if counters.of(theme, kind) == 0 {
            missing.push(format!("not covered: {theme}: {kind} never happened"));
        }
    };
    for (theme, kinds) in MUST_HAPPEN {
        for kind in kinds {
            must(theme, kind);
        }
    }
    for (_, disaster) in DISASTERS {
        must("disasters", &disaster.name());
    }
    let any = SeededRandom::new(0);
    for endpoint in [
        Endpoint::Prices,
        Endpoint::Create,
        Endpoint::Session,
        Endpoint::Lookup,
        Endpoint::Confirm,
    ] {
        for (_, fault) in Fault::all(endpoint, &any) {
            let kind = format!("{endpoint:?}: {}", fault.name());
            must("faults of the gateway", &kind);
        }
    }
    missing
}
