//! The client against servers that behave and servers that do not.
#![cfg(feature = "client")]

mod calls;
mod faults;
mod server;
mod shared_limits;
