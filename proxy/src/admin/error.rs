//! Failures of the operator's API and of the pages of operators and staff. The public API's are in `http/error.rs`.

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use florin_storage::{DecideError, StorageError};
use serde_json::json;

/// Every way in which a request of an operator or of a store's staff fails.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OperatorError {
    /// 401: no operator sent the request.
    #[error(
        "send the token of an operator as `Authorization: Bearer …`: [[operator]] in the configuration has it"
    )]
    Unauthorized,
    /// 403: the operator's role is `read`.
    #[error("{0} has the role read: this needs role = \"write\" in the configuration")]
    ReadOnly(String),
    /// 403: the session of a store's staff sees alone.
    #[error(
        "this session sees orders and changes nothing: the shop makes links for people who decide"
    )]
    ReadOnlyStaff,
    /// 404.
    #[error("there is no such {0}")]
    NotFound(&'static str),
    /// 400: a member or parameter of the request.
    #[error("{field}: {message}")]
    Invalid {
        field: &'static str,
        message: String,
    },
    /// 409: the decision was not carried out.
    #[error(transparent)]
    Decision(DecideError),
    /// 409: the store has no webhook.
    #[error("the store {0} has no webhook: [store.webhook] in the configuration has its address")]
    NoWebhook(String),
    /// 503: the database.
    #[error("the database cannot be used: {0}")]
    Storage(#[from] StorageError),
}

impl OperatorError {
    pub(crate) fn invalid(field: &'static str, message: &(impl ToString + ?Sized)) -> Self {
        Self::Invalid {
            field,
            message: message.to_string(),
        }
    }

    pub(crate) fn status(&self) -> (StatusCode, &'static str) {
        match self {
            Self::Unauthorized => (StatusCode::UNAUTHORIZED, "unauthorized"),
            Self::ReadOnly(_) | Self::ReadOnlyStaff => (StatusCode::FORBIDDEN, "read_only"),
            Self::NotFound(_) | Self::Decision(DecideError::NoOrder(_)) => {
                (StatusCode::NOT_FOUND, "not_found")
            }
            Self::Invalid { .. } => (StatusCode::BAD_REQUEST, "invalid_request"),
            Self::Decision(DecideError::Changed { .. }) => (StatusCode::CONFLICT, "order_changed"),
            Self::Decision(DecideError::Refused(_)) => (StatusCode::CONFLICT, "decision_refused"),
            Self::NoWebhook(_) => (StatusCode::CONFLICT, "no_webhook"),
            Self::Storage(_) | Self::Decision(DecideError::Storage(_)) => {
                (StatusCode::SERVICE_UNAVAILABLE, "unavailable")
            }
        }
    }

    /// Logs what the operator's own request did not cause.
    pub(crate) fn log(&self) {
        if let Self::Storage(error) | Self::Decision(DecideError::Storage(error)) = self
            && error.outage().is_none()
        {
            tracing::error!(%error, "a request of an operator or of staff failed");
        }
    }
}

impl From<DecideError> for OperatorError {
    fn from(error: DecideError) -> Self {
        Self::Decision(error)
    }
}

impl IntoResponse for OperatorError {
    fn into_response(self) -> Response {
        self.log();
        let (status, code) = self.status();
        let field = match &self {
            Self::Invalid { field, .. } => Some(*field),
            _ => None,
        };
        let mut error = json!({ "code": code, "message": self.to_string() });
        if let Some(field) = field {
            error["field"] = field.into();
        }
        let mut response = (status, Json(json!({ "error": error }))).into_response();
        if status == StatusCode::UNAUTHORIZED {
            let scheme = HeaderValue::from_static("Bearer");
            response
                .headers_mut()
                .insert(header::WWW_AUTHENTICATE, scheme);
        }
        response
    }
}
