//! The client against servers that behave and servers that do not.
#![cfg(feature = "client")]
#![expect(
    clippy::unwrap_used,
    reason = "a test may panic; the lint only exempts test functions, not their helpers"
)]

mod calls;
mod faults;
mod keys;
mod limits;
mod retries;
mod server;
mod shared_limits;
