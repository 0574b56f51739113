//! What must have happened in a run of some thousand lives: a fault that never came proves nothing.

use crate::counters::Tally;
use crate::faults::{Endpoint, Trouble};
use crate::random::Chance;

const MUST_HAPPEN: [(&str, &[&str]); 13] = [
    (
        "doors",
        &[
            "Catalogue",
            "OrderToken",
            "Donation",
            "StoreServer",
            "Hosted",
        ],
    ),
    (
        "customers",
        &[
            "Exactly",
            "MuchLess",
            "ALittleLess",
            "InTwoParts",
            "More",
            "Twice",
            "Late",
            "Never",
            "OnTheOtherAsset",
            "OnTheFirstAsset",
            "OnBothAssets",
            "WithTooLowAFee",
            "ThroughAReorganisation",
            "TakenBackLater",
            "LeavesAtOnce",
        ],
    ),
    (
        "customers' doings",
        &[
            "paid",
            "was cancelled",
            "closed the page",
            "came back to a new page",
        ],
    ),
    ("keys", &["replayed"]),
    (
        "answers of the proxy",
        &["409 request_in_progress", "422 idempotency_key_reused"],
    ),
    ("callbacks", &["sent", "repeated", "lost", "a lie"]),
    ("clock", &["set back", "set forward"]),
    (
        "crashes",
        &[
            "at any moment",
            "while a call is on its way",
            "before an answer is heard",
            "before a delivery",
            "after a delivery, before it is recorded",
            "before a commit",
            "within a commit",
            "after a commit",
            "a freeze, and two processes at once",
        ],
    ),
    (
        "faults of the ledger",
        &[
            "Before",
            "Halfway",
            "After",
            "CrashBefore",
            "CrashHalfway",
            "CrashAfter",
        ],
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
        "verdicts",
        &[
            "waiting",
            "seen",
            "confirming",
            "settled",
            "short",
            "failed",
            "cancelled",
            "expired",
            "frozen",
            "held",
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

/// A sentence about every kind that never came up.
pub(crate) fn missing(tally: &Tally) -> Vec<String> {
    let mut missing = Vec::new();
    let mut must = |theme: &'static str, kind: &str| {
        if tally.of(theme, kind) == 0 {
            missing.push(format!(
                "nothing was proven: {theme}: {kind} never happened"
            ));
        }
    };
    for (theme, kinds) in MUST_HAPPEN {
        for kind in kinds {
            must(theme, kind);
        }
    }
    let any = Chance::new(0);
    for endpoint in [
        Endpoint::Prices,
        Endpoint::Create,
        Endpoint::Session,
        Endpoint::Lookup,
        Endpoint::Confirm,
    ] {
        for (_, trouble) in Trouble::all(endpoint, &any) {
            let kind = format!("{endpoint:?}: {}", trouble.name());
            must("faults of the service", &kind);
        }
    }
    missing
}
