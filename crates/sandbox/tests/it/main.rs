//! The sandbox over HTTP: called as a merchant calls it, controlled as a developer controls it.

#![expect(clippy::unwrap_used, reason = "what the tests share is test code too")]

mod callbacks;
mod control;
mod program;
mod refusals;
mod service;
mod world;
