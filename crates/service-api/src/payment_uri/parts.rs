//! A payment URI in its parts.

use super::{UriError, short};

/// `scheme:path?key=value&…`; nothing is decoded, so an encoded address or amount is another one.
pub(super) struct Parts<'a> {
    /// In lower case.
    pub(super) scheme: String,
    pub(super) path: &'a str,
    parameters: Vec<(String, &'a str)>,
}

impl<'a> Parts<'a> {
    pub(super) fn split(text: &'a str) -> Result<Self, UriError> {
        let (scheme, rest) = text
            .split_once(':')
            .ok_or_else(|| UriError::Scheme { found: short(text) })?;
        let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
        let parameters = query
            .split('&')
            .filter(|parameter| !parameter.is_empty())
            .map(|parameter| parameter.split_once('=').unwrap_or((parameter, "")))
            .map(|(key, value)| (key.to_ascii_lowercase(), value))
            .collect();
        Ok(Self {
            scheme: scheme.to_ascii_lowercase(),
            path,
            parameters,
        })
    }

    /// Parameters in their order, keys in lower case. A key may come more than once: wallets differ in which they
    /// believe, so all of them must be right.
    pub(super) fn parameters(&self) -> impl Iterator<Item = (&str, &'a str)> {
        self.parameters
            .iter()
            .map(|(key, value)| (key.as_str(), *value))
    }

    pub(super) fn scheme_error(&self) -> UriError {
        UriError::Scheme {
            found: short(&self.scheme),
        }
    }
}
