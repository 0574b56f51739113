//! The receipt as a JSON Web Token, so that any library for them reads it.
//!
//! Source: RFC 7515, section 3.1 (compact serialization); RFC 7518, section 3.2 (HS256); RFC 8725, section 3.11 (`typ`).

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ledger::OrderId;
use subtle::ConstantTimeEq as _;

use super::{Receipt, ReceiptKey, base64url, mac};

/// Says what kind of token it is, so that none of another kind is taken for it.
const HEADER: &str = r#"{"alg":"HS256","typ":"florin-receipt+jwt"}"#;
/// More than any receipt has.
const MAX_CHARS: usize = 4096;

pub(super) fn write(key: &ReceiptKey, receipt: &Receipt) -> String {
    let facts = serde_json::to_string(receipt).expect("texts become JSON");
    let signed = format!(
        "{}.{}",
        base64url(HEADER.as_bytes()),
        base64url(facts.as_bytes())
    );
    let signature = base64url(&mac(&key.0, signed.as_bytes()));
    format!("{signed}.{signature}")
}

/// The order that a token names; `None` for what is no token. Nothing else of it is believed: a genuine one's facts are
/// those of the ledger.
pub(super) fn order_of(token: &str) -> Option<OrderId> {
    if token.len() > MAX_CHARS {
        return None;
    }
    let (_, rest) = token.split_once('.')?;
    let (facts, _) = rest.split_once('.')?;
    let facts = URL_SAFE_NO_PAD.decode(facts).ok()?;
    let facts: serde_json::Value = serde_json::from_slice(&facts).ok()?;
    OrderId::parse(facts["order_id"].as_str()?).ok()
}

pub(super) fn is_signed(key: &ReceiptKey, token: &str) -> bool {
    let Some((signed, signature)) = token.rsplit_once('.') else {
        return false;
    };
    let right = base64url(&mac(&key.0, signed.as_bytes()));
    let is_receipt = signed.split('.').next() == Some(&base64url(HEADER.as_bytes()));
    is_receipt && bool::from(right.as_bytes().ct_eq(signature.as_bytes()))
}
