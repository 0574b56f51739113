//! The payment service itself, for development and tests.
//!
//! Below `/api` it answers as the payment service does, strictly: a wrong header, signature, type, amount or limit is
//! refused with a sentence that says what was wrong. Below `/sandbox` it is the developer's: a page and a control API
//! that pay invoices, mine blocks, let invoices run out, move prices, and make the service lie, stall or break.
//!
//! GET `/sandbox/api` lists what the control API can do, each verb with an example that works. Every fault and every turn
//! of the chains is there, and all of it can be had again from the seed.
//!
//! | layer | modules |
//! |---|---|
//! | what the service knows | `invoice`, `session`, `prices`, `platform`, `rules`; pure, time is an argument |
//! | what happens by itself | `chains`, `warp`, `faults`, `callback` |
//! | who asks | `service` (the merchant), `control` and `page` (the developer), `hosted` (the customer) |
//! | what is told afterwards | `journal`, `request_log` |
//!
//! What this crate refuses to do: touch a real chain, share code with the signing or address checks of those who call
//! it (two ends written from one function agree on a wrong answer), and read the clock behind its caller's back: the
//! same seed, clock and requests give the same ids, addresses and answers.
//!
//! Source: the payment service's interface specification; where that is silent, the guess is marked `Assumed:`.

mod address;
mod callback;
mod chain;
mod chains;
mod clock;
mod coin;
mod connection;
mod control;
mod conversion;
mod faults;
mod fiat;
mod hosted;
mod invoice;
mod invoices;
mod journal;
mod page;
mod payment_uri;
mod platform;
mod prices;
mod request_log;
mod rules;
mod scenario;
mod seed;
mod server;
mod service;
mod session;
mod sessions;
mod settings;
mod shelf;
mod signature;
mod signature_hint;
mod state;
mod throttle;
mod warnings;
mod warp;

pub use clock::{Clock, Sleep, SystemClock};
pub use server::run;
pub use settings::{ApiSecret, Settings};
