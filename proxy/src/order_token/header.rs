//! The header: which key, and nothing that could choose another algorithm or bring a key along.

use serde::Deserialize;

use super::Refusal;
use crate::config::KeyId;

/// Everything else (`crit`, `jwk`, `jku`, `x5u`, `b64`, `zip`, …) is refused by its name, and so is a member that comes
/// twice.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    alg: String,
    kid: String,
    typ: Option<String>,
}

/// The key's name.
pub(super) fn kid(json: &[u8]) -> Result<KeyId, Refusal> {
    if !json.starts_with(b"{") {
        return Err(Refusal::NoObject("header"));
    }
    let Header { alg, kid, typ } = serde_json::from_slice(json).map_err(Refusal::Header)?;
    if alg != "HS256" {
        return Err(Refusal::Algorithm(alg));
    }
    if typ.is_some_and(|typ| typ != "JWT") {
        return Err(Refusal::Type);
    }
    KeyId::parse(&kid).ok_or(Refusal::KeyId)
}
