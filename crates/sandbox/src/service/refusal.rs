//! What the service answers when it does not do what it was asked.

use axum::http::StatusCode;
use serde::Serialize;
use serde_json::{Value, json};

use super::{Call, Endpoint};

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
    RateLimited,
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
            Self::RateLimited => "RATE_LIMIT_EXCEEDED",
        }
    }

    /// `Assumed:` 401 is stated for key and signature; for the others the specification's list of statuses is applied
    /// by its words.
    pub(super) fn status(self) -> StatusCode {
        match self {
            Self::InvalidApiKey | Self::InvalidSignature => StatusCode::UNAUTHORIZED,
            Self::InvalidInvoiceId | Self::NotFound => StatusCode::NOT_FOUND,
            Self::RateLimited => StatusCode::TOO_MANY_REQUESTS,
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
            Self::RateLimited => "Too many requests",
        }
    }
}

/// Why a call was refused, in words that help its developer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Refusal {
    pub(super) code: Code,
    pub(super) message: String,
    /// When calls are taken again.
    pub(super) retry_after_seconds: Option<u32>,
    /// For a wrong signature: what should have been signed.
    pub(super) proof: Option<Box<SignatureProof>>,
}

/// What a signature should have been.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct SignatureProof {
    pub(crate) expected_message: String,
    pub(crate) expected_signature: String,
    pub(crate) received_signature: String,
    /// The message under the received signature, when a mistake explains it.
    pub(crate) signed_message: Option<String>,
    /// The mistake that explains the received signature, when it is one of the usual ones.
    pub(crate) hint: Option<String>,
}

impl Refusal {
    pub(super) fn new(code: Code, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            retry_after_seconds: None,
            proof: None,
        }
    }

    pub(super) fn with_proof(mut self, proof: SignatureProof) -> Self {
        self.proof = Some(Box::new(proof));
        self
    }

    /// Says what the mistake was, in the answer and in the log.
    pub(super) fn with_hint(mut self, hint: &str) -> Self {
        self.message = format!("{}. Hint: {hint}", self.message);
        if let Some(proof) = &mut self.proof {
            proof.hint = Some(hint.to_owned());
        }
        self
    }

    pub(super) fn request(message: impl Into<String>) -> Self {
        Self::new(Code::InvalidRequest, message)
    }

    pub(super) fn no_endpoint(call: &Call) -> Self {
        let message = format!("the service has no {} {}", call.method, call.path);
        Self::new(Code::NotFound, message)
    }

    pub(super) fn too_many(limit: u32, retry_after_seconds: u32) -> Self {
        let message = format!("more than {limit} calls in a minute");
        Self {
            retry_after_seconds: Some(retry_after_seconds),
            ..Self::new(Code::RateLimited, message)
        }
    }

    /// There is no such record: a merchant, a wallet.
    pub(super) fn not_found(message: impl Into<String>) -> Self {
        Self::new(Code::NotFound, message)
    }

    pub(super) fn unknown_invoice(id: &str) -> Self {
        let message = format!("there is no invoice {id:?}");
        Self::new(Code::InvalidInvoiceId, message)
    }

    /// The answer's body. A refused POST /checkout has a shape of its own.
    ///
    /// Source: payment-service.md, "Errors".
    pub(super) fn body(&self, endpoint: Option<Endpoint>) -> Value {
        if endpoint == Some(Endpoint::Checkout) && self.code.status() == StatusCode::BAD_REQUEST {
            return json!({"error": true, "message": self.message});
        }
        json!({
            "error": self.code.error(),
            "code": self.code.as_str(),
            "message": self.message,
        })
    }
}
