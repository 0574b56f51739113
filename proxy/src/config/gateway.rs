//! `[service]`: how the payment gateway is reached and asked.

use std::time::Duration;

use florin_gateway::{Credentials, NonceRule, PutBody, Settings, Signing};
use secrecy::{ExposeSecret as _, SecretString};
use serde::Deserialize;
use url::Url;

use crate::config::keys::Key;
use crate::config::problems::Findings;
use crate::config::secrets::{MIN_GUESSABLE_CHARS, secret};
use crate::config::web_address::web_address;

/// Default requests a second towards the gateway.
pub(crate) const REQUESTS_PER_SECOND: u64 = 10;

/// The keys of the section.
pub(crate) const KEYS: &[Key] = &[
    (
        "service.url",
        "FLORIN_SERVICE_URL",
        "required",
        "base address of the payment service, with its /api",
    ),
    (
        "service.api_key",
        "FLORIN_SERVICE_API_KEY",
        "required",
        "the account at the service; or service.api_key_file / …_FILE",
    ),
    (
        "service.api_secret",
        "FLORIN_SERVICE_API_SECRET",
        "required",
        "what calls are signed with; or service.api_secret_file / …_FILE",
    ),
    (
        "service.callback_token",
        "FLORIN_CALLBACK_TOKEN",
        "required",
        "32 or more random characters; the service calls back at {public_url}/callbacks/{token}; or …_file / …_FILE",
    ),
    (
        "service.checkout_url",
        "FLORIN_SERVICE_CHECKOUT_URL",
        "none",
        "address of the service's hosted page; required for orders with flow hosted, whose customers are sent nowhere else",
    ),
    (
        "service.quote_seconds",
        "",
        "60",
        "how long a price is offered, 10 to 600; Assumed: a conversion_id lives at least so long",
    ),
    (
        "service.watch_seconds",
        "",
        "5",
        "seconds between two polls of an attempt while a customer has its order open, 1 to 60",
    ),
    (
        "service.requests_per_second",
        "",
        "10",
        "the most requests to the service, 1 to 1000; Assumed: it bears ten; a 429 halves it, answers raise it again",
    ),
    (
        "service.nonces",
        "",
        "may_repeat",
        "must_increase when the service takes each nonce once: one request a second is all there is then",
    ),
    (
        "service.sign_put_body",
        "",
        "false",
        "true when the service signs a PUT's body too; Assumed: it does not, as the specification says of POST alone",
    ),
];

/// How the payment service is reached and asked.
#[derive(Debug)]
pub struct Service {
    /// Its base address, ending in `/api`.
    pub url: Url,
    /// Its name for the account.
    pub api_key: SecretString,
    /// What calls are signed with.
    pub api_secret: SecretString,
    /// The unguessable part of the callbacks' path.
    pub callback_token: SecretString,
    /// Where its hosted page is; customers are sent nowhere else. None: no hosted orders.
    pub checkout_url: Option<Url>,
    /// How long a price is offered after it was fetched.
    pub quote_lifetime: Duration,
    /// How often an attempt is polled while its page is open.
    pub watch_interval: Duration,
    /// The most requests that are sent to it in a second, until it says 429.
    pub requests_per_second: u32,
    /// Whether it takes one nonce for several requests.
    pub nonces: NonceRule,
    /// Whether a PUT signs its body as a POST does.
    pub sign_put_body: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ServiceTable {
    pub(crate) url: Option<String>,
    pub(crate) api_key: Option<String>,
    pub(crate) api_key_file: Option<String>,
    pub(crate) api_secret: Option<String>,
    pub(crate) api_secret_file: Option<String>,
    pub(crate) callback_token: Option<String>,
    pub(crate) callback_token_file: Option<String>,
    pub(crate) checkout_url: Option<String>,
    pub(crate) quote_seconds: Option<u64>,
    pub(crate) watch_seconds: Option<u64>,
    pub(crate) requests_per_second: Option<u64>,
    pub(crate) nonces: Option<String>,
    pub(crate) sign_put_body: Option<bool>,
}

impl Service {
    /// The settings of the gateway's client.
    pub fn client_settings(&self) -> Settings {
        let credentials = Credentials {
            api_key: self.api_key.clone(),
            api_secret: self.api_secret.clone(),
        };
        let put_body = if self.sign_put_body {
            PutBody::Signed
        } else {
            PutBody::Unsigned
        };
        Settings {
            requests_per_second: self.requests_per_second,
            nonces: self.nonces,
            signing: Signing { put_body },
            ..Settings::new(self.url.clone(), credentials)
        }
    }
}

pub(crate) fn service(findings: &mut Findings, table: ServiceTable) -> Option<Service> {
    let url = table
        .url
        .ok_or_else(|| "is required: the payment service's address".to_owned());
    let url = findings.take("service.url", url.and_then(|text| service_address(&text)));
    let api_key = secret(table.api_key, table.api_key_file, 1);
    let api_key = findings.take("service.api_key", api_key);
    let api_secret = secret(table.api_secret, table.api_secret_file, 1);
    let api_secret = findings.take("service.api_secret", api_secret);
    let token = secret(
        table.callback_token,
        table.callback_token_file,
        MIN_GUESSABLE_CHARS,
    );
    let token = findings.take("service.callback_token", token.and_then(fits_a_path));
    let checkout_url = table
        .checkout_url
        .and_then(|text| findings.take("service.checkout_url", service_address(&text)));
    let quote = seconds(
        findings,
        "service.quote_seconds",
        table.quote_seconds,
        60,
        10..=600,
    );
    let watch = seconds(
        findings,
        "service.watch_seconds",
        table.watch_seconds,
        5,
        1..=60,
    );
    let rate = table.requests_per_second.unwrap_or(REQUESTS_PER_SECOND);
    let rate = u32::try_from(rate)
        .ok()
        .filter(|rate| (1..=1000).contains(rate))
        .ok_or_else(|| "write 1 to 1000 requests a second".to_owned());
    let rate = findings.take("service.requests_per_second", rate);
    let nonces = findings.take("service.nonces", nonce_rule(table.nonces.as_deref()));
    Some(Service {
        url: url?,
        api_key: api_key?,
        api_secret: api_secret?,
        callback_token: token?,
        checkout_url,
        quote_lifetime: quote?,
        watch_interval: watch?,
        requests_per_second: rate?,
        nonces: nonces?,
        sign_put_body: table.sign_put_body.unwrap_or(false),
    })
}

/// The signed path begins behind the base address, so nothing may follow that.
fn service_address(text: &str) -> Result<Url, String> {
    let url = web_address(text)?;
    if url.query().is_some() || url.fragment().is_some() {
        return Err(format!(
            "{text:?} has a query: write scheme, host, port and path alone"
        ));
    }
    Ok(url)
}

fn fits_a_path(token: SecretString) -> Result<SecretString, String> {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b == b'-' || b == b'_';
    if token.expose_secret().bytes().all(plain) {
        return Ok(token);
    }
    Err("is part of a path: use letters, digits, - and _".into())
}

fn seconds(
    findings: &mut Findings,
    key: &str,
    value: Option<u64>,
    default: u64,
    range: std::ops::RangeInclusive<u64>,
) -> Option<Duration> {
    let value = value.unwrap_or(default);
    if range.contains(&value) {
        return Some(Duration::from_secs(value));
    }
    findings.add(
        key,
        format!("write {} to {} seconds", range.start(), range.end()),
    );
    None
}

/// Whether the service takes one nonce for several requests.
pub(crate) fn nonce_rule(word: Option<&str>) -> Result<NonceRule, String> {
    match word {
        None | Some("may_repeat") => Ok(NonceRule::MayRepeat),
        Some("must_increase") => Ok(NonceRule::MustIncrease),
        Some(other) => Err(format!(
            "{other:?} is no rule: write may_repeat or must_increase"
        )),
    }
}
