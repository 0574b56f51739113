//! The two ways in which the shop's backend sets a price: a call that opens an order, and a signed order token, which needs no
//! call.
//!
//! Source: `POST /v1/orders` in docs/reference/http.md; "Sign a token" in docs/reference/order-tokens.md. Any JWT library
//! signs the same token; this is the whole of it.

use std::time::Duration;

use anyhow::Context as _;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use florin_money::Amount;
use hmac::{Hmac, KeyInit as _, Mac as _};
use reqwest::{Client, redirect};
use secrecy::ExposeSecret as _;
use serde_json::{Value, json};
use sha2::Sha256;

use crate::Settings;
use crate::cart::Line;

/// Longest time to wait for the proxy before the page asks the customer to try again.
const TIMEOUT: Duration = Duration::from_secs(10);
/// A response is a few hundred bytes; more than this is not from the proxy.
const MAX_ANSWER_BYTES: usize = 64 * 1024;

/// Calls the proxy as the store.
pub(crate) struct ProxyClient(Client);

pub(crate) struct NewOrder<'a> {
    /// The shop's own name for the cart: asked twice with one reference, the proxy answers with one order.
    pub(crate) reference: &'a str,
    pub(crate) title: &'a str,
    /// What is in the cart, for the customer to see; empty for one thing alone.
    pub(crate) lines: &'a [Line<'a>],
    pub(crate) amount: Amount,
    /// Of a customer who pays on the gateway's own page; absent for our checkout.
    pub(crate) hosted_email: Option<&'a str>,
}

/// An order that is open now.
pub(crate) struct OpenedOrder {
    pub(crate) order_id: String,
    /// For the customer's page: lets it see and pay this one order.
    pub(crate) client_token: String,
}

impl ProxyClient {
    /// # Errors
    /// The system's TLS cannot be set up.
    pub(crate) fn new() -> anyhow::Result<Self> {
        // The first provider installed in a process stays.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let http = Client::builder()
            .timeout(TIMEOUT)
            .redirect(redirect::Policy::none())
            .no_proxy()
            .build()?;
        Ok(Self(http))
    }

    /// Opens an order, or finds the one of the same reference.
    ///
    /// # Errors
    /// The proxy does not answer in time, refuses, or answers something else. Nothing is paid yet, so a retry is safe.
    pub(crate) async fn open(
        &self,
        settings: &Settings,
        order: NewOrder<'_>,
    ) -> anyhow::Result<OpenedOrder> {
        let mut body = json!({
            "amount": order.amount.to_string(),
            "currency": settings.currency.as_str(),
            "reference": order.reference,
            "title": order.title,
        });
        let decimals = settings.currency.decimals();
        let lines = order.lines.iter().map(|line| {
            json!({
                "title": line.product.title,
                "quantity": line.quantity,
                "unit_amount": line.product.price.with_min_decimals(decimals).to_string(),
            })
        });
        body["lines"] = lines.collect();
        if let Some(email) = order.hosted_email {
            body["flow"] = "hosted".into();
            body["customer_email"] = email.into();
        }
        let request = self.0.post(format!("{}/v1/orders", settings.proxy_url));
        let request = request.bearer_auth(settings.secret_key.expose_secret());
        let request = request.header("idempotency-key", order.reference);
        let mut response = request.json(&body).send().await?;
        let status = response.status();
        let mut bytes = Vec::new();
        while let Some(chunk) = response.chunk().await? {
            bytes.extend_from_slice(&chunk);
            anyhow::ensure!(bytes.len() <= MAX_ANSWER_BYTES, "the response is too long");
        }
        let response: Value = serde_json::from_slice(&bytes)?;
        let message = &response["error"]["message"];
        anyhow::ensure!(
            status.is_success(),
            "the proxy answered {status}: {message}"
        );
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let opened = text(&response["order"]["id"]).zip(text(&response["client_token"]));
        let (order_id, client_token) = opened.context("the response names no order")?;
        Ok(OpenedOrder {
            order_id,
            client_token,
        })
    }
}

/// The name of the store's token key in the proxy's configuration.
const KEY_ID: &str = "k1";
const LIFETIME_SECONDS: u64 = 3600;

/// An order token, signed with the store's token key. The same reference again is the same order.
pub(crate) fn sign(settings: &Settings, reference: &str, title: &str, amount: Amount) -> String {
    let now = (settings.now)();
    let header = json!({ "alg": "HS256", "kid": KEY_ID });
    let payload = json!({
        "aud": settings.proxy_url,
        "store": settings.store_id,
        "reference": reference,
        "title": title,
        "amount": amount.to_string(),
        "currency": settings.currency.as_str(),
        "iat": now,
        "exp": now + LIFETIME_SECONDS,
    });
    let part = |json: &Value| URL_SAFE_NO_PAD.encode(json.to_string());
    let signed = [part(&header), part(&payload)].join(".");
    let secret = settings.token_key.expose_secret().as_bytes();
    let mut mac = Hmac::<Sha256>::new_from_slice(secret).expect("HMAC takes keys of any length");
    mac.update(signed.as_bytes());
    let signature = URL_SAFE_NO_PAD.encode(mac.finalize().into_bytes());
    [signed, signature].join(".")
}
