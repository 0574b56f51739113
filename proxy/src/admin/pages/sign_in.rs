//! Signing in and out, and the operator who is signed in, by the cookie of the session.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::Extension;
use axum::extract::rejection::FormRejection;
use axum::extract::{ConnectInfo, Form, Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Redirect, Response};
use florin_checkout_api::Environment;
use florin_storage::Actor;
use headers::{Cookie, HeaderMapExt as _};
use maud::{Markup, html};
use secrecy::SecretString;
use serde::Deserialize;

use crate::admin::PageError;
use crate::admin::pages::{self, CsrfForm, Place, Viewer};
use crate::auth::is_same;
use crate::auth::operator::{SignInAttempt, by_password};
use crate::auth::token::random_token;
use crate::http::middleware::ClientAddress;
use crate::state::AppState;

/// The cookie that the form of the sign-in repeats.
const FORM_COOKIE: &str = "florin_form";
const BROWSER_COOKIE: &str = "florin_browser";
const BROWSER_COOKIE_SECONDS: u32 = 365 * 24 * 60 * 60;

/// The cookie of a session.
const COOKIE: &str = "florin_operator";

fn session_token(headers: &HeaderMap) -> Option<String> {
    let cookies = headers.typed_get::<Cookie>()?;
    cookies.get(COOKIE).map(str::to_owned)
}

fn signed_in(app: &AppState, headers: &HeaderMap) -> Option<Viewer> {
    let token = session_token(headers)?;
    let session = app.operator_sessions.find(&token, app.now())?;
    let config = app.config();
    let operator = config.operators.iter().find(|operator| {
        operator.name == session.operator && session.is_of(operator.password_hash.as_ref())
    })?;
    Some(Viewer {
        place: Place::Operator,
        shop: None,
        role: operator.role,
        has_explorers: config.environment == Environment::Production,
        actor: Actor::operator(session.operator),
        csrf: session.csrf,
    })
}

/// Lets signed-in operators pass, and sends others to the sign-in.
pub(crate) async fn require_operator(
    State(app): State<Arc<AppState>>,
    mut request: Request,
    next: Next,
) -> Response {
    let Some(operator) = signed_in(&app, request.headers()) else {
        return Redirect::to("/login").into_response();
    };
    request.extensions_mut().insert(operator);
    next.run(request).await
}

pub(crate) async fn page(State(app): State<Arc<AppState>>, headers: HeaderMap) -> Response {
    if signed_in(&app, &headers).is_some() {
        return Redirect::to("/").into_response();
    }
    form(&app, None)
}

fn form(app: &AppState, problem: Option<&str>) -> Response {
    let has_operators = app
        .config()
        .operators
        .iter()
        .any(|operator| operator.password_hash.is_some());
    if !has_operators {
        return pages::outside(Place::Operator, "No operator is set up", &setup()).into_response();
    }
    let csrf = random_token(&*app.random);
    let content = html! {
        @if let Some(problem) = problem {
            p.notice.bad role="alert" { (problem) }
        }
        form.sign-in method="post" action="/login" {
            input type="hidden" name="csrf" value=(csrf);
            label for="name" { "Name" }
            input #name name="name" autocomplete="username" required maxlength="64" autofocus[problem.is_none()];
            label for="password" { "Password" }
            input #password name="password" type="password" autocomplete="current-password" required maxlength="200";
            button type="submit" { "Sign in" }
        }
    };
    let page = pages::outside(Place::Operator, "Sign in", &content);
    let mut response = page.into_response();
    if problem.is_some() {
        *response.status_mut() = StatusCode::UNAUTHORIZED;
    }
    let cookie = format!("{FORM_COOKIE}={csrf}; Path=/login; HttpOnly; SameSite=Strict");
    set_cookie(&mut response, &cookie);
    response
}

/// Adds a cookie of visible ASCII characters.
pub(crate) fn set_cookie(response: &mut Response, cookie: &str) {
    let cookie = HeaderValue::from_str(cookie).expect("visible ASCII characters");
    response.headers_mut().append(header::SET_COOKIE, cookie);
}

/// How to add an operator. It is no secret: the listener is for operators, and nothing can be done without one.
fn setup() -> Markup {
    html! {
        p { "These pages show every order, so that they ask for a password. Two steps add the first operator." }
        ol {
            li {
                "Choose a password and print its hash:"
                pre { code { "florin-proxy secrets hash" } }
            }
            li {
                "Write the operator into the configuration, and reload (SIGHUP) or restart the proxy:"
                pre { code {
                    "[[operator]]\nname = \"ada\"\npassword_hash = \"$argon2id$…\"\nrole = \"write\"\n"
                } }
            }
        }
        p { "The role " code { "read" } " sees everything and changes nothing." }
    }
}

#[derive(Deserialize)]
pub(crate) struct SignInForm {
    csrf: String,
    name: String,
    password: String,
}

pub(crate) async fn sign_in(
    State(app): State<Arc<AppState>>,
    ClientAddress(client): ClientAddress,
    peer: Option<Extension<ConnectInfo<SocketAddr>>>,
    headers: HeaderMap,
    form_data: Result<Form<SignInForm>, FormRejection>,
) -> Result<Response, PageError> {
    let Form(SignInForm {
        csrf,
        name,
        password,
    }) = form_data?;
    let cookies = headers.typed_get::<Cookie>();
    let cookie = |name| cookies.as_ref().and_then(|it| it.get(name));
    let repeated = cookie(FORM_COOKIE);
    if !repeated.is_some_and(|repeated| is_same(repeated, &csrf)) {
        return Err(PageError::Forged);
    }
    let password = SecretString::from(password);
    // A private address has no client address; it counts as the address that it is.
    let peer: Option<IpAddr> = peer.map(|Extension(ConnectInfo(peer))| peer.ip());
    let address = client.or(peer);
    let sessions = &app.operator_sessions;
    let attempt = SignInAttempt {
        name: &name,
        address,
        browser: cookie(BROWSER_COOKIE),
    };
    if !sessions.may_try(&attempt, app.now()) {
        let mut response = form(
            &app,
            Some("Too many failed tries. Wait 15 minutes, and try again."),
        );
        *response.status_mut() = StatusCode::TOO_MANY_REQUESTS;
        return Ok(response);
    }
    let (checking, wanted) = (app.clone(), name.clone());
    // One at a time: a hash takes 19 MiB and a core for some 50 ms.
    let turn = app.password_checks.acquire().await;
    let checked = tokio::task::spawn_blocking(move || {
        let config = checking.config();
        let operator = by_password(&config.operators, &wanted, &password)?;
        operator.password_hash.clone()
    });
    let password_hash = checked.await.unwrap_or(None);
    drop(turn);
    let Some(password_hash) = password_hash else {
        sessions.failed(&attempt, app.now());
        let address = address.map(|address| address.to_string());
        tracing::warn!(address, "an operator failed to sign in");
        return Ok(form(&app, Some("The name or the password is wrong.")));
    };
    let browser = sessions.succeeded(&attempt, &*app.random, app.now());
    let token = sessions.open(&name, &password_hash, &*app.random, app.now());
    tracing::info!(operator = name, "an operator signed in");
    // The browser names the scheme that it used, also behind a proxy that ends TLS.
    let origin = headers.get(header::ORIGIN).map(HeaderValue::as_bytes);
    let is_encrypted = origin.is_some_and(|origin| origin.starts_with(b"https://"));
    let secure = if is_encrypted { "; Secure" } else { "" };
    let mut response = Redirect::to("/").into_response();
    let cookie = format!("{COOKIE}={token}; Path=/; HttpOnly; SameSite=Strict{secure}");
    set_cookie(&mut response, &cookie);
    if let Some(browser) = browser {
        let kept = format!(
            "{BROWSER_COOKIE}={browser}; Path=/login; HttpOnly; SameSite=Strict; Max-Age={BROWSER_COOKIE_SECONDS}{secure}"
        );
        set_cookie(&mut response, &kept);
    }
    Ok(response)
}

pub(crate) async fn sign_out(
    State(app): State<Arc<AppState>>,
    Extension(operator): Extension<Viewer>,
    headers: HeaderMap,
    form: Result<Form<CsrfForm>, FormRejection>,
) -> Result<Response, PageError> {
    let Form(form) = form?;
    if !is_same(&operator.csrf, &form.csrf) {
        return Err(PageError::Forged);
    }
    if let Some(token) = session_token(&headers) {
        app.operator_sessions.close(&token);
    }
    let mut response = Redirect::to("/login").into_response();
    set_cookie(
        &mut response,
        &format!("{COOKIE}=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0"),
    );
    Ok(response)
}
