//! The HTTP side: one file per endpoint.

mod admin;
mod assets;
mod body;
mod callback;
mod checkout;
mod cors;
mod error;
mod merchant;
mod page;
mod request_log;
mod routes;

pub(crate) use admin::admin_routes;
pub(crate) use error::ApiError;
pub(crate) use routes::routes;
