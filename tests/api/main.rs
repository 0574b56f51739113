//! Tests over HTTP, without a browser: one subject per file, one claim per test.
#![expect(
    clippy::unwrap_used,
    reason = "a test may panic; the lint only exempts test functions, not their helpers"
)]

mod alerts;
mod banned_words;
mod callbacks;
mod commands;
mod connections;
mod contract_snapshot;
mod database_alerts;
mod database_server;
mod databases;
mod dependency_rules;
mod deployment;
mod disasters;
mod doctor;
mod documentation;
mod examples;
mod failed_payments;
mod file_permissions;
mod floods;
mod gateway_account;
mod gateway_faults;
mod gateway_limits;
mod helpers;
mod hosted_orders;
mod idempotency;
mod idle_streams;
mod import_cycles;
mod json_output;
mod late_payments;
mod layers;
mod malformed_json;
mod manifests;
mod metrics;
mod mutated_bodies;
mod npm_package;
mod open_by_donation;
mod open_by_product;
mod openapi;
mod operator_commands;
mod operators;
mod operators_entries;
mod operators_pages;
mod order_lines;
mod order_tokens;
mod payload_snapshots;
mod payment_links;
mod payments;
mod postgres;
mod program;
mod progress_lines;
mod raw_requests;
mod receipts;
mod release;
mod reload;
mod replicas;
mod request_ids;
mod restart;
mod restores;

mod reverted_payments;
mod roles;
mod secret_leaks;
mod source_imports;
mod staff_pages;
mod store_api;
mod store_isolation;
mod three_proxies;
mod trace_context;
mod traces;
mod transaction_hints;
mod untrusted_client;
mod wallet_guards;
mod webhooks;
