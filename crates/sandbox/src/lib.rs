//! The payment gateway on a developer's machine, for development and tests.
//!
//! Below `/api` it is the gateway, strictly: a wrong header, signature, type, amount or limit is rejected with a sentence
//! that names the mistake. `/checkout` is its hosted page. Below `/sandbox` is the developer's side: a page and a control
//! API that pay invoices, mine blocks, expire invoices, move prices and time, and inject faults.
//!
//! | layer | modules |
//! |---|---|
//! | model | `chain`: a simulated chain; `node`: a real one; `prices`, `address`, `scenario` |
//! | state | `state`: the gateway of `florin-gateway` over the chains; `journal` |
//! | HTTP | `server`: the gateway's API with its `faults`; `control`: the developer's side |
//!
//! What this crate refuses to do: touch a real chain, share code with the signing or the address checks of the proxy
//! (two ends written from one function agree on a wrong result), and read the machine's clock or randomness: the same
//! seed, clock and requests give the same ids, addresses and responses.
//!
//! Source: the gateway's interface specification; where it is silent, the guess is marked `Assumed:`.

mod address;
mod chain;
mod control;
mod faults;
mod journal;
mod node;
mod prices;
mod scenario;
mod server;
mod settings;
mod state;

pub use florin_gateway::{Clock, Sleep, SystemClock, wire};
pub use server::run;
pub use settings::Settings;
