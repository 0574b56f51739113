//! Tests over HTTP, without a browser: one subject per file, one claim per test.
#![expect(
    clippy::unwrap_used,
    reason = "a test may panic; the lint only exempts test functions, not their helpers"
)]

mod alerts;
mod attempts;
mod banned_words;
mod callbacks;
mod circumstances;
mod commands;
mod connections;
mod database_server;
mod databases;
mod deployment;
mod disasters;
mod doctor;
mod documentation;
mod examples;
mod file_permissions;
mod gateway_account;
mod gateway_faults;
mod helpers;
mod hosted_orders;
mod idempotency;
mod idle_streams;
mod json_output;
mod layers;
mod manifests;
mod metrics;
mod npm_package;
mod openapi;
mod operator_commands;
mod operators;
mod operators_pages;
mod order_tokens;
mod payload_snapshots;
mod payment_links;
mod payments;
mod postgres;
mod program;
mod raw_requests;
mod receipts;
mod release;
mod reload;
mod replicas;
mod repository;
mod request_bodies;
mod restart;
mod secret_leaks;
mod staff_pages;
mod store_api;
mod store_isolation;
mod traces;
mod untrusted_client;
mod ways_to_order;
mod widget_files;
