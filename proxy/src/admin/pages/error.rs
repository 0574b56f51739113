//! Failures of pages and forms, as pages.

use axum::extract::rejection::FormRejection;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};

use crate::admin::error::OperatorError;
use crate::admin::pages::layout;
use crate::admin::pages::signed_in::SignedIn;
use crate::auth::operator_session::is_same;
use crate::config::Role;

impl SignedIn {
    /// Checks that a form was sent by a page of this session, and that the operator may change something.
    pub(crate) fn check_form(&self, csrf: &str) -> Result<(), PageError> {
        if !is_same(&self.csrf, csrf) {
            return Err(PageError::Forged);
        }
        if self.role == Role::Read {
            return Err(OperatorError::ReadOnly(self.name.clone()).into());
        }
        Ok(())
    }
}

/// Why a page or a form failed.
pub(crate) enum PageError {
    /// The form was not sent by a page of this session.
    Forged,
    /// As in the API.
    Operator(OperatorError),
}

impl<E: Into<OperatorError>> From<E> for PageError {
    fn from(error: E) -> Self {
        Self::Operator(error.into())
    }
}

impl From<FormRejection> for OperatorError {
    fn from(error: FormRejection) -> Self {
        Self::invalid("form", &error.body_text())
    }
}

impl IntoResponse for PageError {
    fn into_response(self) -> Response {
        let (status, title, message) = match self {
            Self::Forged => (
                StatusCode::FORBIDDEN,
                "The form is out of date".to_owned(),
                "It was not sent by a page of this session, and nothing was done. Go back, reload the page, and try again."
                    .to_owned(),
            ),
            Self::Operator(error) => {
                error.log();
                let (status, _) = error.status();
                (status, heading(status).to_owned(), error.to_string())
            }
        };
        (status, layout::failure(&title, &message)).into_response()
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
