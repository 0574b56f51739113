//! The pages for a store's staff, on the public listener: those of the operator that concern one store.
//!
//! A link of the store's server opens a session, which is a row of the database: every proxy on it serves the session. It
//! ends at its time, by signing out, and when the configuration no longer has the store, its pages, or the key with which the
//! link was made.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::rejection::FormRejection;
use axum::extract::{DefaultBodyLimit, Form, Path, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state, map_response};
use axum::response::{IntoResponse as _, Redirect, Response};
use axum::routing::{get, post};
use axum::{Extension, Router};
use florin_checkout_api::Environment;
use florin_storage::{Actor, StaffAccess, StorageError, StoreScope};
use headers::{Cookie, HeaderMapExt as _};
use jiff::SignedDuration;
use maud::html;

use crate::admin::pages::sign_in::set_cookie;
use crate::admin::pages::{self, CsrfForm, Place, Viewer};
use crate::admin::{PageError, PageFailure, guard, shared_routes};
use crate::auth::is_same;
use crate::auth::token::{Token, has_key, random_token};
use crate::config::{Config, Role, Store};
use crate::http::error::ApiError;
use crate::http::middleware::ClientAddress;
use crate::http::middleware::request_log::{ResponsePolicy, request_layer};
use crate::rate_limit::network;
use crate::state::AppState;

const MAX_FORM_BYTES: usize = 16 * 1024;
/// Longer than a store's webhook may take to answer a test.
const LONGEST_REQUEST: Duration = Duration::from_secs(30);

/// The routes below `/staff`. An address that is not here is answered by the routes of the public listener.
pub(crate) fn staff_routes(app: Arc<AppState>) -> Router {
    let policy = ResponsePolicy {
        is_for_pages: false,
        is_private: true,
    };
    shared_routes(Place::Staff)
        .route("/staff/logout", post(sign_out))
        .route_layer(from_fn_with_state(app.clone(), require_member))
        .route("/staff", get(|| async { Redirect::to("/staff/") }))
        .route("/staff/open/{token}", get(page).post(open))
        .route("/staff/operator.css", get(pages::style))
        .route("/staff/operator.js", get(pages::script))
        .layer(DefaultBodyLimit::max(MAX_FORM_BYTES))
        .layer(from_fn_with_state(app.clone(), admit))
        .layer(map_response(headed))
        .layer(request_layer(&app, policy))
        .with_state(app)
}

/// Refuses a request if no store has pages for its staff, if its address sends too many, and if it takes too long.
async fn admit(
    State(app): State<Arc<AppState>>,
    ClientAddress(client): ClientAddress,
    request: Request,
    next: Next,
) -> Response {
    let stores = &app.config().stores;
    if !stores.iter().any(|store| store.staff_pages.is_some()) {
        return ApiError::NoSuchAddress.into_response();
    }
    if let Some(client) = client {
        let storage = &**app.storage;
        let counted = app.staff_limit.check(storage, network(client), app.now());
        if let Err(wait) = counted.await {
            return too_many(wait);
        }
    }
    let response = tokio::time::timeout(LONGEST_REQUEST, next.run(request)).await;
    response.unwrap_or_else(|_| {
        PageFailure::response(
            StatusCode::REQUEST_TIMEOUT,
            "The request took too long",
            "Reload the page, and see what was done before you try again.",
        )
    })
}

fn too_many(wait: SignedDuration) -> Response {
    let mut response = PageFailure::response(
        StatusCode::TOO_MANY_REQUESTS,
        "Too many requests",
        "Your network has sent many requests to these pages. Wait a minute, and try again.",
    );
    let seconds = HeaderValue::from(wait.as_secs().max(1));
    response.headers_mut().insert(header::RETRY_AFTER, seconds);
    response
}

/// Adds the headers of every page. None sends a `Referer`: the address of a link is a secret.
async fn headed(response: Response) -> Response {
    let mut response = guard(Place::Staff, response);
    let headers = response.headers_mut();
    headers.insert(
        header::REFERRER_POLICY,
        HeaderValue::from_static("no-referrer"),
    );
    headers.insert(
        HeaderName::from_static("x-robots-tag"),
        HeaderValue::from_static("noindex"),
    );
    response
}

// A link of the store's server, the session that it opens, and the member of the staff who is signed in by its cookie.
//
// The page has a button, and the button opens the session: a program that looks at a link before its person does, such as the
// scanner of a mail service, uses up nothing. Besides, a browser that comes from the shop's site would not send a
// `SameSite=Strict` cookie with the redirect of that navigation.

/// The cookie that the form of a link repeats.
const FORM_COOKIE: &str = "florin_staff_form";
const FORM_PATH: &str = "/staff/open";

async fn page(
    State(app): State<Arc<AppState>>,
    Path(token): Path<String>,
) -> Result<Response, PageError> {
    let Some(token) = Token::parse(&token) else {
        return Ok(ended());
    };
    let access = app
        .storage
        .staff_link(token.staff_hash(), app.now())
        .await?;
    let config = app.config();
    let granted = access.as_ref().and_then(|access| granted(&config, access));
    let (Some(access), Some((store, role))) = (&access, granted) else {
        return Ok(ended());
    };
    let csrf = random_token(&*app.random);
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
    let mut response = pages::outside(Place::Staff, &store.name, &content).into_response();
    set_cookie(
        &mut response,
        &cookie(&config, FORM_COOKIE, &csrf, FORM_PATH),
    );
    Ok(response)
}

async fn open(
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
    let session = Token::draw(&*app.random);
    let storage = &app.storage;
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

async fn sign_out(
    State(app): State<Arc<AppState>>,
    Extension(member): Extension<Viewer>,
    headers: HeaderMap,
    form: Result<Form<CsrfForm>, FormRejection>,
) -> Result<Response, PageError> {
    let Form(form) = form?;
    if !is_same(&member.csrf, &form.csrf) {
        return Err(PageError::Forged);
    }
    let config = app.config();
    if let Some(session) = session_token(&config, &headers) {
        app.storage.end_staff_session(session.staff_hash()).await?;
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

async fn signed_in(app: &AppState, headers: &HeaderMap) -> Result<Option<Viewer>, StorageError> {
    let config = app.config();
    let Some(token) = session_token(&config, headers) else {
        return Ok(None);
    };
    let found = app.storage.staff_session(token.staff_hash(), app.now());
    let viewer = found.await?.and_then(|access| {
        let (store, role) = granted(&config, &access)?;
        Some(Viewer {
            place: Place::Staff,
            shop: Some(store.name.clone()),
            actor: Actor {
                name: access.person,
                scope: StoreScope::Store(store.id.clone()),
            },
            role,
            has_explorers: config.environment == Environment::Production,
            csrf: token.form_token(),
        })
    });
    Ok(viewer)
}

async fn require_member(
    State(app): State<Arc<AppState>>,
    mut request: Request,
    next: Next,
) -> Result<Response, PageError> {
    let Some(member) = signed_in(&app, request.headers()).await? else {
        return Ok(no_session());
    };
    request.extensions_mut().insert(member);
    Ok(next.run(request).await)
}

fn no_session() -> Response {
    PageFailure::response(
        StatusCode::UNAUTHORIZED,
        "You are signed out",
        "The session has ended, or there was none. Open these pages from your shop again.",
    )
}
