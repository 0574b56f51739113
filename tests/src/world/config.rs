//! Configuration of a world.

use std::sync::Arc;

use super::proxy_config::Addresses;
use super::secrets;
use crate::clock::MovableClock;

/// Differences from the demo's configuration.
#[derive(Clone, Debug)]
pub struct WorldConfig {
    /// `true` if the gateway sends callbacks.
    pub callbacks: bool,
    /// The secret that the proxy signs with.
    pub proxys_secret: String,
    /// The store's `underpayment_tolerance`.
    pub tolerance: String,
    /// Origins of the store beside the demo shop's.
    pub origins: Vec<String>,
    /// The store's `theme.preset`.
    pub theme: String,
    /// The rest of the store's `theme`, as it is written within the braces: `accent = "#8c2f1b"`.
    pub theme_tokens: String,
    /// The store's `logo_url`.
    pub logo_url: Option<String>,
    /// The `image_origins` of both stores; on the first of them the other store's product has its picture.
    pub image_origins: Vec<String>,
    /// `true` if the gateway offers an unknown asset.
    pub unknown_asset: bool,
    /// `gateway.requests_per_second`.
    pub requests_per_second: u32,
    /// The store's `gateway_access`.
    pub gateway_access: bool,
    /// The store's `merchant_id`.
    pub merchant_id: Option<String>,
    /// `gateway.checkout_url`; the sandbox's own when `None`, absent when empty.
    pub checkout_url: Option<String>,
    /// `trusted_proxies`.
    pub trusted_proxies: Vec<String>,
    /// `environment`: `test`, or `production`, where the store has no webhook.
    pub environment: &'static str,
    /// Minutes until an invoice runs out.
    pub invoice_minutes: u32,
}

impl Default for WorldConfig {
    fn default() -> Self {
        Self {
            callbacks: true,
            proxys_secret: secrets::API_SECRET.to_owned(),
            tolerance: "0".to_owned(),
            origins: Vec::new(),
            theme: "auto".to_owned(),
            theme_tokens: String::new(),
            logo_url: None,
            image_origins: Vec::new(),
            unknown_asset: false,
            requests_per_second: 100,
            gateway_access: false,
            merchant_id: None,
            checkout_url: None,
            trusted_proxies: Vec::new(),
            environment: "test",
            invoice_minutes: 15,
        }
    }
}

impl WorldConfig {
    pub(crate) fn sandbox(
        &self,
        addresses: &Addresses,
        clock: MovableClock,
    ) -> florin_sandbox::Settings {
        let token = secrets::CALLBACK_TOKEN;
        let callbacks = format!("{}/callbacks/{token}", addresses.proxy_url());
        florin_sandbox::Settings {
            seed: 7,
            api_key: secrets::API_KEY.to_owned(),
            api_secret: secrets::API_SECRET.into(),
            callback_url: self.callbacks.then_some(callbacks),
            unknown_asset: self.unknown_asset,
            invoice_minutes: self.invoice_minutes,
            clock: Arc::new(clock),
            ..florin_sandbox::Settings::default()
        }
    }
}
