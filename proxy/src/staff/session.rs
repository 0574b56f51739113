//! A link of the store's server, the session that it opens, and the member of the staff who is signed in by its cookie.
//!
//! The page has a button, and the button opens the session: a program that looks at a link before its person does, such as the
//! scanner of a mail service, uses up nothing. Besides, a browser that comes from the shop's site would not send a
//! `SameSite=Strict` cookie with the redirect of that navigation.

use std::sync::Arc;

use axum::extract::rejection::FormRejection;
use axum::extract::{Form, FromRequestParts, Path, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Redirect, Response};
use florin_storage::{Actor, StaffAccess, StoreScope};
use headers::{Cookie, HeaderMapExt as _};
use maud::html;

use crate::admin::error::{OperatorError, PageError, PageFailure};
use crate::admin::pages::layout;
use crate::admin::pages::sign_in::set_cookie;
use crate::admin::pages::viewer::{CsrfForm, Place, SignedIn, Viewer};
use crate::auth::is_same;
use crate::auth::token::{Token, has_key, random_token};
use crate::config::{Config, Role, Store};
use crate::state::AppState;

/// The cookie that the form of a link repeats.
const FORM_COOKIE: &str = "florin_staff_form";
/// Where the browser sends it.
const FORM_PATH: &str = "/staff/open";

/// GET /staff/open/{token}: who the link is for, and a button.
pub(super) async fn page(
    State(app): State<Arc<AppState>>,
    Path(token): Path<String>,
) -> Result<Response, PageError> {
    let Some(token) = Token::parse(&token) else {
        return Ok(ended());
    };
    let access = app
        .deps
        .storage
        .staff_link(token.staff_hash(), app.now())
        .await?;
    let config = app.config();
    let granted = access.as_ref().and_then(|access| granted(&config, access));
    let (Some(access), Some((store, role))) = (&access, granted) else {
        return Ok(ended());
    };
    let csrf = random_token(&*app.deps.random);
    let content = html! {
        p {
            @match role {
                Role::Read => "You will see the orders of this shop, and change nothing.",
                Role::Write => "You will see the orders of this shop, and may decide about them.",
            }
        }
        form.sign-in method="post" action={ (FORM_PATH) "/" (token.expose()) } {
            input type="hidden" name="csrf" value=(csrf);
            button type="submit" autofocus { "Continue as " (access.person) }
        }
        p.muted { "The link works once. If you are not " (access.person) ", close this page." }
    };
    let mut response = layout::outside(Place::Staff, &store.name, &content).into_response();
    set_cookie(
        &mut response,
        &cookie(&config, FORM_COOKIE, &csrf, FORM_PATH),
    );
    Ok(response)
}

/// POST /staff/open/{token}: opens the session.
pub(super) async fn open(
    State(app): State<Arc<AppState>>,
    Path(token): Path<String>,
    headers: HeaderMap,
    form: Result<Form<CsrfForm>, FormRejection>,
) -> Result<Response, PageError> {
    let Form(form) = form?;
    let cookies = headers.typed_get::<Cookie>();
    let repeated = cookies.as_ref().and_then(|it| it.get(FORM_COOKIE));
    if !repeated.is_some_and(|repeated| is_same(repeated, &form.csrf)) {
        return Err(PageError::Forged);
    }
    let Some(link) = Token::parse(&token) else {
        return Ok(ended());
    };
    let session = Token::draw(&*app.deps.random);
    let storage = &app.deps.storage;
    let opened = storage.open_staff_session(link.staff_hash(), session.staff_hash(), app.now());
    let Some(access) = opened.await? else {
        return Ok(ended());
    };
    tracing::info!(store = %access.store, person = access.person, "a member of a store's staff signed in");
    let mut response = Redirect::to("/staff/").into_response();
    let config = app.config();
    set_session(&mut response, &config, session.expose());
    set_cookie(&mut response, &cookie(&config, FORM_COOKIE, "", FORM_PATH));
    Ok(response)
}

pub(super) async fn sign_out(
    State(app): State<Arc<AppState>>,
    member: Member,
    headers: HeaderMap,
    form: Result<Form<CsrfForm>, FormRejection>,
) -> Result<Response, PageError> {
    let Form(form) = form?;
    if !is_same(&member.viewer().csrf, &form.csrf) {
        return Err(PageError::Forged);
    }
    let config = app.config();
    if let Some(session) = session_token(&config, &headers) {
        app.deps
            .storage
            .end_staff_session(session.staff_hash())
            .await?;
    }
    let mut response = Redirect::to("/staff/").into_response();
    set_session(&mut response, &config, "");
    Ok(response)
}

fn set_session(response: &mut Response, config: &Config, value: &str) {
    set_cookie(
        response,
        &cookie(config, cookie_name(config), value, Place::Staff.base()),
    );
}

/// The one response to a link that is unknown, opened, expired or of another key.
fn ended() -> Response {
    PageFailure::response(
        StatusCode::NOT_FOUND,
        "This link has ended",
        "It works once and for a few minutes. Open these pages from your shop again.",
    )
}

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
fn cookie_name(config: &Config) -> &'static str {
    if is_encrypted(config) {
        "__Secure-florin_staff"
    } else {
        "florin_staff"
    }
}

/// A cookie for a path, which ends with the browser, or at once if the value is empty.
fn cookie(config: &Config, name: &str, value: &str, path: &str) -> String {
    let secure = if is_encrypted(config) { "; Secure" } else { "" };
    let age = if value.is_empty() { "; Max-Age=0" } else { "" };
    format!("{name}={value}; Path={path}; HttpOnly; SameSite=Strict{secure}{age}")
}

fn session_token(config: &Config, headers: &HeaderMap) -> Option<Token> {
    let cookies = headers.typed_get::<Cookie>()?;
    cookies.get(cookie_name(config)).and_then(Token::parse)
}

/// The store of a link or a session, and what the person may do, as the configuration has it now. `None` if the store is
/// gone, has no pages for its staff, or has another secret key.
fn granted<'c>(config: &'c Config, access: &StaffAccess) -> Option<(&'c Store, Role)> {
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
    PageFailure::response(
        StatusCode::UNAUTHORIZED,
        "You are signed out",
        "The session has ended, or there was none. Open these pages from your shop again.",
    )
}
