//! Tests in real browsers: one subject per file, one claim per test.
#![expect(
    clippy::unwrap_used,
    reason = "a test may panic; the lint only exempts test functions, not their helpers"
)]

mod asset_choice;
mod circumstances;
mod diagnostics;
mod dialog;
mod displays;
mod early_choice;
mod gallery;
mod helpers;
mod hosted_page;
mod keyboard;
mod languages;
mod layout_shift;
mod load_failures;
mod networks;
mod npm_package;
mod operators_pages;
mod order_sources;
mod payment_module;
mod payment_screen;
mod peer_products;
mod progress;
mod purchase;
mod qr_codes;
mod quick_start;
mod receipt;
mod recovery;
mod responses;
mod sandbox;
mod screens;
mod states;
mod themes;
mod untrusted_page;
mod untrusted_text;
mod wallet_recovery;
mod wallet_tron;
mod wallets;
