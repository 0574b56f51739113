//! Settings of the shop.

use florin_money::Currency;
use secrecy::SecretString;

/// Where the proxy is, and what the shop shares with it.
pub struct Settings {
    /// The proxy's public address without a slash at the end: `https://pay.shop.example`.
    pub proxy_url: String,
    /// The store's `id` in the proxy's configuration.
    pub store_id: String,
    /// The store's `secret_key`: opens orders. Stays in the backend.
    pub secret_key: SecretString,
    /// The store's webhook secret, `whsec_` and base64 of at least 24 bytes.
    pub webhook_secret: SecretString,
    /// The secret of the store's token key `k1`: signs order tokens. Stays in the backend.
    pub token_key: SecretString,
    /// The store's `currency`: what the prices of the catalogue are written in.
    pub currency: Currency,
    /// Makes the reference of a new cart: 1 to 64 letters, digits and dashes, never the same twice, and not to be
    /// guessed, since the address of a cart's checkout contains it.
    pub new_reference: fn() -> String,
    /// Seconds since 1970: when an order token is made.
    pub now: Box<dyn Fn() -> u64 + Send + Sync>,
}
