//! The state of one order and the actions of its customer, as signals.
//!
//! The state calls the proxy through the trait `Connection`, which `net` implements; it imports nothing
//! of `net`.

pub mod announcements;
pub mod phase;
pub mod problem;

#[cfg(target_arch = "wasm32")]
mod actions;
#[cfg(target_arch = "wasm32")]
mod checkout;
#[cfg(target_arch = "wasm32")]
mod connection;
#[cfg(target_arch = "wasm32")]
mod press;
#[cfg(target_arch = "wasm32")]
mod quotes;
#[cfg(target_arch = "wasm32")]
mod updates;

#[cfg(target_arch = "wasm32")]
pub(crate) use self::{
    checkout::{Checkout, PaymentScreens, Press, Shared, use_checkout},
    connection::{Chosen, Connection, Done, Opened, Quotes, Request, Sold},
    problem::Problem,
};
