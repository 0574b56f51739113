//! Payments: prices and quotes, opening an attempt, and the view of an order.

pub(crate) mod checks;
pub(crate) mod confirmation;
pub(crate) mod currencies;
pub(crate) mod error;
pub(crate) mod fair_queue;
pub(crate) mod open;
pub(crate) mod payable;
pub(crate) mod price_cache;
pub(crate) mod quotes;
pub(crate) mod rendered_view;
pub(crate) mod view;
pub(crate) mod warnings;
