//! Tests over HTTP, without a browser: one subject per file, one claim per test.
#![expect(
    clippy::unwrap_used,
    reason = "a test may panic; the lint only exempts test functions, not their helpers"
)]

mod alerts;
mod commands;
mod database_server;
mod databases;
mod deployment;
mod disasters;
mod gateway;
mod helpers;
mod idempotency;
mod isolation;
mod layers;
mod libraries;
mod metrics;
mod offers;
mod openapi;
mod operators;
mod operators_pages;
mod order_sources;
mod payments;
mod program;
mod release;
mod reload;
mod repository;
mod staff_pages;
mod store_api;
mod traces;
mod untrusted_client;
mod ways_to_order;
mod widget;
