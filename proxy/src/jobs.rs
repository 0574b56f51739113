//! What goes on while nobody asks: looking at attempts, telling stores, tidying up.

mod keeper;
mod teller;
mod watcher;

pub(crate) use keeper::keep;
pub(crate) use teller::tell;
pub(crate) use watcher::watch;
