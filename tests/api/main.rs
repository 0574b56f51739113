//! Journeys over HTTP, without a browser: one theme a file, one claim a test.
#![expect(
    clippy::unwrap_used,
    reason = "a test may panic; the lint only exempts test functions, not their helpers"
)]

mod account;
mod brand;
mod callbacks;
mod canary;
mod catalogue_door;
mod cheating;
mod documentation;
mod donation_door;
mod faults;
mod hosted;
mod house;
mod idempotency;
mod idempotency_crash;
mod import_cycles;
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
mod payment_links;
mod program;
mod raw_requests;
mod receipts;
mod restart;
mod reverted;
mod script_types;
mod spelling;
mod store_door;
mod stores_apart;
mod telling;
