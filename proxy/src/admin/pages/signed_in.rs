//! The operator who is signed in, by the cookie of the session.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::HeaderMap;
use axum::http::request::Parts;
use axum::response::{IntoResponse as _, Redirect, Response};
use florin_storage::Actor;
use headers::{Cookie, HeaderMapExt as _};

use crate::admin::pages::viewer::{Place, SignedIn, Viewer};
use crate::state::AppState;

/// The cookie of a session.
pub(crate) const COOKIE: &str = "florin_operator";

pub(crate) fn session_token(headers: &HeaderMap) -> Option<String> {
    let cookies = headers.typed_get::<Cookie>()?;
    cookies.get(COOKIE).map(str::to_owned)
}

#[derive(Clone, Debug)]
pub(crate) struct SignedInOperator(Viewer);

impl SignedIn for SignedInOperator {
    fn viewer(self) -> Viewer {
        self.0
    }
}

impl FromRequestParts<Arc<AppState>> for SignedInOperator {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<AppState>) -> Result<Self, Response> {
        let token = session_token(&parts.headers);
        let session = token.and_then(|token| app.operator_sessions.find(&token, app.now()));
        let config = app.config();
        let operators = &config.operators;
        let operator = session.as_ref().and_then(|session| {
            let mut operators = operators.iter();
            operators.find(|operator| {
                operator.name == session.operator && session.is_of(operator.password_hash.as_ref())
            })
        });
        match (session, operator) {
            (Some(session), Some(operator)) => Ok(Self(Viewer {
                place: Place::Operator,
                shop: None,
                actor: Actor::operator(session.operator),
                role: operator.role,
                csrf: session.csrf,
            })),
            _ => Err(Redirect::to("/login").into_response()),
        }
    }
}
