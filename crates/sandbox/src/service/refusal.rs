//! What the service answers when it does not do what it was asked.

use axum::http::StatusCode;
use serde_json::{Value, json};

use super::Call;

/// The machine-readable part of a refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Code {
    InvalidApiKey,
    InvalidSignature,
    InvalidInvoiceId,
    AmountOutOfRange,
    UnsupportedAsset,
    InvalidConversionId,
    InvalidRequest,
    NotFound,
}

impl Code {
    /// The word on the wire.
    ///
    /// Source: payment-service.md, "Error codes", for the first five. `Assumed:` the others, for cases in which the
    /// specification shows a status and no code.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::InvalidApiKey => "INVALID_API_KEY",
            Self::InvalidSignature => "INVALID_SIGNATURE",
            Self::InvalidInvoiceId => "INVALID_INVOICE_ID",
            Self::AmountOutOfRange => "AMOUNT_OUT_OF_RANGE",
            Self::UnsupportedAsset => "UNSUPPORTED_CRYPTO_CODE",
            Self::InvalidConversionId => "INVALID_CONVERSION_ID",
            Self::InvalidRequest => "INVALID_REQUEST",
            Self::NotFound => "NOT_FOUND",
        }
    }

    /// `Assumed:` 401 is stated for key and signature; for the others the specification's list of statuses is applied
    /// by its words.
    pub(super) fn status(self) -> StatusCode {
        match self {
            Self::InvalidApiKey | Self::InvalidSignature => StatusCode::UNAUTHORIZED,
            Self::InvalidInvoiceId | Self::NotFound => StatusCode::NOT_FOUND,
            Self::AmountOutOfRange
            | Self::UnsupportedAsset
            | Self::InvalidConversionId
            | Self::InvalidRequest => StatusCode::BAD_REQUEST,
        }
    }

    /// The short description.
    fn error(self) -> &'static str {
        match self {
            Self::InvalidApiKey => "Invalid API key",
            Self::InvalidSignature => "Invalid signature",
            Self::InvalidInvoiceId => "Invalid invoice",
            Self::AmountOutOfRange => "Amount out of range",
            Self::UnsupportedAsset => "Unsupported asset",
            Self::InvalidConversionId => "Invalid conversion",
            Self::InvalidRequest => "Bad request",
            Self::NotFound => "Not found",
        }
    }
}

/// Why a call was refused, in words that help its developer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Refusal {
    pub(super) code: Code,
    pub(super) message: String,
}

impl Refusal {
    pub(super) fn new(code: Code, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
        }
    }

    pub(super) fn request(message: impl Into<String>) -> Self {
        Self::new(Code::InvalidRequest, message)
    }

    pub(super) fn no_endpoint(call: &Call) -> Self {
        let message = format!("the service has no {} {}", call.method, call.path);
        Self::new(Code::NotFound, message)
    }

    pub(super) fn unknown_invoice(id: &str) -> Self {
        let message = format!("there is no invoice {id:?}");
        Self::new(Code::InvalidInvoiceId, message)
    }

    pub(super) fn body(&self) -> Value {
        json!({
            "error": self.code.error(),
            "code": self.code.as_str(),
            "message": self.message,
        })
    }
}
