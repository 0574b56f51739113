//! The payment gateway: it issues invoices at addresses of the merchant's own wallet, watches the chains, and answers the
//! interface of the specification.
//!
//! What this crate refuses to do: hold a private key, share code with the client of the gateway (two ends written from one
//! function agree on a wrong signature), and conclude anything from a node that does not answer.
//!
//! Source: the gateway's interface specification; where it is silent, the guess is marked `Assumed:`.

pub mod chain;
pub mod chains;
pub mod coin;
