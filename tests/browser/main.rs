//! Tests in real browsers: one subject per file, one claim per test.
#![expect(
    clippy::unwrap_used,
    reason = "a test may panic; the lint only exempts test functions, not their helpers"
)]

mod asset_choice;
mod circumstances;
mod diagnostics;
mod displays;
mod early_choice;
mod fronts;
mod gallery;
mod helpers;
mod languages;
mod load_failures;
mod operators_pages;
mod order_sources;
mod payment_screen;
mod progress;
mod purchase;
mod quick_start;
mod real_chains;
mod recovery;
mod screens;
mod states;
mod themes;
mod tour;
mod untrusted_page;
mod wallet_recovery;
mod wallets;
