//! Error responses of the gateway.

use serde::Deserialize;
use serde_json::Value;

use super::text::{lenient_text, lenient_word, words};

words! {
    /// `code` of a refusal.
    ///
    /// Source: payment-service.md, "Errors". Which code comes with which status is not stated there.
    ErrorCode {
        /// The API key is missing or wrong.
        InvalidApiKey = "INVALID_API_KEY",
        /// The signature does not match.
        InvalidSignature = "INVALID_SIGNATURE",
        /// The invoice does not exist or has expired.
        InvalidInvoiceId = "INVALID_INVOICE_ID",
        /// The amount is below the minimum or above the maximum.
        AmountOutOfRange = "AMOUNT_OUT_OF_RANGE",
        /// The asset is not supported.
        UnsupportedCryptoCode = "UNSUPPORTED_CRYPTO_CODE",
    }
}

/// Both shapes of a refusal in one: `{error: "…", code, message}`, and POST /checkout's `{error: true, message}`.
///
/// A refusal is one by its HTTP status; its body only explains. So nothing is required here, and a body that is no
/// JSON at all is the empty explanation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct GatewayError {
    /// Short description; absent in the shape of POST /checkout, whose `error` is the boolean `true`.
    #[serde(default, rename = "error", deserialize_with = "lenient_text")]
    pub summary: Option<String>,
    /// For machines; absent in the shape of POST /checkout.
    #[serde(default, deserialize_with = "lenient_word")]
    pub code: Option<ErrorCode>,
    /// For people. Never shown to customers unchanged.
    #[serde(default, deserialize_with = "lenient_text")]
    pub message: Option<String>,
}

impl GatewayError {
    /// Reads the body of an error response; any body is accepted.
    pub fn from_body(body: &[u8]) -> Self {
        match serde_json::from_slice(body) {
            Ok(value @ Value::Object(_)) => Self::deserialize(value).unwrap_or_default(),
            _ => Self::default(),
        }
    }
}
