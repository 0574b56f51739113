//! `[store.webhook]`: where a store's events are delivered.

use std::net::IpAddr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use florin_orders::EndpointHash;
use schemars::JsonSchema;
use secrecy::{ExposeSecret as _, SecretString};
use serde::Deserialize;
use sha2::{Digest as _, Sha256};
use url::{Host, Url};

use crate::config::secrets::{OneOrMore, secrets};
use crate::config::web_address::{is_loopback, web_address};
use crate::webhooks::address_filter::is_public;
use crate::webhooks::sign::{WebhookSecret, WebhookSecrets};

/// Bytes of a webhook secret. Source: Standard Webhooks 1.0.0, "Signature scheme": between 24 and 64.
const WEBHOOK_SECRET_BYTES: std::ops::RangeInclusive<usize> = 24..=64;

/// Where a store's events are delivered.
#[derive(Debug)]
pub struct Webhook {
    /// The endpoint.
    pub url: Url,
    /// What deliveries are signed with.
    pub secrets: WebhookSecrets,
    /// Whether the endpoint may be on a private or loopback address.
    pub dangerous_allow_private_targets: bool,
}

impl Webhook {
    /// Names the endpoint without its address.
    pub(crate) fn endpoint(&self) -> EndpointHash {
        EndpointHash(Sha256::digest(self.url.as_str().as_bytes()).into())
    }
}

/// Where the store's events are delivered. Without this section, they are not.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WebhookTable {
    /// Where events are delivered: https, or http on loopback.
    #[schemars(extend("x-default" = "required", "x-shown" = "origin"))]
    pub(crate) url: String,
    /// `whsec_` and 24 to 64 bytes in base64; or a list of two while one replaces the other, the new one first.
    #[schemars(extend("x-default" = "required"))]
    pub(crate) secret: Option<OneOrMore>,
    pub(crate) secret_file: Option<OneOrMore>,
    /// Whether the endpoint may be on a loopback or private address, in the environment `test` alone.
    #[schemars(extend("x-default" = "false"))]
    #[serde(default)]
    pub(crate) dangerous_allow_private_targets: bool,
}

pub(crate) fn webhook(table: WebhookTable, is_test: bool) -> Result<Webhook, String> {
    let private = table.dangerous_allow_private_targets;
    if private && !is_test {
        return Err("dangerous_allow_private_targets is for the environment test alone".into());
    }
    let url = web_address(&table.url).map_err(|message| format!("url: {message}"))?;
    let literal = match url.host() {
        Some(Host::Ipv4(address)) => Some(IpAddr::V4(address)),
        Some(Host::Ipv6(address)) => Some(IpAddr::V6(address)),
        _ => None,
    };
    if !private && (is_loopback(&url) || literal.is_some_and(|a| !is_public(a))) {
        return Err(format!(
            "url: {} is a private address; for a test on one machine set \
             dangerous_allow_private_targets = true",
            table.url
        ));
    }
    Ok(Webhook {
        url,
        secrets: webhook_secrets(table.secret, table.secret_file)?,
        dangerous_allow_private_targets: private,
    })
}

fn webhook_secrets(
    values: Option<OneOrMore>,
    files: Option<OneOrMore>,
) -> Result<WebhookSecrets, String> {
    let texts = secrets(values, files, 1).map_err(|message| format!("secret: {message}"))?;
    let secrets: Result<_, _> = texts.iter().map(webhook_secret).collect();
    Ok(WebhookSecrets::new(secrets?))
}

fn webhook_secret(text: &SecretString) -> Result<WebhookSecret, String> {
    let shape = "secret: write whsec_ and 24 to 64 random bytes in base64";
    let encoded = text.expose_secret().strip_prefix("whsec_").ok_or(shape)?;
    let bytes = STANDARD.decode(encoded).map_err(|_| shape)?;
    if !WEBHOOK_SECRET_BYTES.contains(&bytes.len()) {
        return Err(shape.into());
    }
    Ok(WebhookSecret::new(bytes))
}
