//! A link of the store's server: its page, the session that it opens, and the end of the session.
//!
//! The page has a button, and the button opens the session: a program that looks at a link before its person does, such as the
//! scanner of a mail service, uses up nothing. Besides, a browser that comes from the shop's site would not send a
//! `SameSite=Strict` cookie with the redirect of that navigation.

use std::sync::Arc;

use axum::extract::rejection::FormRejection;
use axum::extract::{Form, Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Redirect, Response};
use headers::{Cookie, HeaderMapExt as _};
use maud::html;

use crate::admin::error::{PageError, PageFailure};
use crate::admin::pages::layout;
use crate::admin::pages::sign_in::set_cookie;
use crate::admin::pages::viewer::{CsrfForm, Place, SignedIn as _};
use crate::auth::is_same;
use crate::auth::token::{Token, random_token};
use crate::config::{Config, Role};
use crate::staff::member::{Member, cookie, cookie_name, granted, session_token};
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
    let failure = PageFailure {
        title: "This link has ended".to_owned(),
        message: "It works once and for a few minutes. Open these pages from your shop again."
            .to_owned(),
    };
    failure.with(StatusCode::NOT_FOUND)
}
