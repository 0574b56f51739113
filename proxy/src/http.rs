//! The HTTP side: one file per subject, each endpoint with its request and response.

pub(crate) mod body;
pub(crate) mod callbacks;
pub(crate) mod checkout;
pub(crate) mod checkout_page;
pub(crate) mod connections;
pub(crate) mod error;
pub(crate) mod first_page;
pub(crate) mod idempotency;
pub(crate) mod middleware;
pub(crate) mod openapi;
pub(crate) mod receipts;
pub(crate) mod router;
pub(crate) mod static_files;
pub(crate) mod store_api;

pub use router::{openapi, paths};
