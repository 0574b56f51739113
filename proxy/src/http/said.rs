//! The payment service's own words in a refusal.

use serde_json::{Value, json};
use service_api::ServiceError;

/// More of a sentence is cut off.
const MAX_CHARS: usize = 500;

/// The refusal member by member; absent what the service did not say.
pub(super) fn said(status: u16, error: &ServiceError) -> Value {
    let mut said = json!({ "status": status });
    let members = [
        ("error", error.summary.as_deref()),
        (
            "code",
            error.code.as_ref().map(service_api::ErrorCode::as_str),
        ),
        ("message", error.message.as_deref()),
    ];
    for (name, text) in members {
        if let Some(text) = text {
            said[name] = short(text).into();
        }
    }
    said
}

/// A sentence of somebody else's, cut off where it is endless.
pub(super) fn short(text: &str) -> String {
    text.chars().take(MAX_CHARS).collect()
}
