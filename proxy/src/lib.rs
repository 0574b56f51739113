//! The proxy: it holds a shop's secret for the payment service, signs every call, keeps the ledger, shows customers
//! their order, and tells the shop with proof what was paid.
//!
//! Money's way through it: a door opens an order ([`http`]); a quote pins a price; an attempt is written, then the
//! service is asked for an invoice, which is checked before anything is shown; one watcher asks the service about open
//! attempts and hands what it hears to the ledger; the teller delivers the ledger's events to the store.
//!
//! What it refuses to do: to take a price from a browser, to show an address it has not checked, to believe a callback,
//! and to call anything paid that the ledger has not credited.

mod admin;
mod auth;
pub mod clock;
pub mod config;
mod http;
mod log;
mod orders;
mod payments;
mod receipts;
mod server;
mod state;
pub mod webhooks;
mod workers;

pub use http::{openapi, paths};
pub use log::init as init_log;
pub use server::{Core, Listeners, run};
pub use state::Dependencies;
