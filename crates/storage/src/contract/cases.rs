//! The tests of a whole contract.

use super::*;

mod attempts;
mod database;
mod decisions;
mod deliveries;
mod model;
mod orders;
mod polling;
mod replanning;
mod staff;
