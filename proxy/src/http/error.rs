//! A refusal as it is answered.

use axum::Json;
use axum::http::header::RETRY_AFTER;
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use checkout_api::{ErrorBody, ErrorCode, Refusal};
use ledger::LedgerError;
use serde_json::{Value, json};
use service_api::ServiceError;

/// The only way in which a request fails: a code of the closed list, and what a person should do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ApiError {
    code: ErrorCode,
    message: String,
    field: Option<String>,
    retry_after_seconds: Option<u32>,
    service: Option<Box<Value>>,
}

impl ApiError {
    /// A refusal with a sentence or two for people; nothing internal in it.
    pub(crate) fn new(code: ErrorCode, message: &str) -> Self {
        Self {
            code,
            message: message.to_owned(),
            field: None,
            retry_after_seconds: None,
            service: None,
        }
    }

    /// A member of the request that is not as it should be.
    pub(crate) fn field(field: &str, message: &str) -> Self {
        Self::new(ErrorCode::InvalidRequest, message).at(field)
    }

    /// Names the member of the request that is at fault.
    pub(crate) fn at(self, field: &str) -> Self {
        Self {
            field: Some(field.to_owned()),
            ..self
        }
    }

    /// When to come back.
    pub(crate) fn retry_after(self, seconds: u32) -> Self {
        Self {
            retry_after_seconds: Some(seconds),
            ..self
        }
    }

    /// What the payment service said, for the store's server.
    pub(crate) fn with_gateway_error(self, status: u16, error: &ServiceError) -> Self {
        Self {
            service: Some(Box::new(gateway_error_json(status, error))),
            ..self
        }
    }

    /// The one answer to unknown, foreign and expired alike.
    pub(crate) fn not_found() -> Self {
        Self::new(
            ErrorCode::NotFound,
            "There is no such order, or it is no longer open to you.",
        )
    }

    /// A failure of ours, logged here; the answer tells nothing of it.
    pub(crate) fn internal(error: &dyn std::error::Error) -> Self {
        tracing::error!(error = %error, "a request failed");
        let message = "Something went wrong on our side. Nothing is lost; try again shortly.";
        Self::new(ErrorCode::Internal, message)
    }

    /// The answer, which people can quote by its request id.
    pub(crate) fn answer(&self, request_id: &str) -> Response {
        let error = ErrorBody {
            code: Some(self.code),
            message: self.message.clone(),
            field: self.field.clone(),
            request_id: Some(request_id.to_owned()),
        };
        let body = serde_json::to_value(Refusal { error });
        let mut body = body.expect("texts become JSON");
        if let Some(said) = &self.service {
            body["error"]["service"] = Value::clone(said);
        }
        let mut answer = (self.status(), Json(body)).into_response();
        if let Some(seconds) = self.retry_after_seconds {
            answer
                .headers_mut()
                .insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        answer
    }

    fn status(&self) -> StatusCode {
        StatusCode::from_u16(self.code.status()).expect("the list holds valid statuses")
    }
}

impl From<LedgerError> for ApiError {
    fn from(error: LedgerError) -> Self {
        Self::internal(&error)
    }
}

/// Carries the refusal to the outermost layer, which knows the request's id and writes the answer.
impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let mut answer = self.status().into_response();
        answer.extensions_mut().insert(self);
        answer
    }
}

/// More of a sentence is cut off.
const MAX_CHARS: usize = 500;

/// The refusal member by member; absent what the service did not say.
pub(crate) fn gateway_error_json(status: u16, error: &ServiceError) -> Value {
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
            said[name] = truncate(text).into();
        }
    }
    said
}

/// A sentence of somebody else's, cut off where it is endless.
pub(crate) fn truncate(text: &str) -> String {
    text.chars().take(MAX_CHARS).collect()
}
