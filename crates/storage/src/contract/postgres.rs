//! The contract of a server.

use super::*;

const BACKEND: Backend = Backend::Postgres;

#[path = "attempts.rs"]
mod attempts;
#[path = "callbacks.rs"]
mod callbacks;
#[path = "database.rs"]
mod database;
#[path = "decisions.rs"]
mod decisions;
#[path = "deliveries.rs"]
mod deliveries;
#[path = "model.rs"]
mod model;
#[path = "orders.rs"]
mod orders;
#[path = "polling.rs"]
mod polling;
#[path = "replanning.rs"]
mod replanning;
#[path = "staff.rs"]
mod staff;
