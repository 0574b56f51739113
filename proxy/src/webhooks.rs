//! Webhooks: one signed POST for each event.

pub(crate) mod address_filter;
pub(crate) mod schedule;
pub(crate) mod send;
pub(crate) mod sign;

pub use send::{SendOutcome, StoreResponse, WebhookSender, Webhooks};
pub use sign::{WebhookSecret, WebhookSecrets};
