//! Why a signature is wrong: the usual mistakes are tried, one after the other, until one explains it.

use std::collections::BTreeMap;

use hmac::{Hmac, KeyInit as _, Mac as _};
use serde_json::Value;
use sha2::{Sha256, Sha512};

use crate::signature::{is_signed, sign, signed_message};
use crate::{ApiSecret, Settings};

/// A signature that is wrong, and what it came with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SignatureAttempt<'a> {
    pub(crate) nonce: &'a str,
    /// Path with query, below the base address.
    pub(crate) target: &'a str,
    pub(crate) host: &'a str,
    pub(crate) body: &'a [u8],
    pub(crate) signature: &'a str,
}

/// What explains a wrong signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mistake {
    /// What to do about it.
    pub(crate) hint: &'static str,
    /// What was signed.
    pub(crate) signed_message: Vec<u8>,
}

impl SignatureAttempt<'_> {
    /// The mistake, when it is one of the usual ones.
    pub(crate) fn mistake(&self, settings: &Settings, expected: &[u8]) -> Option<Mistake> {
        let secret = &settings.api_secret;
        let form = self.wrong_form(secret, expected);
        if let Some(hint) = form.or_else(|| self.wrong_secret(settings, expected)) {
            let signed_message = expected.to_vec();
            return Some(Mistake {
                hint,
                signed_message,
            });
        }
        let mut messages = self.wrong_messages().into_iter();
        let explains = |message: &[u8]| is_signed(secret, message, self.signature);
        let (signed_message, hint) = messages.find(|(message, _)| explains(message))?;
        Some(Mistake {
            hint,
            signed_message,
        })
    }

    /// The right digest in the wrong clothes, or a digest of another kind.
    fn wrong_form(&self, secret: &ApiSecret, expected: &[u8]) -> Option<&'static str> {
        let right = sign(secret, expected);
        let given = self.signature;
        if given.trim() == right {
            return Some("there are blanks around the signature");
        }
        if given.to_ascii_lowercase() == right {
            return Some("the hexadecimal digits are capitals: they must be lower-case");
        }
        let digest = hex::decode(&right).expect("it was encoded so");
        if given == base64(&digest) {
            return Some("the signature is base64: it must be hexadecimal");
        }
        let key = secret.expose().as_bytes();
        let mac = Hmac::<Sha256>::new_from_slice(key).expect("HMAC takes a key of any length");
        if given == hex::encode(mac.chain_update(expected).finalize().into_bytes()) {
            return Some("the hash is SHA-256: it must be SHA-384");
        }
        let mac = Hmac::<Sha512>::new_from_slice(key).expect("HMAC takes a key of any length");
        if given == hex::encode(mac.chain_update(expected).finalize().into_bytes()) {
            return Some("the hash is SHA-512: it must be SHA-384");
        }
        None
    }

    /// The right message under something that is not the secret.
    fn wrong_secret(&self, settings: &Settings, expected: &[u8]) -> Option<&'static str> {
        let secret = settings.api_secret.expose();
        let explains = |key: String| is_signed(&ApiSecret::new(key), expected, self.signature);
        if explains(settings.api_key.clone()) {
            return Some("you signed with the API key: sign with the API secret");
        }
        let blanks = ["\n", "\r\n", " "];
        if blanks
            .iter()
            .any(|blank| explains(format!("{secret}{blank}")))
        {
            return Some("your secret ends with a blank or a line break: remove it");
        }
        None
    }

    /// Messages that are signed by mistake, each with what to do about it.
    fn wrong_messages(&self) -> Vec<(Vec<u8>, &'static str)> {
        let Self { nonce, target, .. } = *self;
        let body = self.body;
        let text = |text: String, body: &[u8]| [text.as_bytes(), body].concat();
        let below_api = format!("/api{target}");
        let whole_url = format!("http://{}/api{target}", self.host);
        let bare = target.trim_start_matches('/');
        let mut messages = vec![
            (
                signed_message(nonce, &below_api, body),
                "you signed the path with /api: the message already begins with /api/",
            ),
            (
                signed_message(nonce, &whole_url, body),
                "you signed the whole URL: sign the path with its query alone",
            ),
            (
                signed_message(nonce, bare, body),
                "the path you signed has no slash at its beginning",
            ),
            (
                signed_message(nonce, &format!("{target}/"), body),
                "the path you signed has a slash at its end",
            ),
            (
                signed_message(nonce, target, b""),
                "the body is missing from what you signed",
            ),
            (
                signed_message(nonce, target, body),
                "you signed the body: of this method, the body is not signed",
            ),
            (
                text(format!("{nonce}{target}"), body),
                "/api/ is missing at the beginning of what you signed",
            ),
            (
                text(format!("/api{nonce}{target}"), body),
                "the slash between /api and the nonce is missing",
            ),
            (
                text(format!("/api{target}{nonce}"), body),
                "the nonce is in the wrong place: after /api/ and before the path",
            ),
            (
                signed_message(&format!("{nonce}000"), target, body),
                "you signed the nonce in milliseconds: it is whole seconds",
            ),
            (
                signed_message("", target, body),
                "the nonce is missing from what you signed",
            ),
        ];
        if let Some((path, _)) = target.split_once('?') {
            let hint = "the query is missing from what you signed";
            messages.push((signed_message(nonce, path, body), hint));
        }
        let rewritten =
            "the body was written anew after it was signed: sign the bytes that you send";
        if let Ok(json) = serde_json::from_slice::<Value>(body) {
            let compact = json.to_string();
            let sorted = sorted_by_key(json.clone()).to_string();
            let blanks = with_blanks(body);
            let pretty = serde_json::to_string_pretty(&json).unwrap_or_default();
            for written in [
                compact.into_bytes(),
                sorted.into_bytes(),
                blanks,
                pretty.into_bytes(),
            ] {
                messages.push((signed_message(nonce, target, &written), rewritten));
            }
        }
        for ending in ["\n", "\r\n"] {
            let longer = [body, ending.as_bytes()].concat();
            let hint = "what you signed ends with a line break";
            messages.push((signed_message(nonce, target, &longer), hint));
        }
        messages
    }
}

/// The same JSON with the members of each object in the order of their names, whichever order this build of the JSON
/// library keeps.
fn sorted_by_key(json: Value) -> Value {
    match json {
        Value::Object(members) => {
            let members: BTreeMap<_, _> = members.into_iter().collect();
            let sorted = |(name, member)| (name, sorted_by_key(member));
            Value::Object(members.into_iter().map(sorted).collect())
        }
        Value::Array(items) => items.into_iter().map(sorted_by_key).collect(),
        other => other,
    }
}

/// Compact JSON with a blank after each comma and colon, as Python writes it.
fn with_blanks(json: &[u8]) -> Vec<u8> {
    let (mut in_text, mut escaped) = (false, false);
    let mut written = Vec::with_capacity(json.len() * 2);
    for &byte in json {
        written.push(byte);
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_text => escaped = true,
            b'"' => in_text = !in_text,
            b',' | b':' if !in_text => written.push(b' '),
            _ => {}
        }
    }
    written
}

/// Base64 with padding. Source: RFC 4648, section 4.
fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digit = |bits: u32| char::from(ALPHABET[usize::try_from(bits & 63).expect("six bits")]);
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let byte = |index| u32::from(chunk.get(index).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        text.extend([digit(bits >> 18), digit(bits >> 12)]);
        text.push(if chunk.len() > 1 {
            digit(bits >> 6)
        } else {
            '='
        });
        text.push(if chunk.len() > 2 { digit(bits) } else { '=' });
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_that_of_the_rfc() {
        // Source: RFC 4648, section 10.
        for (bytes, text) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
        ] {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
    }

    #[test]
    fn blanks_are_put_between_tokens_alone() {
        let json = br#"{"a,b":"c: \" d","e":[1,2]}"#;
        let blanks = br#"{"a,b": "c: \" d", "e": [1, 2]}"#;
        assert_eq!(with_blanks(json), blanks);
    }
}
