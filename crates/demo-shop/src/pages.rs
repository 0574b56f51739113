//! One file per page of the shop.

pub(crate) mod cart;
pub(crate) mod cart_checkout;
pub(crate) mod donate;
pub(crate) mod files;
pub(crate) mod hosted;
mod layout;
pub(crate) mod members;
pub(crate) mod not_found;
pub(crate) mod orders_json;
pub(crate) mod single;
pub(crate) mod storefront;
pub(crate) mod thanks;
pub(crate) mod theme_builder;
pub(crate) mod webhook;
