//! What goes on while nobody asks: looking at attempts, telling stores, tidying up.

mod keeper;
mod teller;
mod watcher;

pub(crate) use keeper::{keep, tidy};
pub(crate) use teller::{tell, tell_all};
pub(crate) use watcher::{look, watch};
