//! Signed order tokens: JSON Web Tokens of one strict profile, which any library can mint.
//!
//! ```text
//! header   {"alg": "HS256", "kid": "k1", "typ": "JWT"?}
//! payload  {"aud": public_url, "store": id, "reference": reference, "amount": "19.90", "currency": "USD", "iat": …, "exp": …,
//!           "title": title?, "return_url": URL?, "cancel_url": URL?, "lines": [{"title", "kind"?, "quantity"?, "unit_amount"?, "amount"?, "image_url"?}]?}
//! ```
//!
//! The signature is compared, in constant time, before anything of the payload is read. The key is found by its `kid`
//! among all stores; then the payload must name the very store whose key it was, so that two stores may both call a key
//! `k1` and neither can sign for the other.
//!
//! The verifier is written here, over `hmac` and `serde_json`: libraries for JSON Web Tokens choose among algorithms, accept
//! header members that they do not know, and look for one key, where this profile looks for the store by its key. The tests
//! sign with `jwt-compact`, so that two implementations have to agree.
//!
//! Source: RFC 7515 (JSON Web Signature), sections 3.1 and 5.2; RFC 7519 (JSON Web Token), section 4.1; RFC 8725 (best
//! current practices), sections 3.1 to 3.9.

#[cfg(test)]
mod tests;

use std::fmt::Display;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use florin_checkout_api::check_title;
use florin_money::{Amount, Currency, Price};
use florin_orders::{OrderLine, Reference};
use jiff::{SignedDuration, Timestamp};
use secrecy::ExposeSecret as _;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use subtle::ConstantTimeEq as _;

use crate::auth::mac;
use crate::config::{KeyId, Store, TokenKey};
use crate::orders::lines::{self, Line};

/// Fifty lines with titles of forty characters and two amounts fit; so does every other claim at its longest.
const MAX_CHARS: usize = 8192;

/// Checks a token, in this order: length, header, key, signature, and only then what the payload says. `audience` is the
/// proxy's `public_url` as it is configured, without a slash at its end.
pub(crate) fn verify<'a>(
    token: &str,
    stores: &'a [Store],
    audience: &str,
    now: Timestamp,
) -> Result<(&'a Store, Claims), OrderTokenError> {
    if token.len() > MAX_CHARS {
        return refused("it has more than 8192 characters");
    }
    let parts: Vec<&str> = token.split('.').collect();
    let [header, payload, signature] = parts[..] else {
        return refused("it is not three parts with points between them");
    };
    let signed = &token[..header.len() + 1 + payload.len()];
    let kid = key_id(&decoded("header", header)?)?;
    let signature = decoded("signature", signature)?;
    let keys = stores.iter().flat_map(|store| {
        let of_store = store.token_keys.iter().map(move |key| (store, key));
        of_store.filter(|(_, key)| key.kid == kid)
    });
    let mut keys = keys.peekable();
    if keys.peek().is_none() {
        return refused(format!(
            "no store has a token key {kid}: was it rotated out, or is the token another proxy's?"
        ));
    }
    let Some((store, _)) = keys.find(|(_, key)| is_signed(key, signed, &signature)) else {
        return refused(format!(
            "its signature is not that of any key {kid}: altered, or signed with another secret"
        ));
    };
    let claims = read_claims(&decoded("payload", payload)?, store, audience, now)?;
    Ok((store, claims))
}

fn is_signed(key: &TokenKey, signed: &str, signature: &[u8]) -> bool {
    let secret = key.secret.expose_secret().as_bytes();
    mac(secret, signed.as_bytes()).ct_eq(signature).into()
}

/// Unpadded base64url in its one canonical form: a text that differs in a single character is another text.
fn decoded(part: &str, text: &str) -> Result<Vec<u8>, OrderTokenError> {
    URL_SAFE_NO_PAD
        .decode(text)
        .map_err(|error| OrderTokenError(format!("its {part} is not unpadded base64url: {error}")))
}

/// Reads the JSON object of a part. Everything that is not of its shape is refused by its name, and so is a member that comes
/// twice.
fn object<T: DeserializeOwned>(part: &str, shape: &str, json: &[u8]) -> Result<T, OrderTokenError> {
    if !json.starts_with(b"{") {
        return refused(format!(
            "its {part} is no JSON object, which begins with a brace"
        ));
    }
    serde_json::from_slice(json)
        .map_err(|error| OrderTokenError(format!("its {part} is not {shape}: {error}")))
}

/// Everything else is refused: `crit`, `jwk`, `jku`, `x5u`, `b64`, `zip`, …
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    alg: String,
    kid: String,
    typ: Option<String>,
}

pub(crate) fn key_id(json: &[u8]) -> Result<KeyId, OrderTokenError> {
    let Header { alg, kid, typ } = object("header", "{alg, kid, typ?}", json)?;
    if alg != "HS256" {
        return refused(format!(
            "its algorithm is {alg:?}, and HS256 is the only one"
        ));
    }
    if typ.is_some_and(|typ| typ != "JWT") {
        return refused("its typ is not JWT");
    }
    let Some(kid) = KeyId::parse(&kid) else {
        return refused("its kid is not 1 to 32 letters, digits, - and _");
    };
    Ok(kid)
}

/// How far the clocks of store and proxy may differ.
const SLACK: SignedDuration = SignedDuration::from_secs(60);
const LONGEST_LIFE: SignedDuration = SignedDuration::from_hours(24);

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Claims {
    pub reference: Reference,
    pub price: Price,
    /// What is sold, 1 to 120 characters.
    pub title: Option<String>,
    /// What it is made of, for show.
    pub lines: Vec<OrderLine>,
    /// An address on one of the store's origins.
    pub return_url: Option<String>,
    /// An address on one of the store's origins.
    pub cancel_url: Option<String>,
}

const SHAPE: &str =
    "{aud, store, reference, amount, currency, iat, exp, title?, return_url?, cancel_url?, lines?}";

/// The payload as it is written. `amount` is a string: a number may have passed through a float.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Payload {
    aud: String,
    store: String,
    reference: String,
    amount: Amount,
    currency: String,
    iat: i64,
    exp: i64,
    title: Option<String>,
    return_url: Option<String>,
    cancel_url: Option<String>,
    #[serde(default)]
    lines: Vec<Line>,
}

pub(crate) fn read_claims(
    json: &[u8],
    store: &Store,
    audience: &str,
    now: Timestamp,
) -> Result<Claims, OrderTokenError> {
    let payload: Payload = object("payload", SHAPE, json)?;
    let Payload {
        aud, store: named, ..
    } = &payload;
    if *aud != audience {
        return refused(format!(
            "its aud is {aud:?}, and this proxy's public_url is {audience:?}"
        ));
    }
    if *named != store.id.as_str() {
        return refused(format!(
            "it names the store {named:?}, and is signed with a key of {}",
            store.id
        ));
    }
    check_times(payload.iat, payload.exp, now)?;
    let reference = checked("reference", Reference::parse(&payload.reference))?;
    let currency = checked("currency", Currency::parse(&payload.currency))?;
    let price = checked("amount", Price::new(payload.amount, currency))?;
    let title = checked("title", payload.title.map(check_title).transpose())?;
    for (name, link) in [
        ("return_url", &payload.return_url),
        ("cancel_url", &payload.cancel_url),
    ] {
        let link = link.as_ref();
        if link.is_some_and(|link| !store.is_allowed_return_url(link)) {
            let message = "write an http or https address on one of the store's origins";
            return checked(name, Err(message));
        }
    }
    let lines = lines::check(store, payload.lines, price);
    let lines = lines.map_err(|wrong| format!("{}: {}", wrong.field, wrong.message));
    let lines = checked("lines", lines)?;
    Ok(Claims {
        lines,
        reference,
        price,
        title,
        return_url: payload.return_url,
        cancel_url: payload.cancel_url,
    })
}

fn checked<T>(name: &str, value: Result<T, impl Display>) -> Result<T, OrderTokenError> {
    value.map_err(|error| OrderTokenError(format!("its {name}: {error}")))
}

/// Times are whole Unix seconds. Source: RFC 7519, section 2, "`NumericDate`"; fractions are refused.
fn check_times(iat: i64, exp: i64, now: Timestamp) -> Result<(), OrderTokenError> {
    let (now, slack) = (now.as_second(), SLACK.as_secs());
    if iat > now.saturating_add(slack) {
        return refused(format!(
            "its iat, {iat}, is more than 60 s ahead of this machine's clock, {now}"
        ));
    }
    if exp <= now.saturating_sub(slack) {
        return refused(format!("it expired at {exp}, and it is {now}"));
    }
    match exp.checked_sub(iat) {
        Some(life) if (1..=LONGEST_LIFE.as_secs()).contains(&life) => Ok(()),
        _ => refused(format!(
            "it lives from {iat} to {exp}: at most 24 h are allowed, and at least a second"
        )),
    }
}

/// What is wrong with a token, in a sentence that repeats neither the token nor a key.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct OrderTokenError(String);

fn refused<T>(reason: impl Into<String>) -> Result<T, OrderTokenError> {
    Err(OrderTokenError(reason.into()))
}
