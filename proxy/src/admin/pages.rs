//! The pages of operators and of stores' staff: rendered here, and complete without a script.

pub(crate) mod attention;
pub(crate) mod layout;
pub(crate) mod orders;
pub(crate) mod proxy;
pub(crate) mod settlements;
pub(crate) mod sign_in;
pub(crate) mod stores;
mod timeline;
pub(crate) mod viewer;
