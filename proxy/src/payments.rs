//! Payments: prices and quotes, opening an attempt, and the view of an order.

pub(crate) mod checks;
pub(crate) mod confirm;
pub(crate) mod currencies;
pub(crate) mod error;
pub(crate) mod open;
pub(crate) mod price_cache;
pub(crate) mod quotes;
pub(crate) mod rendered_view;
pub(crate) mod turns;
pub(crate) mod view;
pub(crate) mod warnings;
