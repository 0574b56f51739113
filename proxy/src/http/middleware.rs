//! Middleware: what happens to every request before and after its handler.

pub(crate) mod client_address;
pub(crate) mod cors;
pub(crate) mod request_log;
