//! `[gateway]`: how the payment gateway is reached and asked.

use std::time::Duration;

use florin_gateway::{Credentials, NonceRule, Settings};
use schemars::JsonSchema;
use secrecy::{ExposeSecret as _, SecretString};
use serde::Deserialize;
use url::Url;

use crate::config::Errors;
use crate::config::secrets::{MIN_GUESSABLE_CHARS, OneOrMore, SecretPair, secret, secret_pair};
use crate::config::web_address::web_address;

/// Default requests a second towards the gateway.
pub(crate) const REQUESTS_PER_SECOND: u32 = 10;

/// How the gateway is reached and asked.
#[derive(Debug)]
pub struct Gateway {
    /// Its base address, ending in `/api`.
    pub url: Url,
    /// Its name for the account.
    pub api_key: SecretString,
    /// What calls are signed with.
    pub api_secret: SecretString,
    /// The unguessable part of the callbacks' path.
    pub callback_token: SecretPair,
    /// Where its hosted page is; customers are sent nowhere else. None: no hosted orders.
    pub checkout_url: Option<Url>,
    /// How long a price is offered after it was fetched.
    pub quote_ttl: Duration,
    /// How often an attempt is polled while its page is open.
    pub poll_interval: Duration,
    /// The most requests that are sent to it in a second, until it says 429.
    pub requests_per_second: u32,
    /// Whether it takes one nonce for several requests.
    pub nonces: NonceRule,
    /// Whether a PUT signs its body as a POST does.
    pub sign_put_body: bool,
}

/// How the payment gateway is reached and asked.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GatewayTable {
    /// Base address of the gateway, with its `/api`.
    #[schemars(extend("x-default" = "required"))]
    pub(crate) url: Option<String>,
    /// Names the account at the gateway.
    #[schemars(extend("x-default" = "required"))]
    pub(crate) api_key: Option<String>,
    pub(crate) api_key_file: Option<String>,
    /// Signs the calls to the gateway.
    #[schemars(extend("x-default" = "required"))]
    pub(crate) api_secret: Option<String>,
    pub(crate) api_secret_file: Option<String>,
    /// 32 or more random characters. The gateway sends its callbacks to `{public_url}/callbacks/{callback_token}`. Or a list
    /// of two while one replaces the other: new invoices name the first, callbacks to both are accepted.
    #[schemars(extend("x-default" = "required"))]
    pub(crate) callback_token: Option<OneOrMore>,
    pub(crate) callback_token_file: Option<OneOrMore>,
    /// Address of the gateway's hosted page. Orders with `flow` `hosted` need it: their customers are sent nowhere else.
    #[schemars(extend("x-default" = "none"))]
    pub(crate) checkout_url: Option<String>,
    /// How long a price is offered, 10 to 600. Assumed: a `conversion_id` lives at least this long.
    #[schemars(extend("x-default" = "60"))]
    pub(crate) quote_ttl_seconds: Option<u64>,
    /// Time between two polls of an attempt while a customer has just opened it or reported a payment, 1 to 60; three
    /// times as long while its order stays open.
    #[schemars(extend("x-default" = "5"))]
    pub(crate) poll_interval_seconds: Option<u64>,
    /// Most requests to the gateway, 1 to 1000. A 429 halves it, other responses raise it again. Assumed: the gateway
    /// accepts ten.
    #[schemars(extend("x-default" = REQUESTS_PER_SECOND))]
    pub(crate) requests_per_second: Option<u32>,
    /// `must_increase` if the gateway accepts each nonce once only. The proxy then sends one request a second.
    #[schemars(extend("x-default" = "may_repeat"))]
    pub(crate) nonces: Option<String>,
    /// `true` if the signature of a PUT covers its body. Assumed: it does not, because the specification signs the body of
    /// a POST alone.
    #[schemars(extend("x-default" = "false"))]
    pub(crate) sign_put_body: Option<bool>,
}

impl Gateway {
    /// Key and secret.
    pub fn credentials(&self) -> Credentials {
        Credentials {
            api_key: self.api_key.clone(),
            api_secret: self.api_secret.clone(),
        }
    }

    /// The settings of the gateway's client.
    pub fn client_settings(&self) -> Settings {
        Settings {
            requests_per_second: self.requests_per_second,
            nonces: self.nonces,
            sign_put_body: self.sign_put_body,
            ..Settings::new(self.url.clone(), self.credentials())
        }
    }
}

pub(crate) fn gateway(errors: &mut Errors, table: GatewayTable) -> Option<Gateway> {
    let url = table
        .url
        .ok_or_else(|| "is required: the gateway's address".to_owned());
    let url = errors.record("gateway.url", url.and_then(|text| gateway_address(&text)));
    let api_key = secret(table.api_key, table.api_key_file, 1);
    let api_key = errors.record("gateway.api_key", api_key.and_then(fits_a_header));
    let api_secret = secret(table.api_secret, table.api_secret_file, 1);
    let api_secret = errors.record("gateway.api_secret", api_secret);
    let token = secret_pair(
        table.callback_token,
        table.callback_token_file,
        MIN_GUESSABLE_CHARS,
    );
    let token = errors.record("gateway.callback_token", token.and_then(fits_a_path));
    let checkout_url = table
        .checkout_url
        .and_then(|text| errors.record("gateway.checkout_url", gateway_address(&text)));
    let quote_ttl = errors.within(
        "gateway.quote_ttl_seconds",
        table.quote_ttl_seconds,
        60,
        10..=600,
        "seconds",
    );
    let poll_interval = errors.within(
        "gateway.poll_interval_seconds",
        table.poll_interval_seconds,
        5,
        1..=60,
        "seconds",
    );
    let requests_per_second = errors.within(
        "gateway.requests_per_second",
        table.requests_per_second,
        REQUESTS_PER_SECOND,
        1..=1000,
        "requests a second",
    );
    let nonces = errors.record("gateway.nonces", nonce_rule(table.nonces.as_deref()));
    Some(Gateway {
        url: url?,
        api_key: api_key?,
        api_secret: api_secret?,
        callback_token: token?,
        checkout_url,
        quote_ttl: Duration::from_secs(quote_ttl),
        poll_interval: Duration::from_secs(poll_interval),
        requests_per_second,
        nonces: nonces?,
        sign_put_body: table.sign_put_body.unwrap_or(false),
    })
}

/// The signed path begins behind the base address, so nothing may follow that.
fn gateway_address(text: &str) -> Result<Url, String> {
    let url = web_address(text)?;
    if url.query().is_some() || url.fragment().is_some() {
        return Err(format!(
            "{text:?} has a query: write scheme, host, port and path alone"
        ));
    }
    Ok(url)
}

fn fits_a_header(key: SecretString) -> Result<SecretString, String> {
    if key.expose_secret().bytes().all(|b| b.is_ascii_graphic()) {
        return Ok(key);
    }
    Err("is sent in a header: use visible ASCII characters".into())
}

fn fits_a_path(token: SecretPair) -> Result<SecretPair, String> {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b == b'-' || b == b'_';
    let fits = |token: &SecretString| token.expose_secret().bytes().all(plain);
    if token.all().all(fits) {
        return Ok(token);
    }
    Err("is part of a path: use letters, digits, - and _".into())
}

/// Whether the gateway takes one nonce for several requests.
pub(crate) fn nonce_rule(word: Option<&str>) -> Result<NonceRule, String> {
    match word {
        None | Some("may_repeat") => Ok(NonceRule::MayRepeat),
        Some("must_increase") => Ok(NonceRule::MustIncrease),
        Some(other) => Err(format!(
            "{other:?} is no rule: write may_repeat or must_increase"
        )),
    }
}
