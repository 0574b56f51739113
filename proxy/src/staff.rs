//! The pages for a store's staff, on the public listener: those of the operator that concern one store.
//!
//! A link of the store's server opens a session, which is a row of the database: every proxy on it serves the session. It
//! ends at its time, by signing out, and when the configuration no longer has the store, its pages, or the key with which the
//! link was made.

mod session;

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state, map_response};
use axum::response::{IntoResponse as _, Redirect, Response};
use axum::routing::{get, post};
use jiff::SignedDuration;

use crate::admin::error::PageFailure;
use crate::admin::guard;
use crate::admin::pages::viewer::Place;
use crate::admin::pages::{attention, layout, orders, settlements, stores};
use crate::http::error::ApiError;
use crate::http::middleware::client_address::ClientAddress;
use crate::http::middleware::request_log::{ResponsePolicy, request_layer};
use crate::rate_limit::network;
use crate::staff::session::Member;
use crate::state::AppState;

/// A form is a reason and a few words.
const MAX_FORM_BYTES: usize = 16 * 1024;
/// Longer than a store's webhook may take to answer a test.
const LONGEST_REQUEST: Duration = Duration::from_secs(30);

/// The routes below `/staff`. An address that is not here is answered by the routes of the public listener.
pub(crate) fn staff_routes(app: Arc<AppState>) -> Router {
    let policy = ResponsePolicy {
        is_for_pages: false,
        is_private: true,
    };
    Router::new()
        .route("/staff", get(|| async { Redirect::to("/staff/") }))
        .route("/staff/", get(attention::page::<Member>))
        .route(
            "/staff/open/{token}",
            get(session::page).post(session::open),
        )
        .route("/staff/logout", post(session::sign_out))
        .route("/staff/orders", get(orders::list::<Member>))
        .route("/staff/orders/{id}", get(orders::show::<Member>))
        .route(
            "/staff/orders/{id}/decision",
            post(orders::decide::<Member>),
        )
        .route(
            "/staff/orders/{id}/redeliver",
            post(orders::redeliver::<Member>),
        )
        .route("/staff/settlements", get(settlements::page::<Member>))
        .route("/staff/settlements.csv", get(settlements::csv::<Member>))
        .route("/staff/stores", get(stores::page::<Member>))
        .route("/staff/stores/{id}/test", post(stores::test::<Member>))
        .route("/staff/stores/{id}/enable", post(stores::enable::<Member>))
        .route("/staff/operator.css", get(layout::style))
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
        let storage = &*app.deps.storage;
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
