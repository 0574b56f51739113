//! Orders: their price, opening them, and the pages that watch them.

pub(crate) mod changes;
pub(crate) mod lines;
pub(crate) mod open;
pub(crate) mod tracked_storage;
pub(crate) mod version_reads;
pub(crate) mod view_cache;
