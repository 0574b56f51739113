//! The sandbox over HTTP: signed as a merchant would sign, driven as a developer would drive it.

#![expect(clippy::unwrap_used, reason = "what the tests share is test code too")]

mod api;
mod authentication;
mod callback_faults;
mod callbacks;
mod chains;
mod control;
mod developer;
mod faults;
mod hosted;
mod invoice_life;
mod log_file;
mod merchant;
mod page;
mod platform;
mod prices;
mod program;
mod refusals;
mod rules;
mod scenarios;
mod signature_hints;
mod spoiled_answers;
mod time;
mod world;
