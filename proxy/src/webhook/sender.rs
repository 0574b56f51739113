//! The HTTP side of a delivery.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;
use ledger::Event;
use reqwest::redirect::Policy;

use super::resolver::PublicOnly;
use crate::config::Webhook;

/// Time to connect, and time for the whole delivery. Source: docs/webhooks.md: "2xx within 15 s is success".
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
const TIMEOUT: Duration = Duration::from_secs(15);

/// Carries events to stores: over HTTPS, or to a store that a test plays.
#[async_trait]
pub trait Webhooks: Send + Sync {
    /// Delivers an event once, in bounded time.
    async fn send(&self, webhook: &Webhook, event: &Event, now: Timestamp) -> Sent;
}

/// Sends deliveries over HTTPS.
#[derive(Clone, Debug)]
pub struct WebhookSender {
    public_only: reqwest::Client,
    anywhere: reqwest::Client,
}

/// How a delivery ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sent {
    /// The store answered with this status.
    Answered(u16),
    /// No answer came, and why.
    Failed(String),
}

impl WebhookSender {
    /// Prepares the two clients: one that reaches public addresses alone, one for tests on one machine.
    ///
    /// # Errors
    /// When the machine's TLS roots cannot be read.
    pub fn new() -> Result<Self, reqwest::Error> {
        let builder = || {
            reqwest::Client::builder()
                .redirect(Policy::none())
                .no_proxy()
                .connect_timeout(CONNECT_TIMEOUT)
                .timeout(TIMEOUT)
                .user_agent(concat!("Florin/", env!("CARGO_PKG_VERSION")))
        };
        Ok(Self {
            public_only: builder().dns_resolver(Arc::new(PublicOnly)).build()?,
            anywhere: builder().build()?,
        })
    }
}

#[async_trait]
impl Webhooks for WebhookSender {
    /// The answer's body is never read: a huge or endless one costs nothing.
    async fn send(&self, webhook: &Webhook, event: &Event, now: Timestamp) -> Sent {
        let anywhere = webhook.dangerous_allow_private_targets;
        let client = if anywhere {
            &self.anywhere
        } else {
            &self.public_only
        };
        let id = event.id.as_str();
        let request = client
            .post(webhook.url.clone())
            .header("content-type", "application/json")
            .header("webhook-id", id)
            .header("webhook-timestamp", now.as_second().to_string())
            .header(
                "webhook-signature",
                webhook.secret.sign(id, now, &event.payload),
            )
            .body(event.payload.clone());
        match request.send().await {
            Ok(answer) => Sent::Answered(answer.status().as_u16()),
            Err(error) => Sent::Failed(reason(&error)),
        }
    }
}

/// The innermost reason, without the address: that is the store's own.
fn reason(error: &reqwest::Error) -> String {
    if error.is_timeout() {
        return "no answer in time".into();
    }
    let mut source: &dyn std::error::Error = error;
    while let Some(inner) = source.source() {
        source = inner;
    }
    source.to_string()
}
