//! Reading members that may be missing or of another type without failing the whole answer.
//!
//! Use with `#[serde(default, deserialize_with = "…")]`: what is not a string is absent, and stays visible as absent.

use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// A string; `None` for a member of any other type.
pub(super) fn text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    Ok(match Value::deserialize(deserializer)? {
        Value::String(text) => Some(text),
        _ => None,
    })
}

/// A string as one of a list of words; `None` for a member of any other type.
pub(super) fn word<'de, D, W>(deserializer: D) -> Result<Option<W>, D::Error>
where
    D: Deserializer<'de>,
    W: From<String>,
{
    Ok(text(deserializer)?.map(W::from))
}

/// The strings of a list; empty for a member of any other type.
pub(super) fn texts<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    let Value::Array(items) = Value::deserialize(deserializer)? else {
        return Ok(Vec::new());
    };
    let texts = items.into_iter().filter_map(|item| match item {
        Value::String(text) => Some(text),
        _ => None,
    });
    Ok(texts.collect())
}
