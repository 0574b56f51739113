//! What may differ behind a pooler, where each transaction may have another connection: tests that begin, read, lease, repeat
//! and list.

use super::*;

const BACKEND: Backend = Backend::Pooled;

#[path = "database.rs"]
mod database;
#[path = "replanning.rs"]
mod replanning;
