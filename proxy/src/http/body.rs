//! Reading a request's body: bounded, JSON, and refused with the member that is wrong.

use std::time::Duration;

use axum::body::{Bytes, HttpBody as _, to_bytes};
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::HeaderMap;
use axum::http::header::CONTENT_TYPE;
use axum::http::request::Parts;
use schemars::JsonSchema;
use serde::de::{DeserializeOwned, IgnoredAny};
use url::form_urlencoded;

use crate::http::error::{ApiError, field};

/// More than any request needs.
pub(crate) const MAX_BODY_BYTES: usize = 64 * 1024;

/// The longest time that a whole body may take. The layers of `tower-http` limit the time between two frames, and their
/// responses have another shape.
const LONGEST_BODY: Duration = Duration::from_secs(10);

pub(crate) struct Body<T>(pub T);

pub(crate) struct Parameters<T>(pub T);

/// A JSON body as it was written, for requests that are forwarded to the gateway.
///
/// It is not parsed by `Json<Value>`: that would write numbers anew, drop all but one of doubled members, and change the text
/// that is signed.
pub(crate) struct JsonText(pub String);

pub(crate) struct EmptyBody;

pub(crate) trait FromBody: Sized {
    /// Checks the headers before the body is read.
    fn check_headers(_: &HeaderMap) -> Result<(), ApiError> {
        Ok(())
    }

    fn from_body(bytes: &Bytes) -> Result<Self, ApiError>;
}

impl<T: DeserializeOwned + JsonSchema> FromBody for Body<T> {
    fn check_headers(headers: &HeaderMap) -> Result<(), ApiError> {
        require_json(headers)
    }

    fn from_body(bytes: &Bytes) -> Result<Self, ApiError> {
        // A list of the right values in the right order would be read as the members of an object.
        if bytes.trim_ascii_start().first() == Some(&b'[') {
            let message = "The body is not what this address takes: send an object, not a list.";
            return Err(ApiError::InvalidBody(message.to_owned()));
        }
        let json = |error: serde_json::Error| {
            ApiError::InvalidBody(format!("The body is not JSON: {error}."))
        };
        // A body that is not JSON is refused as a whole, not by the member in which it ends.
        serde_json::from_slice::<IgnoredAny>(bytes).map_err(json)?;
        field::read(&mut serde_json::Deserializer::from_slice(bytes)).map(Self)
    }
}

impl FromBody for JsonText {
    fn check_headers(headers: &HeaderMap) -> Result<(), ApiError> {
        require_json(headers)
    }

    fn from_body(bytes: &Bytes) -> Result<Self, ApiError> {
        let not_text = |_| ApiError::InvalidBody("The body is not UTF-8.".to_owned());
        String::from_utf8(bytes.to_vec())
            .map(Self)
            .map_err(not_text)
    }
}

impl FromBody for EmptyBody {
    fn from_body(_: &Bytes) -> Result<Self, ApiError> {
        Ok(Self)
    }
}

impl<S: Send + Sync> FromRequest<S> for JsonText {
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &S) -> Result<Self, ApiError> {
        let (parts, body) = request.into_parts();
        Self::check_headers(&parts.headers)?;
        Self::from_body(&read(body, MAX_BODY_BYTES).await?)
    }
}

impl<T: DeserializeOwned + JsonSchema, S: Send + Sync> FromRequestParts<S> for Parameters<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        let query = parts.uri.query().unwrap_or_default();
        let members = form_urlencoded::parse(query.as_bytes());
        field::read(serde_urlencoded::Deserializer::new(members)).map(Self)
    }
}

fn require_json(headers: &HeaderMap) -> Result<(), ApiError> {
    let content_type = headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok());
    let essence = content_type
        .and_then(|value| value.split(';').next())
        .unwrap_or("");
    if essence.trim().eq_ignore_ascii_case("application/json") {
        return Ok(());
    }
    Err(ApiError::UnsupportedMediaType)
}

pub(crate) async fn read(body: axum::body::Body, max_bytes: usize) -> Result<Bytes, ApiError> {
    let refused = || ApiError::PayloadTooLarge;
    // What says by itself that it is too large is not waited for.
    if body.size_hint().lower() > max_bytes as u64 {
        return Err(refused());
    }
    let whole = tokio::time::timeout(LONGEST_BODY, to_bytes(body, max_bytes)).await;
    whole.map_err(|_| refused())?.map_err(|_| refused())
}
