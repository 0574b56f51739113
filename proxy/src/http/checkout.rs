//! Endpoints for browsers. A client token can see and pay one order.

pub(crate) mod events;
pub(crate) mod orders;
pub(crate) mod payments;

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::{FromRequestParts, Request};
use axum::http::header::CACHE_CONTROL;
use axum::http::request::Parts;
use axum::http::{HeaderValue, StatusCode};
use axum::middleware::Next;
use axum::response::Response;
use florin_checkout_api::OrderView;
use florin_orders::{OrderId, Snapshot, second_payment_pause, subscribed_poll};
use headers::authorization::Bearer;
use headers::{Authorization, HeaderMapExt as _};
use jiff::SignedDuration;

use crate::auth::client_token::ClientToken;
use crate::config::Store;
use crate::http::error::ApiError;
use crate::http::middleware::cors::require_listed_origin;
use crate::orders::open::issue_client_token;
use crate::orders::subscriptions::RenderedView;
use crate::payments::view::{ViewContext, etag, followed_until, is_followed, view};
use crate::rate_limit::{RateLimit, network};
use crate::state::AppState;

/// The order that the request's client token opens.
pub(crate) struct CheckoutSession(pub Snapshot);

impl FromRequestParts<Arc<AppState>> for CheckoutSession {
    type Rejection = ApiError;

    /// Unknown, foreign, expired, malformed and absent tokens get one and the same answer.
    async fn from_request_parts(parts: &mut Parts, app: &Arc<AppState>) -> Result<Self, ApiError> {
        let sent = parts.headers.typed_get::<Authorization<Bearer>>();
        let token = sent.and_then(|sent| ClientToken::parse(sent.token()));
        let token = token.ok_or(ApiError::NoSuchOrder)?;
        let found = app
            .deps
            .storage
            .order_of_token(token.hash(), app.now())
            .await?;
        let snapshot = found.ok_or(ApiError::NoSuchOrder)?;
        require_listed_origin(app, store_of(app, &snapshot)?, &parts.headers)?;
        Ok(Self(snapshot))
    }
}

/// Counts a request of an address; an address that is not known is not limited.
fn limit_address(
    app: &AppState,
    limit: &RateLimit<IpAddr>,
    client: Option<IpAddr>,
) -> Result<(), ApiError> {
    client.map_or(Ok(()), |client| {
        limited(limit.check(network(client), app.now()))
    })
}

fn limited(counted: Result<(), SignedDuration>) -> Result<(), ApiError> {
    counted.map_err(|wait| ApiError::TooManyRequests {
        retry_after: wait.unsigned_abs(),
    })
}

/// The store of an order. One that is gone from the configuration has no customers any more.
pub(crate) fn store_of<'a>(app: &'a AppState, snapshot: &Snapshot) -> Result<&'a Store, ApiError> {
    app.config
        .store(&snapshot.order.terms.store_id)
        .ok_or(ApiError::NoSuchOrder)
}

/// The order as its customer sees it now.
pub(crate) fn view_of(app: &AppState, snapshot: &Snapshot) -> Result<OrderView, ApiError> {
    let context = ViewContext {
        store: store_of(app, snapshot)?,
        checkout_url: app.config.gateway.checkout_url.as_ref(),
        environment: app.config.environment,
        delayed: app.is_delayed(),
        now: app.now(),
    };
    Ok(view(snapshot, context))
}

/// The order's view, ready to be sent.
pub(crate) fn render(app: &AppState, snapshot: &Snapshot) -> Result<RenderedView, ApiError> {
    let now = app.now();
    Ok(RenderedView {
        etag: etag(snapshot, app.is_delayed(), now),
        json: serde_json::to_string(&view_of(app, snapshot)?)?,
        rendered_at: now,
        followed_until: followed_until(&snapshot.order),
    })
}

/// Reads the order again after a change.
pub(crate) async fn reload(app: &AppState, snapshot: &Snapshot) -> Result<Snapshot, ApiError> {
    let found = app.deps.storage.snapshot(&snapshot.order.id).await?;
    found.ok_or(ApiError::NoSuchOrder)
}

/// Brings the next poll forward to the watched interval, once for all subscriptions. Of a paid order all attempts are polled
/// for a second payment while pages follow it.
pub(crate) async fn request_poll(app: &AppState, snapshot: &Snapshot) -> Result<(), ApiError> {
    let Some(invoice) = snapshot
        .attempt
        .as_ref()
        .and_then(|attempt| attempt.invoice())
    else {
        return Ok(());
    };
    let interval = SignedDuration::try_from(app.config.gateway.poll_interval)
        .expect("the interval is a minute at most");
    let (storage, order, now) = (&app.deps.storage, &snapshot.order, app.now());
    if !is_followed(order, now) {
        return Ok(());
    }
    let interval = app.polling_pace().stretch.of_pause(interval);
    let Some(wanted) = subscribed_poll(invoice, interval, now) else {
        return Ok(());
    };
    let scheduled = if order.status.is_settled() {
        let pause = second_payment_pause(interval);
        storage.schedule_polls_of_order(&order.id, pause, now).await
    } else {
        storage.schedule_poll(&order.id, wanted).await
    };
    match scheduled {
        Ok(_) => {}
        // What is known can be shown although nothing can be stored.
        Err(error) if error.outage().is_some() => return Ok(()),
        Err(error) => return Err(error.into()),
    }
    app.poller_wakeup.notify_one();
    Ok(())
}

/// Keeps answers about orders out of caches.
pub(crate) async fn no_store(request: Request, next: Next) -> Response {
    let mut answer = next.run(request).await;
    answer
        .headers_mut()
        .insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    answer
}

/// Another client token for an order whose opening is answered again.
pub(crate) async fn fresh_token(app: &AppState, order: &str) -> Result<ClientToken, ApiError> {
    let order = OrderId::parse(order).map_err(|_| ApiError::NoSuchOrder)?;
    let token = issue_client_token(app, &order).await?;
    token.ok_or(ApiError::NoSuchOrder)
}

/// 201 for a new order, 200 for a known one.
pub(crate) fn created_or_ok(is_new: bool) -> StatusCode {
    if is_new {
        StatusCode::CREATED
    } else {
        StatusCode::OK
    }
}
