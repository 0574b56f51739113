//! The commands of `florin-proxy`, one a file.

pub(crate) mod check;
pub(crate) mod database;
pub(crate) mod deliveries;
pub(crate) mod doctor;
pub(crate) mod gateway;
pub(crate) mod health;
pub(crate) mod init;
pub(crate) mod order_text;
pub(crate) mod orders;
mod progress;
pub(crate) mod reference;
pub(crate) mod secrets;
