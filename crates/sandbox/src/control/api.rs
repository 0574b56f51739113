//! GET /sandbox/api: what the control API can do, each verb with an example that works.

use axum::Json;
use serde::Serialize;
use serde_json::{Value, from_str};

/// A verb of the control API.
#[derive(Clone, Copy, Debug)]
struct Verb {
    method: &'static str,
    path: &'static str,
    does: &'static str,
    /// JSON; empty when there is no body.
    example: &'static str,
}

/// A verb as it is shown.
#[derive(Debug, Serialize)]
pub(super) struct VerbView {
    method: &'static str,
    path: &'static str,
    does: &'static str,
    example: Option<Value>,
}

const fn verb(
    method: &'static str,
    path: &'static str,
    does: &'static str,
    example: &'static str,
) -> Verb {
    Verb {
        method,
        path,
        does,
        example,
    }
}

const VERBS: &[Verb] = &[
    verb(
        "GET",
        "/sandbox/invoices?limit=50",
        "every invoice, newest first",
        "",
    ),
    verb(
        "POST",
        "/sandbox/invoices",
        "opens an invoice without a merchant",
        r#"{"crypto_code": "BTC", "amount": "20.00"}"#,
    ),
    verb(
        "POST",
        "/sandbox/invoices/{id}/pay",
        "pays: exact, half, double, rest, or an amount in the asset; `latest` is an id as well",
        r#"{"amount": "exact"}"#,
    ),
    verb(
        "POST",
        "/sandbox/invoices/{id}/pay",
        "pays with confirmations already",
        r#"{"amount": "half", "confirmations": 3}"#,
    ),
    verb(
        "POST",
        "/sandbox/invoices/{id}/pay",
        "pays in so many payments",
        r#"{"amount": "exact", "parts": 3}"#,
    ),
    verb(
        "POST",
        "/sandbox/invoices/{id}/pay",
        "pays in another asset: the service never sees it",
        r#"{"amount": "exact", "crypto_code": "LTC"}"#,
    ),
    verb(
        "POST",
        "/sandbox/invoices/{id}/pay",
        "pays with a fee so low that no block takes it",
        r#"{"amount": "exact", "fee": "low"}"#,
    ),
    verb(
        "POST",
        "/sandbox/invoices/{id}/unstick",
        "raises that fee",
        "",
    ),
    verb(
        "POST",
        "/sandbox/invoices/{id}/replace",
        "replaces the latest payment by one to somebody else: it never was",
        "",
    ),
    verb(
        "POST",
        "/sandbox/invoices/{id}/expire",
        "lets the time of an invoice be up, while nothing has arrived",
        "",
    ),
    verb(
        "POST",
        "/sandbox/invoices/{id}/pay",
        "lets the time be up and pays then",
        r#"{"amount": "exact", "late": true}"#,
    ),
    verb(
        "POST",
        "/sandbox/invoices/{id}/address",
        "GET /invoice names this address from now on",
        r#"{"address": "tb1qother"}"#,
    ),
    verb(
        "POST",
        "/sandbox/invoices/{id}/record",
        "GET /invoice answers with these members instead of its own; null leaves one out, {} ends it",
        r#"{"transaction_status": "REFUNDED", "received_crypto_amount": null}"#,
    ),
    verb(
        "POST",
        "/sandbox/invoices/{id}/fail",
        "fails for good: no payment changes that",
        "",
    ),
    verb(
        "POST",
        "/sandbox/next-invoice",
        "the next POST /invoice answers with this address or QR string",
        r#"{"address": "tb1qother"}"#,
    ),
    verb(
        "GET",
        "/sandbox/sessions",
        "every hosted checkout, newest first",
        "",
    ),
    verb("GET", "/sandbox/chains", "every chain with its height", ""),
    verb(
        "POST",
        "/sandbox/sessions",
        "opens a hosted checkout without a merchant",
        r#"{"amount": "20.00", "email": "customer@shop.example"}"#,
    ),
    verb(
        "POST",
        "/sandbox/sessions/{id}/close",
        "its customer leaves before an asset is picked: CANCELLED",
        "",
    ),
    verb(
        "POST",
        "/sandbox/mine",
        "finds blocks, on every chain or on one",
        r#"{"blocks": 1, "chain": "bitcoin"}"#,
    ),
    verb(
        "POST",
        "/sandbox/auto-mine",
        "finds a block every so many seconds; 0 stops",
        r#"{"every_seconds": 5}"#,
    ),
    verb(
        "POST",
        "/sandbox/auto-mine",
        "leaves the blocks to the developer again",
        r#"{"every_seconds": 0}"#,
    ),
    verb(
        "POST",
        "/sandbox/reorg",
        "takes blocks back: what was in them waits again",
        r#"{"blocks": 2}"#,
    ),
    verb("GET", "/sandbox/prices", "every price and limit", ""),
    verb(
        "POST",
        "/sandbox/prices",
        "sets a price or a limit for the promises to come",
        r#"{"crypto_code": "BTC", "usd": "70000", "min": "0.0002", "max": ""}"#,
    ),
    verb(
        "POST",
        "/sandbox/prices/lapse",
        "lets every conversion id lapse at once",
        "",
    ),
    verb("GET", "/sandbox/walk", "how prices move by themselves", ""),
    verb(
        "POST",
        "/sandbox/walk",
        "moves prices every so many seconds by at most so many hundredths of a per cent; 0 stops",
        r#"{"every_seconds": 5, "basis_points": 50}"#,
    ),
    verb("GET", "/sandbox/time", "what time it is here", ""),
    verb(
        "POST",
        "/sandbox/time",
        "jumps forward; nonces still follow the clock",
        r#"{"jump_seconds": 60}"#,
    ),
    verb(
        "POST",
        "/sandbox/time",
        "lets the time run faster; 0 stops it, 1 is usual",
        r#"{"speed": 60}"#,
    ),
    verb("GET", "/sandbox/rules", "how strict the service is", ""),
    verb(
        "POST",
        "/sandbox/rules",
        "changes the rules that are named",
        r#"{"strict_nonce": true, "nonce_tolerance_seconds": 5, "clock_skew_seconds": 30, "calls_per_minute": 60}"#,
    ),
    verb(
        "GET",
        "/sandbox/faults",
        "the faults that are still to come",
        "",
    ),
    verb(
        "POST",
        "/sandbox/faults",
        "answers the next call so; `times` for more",
        r#"{"endpoint": "create_invoice", "kind": "status", "status": 429, "retry_after": 7, "times": 2}"#,
    ),
    verb(
        "POST",
        "/sandbox/faults",
        "spoils a share of all calls until it is called off",
        r#"{"endpoint": "any", "kind": "garbled", "share_percent": 25}"#,
    ),
    verb(
        "POST",
        "/sandbox/faults",
        "more kinds: slow, drop, cut, slow_headers, wrong_types, duplicate_keys, huge, content_type, html, empty, redirect, error_inside, shapeless, other_invoice, changed_address, status_word",
        r#"{"endpoint": "invoice", "kind": "slow_body", "bytes_per_second": 1}"#,
    ),
    verb(
        "POST",
        "/sandbox/faults",
        "spoils callbacks: lost, duplicated, delayed, reordered, early, lying",
        r#"{"endpoint": "callback", "kind": "delayed", "delay_ms": 5000}"#,
    ),
    verb("DELETE", "/sandbox/faults", "forgets all faults", ""),
    verb(
        "DELETE",
        "/sandbox/faults/{number}",
        "forgets one fault that is to come",
        "",
    ),
    verb("DELETE", "/sandbox/faults", "forgets all of them", ""),
    verb(
        "POST",
        "/sandbox/callbacks",
        "sends a callback that nothing has caused",
        r#"{"invoice_id": "inv_0", "status": "COMPLETED", "times": 1}"#,
    ),
    verb(
        "GET",
        "/sandbox/requests",
        "the last calls to the service, newest first, and why each was refused",
        "",
    ),
    verb(
        "GET",
        "/sandbox/requests/{number}",
        "one of them with its headers, body and answer",
        "",
    ),
    verb(
        "GET",
        "/sandbox/journal?after=0",
        "all that happened, oldest first",
        "",
    ),
    verb(
        "GET",
        "/sandbox/world?after=0&limit=50",
        "all that the page shows, in one answer",
        "",
    ),
    verb(
        "GET",
        "/sandbox/scenarios",
        "the scenarios that have a name, with their steps",
        "",
    ),
    verb(
        "POST",
        "/sandbox/scenario",
        "plays one of them, on an invoice or on a new one; `pause_ms` between the steps",
        r#"{"name": "paid", "open": {"crypto_code": "LTC", "amount": "30.00"}}"#,
    ),
    verb(
        "POST",
        "/sandbox/scenario",
        "plays steps of your own; {invoice} is the invoice that it opens",
        r#"{"steps": [{"path": "invoices/{invoice}/pay", "body": {"amount": "half"}}, {"path": "mine", "body": {"blocks": 3}}]}"#,
    ),
    verb(
        "POST",
        "/sandbox/reset",
        "begins a new world, from that seed",
        r#"{"seed": 7}"#,
    ),
    verb(
        "GET",
        "/checkout/session?id={session}",
        "what the page of a hosted checkout shows",
        "",
    ),
    verb(
        "POST",
        "/checkout/choose",
        "its customer picks an asset",
        r#"{"id": "{session}", "crypto_code": "BTC"}"#,
    ),
    verb(
        "POST",
        "/checkout/pay",
        "its customer pays what is missing",
        r#"{"id": "{session}"}"#,
    ),
    verb(
        "POST",
        "/checkout/close",
        "its customer closes the page; before an asset is picked, that is CANCELLED",
        r#"{"id": "{session}"}"#,
    ),
    verb("GET", "/sandbox/api", "this list", ""),
];

pub(super) async fn list() -> Json<Vec<VerbView>> {
    let views = VERBS.iter().map(|verb| VerbView {
        method: verb.method,
        path: verb.path,
        does: verb.does,
        example: from_str(verb.example).ok(),
    });
    Json(views.collect())
}
