//! What a page and its requests need: static files under a policy, JSON bodies, and errors as sentences.

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::api::request::{ApiError, ErrorCode};
use crate::database::DatabaseError;
use crate::gateway::LookError;

/// A rejected request, as a sentence.
#[derive(Debug)]
pub struct PageError(StatusCode, String);

impl PageError {
    /// The request is wrong.
    pub fn bad_request(sentence: impl Into<String>) -> Self {
        Self(StatusCode::BAD_REQUEST, sentence.into())
    }

    /// There is no such invoice, checkout or path.
    pub fn not_found(sentence: impl Into<String>) -> Self {
        Self(StatusCode::NOT_FOUND, sentence.into())
    }

    /// Not in this state.
    pub fn conflict(sentence: impl Into<String>) -> Self {
        Self(StatusCode::CONFLICT, sentence.into())
    }
}

impl IntoResponse for PageError {
    fn into_response(self) -> Response {
        (self.0, Json(json!({"error": self.1}))).into_response()
    }
}

impl core::fmt::Display for PageError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(&self.1)
    }
}

impl core::error::Error for PageError {}

impl From<DatabaseError> for PageError {
    fn from(error: DatabaseError) -> Self {
        ApiError::from(error).into()
    }
}

impl From<LookError> for PageError {
    fn from(error: LookError) -> Self {
        match error {
            LookError::Database(error) => error.into(),
            LookError::Chain(error) => Self::conflict(format!("{error}.")),
        }
    }
}

impl From<ApiError> for PageError {
    fn from(error: ApiError) -> Self {
        let status = match error.code {
            ErrorCode::InternalError => StatusCode::INTERNAL_SERVER_ERROR,
            _ => StatusCode::BAD_REQUEST,
        };
        let mut sentence = format!("{}.", error.message);
        if let Some(first) = sentence.get_mut(..1) {
            first.make_ascii_uppercase();
        }
        Self(status, sentence)
    }
}

/// The answer of a page's request.
pub type JsonResult = Result<Json<Value>, PageError>;

/// Parses a JSON body, whatever its content type is, so that `curl -d '{…}'` is enough. No body is an empty object.
///
/// # Errors
/// It is no JSON, or another shape.
pub fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<T, PageError> {
    let body = if body.is_empty() { b"{}" } else { body };
    serde_json::from_slice(body)
        .map_err(|error| PageError::bad_request(format!("The body is invalid: {error}.")))
}

/// Path, media type and content.
pub type File = (&'static str, &'static str, &'static str);

/// Routes of files that are part of the program.
pub fn serve_files<S: Clone + Send + Sync + 'static>(
    policy: &'static str,
    files: &[File],
) -> Router<S> {
    let mut router = Router::new();
    for (path, media_type, content) in files.iter().copied() {
        let headers = [
            (header::CONTENT_TYPE, media_type),
            (header::CONTENT_SECURITY_POLICY, policy),
            (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
            (header::CACHE_CONTROL, "no-cache"),
        ];
        router = router.route(path, get(async move || (headers, content)));
    }
    router
}
