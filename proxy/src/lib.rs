//! The proxy: it holds a shop's secret for the payment service, signs every call, keeps the ledger, shows customers
//! their order, and tells the shop with proof what was paid.
//!
//! Money's way through it: a door opens an order ([`http`]); a quote pins a price; an attempt is written, then the
//! service is asked for an invoice, which is checked before anything is shown; one watcher asks the service about open
//! attempts and hands what it hears to the ledger; the teller delivers the ledger's events to the store.
//!
//! What it refuses to do: to take a price from a browser, to show an address it has not checked, to believe a callback,
//! and to call anything paid that the ledger has not credited.

mod app;
mod attempting;
mod client_address;
pub mod clock;
pub mod config;
mod confirming;
mod connections;
mod core;
mod currencies;
mod hosting;
mod http;
mod invoice_check;
mod jobs;
mod log;
mod opening;
mod opening_limit;
mod order_lines;
mod order_token;
mod prices;
mod quoting;
mod receipt;
mod server;
mod session_check;
mod token;
mod view;
mod warnings;
mod watchers;
pub mod webhook;

pub use self::core::Core;
pub use app::Parts;
pub use http::{openapi, paths};
pub use log::init as init_log;
pub use server::{Listeners, run};
