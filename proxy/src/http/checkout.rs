//! Endpoints for browsers. A client token can see and pay one order.

pub(crate) mod offers;
pub(crate) mod orders;
pub(crate) mod payments;
pub(crate) mod source;

use std::convert::Infallible;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{FromRequestParts, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode};
use axum::response::sse::{Event, Sse};
use florin_checkout_api::{ErrorCode, OrderView};
use florin_orders::{OrderId, Snapshot, second_payment_pause, watched_pause};
use futures_util::Stream;
use futures_util::stream::unfold;
use headers::authorization::Bearer;
use headers::{Authorization, HeaderMapExt as _};
use jiff::{SignedDuration, Timestamp};
use serde_json::json;
use tokio::time::Instant;
use tracing::{Instrument as _, Span};

use crate::auth::token::Token;
use crate::config::{Config, Store};
use crate::http::error::ApiError;
use crate::http::middleware::require_listed_origin;
use crate::http::openapi::CHECKOUT;
use crate::http::openapi::operation::{Auth, Operation, Types};
use crate::http::static_files::holds_tag;
use crate::log::RequestId;
use crate::orders::changes::Subscription;
use crate::orders::issue_client_token;
use crate::payments::rendered_view::RenderedView;
use crate::payments::view::{ViewContext, view};
use crate::rate_limit::{Key, RateLimit, network};
use crate::state::AppState;

const SHARED_ADDRESS_LOG: Duration = Duration::from_hours(1);

pub(crate) struct CheckoutSession(pub Snapshot);

impl FromRequestParts<Arc<AppState>> for CheckoutSession {
    type Rejection = ApiError;

    /// Unknown, foreign, expired, malformed and absent tokens get one and the same response.
    async fn from_request_parts(parts: &mut Parts, app: &Arc<AppState>) -> Result<Self, ApiError> {
        let token = client_token(&parts.headers)?;
        let storage = &app.storage;
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

    async fn from_request_parts(parts: &mut Parts, app: &Arc<AppState>) -> Result<Self, ApiError> {
        let token = client_token(&parts.headers)?.client_hash();
        let span = || {
            parts
                .extensions
                .get()
                .map_or_else(Span::current, RequestId::span)
        };
        let grant = async {
            let grant = app.storage.token_grant(token);
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
    let counted = limit.check(&**app.storage, key, app.now()).await;
    counted.map_err(ApiError::too_many_requests)
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
        network: config.gateway.network,
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
        let found = app.storage.snapshot(order).await?;
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
    let found = app.storage.snapshot(&snapshot.order.id).await?;
    found.ok_or(ApiError::NoSuchOrder)
}

/// Brings the next poll forward to the watched interval, once for all subscriptions. Of a paid order all attempts are polled
/// for a second payment while pages follow it.
pub(crate) async fn request_poll(app: &AppState, view: &RenderedView) -> Result<(), ApiError> {
    let (storage, order, now) = (&app.storage, &view.order, app.now());
    let Some(pause) = watched_pause_of(app, view, now) else {
        return Ok(());
    };
    let scheduled = if view.is_settled {
        let pause = second_payment_pause(watched_interval(app));
        storage.schedule_polls_of_order(order, pause, now).await
    } else {
        storage.schedule_poll(order, pause, now).await
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

/// So long after its last poll the order should be polled because it is watched; `None` if it is polled by then, or no longer
/// updated.
fn watched_pause_of(app: &AppState, view: &RenderedView, now: Timestamp) -> Option<SignedDuration> {
    let invoice = view.invoice.as_ref()?;
    if !view.is_updated(now) {
        return None;
    }
    watched_pause(invoice, watched_interval(app), now)
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

// GET /v1/checkout/events: the order now and at every change, as server-sent events.
//
// Source: WHATWG HTML, "Server-sent events". Polling GET /v1/checkout always works as well; the stream is faster.
//
// The stream of a paid order stays open for an hour after the credit, so that an open page shows a second payment. It
// reads the order only when it is notified: ten thousand paid pages cost a heartbeat each in 15 seconds, and an hour at most.
//
// On a database with other writers no heartbeat reads: the versions of all watched orders are compared at once
// (`workers/change_exchange.rs`), and a stream whose order has another one is notified.

/// A quiet stream sends a comment, before a proxy in between times it out.
const HEARTBEAT: SignedDuration = SignedDuration::from_secs(15);
/// A poll that found nothing new is sent so long after the last event: the page says when the gateway was last asked.
const UNCHANGED: SignedDuration = SignedDuration::from_secs(5);
/// A few comparisons: after this time without one, each stream reads its order with its heartbeat.
const LONGEST_UNCOMPARED: Duration = Duration::from_secs(15);
/// What a browser waits before it comes back to a stream that ended.
const RETRY: Duration = Duration::from_secs(2);

struct OrderStream {
    app: Arc<AppState>,
    order: OrderId,
    subscription: Subscription,
    /// The view that was read last. Its tag is the one that was sent: a notification without a change sends nothing.
    shown: Option<Arc<RenderedView>>,
    quiet_since: Timestamp,
}

/// Streams the order until it is no longer updated, the browser disconnects or the proxy ends.
pub(crate) async fn events(
    State(app): State<Arc<AppState>>,
    ShownOrder { view, .. }: ShownOrder,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, ApiError> {
    let order = view.order.clone();
    if app.subscriptions.count(&order) >= app.config().rate_limit.streams_per_order {
        return Err(ApiError::TooManyStreams);
    }
    let subscription = app.subscriptions.subscribe(&order);
    let quiet_since = app.now();
    let stream = OrderStream {
        app,
        order,
        subscription,
        shown: None,
        quiet_since,
    };
    Ok(Sse::new(unfold(Some(stream), |stream| async {
        let mut stream = stream?;
        let event = stream.next().await?;
        Some((Ok(event), Some(stream)))
    })))
}

pub(crate) fn describe_events(types: &mut Types) -> Operation {
    Operation::new("stream_checkout", CHECKOUT, Auth::ClientToken)
        .summary(
            "Watch the order",
            "Server-sent events, each named `order` with an OrderView as its data: one at once, and one at every change. \
             A comment every 15 seconds says that the stream is alive. It ends an hour after the order was paid.",
        )
        .errors(&[ErrorCode::RateLimited])
        .responds_as(
            200,
            "The stream, until an hour after the order was paid.",
            "text/event-stream",
            &json!({
                "type": "object",
                "description": "One event.",
                "required": ["event", "data"],
                "properties": {
                    "event": { "const": "order" },
                    "data": {
                        "type": "string",
                        "description": "An OrderView.",
                        "contentMediaType": "application/json",
                        "contentSchema": types.written::<OrderView>(),
                    },
                    "retry": {
                        "type": "integer",
                        "description": "Milliseconds to wait before coming back to a stream that ended.",
                    },
                },
            }),
        )
}

impl OrderStream {
    /// Waits for something to send; `None` ends the stream.
    async fn next(&mut self) -> Option<Event> {
        let app = self.app.clone();
        let mut is_woken = false;
        loop {
            if (is_woken || !self.is_current())
                && let Some(event) = self.changed_view().await?
            {
                return Some(event);
            }
            if app.now().duration_since(self.quiet_since) >= HEARTBEAT {
                self.quiet_since = app.now();
                return Some(Event::default().comment("alive"));
            }
            let pause = app.clock.sleep(self.pause());
            is_woken = tokio::select! {
                () = app.shutdown.cancelled() => return None,
                () = self.subscription.changed() => true,
                () = pause => false,
            };
        }
    }

    fn pause(&self) -> Duration {
        let now = self.app.now();
        let heartbeat = HEARTBEAT - now.duration_since(self.quiet_since);
        let left = self
            .updates_until()
            .map_or(heartbeat, |until| heartbeat.min(until.duration_since(now)));
        Duration::try_from(left.clamp(SignedDuration::ZERO, HEARTBEAT)).unwrap_or_default()
    }

    fn updates_until(&self) -> Option<Timestamp> {
        self.shown.as_ref().and_then(|view| view.updates_until)
    }

    /// Returns `true` if a read would find what was shown last, and request no poll. A write would have notified the stream,
    /// by its announcement or by the comparison of versions.
    fn is_current(&self) -> bool {
        let Some(view) = &self.shown else {
            return false;
        };
        let (app, now) = (&self.app, self.app.now());
        if let Some(until) = view.updates_until {
            return now < until;
        }
        app.storage.has_other_writers()
            && app
                .compared_at
                .lock()
                .is_some_and(|at| at.elapsed() < LONGEST_UNCOMPARED)
            && is_valid(app, &app.config(), view, now)
            && watched_pause_of(app, view, now).is_none()
    }

    /// The order, if it changed since it was sent; the outer `None` once the order is no longer updated.
    async fn changed_view(&mut self) -> Option<Option<Event>> {
        let app = &self.app;
        let view = rendered(app, &self.order).await.ok()?;
        request_poll(app, &view).await.ok()?;
        let now = app.now();
        let is_fresh = now.duration_since(self.quiet_since) < UNCHANGED;
        let is_shown = |shown: Arc<RenderedView>| {
            shown.etag == view.etag || is_fresh && shown.shows_same(&view)
        };
        if self.shown.replace(view.clone()).is_some_and(is_shown) {
            return view.is_updated(now).then_some(None);
        }
        self.quiet_since = now;
        let event = Event::default().event("order").retry(RETRY);
        Some(Some(event.data(view.json(now))))
    }
}
