//! A failure as an HTTP response.

use std::borrow::Cow;
use std::sync::Arc;

use axum::Json;
use axum::http::HeaderValue;
use axum::http::header::RETRY_AFTER;
use axum::response::{IntoResponse, Response};
use florin_checkout_api::{Environment, ErrorBody, ErrorCode, Refusal};
use serde_json::Value;

use super::ApiError;
use super::failure::Failure;

impl ApiError {
    /// Returns `true` if a person must read the reason.
    pub(crate) fn is_internal(&self) -> bool {
        Failure::of(self).code == ErrorCode::Internal
    }

    /// The response, which people can quote by its request id. In the test environment it has the reason for developers.
    pub(crate) fn response(&self, request_id: &str, environment: Environment) -> Response {
        let failure = Failure::of(self);
        let error = ErrorBody {
            code: Some(failure.code),
            message: failure.message.clone().into_owned(),
            field: failure.field.clone().map(Cow::into_owned),
            request_id: Some(request_id.to_owned()),
        };
        let body = serde_json::to_value(Refusal { error });
        let mut body = body.expect("texts become JSON");
        if let Some(message) = &failure.gateway {
            body["error"]["gateway"] = Value::clone(message);
        }
        if let (Environment::Test, Some(reason)) = (environment, self.reason()) {
            body["error"]["reason"] = reason.into();
        }
        let mut response = (failure.status(), Json(body)).into_response();
        if let Some(seconds) = failure.retry_after_seconds {
            response
                .headers_mut()
                .insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}

/// Carries the failure to the outermost layer, which knows the request's id and writes the response.
impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let mut response = Failure::of(&self).status().into_response();
        response.extensions_mut().insert(Arc::new(self));
        response
    }
}
