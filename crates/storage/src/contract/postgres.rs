//! The contract of a server.

use super::*;

const BACKEND: Backend = Backend::Postgres;

#[path = "cases.rs"]
mod cases;
