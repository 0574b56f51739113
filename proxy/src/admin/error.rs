//! Failures of the operator's API, and of the pages and forms of operators and staff, which their place renders. The public
//! API's are in `http/error.rs`.

use axum::Json;
use axum::extract::rejection::{FormRejection, JsonRejection, QueryRejection};
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

impl From<QueryRejection> for OperatorError {
    fn from(error: QueryRejection) -> Self {
        Self::invalid("query", cause(&error.body_text()))
    }
}

impl From<JsonRejection> for OperatorError {
    fn from(error: JsonRejection) -> Self {
        Self::invalid("body", cause(&error.body_text()))
    }
}

impl From<FormRejection> for OperatorError {
    fn from(error: FormRejection) -> Self {
        Self::invalid("form", cause(&error.body_text()))
    }
}

/// What is wrong with a query, a form or a body, without the words of axum before it: the member, and what it may be.
fn cause(text: &str) -> &str {
    let of_axum = ["Failed to deserialize ", "Failed to parse "];
    let is_of_axum = of_axum.iter().any(|words| text.starts_with(words));
    let cause = text.split_once(": ").filter(|_| is_of_axum);
    cause.map_or(text, |(_, cause)| cause)
}

pub(crate) enum PageError {
    Forged,
    /// As in the API.
    Operator(OperatorError),
    Refused(OperatorError, String),
}

impl<E: Into<OperatorError>> From<E> for PageError {
    fn from(error: E) -> Self {
        Self::Operator(error.into())
    }
}

/// A failure in words, which a response carries until its place renders it.
#[derive(Clone, Debug)]
pub(crate) struct PageFailure {
    pub(crate) title: String,
    pub(crate) message: String,
}

impl PageFailure {
    pub(crate) fn response(status: StatusCode, title: &str, message: &str) -> Response {
        let mut answer = status.into_response();
        answer.extensions_mut().insert(Self {
            title: title.to_owned(),
            message: message.to_owned(),
        });
        answer
    }
}

impl IntoResponse for PageError {
    fn into_response(self) -> Response {
        let (status, title, message) = match self {
            Self::Forged => (
                StatusCode::FORBIDDEN,
                "The form is out of date",
                "It was not sent by a page of this session, and nothing was done. Go back, reload the page, and try again."
                    .to_owned(),
            ),
            Self::Operator(error) => {
                error.log();
                let (status, _) = error.status();
                (status, heading(status), error.to_string())
            }
            Self::Refused(error, written) => {
                error.log();
                let (status, _) = error.status();
                let message = format!("{error}. Nothing was done. Your reason: “{written}”");
                (status, heading(status), message)
            }
        };
        PageFailure::response(status, title, &message)
    }
}

fn heading(status: StatusCode) -> &'static str {
    match status {
        StatusCode::NOT_FOUND => "Not found",
        StatusCode::FORBIDDEN => "Not allowed",
        StatusCode::CONFLICT => "Nothing was done",
        StatusCode::SERVICE_UNAVAILABLE => "The database does not answer",
        _ => "The request is not valid",
    }
}

#[cfg(test)]
mod tests {
    use super::cause;

    #[test]
    fn the_words_of_a_library_are_left_out() {
        for (text, expected) in [
            (
                "Failed to deserialize form body: missing field `csrf`",
                "missing field `csrf`",
            ),
            (
                "Failed to parse the request body as JSON: EOF at line 1",
                "EOF at line 1",
            ),
            (
                "Form requests must have `Content-Type: x`",
                "Form requests must have `Content-Type: x`",
            ),
        ] {
            assert_eq!(cause(text), expected);
        }
    }
}
