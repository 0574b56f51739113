//! The checkout's screens: Leptos' signals, client-side, compiled to WebAssembly.
//!
//! The server sends the whole view of an order; a [`phase::Phase`] follows from it, and each screen is a function of
//! its phase. Only `api` and `live` touch the network, only `live` and `task` timers, only `live` events of window and
//! document; what a screen's own elements hear goes through `markup`. Nothing here calculates money, and nothing here
//! decides that a payment expired, failed or arrived.
//!
//! Every byte is downloaded by a customer on a phone, so the crate goes without the formatting of floats and without a
//! tree of views to compare (`markup`).
//!
//! What needs no browser is compiled and tested anywhere; the rest only for wasm32.

pub mod announcing;
pub mod block_time;
pub mod compare;
pub mod countdown;
pub mod currency_sign;
pub mod decimal;
pub mod event_stream;
pub mod grouping;
pub mod links;
pub mod network;
pub mod pace;
pub mod parts;
pub mod phase;
pub mod qr;
pub mod search;
pub mod typed_amount;
pub mod wording;

#[cfg(target_arch = "wasm32")]
mod api;
#[cfg(target_arch = "wasm32")]
mod browser;
#[cfg(target_arch = "wasm32")]
mod checkout;
#[cfg(target_arch = "wasm32")]
mod element;
#[cfg(target_arch = "wasm32")]
mod language;
#[cfg(target_arch = "wasm32")]
mod live;
#[cfg(target_arch = "wasm32")]
mod markup;
#[cfg(target_arch = "wasm32")]
mod screens;
#[cfg(target_arch = "wasm32")]
mod task;

#[cfg(target_arch = "wasm32")]
pub use element::{Host, mount, refresh, unmount};
