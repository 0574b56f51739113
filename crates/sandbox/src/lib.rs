//! The payment gateway on a developer's machine, for development and tests.
//!
//! Below `/api` it is the gateway, strictly: a wrong header, signature, type, amount or limit is rejected with a sentence
//! that names the mistake. `/checkout` is its hosted page. Below `/sandbox` is the developer's side: a page and a control
//! API that pay invoices, mine blocks, expire invoices, move prices and time, and inject faults.
//!
//! | layer | modules |
//! |---|---|
//! | model | `wire`, `asset`, `address`, `prices`, `invoice`, `session`, `account`: pure, time is an argument |
//! | state | `state`, `store`, `journal`, `callback` |
//! | HTTP | `api` (the store's server), `faults` (one layer over `api`), `hosted` (the customer), `control` (the developer) |
//!
//! What this crate refuses to do: touch a real chain, share code with the signing or the address checks of the product
//! (two ends written from one function agree on a wrong result), and read the machine's clock or randomness: the same
//! seed, clock and requests give the same ids, addresses and responses.
//!
//! Source: the gateway's interface specification; where it is silent, the guess is marked `Assumed:`.

mod account;
mod address;
mod api;
mod asset;
mod callback;
mod control;
mod evm;
mod faults;
mod hosted;
mod invoice;
mod journal;
mod prices;
mod scenario;
mod server;
mod session;
mod settings;
mod state;
mod store;
pub mod wire;

pub use evm::test_token;
pub use server::run;
pub use settings::{Clock, Settings, Sleep, SystemClock};
