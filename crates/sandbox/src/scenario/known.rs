//! The scenarios that everybody needs, by name.

use serde::Serialize;

use super::Step;

/// A scenario with a name.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Known {
    /// Lower-case words with dashes.
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    /// What is seen at its end.
    pub(crate) shows: &'static str,
    /// `invoice`, `session` for a hosted checkout, or `nothing`.
    pub(crate) happens_to: &'static str,
    pub(crate) steps: Vec<Step>,
}

/// All of them, in the order in which they are offered.
pub(crate) fn known() -> Vec<Known> {
    let read = |line: &(&'static str, &'static str, &'static str, &str)| {
        let (name, title, shows, steps) = *line;
        let steps = steps.replace("MINED", MINED).replace("ONE", ONE);
        let steps: Vec<Step> = serde_json::from_str(&steps).expect("the table holds steps");
        let speaks_of = |name| steps.iter().any(|step: &Step| step.names(name));
        Known {
            name,
            title,
            shows,
            happens_to: match (speaks_of("invoice"), speaks_of("session")) {
                (true, _) => "invoice",
                (_, true) => "session",
                _ => "nothing",
            },
            steps,
        }
    };
    TABLE.iter().map(read).collect()
}

/// The scenario of this name.
pub(crate) fn named(name: &str) -> Option<Known> {
    known().into_iter().find(|known| known.name == name)
}

/// One block of the invoice's chain.
const ONE: &str = r#"{"path": "mine", "body": {"chain": "{chain}"}}"#;
/// As many blocks as complete a payment, one by one.
const MINED: &str = "ONE, ONE, ONE";

/// Name, title, what is seen, steps.
const TABLE: [(&str, &str, &str, &str); 26] = [
    (
        "paid",
        "Paid exactly",
        "COMPLETED after three blocks, covered to the last digit",
        r#"[{"path": "invoices/{invoice}/pay", "body": {"amount": "exact"}}, MINED]"#,
    ),
    (
        "paid-less",
        "Paid less",
        "COMPLETED with half of the amount: never enough to ship",
        r#"[{"path": "invoices/{invoice}/pay", "body": {"amount": "half"}}, MINED]"#,
    ),
    (
        "paid-more",
        "Paid more",
        "COMPLETED with twice the amount",
        r#"[{"path": "invoices/{invoice}/pay", "body": {"amount": "double"}}, MINED]"#,
    ),
    (
        "paid-twice",
        "Paid twice",
        "two payments of the whole amount, both complete: one order, one credit",
        r#"[{"path": "invoices/{invoice}/pay", "body": {"amount": "exact"}},
            {"path": "invoices/{invoice}/pay", "body": {"amount": "exact"}}, MINED]"#,
    ),
    (
        "paid-in-parts",
        "Paid in parts",
        "three payments that make up the amount",
        r#"[{"path": "invoices/{invoice}/pay", "body": {"amount": "exact", "parts": 3}}, MINED]"#,
    ),
    (
        "topped-up",
        "Less, then the rest",
        "COMPLETED with half, PROCESSING again, COMPLETED with all",
        r#"[{"path": "invoices/{invoice}/pay", "body": {"amount": "half"}}, MINED,
            {"path": "invoices/{invoice}/pay", "body": {"amount": "rest"}}, MINED]"#,
    ),
    (
        "late",
        "Paid late",
        "FAILED as time is up, then COMPLETED: the payment came after it",
        r#"[{"path": "invoices/{invoice}/expire"},
            {"path": "invoices/{invoice}/pay", "body": {"amount": "exact"}}, MINED]"#,
    ),
    (
        "wrong-chain",
        "Wrong chain",
        "CHECKING: the payment went to the address on another chain, and nobody sees it",
        r#"[{"path": "invoices/{invoice}/pay", "body": {"amount": "exact", "crypto_code": "{other_asset}"}}]"#,
    ),
    (
        "seen",
        "Seen, no block",
        "CHECKING with a payment in the mempool",
        r#"[{"path": "invoices/{invoice}/pay", "body": {"amount": "exact"}}]"#,
    ),
    (
        "stuck",
        "Stuck",
        "CHECKING: the fee is so low that no block takes the payment",
        r#"[{"path": "invoices/{invoice}/pay", "body": {"amount": "exact", "fee": "low"}}, ONE]"#,
    ),
    (
        "stuck-to-the-end",
        "Stuck to the end",
        "FAILED: the time jumps past the invoice's end, for all invoices",
        r#"[{"path": "invoices/{invoice}/pay", "body": {"amount": "exact", "fee": "low"}}, ONE,
            {"path": "time", "body": {"jump_seconds": "{seconds_left}"}}]"#,
    ),
    (
        "unstuck",
        "Stuck, then raised",
        "COMPLETED once the fee is raised",
        r#"[{"path": "invoices/{invoice}/pay", "body": {"amount": "exact", "fee": "low"}}, ONE,
            {"path": "invoices/{invoice}/unstick"}, MINED]"#,
    ),
    (
        "replaced",
        "Replaced",
        "CHECKING with nothing: the coins went to somebody else before a block came",
        r#"[{"path": "invoices/{invoice}/pay", "body": {"amount": "exact"}},
            {"path": "invoices/{invoice}/replace"}]"#,
    ),
    (
        "reorg",
        "Reorg",
        "CHECKING again: two blocks are taken back",
        r#"[{"path": "invoices/{invoice}/pay", "body": {"amount": "exact"}}, ONE, ONE,
            {"path": "reorg", "body": {"blocks": 2, "chain": "{chain}"}}]"#,
    ),
    (
        "taken-back",
        "Completed, taken back",
        "CHECKING after COMPLETED: a reorg takes back what was credited",
        r#"[{"path": "invoices/{invoice}/pay", "body": {"amount": "exact"}}, MINED,
            {"path": "reorg", "body": {"blocks": 3, "chain": "{chain}"}}]"#,
    ),
    (
        "runs-out",
        "Runs out",
        "FAILED: time is up and nothing arrived",
        r#"[{"path": "invoices/{invoice}/expire"}]"#,
    ),
    (
        "failed",
        "Fails for good",
        "FAILED, whatever is paid",
        r#"[{"path": "invoices/{invoice}/fail"}]"#,
    ),
    (
        "cancelled",
        "Cancelled",
        "CANCELLED: a hosted checkout is closed before an asset is chosen",
        r#"[{"path": "sessions/{session}/close"}]"#,
    ),
    (
        "other-address",
        "Another address",
        "GET /invoice names an address that is not the one of POST /invoice",
        r#"[{"path": "invoices/{invoice}/address", "body": {"address": "{other_address}"}}]"#,
    ),
    (
        "unknown-status",
        "Unknown status",
        "GET /invoice says REFUNDED, a word that the specification does not know",
        r#"[{"path": "invoices/{invoice}/record", "body": {"transaction_status": "REFUNDED"}}]"#,
    ),
    (
        "callback-lost",
        "Callback lost",
        "COMPLETED, and nobody is told: only who asks learns of it",
        r#"[{"path": "faults", "body": {"endpoint": "callback", "kind": "lost"}},
            {"path": "invoices/{invoice}/pay", "body": {"amount": "exact"}}, MINED]"#,
    ),
    (
        "callback-twice",
        "Callback twice",
        "COMPLETED, and told two times",
        r#"[{"path": "faults", "body": {"endpoint": "callback", "kind": "duplicated"}},
            {"path": "invoices/{invoice}/pay", "body": {"amount": "exact"}}, MINED]"#,
    ),
    (
        "callback-early",
        "Callback early",
        "CHECKING, and told as COMPLETED before any block",
        r#"[{"path": "faults", "body": {"endpoint": "callback", "kind": "early"}},
            {"path": "invoices/{invoice}/pay", "body": {"amount": "exact"}}]"#,
    ),
    (
        "callback-lies",
        "Callback lies",
        "FAILED, and told as COMPLETED",
        r#"[{"path": "faults", "body": {"endpoint": "callback", "kind": "lying"}},
            {"path": "invoices/{invoice}/fail"}]"#,
    ),
    (
        "busy",
        "Service is busy",
        "the next three calls are answered with 429 and Retry-After: 5",
        r#"[{"path": "faults", "body": {"endpoint": "any", "kind": "status", "status": 429, "retry_after": 5, "times": 3}}]"#,
    ),
    (
        "down",
        "Service is down",
        "the next ten calls are answered with 503",
        r#"[{"path": "faults", "body": {"endpoint": "any", "kind": "status", "status": 503, "times": 10}}]"#,
    ),
];
