//! A request of a page or of the control API: the sandbox that it changes, its body, and why it is rejected.

use std::sync::Arc;

use axum::Json;
use axum::extract::State as Extract;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::de::DeserializeOwned;
use serde_json::json;

use crate::state::Sandbox;

pub(crate) type Shared = Extract<Arc<Sandbox>>;

/// Why a request is rejected, as a sentence.
#[derive(Debug)]
pub(crate) enum ControlError {
    /// 400: the request is invalid.
    BadRequest(String),
    /// 404: there is no such invoice, checkout or path.
    NotFound(String),
    /// 409: not in this state.
    Conflict(String),
}

impl ControlError {
    pub(crate) fn bad_request(sentence: &str) -> Self {
        Self::BadRequest(sentence.to_owned())
    }

    pub(crate) fn conflict(sentence: &str) -> Self {
        Self::Conflict(sentence.to_owned())
    }
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
pub(crate) fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<T, ControlError> {
    let body = if body.is_empty() { b"{}" } else { body };
    serde_json::from_slice(body)
        .map_err(|error| ControlError::BadRequest(format!("The body is invalid: {error}.")))
}
