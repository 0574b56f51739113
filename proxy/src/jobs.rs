//! What goes on while nobody asks: looking at attempts, telling stores, tidying up.

mod currencies;
mod keeper;
mod teller;
mod watcher;

pub(crate) use currencies::compare_currencies;
pub(crate) use keeper::{keep, tidy};
pub(crate) use teller::{tell, tell_all};
pub(crate) use watcher::{look, watch};
