//! Journeys through the whole system: one theme a file, one claim a test.
#![expect(
    clippy::unwrap_used,
    reason = "a test may panic; the lint only exempts test functions, not their helpers"
)]

mod catalogue_door;
mod cheating;
mod house;
mod journeys;
mod money;
mod store_door;
