//! The contract of a file.

use super::*;

const BACKEND: Backend = Backend::Sqlite;

#[path = "cases.rs"]
mod cases;
