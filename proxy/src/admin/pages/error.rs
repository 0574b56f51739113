//! Failures of pages and forms. The place of the pages renders them.

use axum::extract::rejection::FormRejection;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};

use crate::admin::api::cause;
use crate::admin::error::OperatorError;

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

impl From<FormRejection> for OperatorError {
    fn from(error: FormRejection) -> Self {
        Self::invalid("form", cause(&error.body_text()))
    }
}

/// A failure in words, which a response carries until its place renders it.
#[derive(Clone, Debug)]
pub(crate) struct PageFailure {
    pub(crate) title: String,
    pub(crate) message: String,
}

impl PageFailure {
    pub(crate) fn with(self, status: StatusCode) -> Response {
        let mut answer = status.into_response();
        answer.extensions_mut().insert(self);
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
        let title = title.to_owned();
        PageFailure { title, message }.with(status)
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
