//! Journeys through the whole system: one theme a file, one claim a test.
#![expect(
    clippy::unwrap_used,
    reason = "a test may panic; the lint only exempts test functions, not their helpers"
)]

mod account;
mod browser_answers;
mod browser_astray;
mod browser_choose;
mod browser_codes;
mod browser_dialog;
mod browser_displays;
mod browser_doctor;
mod browser_doors;
mod browser_ends;
mod browser_everywhere;
mod browser_follow;
mod browser_gallery;
mod browser_give;
mod browser_hosted;
mod browser_hostile;
mod browser_languages;
mod browser_late;
mod browser_network;
mod browser_networks;
mod browser_package;
mod browser_pay;
mod browser_reach;
mod browser_receipt;
mod browser_sale;
mod browser_sandbox;
mod browser_shift;
mod browser_survival;
mod browser_theme_builder;
mod browser_themes;
mod browser_trust;
mod callbacks;
mod canary;
mod catalogue_door;
mod changed_answers;
mod cheating;
mod donation_door;
mod faults;
mod hearing;
mod hosted;
mod house;
mod idempotency;
mod idempotency_crash;
mod journeys;
mod late;
mod manners;
mod minting;
mod money;
mod mutated_bodies;
mod npm_package;
mod odd_json;
mod openapi;
mod order_token_door;
mod program;
mod raw_requests;
mod receipts;
mod restart;
mod reverted;
mod spelling;
mod store_door;
mod stores_apart;
mod telling;
