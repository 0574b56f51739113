//! The client against servers that behave and servers that do not.
#![cfg(feature = "client")]

mod calls;
mod clocks;
mod effects;
mod faults;
mod limits;
mod pauses;
mod retries;
mod secrets;
mod server;
