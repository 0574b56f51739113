//! The gateway's errors.

use axum::http::StatusCode;
use serde_json::{Value, json};

use super::request::Call;

/// The machine-readable part of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ErrorCode {
    InvalidApiKey,
    InvalidSignature,
    InvalidInvoiceId,
    AmountOutOfRange,
    UnsupportedAsset,
    InvalidConversionId,
    InvalidRequest,
    NotFound,
}

impl ErrorCode {
    /// The code on the wire, its status, and the short description.
    ///
    /// Source: payment-service.md, "Error codes", for the first five codes. `Assumed:` the other codes, for cases in
    /// which the specification shows a status and no code. 401 is stated for key and signature; for the others the
    /// specification's list of statuses is applied by its words.
    fn parts(self) -> (&'static str, StatusCode, &'static str) {
        use StatusCode as S;
        match self {
            Self::InvalidApiKey => ("INVALID_API_KEY", S::UNAUTHORIZED, "Invalid API key"),
            Self::InvalidSignature => ("INVALID_SIGNATURE", S::UNAUTHORIZED, "Invalid signature"),
            Self::InvalidInvoiceId => ("INVALID_INVOICE_ID", S::NOT_FOUND, "Invalid invoice"),
            Self::AmountOutOfRange => {
                ("AMOUNT_OUT_OF_RANGE", S::BAD_REQUEST, "Amount out of range")
            }
            Self::UnsupportedAsset => (
                "UNSUPPORTED_CRYPTO_CODE",
                S::BAD_REQUEST,
                "Unsupported asset",
            ),
            Self::InvalidConversionId => (
                "INVALID_CONVERSION_ID",
                S::BAD_REQUEST,
                "Invalid conversion",
            ),
            Self::InvalidRequest => ("INVALID_REQUEST", S::BAD_REQUEST, "Bad request"),
            Self::NotFound => ("NOT_FOUND", S::NOT_FOUND, "Not found"),
        }
    }

    pub(crate) fn as_str(self) -> &'static str {
        self.parts().0
    }

    pub(crate) fn status(self) -> StatusCode {
        self.parts().1
    }
}

/// An error response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ApiError {
    pub(crate) code: ErrorCode,
    /// Names the mistake, for the caller's developer.
    pub(crate) message: String,
}

impl ApiError {
    pub(crate) fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { code, message }
    }

    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::InvalidRequest, message)
    }

    pub(crate) fn not_found(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::NotFound, message)
    }

    pub(crate) fn no_endpoint(call: &Call) -> Self {
        let (method, path) = (&call.method, call.path());
        Self::not_found(format!("the gateway has no {method} {path}"))
    }

    pub(crate) fn unknown_invoice(id: &str) -> Self {
        let message = format!("there is no invoice {id:?}");
        Self::new(ErrorCode::InvalidInvoiceId, message)
    }

    pub(crate) fn unsupported_asset(code: &str, offered: &str) -> Self {
        let message = format!("crypto_code {code:?} is not one of {offered}");
        Self::new(ErrorCode::UnsupportedAsset, message)
    }

    /// The body. Source: payment-service.md, "Errors".
    pub(crate) fn body(&self) -> Value {
        let (code, _, error) = self.code.parts();
        json!({"error": error, "code": code, "message": self.message})
    }

    /// The body of a 400 of POST /checkout, which has another shape.
    pub(crate) fn checkout_body(&self) -> Value {
        json!({"error": true, "message": self.message})
    }
}
