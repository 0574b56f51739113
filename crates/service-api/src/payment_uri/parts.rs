//! A payment URI in its parts.

use std::collections::BTreeSet;

use super::{UriError, short};

/// `scheme:path?key=value&…`. Keys and values are decoded, since a wallet decodes them before it looks for an amount. The
/// path is not: an address needs no encoding, and an encoded one is another one.
pub(super) struct Parts<'a> {
    /// In lower case.
    pub(super) scheme: String,
    pub(super) path: &'a str,
    parameters: Vec<(String, String)>,
}

impl<'a> Parts<'a> {
    pub(super) fn split(text: &'a str) -> Result<Self, UriError> {
        let (scheme, rest) = text
            .split_once(':')
            .ok_or_else(|| UriError::Scheme { found: short(text) })?;
        let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
        let mut seen = BTreeSet::new();
        let mut parameters = Vec::new();
        for parameter in query.split('&').filter(|parameter| !parameter.is_empty()) {
            let (key, value) = parameter.split_once('=').unwrap_or((parameter, ""));
            let key = decoded(key)?.to_ascii_lowercase();
            // Wallets differ in which of two they believe. Source: BIP-321, "Invalid URIs".
            if !seen.insert(key.clone()) {
                return Err(UriError::Twice { key: short(&key) });
            }
            parameters.push((key, decoded(value)?));
        }
        Ok(Self {
            scheme: scheme.to_ascii_lowercase(),
            path,
            parameters,
        })
    }

    /// Parameters in their order, keys in lower case, each key once.
    pub(super) fn parameters(&self) -> impl Iterator<Item = (&str, &str)> {
        self.parameters
            .iter()
            .map(|(key, value)| (key.as_str(), value.as_str()))
    }

    pub(super) fn scheme_error(&self) -> UriError {
        UriError::Scheme {
            found: short(&self.scheme),
        }
    }

    pub(super) fn address_error(&self) -> UriError {
        UriError::Address {
            found: short(self.path),
        }
    }
}

/// The text that percent signs stand for. Source: RFC 3986, section 2.1.
fn decoded(text: &str) -> Result<String, UriError> {
    let broken = || UriError::Encoding { found: short(text) };
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let (digits, after) = rest.split_first_chunk::<2>().ok_or_else(broken)?;
        let mut byte = [0];
        hex::decode_to_slice(digits, &mut byte).map_err(|_| broken())?;
        bytes.extend(byte);
        rest = after;
    }
    String::from_utf8(bytes).map_err(|_| broken())
}
