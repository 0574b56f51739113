//! Signing an order token: the price is the backend's, and no call to the proxy is needed.
//!
//! Source: "Sign a token" in docs/reference/order-tokens.md. Any JWT library does the same; this is the whole of it.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use florin_money::{Amount, Currency};
use hmac::{Hmac, KeyInit as _, Mac as _};
use serde_json::{Value, json};
use sha2::Sha256;

/// The name of the store's token key in the proxy's configuration.
const KEY_ID: &str = "k1";
/// How long the page may wait before it opens its order. An order that is open stays open.
const LIFETIME_SECONDS: u64 = 3600;

/// The claims of an order token.
pub(crate) struct Claims<'a> {
    /// The proxy's public address.
    pub(crate) proxy_url: &'a str,
    pub(crate) store_id: &'a str,
    /// The shop's own name for the order: the same again is the same order.
    pub(crate) reference: &'a str,
    pub(crate) title: &'a str,
    pub(crate) amount: Amount,
    pub(crate) currency: Currency,
    /// Seconds since 1970.
    pub(crate) now: u64,
}

/// Signs them with the store's token key.
pub(crate) fn sign(claims: &Claims<'_>, secret: &str) -> String {
    let header = json!({ "alg": "HS256", "kid": KEY_ID });
    let payload = json!({
        "aud": claims.proxy_url,
        "store": claims.store_id,
        "reference": claims.reference,
        "title": claims.title,
        "amount": claims.amount.to_string(),
        "currency": claims.currency.as_str(),
        "iat": claims.now,
        "exp": claims.now + LIFETIME_SECONDS,
    });
    let part = |json: &Value| URL_SAFE_NO_PAD.encode(json.to_string());
    let signed = [part(&header), part(&payload)].join(".");
    let mut mac =
        Hmac::<Sha256>::new_from_slice(secret.as_bytes()).expect("HMAC takes keys of any length");
    mac.update(signed.as_bytes());
    let signature = URL_SAFE_NO_PAD.encode(mac.finalize().into_bytes());
    [signed, signature].join(".")
}
