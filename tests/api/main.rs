//! Tests over HTTP, without a browser: one subject per file, one claim per test.
#![expect(
    clippy::unwrap_used,
    reason = "a test may panic; the lint only exempts test functions, not their helpers"
)]

mod alerts;
mod banned_words;
mod callbacks;
mod connections;
mod contract_snapshot;
mod dependency_rules;
mod deployment;
mod disasters;
mod documentation;
mod floods;
mod gateway_account;
mod gateway_faults;
mod gateway_limits;
mod helpers;
mod hosted_orders;
mod idempotency;
mod import_cycles;
mod late_payments;
mod malformed_json;
mod metrics;
mod mutated_bodies;
mod npm_package;
mod open_by_donation;
mod open_by_product;
mod openapi;
mod order_lines;
mod order_tokens;
mod payment_links;
mod payments;
mod postgres;
mod program;
mod raw_requests;
mod receipts;
mod request_ids;
mod restart;

mod reverted_payments;
mod secret_leaks;
mod store_api;
mod store_isolation;
mod untrusted_client;
mod webhooks;
