//! A request to the control API: the sandbox that it changes, its body, and why it is rejected.

use std::sync::Arc;

use axum::Json;
use axum::extract::State as Extract;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::de::DeserializeOwned;
use serde_json::json;

use crate::state::Sandbox;

/// The running sandbox.
pub(super) type Shared = Extract<Arc<Sandbox>>;

/// Why the control API rejects a request, as a sentence.
#[derive(Debug)]
pub(super) enum ControlError {
    /// 400: the request is invalid.
    BadRequest(String),
    /// 404: there is no such invoice, or no such path.
    NotFound(String),
    /// 409: not in this state.
    Conflict(String),
}

impl IntoResponse for ControlError {
    fn into_response(self) -> Response {
        let (status, sentence) = match self {
            Self::BadRequest(sentence) => (StatusCode::BAD_REQUEST, sentence),
            Self::NotFound(sentence) => (StatusCode::NOT_FOUND, sentence),
            Self::Conflict(sentence) => (StatusCode::CONFLICT, sentence),
        };
        (status, Json(json!({"error": sentence}))).into_response()
    }
}

/// Parses a JSON body, whatever its content type is, so that `curl -d '{…}'` is enough. No body is an empty object.
pub(super) fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<T, ControlError> {
    let body = if body.is_empty() { b"{}" } else { body };
    serde_json::from_slice(body)
        .map_err(|error| ControlError::BadRequest(format!("The body is invalid: {error}.")))
}
