//! The payment gateway: it issues invoices at addresses of the merchant's own wallet, watches the chains, and answers the
//! interface of the specification.
//!
//! | layer | modules |
//! |---|---|
//! | model | `wire`, `coin`, `prices`, `confirmations`, `invoice`, `session`, `uri`: pure, time is an argument |
//! | chains | `chain`: what a driver answers; `chains`: drivers of real chains |
//! | state | `database`; `gateway`: what runs over it |
//! | HTTP | `api` (the store's server), `hosted` (the customer), `callback` (back to the store's server) |
//!
//! What this crate refuses to do: hold a private key, share code with the client of the gateway (two ends written from one
//! function agree on a wrong signature), and conclude anything from a node that does not answer.
//!
//! Source: the gateway's interface specification; where it is silent, the guess is marked `Assumed:`.

mod account;
pub mod api;
mod callback;
pub mod chain;
pub mod chains;
pub mod clock;
pub mod coin;
pub mod commands;
pub mod config;
pub mod confirmations;
pub mod database;
mod gateway;
pub mod hosted;
pub mod invoice;
pub mod page;
pub mod prices;
mod rate_limit;
pub mod rates;
pub mod server;
pub mod session;
mod uri;
pub mod wire;

pub use callback::send_callbacks;
pub use clock::{Clock, Sleep, SystemClock};
pub use gateway::{CallbackTry, Event, Gateway, LookError, Observer, Options, Parts, Random};
