//! Signed order tokens: JSON Web Tokens of one strict profile, which any library can mint.
//!
//! ```text
//! header   {"alg": "HS256", "kid": "k1", "typ": "JWT"?}
//! payload  {"aud": public_url, "store": id, "ord": reference, "amt": "19.90", "cur": "USD", "iat": …, "exp": …,
//!           "ttl": title?, "ret": return URL?, "lines": [{"title", "quantity"?, "unit_amount"?, "amount"?, "image_url"?}]?}
//! ```
//!
//! The signature is compared, in constant time, before anything of the payload is read. The key is found by its `kid`
//! among all stores; then the payload must name the very store whose key it was, so that two stores may both call a key
//! `k1` and neither can sign for the other.
//!
//! Source: RFC 7515 (JSON Web Signature), sections 3.1 and 5.2; RFC 7519 (JSON Web Token), section 4.1; RFC 8725 (best
//! current practices), sections 3.1 to 3.9.

mod claims;
mod header;
mod refusal;
#[cfg(test)]
mod tests;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use jiff::Timestamp;
use secrecy::ExposeSecret as _;
use sha2::Sha256;

pub(crate) use self::claims::Claims;
pub(crate) use self::refusal::Refusal;
use crate::config::{Store, TokenKey};

/// Fifty lines with titles of forty characters and two amounts fit; so does every other claim at its longest.
const MAX_CHARS: usize = 8192;

/// Checks a token, in this order: length, header, key, signature, and only then what the payload says. `audience` is the
/// proxy's `public_url` as it is configured, without a slash at its end.
///
/// # Errors
/// [`Refusal`] says what is wrong, for the log.
pub(crate) fn verify<'a>(
    token: &str,
    stores: &'a [Store],
    audience: &str,
    now: Timestamp,
) -> Result<(&'a Store, Claims), Refusal> {
    if token.len() > MAX_CHARS {
        return Err(Refusal::TooLong);
    }
    let (signed, signature) = token.rsplit_once('.').ok_or(Refusal::Parts)?;
    let (header, payload) = signed.split_once('.').ok_or(Refusal::Parts)?;
    if payload.contains('.') {
        return Err(Refusal::Parts);
    }
    let kid = header::kid(&decoded("header", header)?)?;
    let signature = decoded("signature", signature)?;
    let keys = stores.iter().flat_map(|store| {
        let of_store = store.token_keys.iter().map(move |key| (store, key));
        of_store.filter(|(_, key)| key.kid == kid)
    });
    let mut keys = keys.peekable();
    if keys.peek().is_none() {
        return Err(Refusal::UnknownKey(kid));
    }
    let found = keys.find(|(_, key)| is_signed(key, signed, &signature));
    let (store, _) = found.ok_or(Refusal::Signature(kid))?;
    let claims = claims::read(&decoded("payload", payload)?, store, audience, now)?;
    Ok((store, claims))
}

fn is_signed(key: &TokenKey, signed: &str, signature: &[u8]) -> bool {
    let secret = key.secret.expose_secret().as_bytes();
    let mut mac = Hmac::<Sha256>::new_from_slice(secret).expect("HMAC takes keys of any length");
    mac.update(signed.as_bytes());
    mac.verify_slice(signature).is_ok()
}

/// Unpadded base64url in its one canonical form: a text that differs in a single character is another text.
fn decoded(part: &'static str, text: &str) -> Result<Vec<u8>, Refusal> {
    URL_SAFE_NO_PAD
        .decode(text)
        .map_err(|source| Refusal::Encoding { part, source })
}
