//! The member of a store's staff who is signed in, by the cookie of the session.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};
use florin_storage::{Actor, StaffAccess, StoreScope};
use headers::{Cookie, HeaderMapExt as _};

use crate::admin::error::{OperatorError, PageError, PageFailure};
use crate::admin::pages::viewer::{Place, SignedIn, Viewer};
use crate::auth::token::{Token, has_key};
use crate::config::{Config, Role, Store};
use crate::state::AppState;

#[derive(Clone, Debug)]
pub(super) struct Member(Viewer);

impl SignedIn for Member {
    fn viewer(self) -> Viewer {
        self.0
    }
}

/// Returns `true` if browsers reach the pages by https.
fn is_encrypted(config: &Config) -> bool {
    config.public_url.base().starts_with("https://")
}

/// The cookie of a session. Browsers take one with this prefix by https alone. `__Host-` is not possible: it needs the path
/// `/`, and the cookie would be sent with requests of the checkout.
pub(super) fn cookie_name(config: &Config) -> &'static str {
    if is_encrypted(config) {
        "__Secure-florin_staff"
    } else {
        "florin_staff"
    }
}

/// A cookie for a path, which ends with the browser, or at once if the value is empty.
pub(super) fn cookie(config: &Config, name: &str, value: &str, path: &str) -> String {
    let secure = if is_encrypted(config) { "; Secure" } else { "" };
    let age = if value.is_empty() { "; Max-Age=0" } else { "" };
    format!("{name}={value}; Path={path}; HttpOnly; SameSite=Strict{secure}{age}")
}

pub(super) fn session_token(config: &Config, headers: &HeaderMap) -> Option<Token> {
    let cookies = headers.typed_get::<Cookie>()?;
    cookies.get(cookie_name(config)).and_then(Token::parse)
}

/// The store of a link or a session, and what the person may do, as the configuration has it now. `None` if the store is
/// gone, has no pages for its staff, or has another secret key.
pub(super) fn granted<'c>(config: &'c Config, access: &StaffAccess) -> Option<(&'c Store, Role)> {
    let store = config.store(&access.store)?;
    let role = match store.staff_pages? {
        Role::Write if access.may_decide => Role::Write,
        Role::Read | Role::Write => Role::Read,
    };
    has_key(store.secret_key.as_ref(), &access.secret_key).then_some((store, role))
}

impl FromRequestParts<Arc<AppState>> for Member {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<AppState>) -> Result<Self, Response> {
        let config = app.config();
        let token = session_token(&config, &parts.headers).ok_or_else(no_session)?;
        let found = app
            .deps
            .storage
            .staff_session(token.staff_hash(), app.now());
        let found = found.await.map_err(|error| {
            let error = PageError::from(OperatorError::from(error));
            error.into_response()
        })?;
        let access = found.ok_or_else(no_session)?;
        let (store, role) = granted(&config, &access).ok_or_else(no_session)?;
        Ok(Self(Viewer {
            place: Place::Staff,
            shop: Some(store.name.clone()),
            actor: Actor {
                name: access.person,
                scope: StoreScope::Store(store.id.clone()),
            },
            role,
            csrf: token.form_token(),
        }))
    }
}

fn no_session() -> Response {
    let failure = PageFailure {
        title: "You are signed out".to_owned(),
        message: "The session has ended, or there was none. Open these pages from your shop again."
            .to_owned(),
    };
    failure.with(StatusCode::UNAUTHORIZED)
}
