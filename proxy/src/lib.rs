//! The proxy: it holds a shop's secret for the payment gateway, signs every call, stores orders and payments, serves the
//! checkout, and sends the shop signed webhooks.
//!
//! Data flow: an endpoint of [`http`] opens an order at a price of [`orders`]; a quote pins the price in an asset; the
//! attempt's row is written, then the gateway makes an invoice, which is checked before it is shown ([`payments`]). The
//! payment poller polls the gateway and records each observation; the webhook dispatcher delivers the events ([`workers`]).
//!
//! The proxy takes no price from a browser except a donation's, within the store's bounds. It never shows an address
//! that it has not checked, never trusts a callback, and never calls an order paid that was not credited.

#![expect(
    missing_docs,
    reason = "a member has a comment where its name leaves a question open"
)]

mod admin;
mod auth;
pub mod clock;
pub mod config;
mod connection_slots;
pub mod gateway_account;
mod http;
mod log;
mod metrics;
mod orders;
mod payments;
mod rate_limit;
mod receipts;
mod reload;
mod server;
mod settlements;
mod spans;
mod staff;
mod state;
mod trace;
pub mod webhooks;
mod widget_files;
mod workers;

pub use auth::operator::hash_password;
pub use http::{openapi, paths};
pub use log::init as init_log;
pub use payments::payable::{Unpayable, unpayable_offers, unpriced_stores};
pub use server::{Core, Listeners, Reloads, public_connections, raise_open_files, run};
pub use state::Dependencies;
pub use workers::replanning::Replanning;
