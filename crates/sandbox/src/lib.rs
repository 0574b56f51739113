//! The payment service itself, for development and tests.
//!
//! Below `/api` it answers as the payment service does, strictly: a wrong header, signature, type, amount or limit is
//! refused with a sentence that says what was wrong. Below `/sandbox` it is the developer's: a page and a control API
//! that pay invoices, mine blocks, let invoices run out, move prices, and make the service lie, stall or break.
//!
//! | below `/sandbox` | does |
//! |---|---|
//! | GET the page itself | invoices as they live, with buttons |
//! | GET `/invoices` | every invoice, newest first |
//! | POST `/invoices/{id}/pay` | `{"amount": "exact" \| "half" \| "double" \| "rest" \| "12.5", "confirmations"?: 3}` |
//! | POST `/invoices/{id}/expire`, `/fail` | time is up; the payment is stuck or taken back |
//! | POST `/invoices/{id}/address` | `{"address": "…"}`: GET /invoice names this one from now on |
//! | POST `/mine` | `{"blocks"?: 1}` on every chain |
//! | POST `/next-invoice` | `{"address"?: "…", "qr_string"?: "…"}`: the next POST /invoice answers so |
//! | POST `/prices` | `{"crypto_code": "BTC", "usd": "70000"}` for the promises to come |
//! | POST `/faults` | `{"endpoint": "prices" \| "invoice" \| "create_invoice" \| "confirm" \| "any", "kind": …, "times"?: 1}`; kinds `status` (with `status`, `retry_after`?), `garbled`, `slow` (with `delay_ms`), `drop` |
//! | DELETE `/faults` | no more of them |
//! | GET `/requests` | the last calls to the service, and why each was refused |
//! | GET `/journal?after=0` | all that happened, oldest first: calls, payments, blocks, statuses, callbacks |
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

pub use clock::{Clock, Sleep, SystemClock};
pub use server::run;
pub use settings::{ApiSecret, Settings};
