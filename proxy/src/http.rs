//! The HTTP side: one file per endpoint.

mod admin;
mod assets;
mod body;
mod callback;
mod checkout;
mod cors;
mod doubled;
mod error;
mod idempotency;
mod merchant;
mod openapi;
mod page;
mod request_log;
mod routes;
mod said;

pub(crate) use admin::admin_routes;
pub(crate) use error::ApiError;
pub use openapi::openapi;
pub use routes::paths;
pub(crate) use routes::routes;
