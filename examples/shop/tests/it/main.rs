//! The shop over HTTP, with a stand-in for the proxy.
#![expect(
    clippy::unwrap_used,
    reason = "a test may panic; the lint only exempts test functions, not their helpers"
)]

mod cart;
mod shop;
mod webhooks;
