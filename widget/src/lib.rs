//! The checkout: a Leptos front end, rendered in the browser, compiled to WebAssembly.
//!
//! The server sends the whole view of an order; a [`state::phase::Phase`] follows from it, and each screen is a function
//! of its phase. Nothing here calculates money, and nothing here decides that a payment expired, failed or arrived.
//!
//! The modules form layers, each of which imports only those above it in this list:
//!
//! | layer | holds |
//! |---|---|
//! | `format` | values as texts; no browser |
//! | `browser`, `from_js`, `host` | window, clocks, timers; the contract's types from JavaScript; what the page's script passes in |
//! | `i18n` | texts, numbers and times in the customer's language |
//! | `state` | signals and actions of one order |
//! | `net` | requests, event stream, polling |
//! | `components` | parts of screens |
//! | `screens` | a screen for each phase |
//! | `app` | the root component |
//! | `element` | what the page's script calls |
//!
//! Modules that need no browser are compiled and tested on any machine, the rest only for wasm32.

pub mod format;
pub mod i18n;
pub mod net;
pub mod state;

#[cfg(target_arch = "wasm32")]
#[expect(unreachable_pub, reason = "`#[component]` makes its function public")]
mod app;
#[cfg(target_arch = "wasm32")]
mod browser;
#[cfg(target_arch = "wasm32")]
#[expect(unreachable_pub, reason = "`#[component]` makes its function public")]
mod components;
#[cfg(target_arch = "wasm32")]
mod element;
#[cfg(target_arch = "wasm32")]
mod from_js;
#[cfg(target_arch = "wasm32")]
mod host;
#[cfg(target_arch = "wasm32")]
#[expect(unreachable_pub, reason = "`#[component]` makes its function public")]
mod screens;

#[cfg(target_arch = "wasm32")]
pub use element::{mount, network, refresh, show_list, unmount};
#[cfg(target_arch = "wasm32")]
pub use host::Host;
