//! Endpoints for browsers. A client token can see and pay one order.

pub(crate) mod events;
pub(crate) mod orders;
pub(crate) mod payments;

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode};
use florin_checkout_api::OrderView;
use florin_orders::{OrderId, Snapshot, second_payment_pause, watched_poll};
use headers::authorization::Bearer;
use headers::{Authorization, HeaderMapExt as _};
use jiff::{SignedDuration, Timestamp};
use tokio::time::Instant;
use tracing::{Instrument as _, Span};

use crate::auth::token::Token;
use crate::config::{Config, Store};
use crate::http::error::ApiError;
use crate::http::middleware::require_listed_origin;
use crate::http::static_files::file::holds_tag;
use crate::orders::open::issue_client_token;
use crate::payments::rendered_view::RenderedView;
use crate::payments::view::{ViewContext, view};
use crate::rate_limit::{Key, RateLimit, network};
use crate::request_ids::RequestId;
use crate::state::AppState;

const SHARED_ADDRESS_LOG: Duration = Duration::from_hours(1);

pub(crate) struct CheckoutSession(pub Snapshot);

impl FromRequestParts<Arc<AppState>> for CheckoutSession {
    type Rejection = ApiError;

    /// Unknown, foreign, expired, malformed and absent tokens get one and the same response.
    async fn from_request_parts(parts: &mut Parts, app: &Arc<AppState>) -> Result<Self, ApiError> {
        let token = client_token(&parts.headers)?;
        let storage = &app.deps.storage;
        let found = storage.order_of_token(token.client_hash(), app.now());
        let snapshot = found.await?.ok_or(ApiError::NoSuchOrder)?;
        let config = app.config();
        require_listed_origin(&config, store_of(&config, &snapshot)?, &parts.headers)?;
        Ok(Self(snapshot))
    }
}

pub(crate) struct ShownOrder {
    pub view: Arc<RenderedView>,
    /// A time at which the view is valid: when it was asked for, or rendered.
    pub at: Timestamp,
    /// The page has this view: its `If-None-Match` lists the view's tag.
    pub is_held: bool,
}

impl FromRequestParts<Arc<AppState>> for ShownOrder {
    type Rejection = ApiError;

    /// Rejects like [`CheckoutSession`].
    async fn from_request_parts(parts: &mut Parts, app: &Arc<AppState>) -> Result<Self, ApiError> {
        let token = client_token(&parts.headers)?.client_hash();
        let span = || {
            parts
                .extensions
                .get()
                .map_or_else(Span::current, RequestId::span)
        };
        let grant = async {
            let grant = app.deps.storage.token_grant(token);
            grant.instrument(span()).await
        };
        let now = app.now();
        let grant = app.views.grant(token, now, grant).await?;
        let order = &grant.as_ref().ok_or(ApiError::NoSuchOrder)?.order_id;
        let config = app.config();
        let (view, at) = if let Some(view) = kept(app, &config, order, now) {
            (view, now)
        } else {
            let view = rendered(app, order).instrument(span()).await?;
            (view, app.now())
        };
        let store = config.store(&view.store);
        let store = store.ok_or(ApiError::NoSuchOrder)?;
        require_listed_origin(&config, store, &parts.headers)?;
        let is_held = holds_tag(&parts.headers, &view.etag);
        Ok(Self { view, at, is_held })
    }
}

fn client_token(headers: &HeaderMap) -> Result<Token, ApiError> {
    let sent = headers.typed_get::<Authorization<Bearer>>();
    let token = sent.and_then(|sent| Token::parse(sent.token()));
    token.ok_or(ApiError::NoSuchOrder)
}

async fn limit_address(
    app: &AppState,
    limit: &RateLimit<IpAddr>,
    client: Option<IpAddr>,
) -> Result<(), ApiError> {
    let Some(client) = client else {
        return Ok(());
    };
    let client = network(client);
    let counted = limit_requests(app, limit, client).await;
    if counted.is_err() {
        warn_of_shared_address(app, client);
    }
    counted
}

fn warn_of_shared_address(app: &AppState, address: IpAddr) {
    let logged_at = &mut app.address_notices.lock().limit_logged_at;
    if logged_at.is_some_and(|at| at.elapsed() < SHARED_ADDRESS_LOG) {
        return;
    }
    *logged_at = Some(Instant::now());
    tracing::warn!(
        %address,
        "an address has reached rate_limit.orders_per_minute_per_ip, and its customers get 429. If it is your CDN's or your \
         reverse proxy's, all customers share it: add its networks to trusted_proxies"
    );
}

async fn limit_requests<K: Key>(
    app: &AppState,
    limit: &RateLimit<K>,
    key: K,
) -> Result<(), ApiError> {
    let counted = limit.check(&*app.deps.storage, key, app.now()).await;
    counted.map_err(|wait| ApiError::TooManyRequests {
        retry_after: wait.unsigned_abs(),
    })
}

/// The store of an order. One that is gone from the configuration has no customers any more.
pub(crate) fn store_of<'a>(config: &'a Config, snapshot: &Snapshot) -> Result<&'a Store, ApiError> {
    config
        .store(&snapshot.order.terms.store_id)
        .ok_or(ApiError::NoSuchOrder)
}

pub(crate) fn view_of(app: &AppState, snapshot: &Snapshot) -> Result<OrderView, ApiError> {
    let config = app.config();
    Ok(view(snapshot, context(app, &config, snapshot)?))
}

fn context<'a>(
    app: &AppState,
    config: &'a Config,
    snapshot: &Snapshot,
) -> Result<ViewContext<'a>, ApiError> {
    Ok(ViewContext {
        store: store_of(config, snapshot)?,
        checkout_url: config.gateway.checkout_url.as_ref(),
        environment: config.environment,
        generation: config.generation,
        delayed: app.is_delayed(),
        now: app.now(),
    })
}

/// The order's view, ready to be sent: rendered once per change, and shared.
pub(crate) async fn rendered(
    app: &AppState,
    order: &OrderId,
) -> Result<Arc<RenderedView>, ApiError> {
    let load = async {
        let found = app.deps.storage.snapshot(order).await?;
        let snapshot = found.ok_or(ApiError::NoSuchOrder)?;
        let config = app.config();
        let context = context(app, &config, &snapshot)?;
        Ok(RenderedView::new(&snapshot, context)?)
    };
    let version = async { Ok(app.versions.version(order).await?) };
    let is_valid = |view: &RenderedView| is_valid(app, &app.config(), view, app.now());
    app.views.view(order, is_valid, version, load).await
}

fn kept(
    app: &AppState,
    config: &Config,
    order: &OrderId,
    now: Timestamp,
) -> Option<Arc<RenderedView>> {
    app.views
        .current(order, |view| is_valid(app, config, view, now))
}

/// Returns `true` if a view of the order as it is at this time would show the same.
fn is_valid(app: &AppState, config: &Config, view: &RenderedView, now: Timestamp) -> bool {
    view.generation == config.generation && view.is_valid(app.is_delayed(), now)
}

pub(crate) async fn reload(app: &AppState, snapshot: &Snapshot) -> Result<Snapshot, ApiError> {
    let found = app.deps.storage.snapshot(&snapshot.order.id).await?;
    found.ok_or(ApiError::NoSuchOrder)
}

/// Brings the next poll forward to the watched interval, once for all subscriptions. Of a paid order all attempts are polled
/// for a second payment while pages follow it.
pub(crate) async fn request_poll(app: &AppState, view: &RenderedView) -> Result<(), ApiError> {
    let (storage, order, now) = (&app.deps.storage, &view.order, app.now());
    let Some(wanted) = watched_poll_of(app, view, now) else {
        return Ok(());
    };
    let scheduled = if view.is_settled {
        let pause = second_payment_pause(watched_interval(app));
        storage.schedule_polls_of_order(order, pause, now).await
    } else {
        storage.schedule_poll(order, wanted).await
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

/// When the order should be polled because it is watched; `None` if it is polled by then, or no longer updated.
fn watched_poll_of(app: &AppState, view: &RenderedView, now: Timestamp) -> Option<Timestamp> {
    let invoice = view.invoice.as_ref()?;
    if !view.is_updated(now) {
        return None;
    }
    watched_poll(invoice, watched_interval(app), now)
}

fn watched_interval(app: &AppState) -> SignedDuration {
    let interval = SignedDuration::try_from(app.config().gateway.poll_interval)
        .expect("the interval is a minute at most");
    app.polling_pace().watched_stretch.scale_interval(interval)
}

pub(crate) async fn fresh_token(app: &AppState, order: &str) -> Result<Token, ApiError> {
    let order = OrderId::parse(order).map_err(|_| ApiError::NoSuchOrder)?;
    let token = issue_client_token(app, &order).await?;
    token.ok_or(ApiError::NoSuchOrder)
}

pub(crate) fn created_or_ok(is_new: bool) -> StatusCode {
    if is_new {
        StatusCode::CREATED
    } else {
        StatusCode::OK
    }
}
