//! The shop's pages.

pub(crate) mod layout;
pub(crate) mod orders;
pub(crate) mod storefront;
