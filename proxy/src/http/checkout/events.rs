//! GET /v1/checkout/events: the order now and at every change, as server-sent events.
//!
//! Source: WHATWG HTML, "Server-sent events". Polling GET /v1/checkout always works as well; the stream is faster.
//!
//! The stream of a paid order stays open for an hour after the credit, so that an open page shows a second payment. It
//! reads the order only when it is notified: ten thousand paid pages cost a heartbeat each in 15 seconds, and an hour at most.
//!
//! On a database with other writers no heartbeat reads: the versions of all watched orders are compared at once
//! (`workers/change_exchange.rs`), and a stream whose order has another one is notified.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::response::sse::{Event, Sse};
use florin_checkout_api::{ErrorCode, OrderView};
use florin_orders::OrderId;
use futures_util::Stream;
use futures_util::stream::unfold;
use jiff::{SignedDuration, Timestamp};
use serde_json::json;

use crate::http::checkout::{ShownOrder, is_valid, rendered, request_poll, watched_poll_of};
use crate::http::error::ApiError;
use crate::http::openapi::information::CHECKOUT;
use crate::http::openapi::operation::{Auth, Operation};
use crate::http::openapi::types::Types;
use crate::orders::subscriptions::Subscription;
use crate::payments::rendered_view::RenderedView;
use crate::state::AppState;

/// A quiet stream sends a comment, before a proxy in between times it out.
const HEARTBEAT: SignedDuration = SignedDuration::from_secs(15);
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
            let pause = app.deps.clock.sleep(self.pause());
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
        app.deps.storage.has_other_writers()
            && app
                .compared_at
                .lock()
                .is_some_and(|at| at.elapsed() < LONGEST_UNCOMPARED)
            && is_valid(app, &app.config(), view, now)
            && watched_poll_of(app, view, now).is_none()
    }

    /// The order, if it changed since it was sent; the outer `None` once the order is no longer updated.
    async fn changed_view(&mut self) -> Option<Option<Event>> {
        let app = &self.app;
        let view = rendered(app, &self.order).await.ok()?;
        request_poll(app, &view).await.ok()?;
        let now = app.now();
        let shown = self.shown.replace(view.clone());
        if shown.is_some_and(|shown| shown.etag == view.etag) {
            return view.is_updated(now).then_some(None);
        }
        self.quiet_since = now;
        let event = Event::default().event("order").retry(RETRY);
        Some(Some(event.data(view.json(now))))
    }
}
