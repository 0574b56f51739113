//! The payment service itself, for development and tests.
//!
//! Below `/api` it answers as the payment service does, strictly: a wrong header, signature, type, amount or limit is
//! refused with a sentence that says what was wrong. Below `/sandbox` it is the developer's: a page and a control API
//! that pay invoices, mine blocks, let invoices run out, move prices, and make the service lie, stall or break.
//!
//! What this crate refuses to do: touch a real chain, share code with the signing or address checks of those who call
//! it (two ends written from one function agree on a wrong answer), and read the clock behind its caller's back: the
//! same seed, clock and requests give the same ids, addresses and answers.
//!
//! Source: the payment service's interface specification; where that is silent, the guess is marked `Assumed:`.

mod address;
mod callback;
mod chain;
mod clock;
mod coin;
mod connection;
mod control;
mod conversion;
mod faults;
mod invoice;
mod invoices;
mod page;
mod payment_uri;
mod prices;
mod request_log;
mod seed;
mod server;
mod service;
mod settings;
mod signature;
mod state;
mod warnings;

pub use clock::{Clock, Sleep, SystemClock};
pub use server::run;
pub use settings::{ApiSecret, Settings};
