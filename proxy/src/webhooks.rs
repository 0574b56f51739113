//! Webhooks: one signed POST for each event.

pub(crate) mod address_filter;
mod probe;
pub(crate) mod schedule;
pub(crate) mod send;
pub(crate) mod sign;

pub use probe::probe;
pub use send::{SendOutcome, StoreResponse, WebhookSender, Webhooks};
pub use sign::{WebhookSecret, WebhookSecrets};

/// The type of an operator's test event: a receiver that ships on `order.paid` alone ignores it.
pub(crate) const TEST_EVENT: &str = "webhook.test";
