//! Webhooks of the proxy: verified on the exact bytes, then parsed.
//!
//! Source: Standard Webhooks 1.0.0, "Verifying signatures"; the events in docs/reference/webhooks.md.

use anyhow::Context as _;
use axum::http::HeaderMap;
use serde::Serialize;
use serde_json::Value;
use standardwebhooks::{HEADER_WEBHOOK_ID, Webhook};

/// Checks signatures with the store's webhook secret.
pub(crate) struct Verifier(Webhook);

/// A verified event, as far as the shop cares.
#[derive(Debug)]
pub(crate) struct Event {
    /// `order.paid` and so on; a word that the shop does not know is stored all the same.
    pub(crate) r#type: String,
    /// The order it is about; `None` for an event about something else.
    pub(crate) order: Option<Facts>,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct Facts {
    /// The proxy's id of it.
    #[serde(rename = "id")]
    pub(crate) order_id: String,
    /// The shop's own reference; for a product of the catalogue the one that the proxy gave.
    pub(crate) reference: String,
    pub(crate) title: String,
    /// Decimal text in `currency`.
    pub(crate) amount: String,
    pub(crate) currency: String,
}

impl Verifier {
    /// # Errors
    /// The secret is not base64.
    pub(crate) fn new(secret: &str) -> anyhow::Result<Self> {
        Ok(Self(Webhook::new(secret)?))
    }

    /// The event and its id, which stays the same however often the event is delivered.
    ///
    /// # Errors
    /// The request is forged, altered, too old, or signed with another secret: it proves nothing and changes nothing. Or
    /// it is no event.
    pub(crate) fn verify(
        &self,
        headers: &HeaderMap,
        body: &[u8],
    ) -> anyhow::Result<(String, Event)> {
        self.0.verify(body, headers)?;
        let id = headers
            .get(HEADER_WEBHOOK_ID)
            .and_then(|id| id.to_str().ok());
        let id = id.expect("the signature covers the id").to_owned();
        Ok((id, read(body).context("the body is not an event")?))
    }
}

fn read(body: &[u8]) -> Option<Event> {
    let body: Value = serde_json::from_slice(body).ok()?;
    let order = &body["data"]["order"];
    let text = |name: &str| order[name].as_str().unwrap_or_default().to_owned();
    Some(Event {
        r#type: body["type"].as_str()?.to_owned(),
        order: order["id"].as_str().map(|id| Facts {
            order_id: id.to_owned(),
            reference: text("reference"),
            title: text("title"),
            amount: text("amount"),
            currency: text("currency"),
        }),
    })
}
