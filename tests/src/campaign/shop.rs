//! The shop: its webhook endpoint, which logs every delivery and sometimes rejects it or does not answer, and a reader that
//! follows its list of events by `GET /v1/events`, through any proxy.

use std::fs::File;
use std::io::Write as _;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use florin_proxy::clock::{Clock as _, SystemClock};
use parking_lot::Mutex;
use serde_json::{Value, json};

use super::customer::Customers;
use crate::counters::Counters;
use crate::local_server::LocalServer;
use crate::program::append_to;
use crate::random::SeededRandom;
use crate::wait::pause;
use crate::world::secrets;

/// Replies to a delivery, with their weights: a status, or none.
const REPLIES: [(u64, Option<StatusCode>); 5] = [
    (90, Some(StatusCode::NO_CONTENT)),
    (5, Some(StatusCode::INTERNAL_SERVER_ERROR)),
    (2, Some(StatusCode::SERVICE_UNAVAILABLE)),
    (2, Some(StatusCode::FOUND)),
    (1, None),
];
pub(super) const MUST_HAPPEN: [&str; 2] = ["accepted", "rejected"];
/// Longer than the proxy's timeout.
const NO_RESPONSE: Duration = Duration::from_secs(20);
const SLOW: Duration = Duration::from_millis(300);
/// Pause of the reader after a page that was empty, or after a request that failed.
const PAUSE: Duration = Duration::from_millis(20);
/// Small, so that many pages end between events of transactions that run at the same time.
const PAGE: u32 = 5;

#[derive(Debug)]
pub(super) struct Shop {
    server: LocalServer,
    state: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    log: Mutex<File>,
    random: SeededRandom,
    accepts_all: AtomicBool,
    counters: Arc<Counters>,
}

impl Shop {
    pub(super) async fn open(log: &Path, random: SeededRandom, counters: Arc<Counters>) -> Self {
        let state = Arc::new(Inner {
            log: Mutex::new(append_to(log)),
            random,
            accepts_all: AtomicBool::new(false),
            counters,
        });
        let routes = Router::new().route("/florin", post(receive));
        let server = LocalServer::start(routes.with_state(state.clone())).await;
        Self { server, state }
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.server.address
    }

    pub(super) fn accept_all(&self) {
        self.state.accepts_all.store(true, Ordering::Relaxed);
    }
}

/// Logs one line before the response is sent, so that every accepted delivery is in the log.
async fn receive(State(shop): State<Arc<Inner>>, headers: HeaderMap, body: String) -> StatusCode {
    let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let at = SystemClock.now();
    let accepts_all = shop.accepts_all.load(Ordering::Relaxed);
    // As a store's library does it. Source: Standard Webhooks 1.0.0, "Verifying timestamps"; its libraries take five minutes.
    let sent_at = header("webhook-timestamp").and_then(|text| text.parse::<i64>().ok());
    let response = if sent_at.is_none_or(|sent_at| at.as_second().abs_diff(sent_at) > 300) {
        Some(StatusCode::BAD_REQUEST)
    } else if accepts_all {
        Some(StatusCode::NO_CONTENT)
    } else {
        shop.random.weigh(&REPLIES)
    };
    if !accepts_all && shop.random.percent(5) {
        pause(SLOW).await;
    }
    let line = json!({
        "at": at.to_string(),
        "id": header("webhook-id").unwrap_or_default(),
        "timestamp": header("webhook-timestamp").unwrap_or_default(),
        "signature": header("webhook-signature").unwrap_or_default(),
        "body": body,
        "response": response.map(|status| status.as_u16()),
    });
    writeln!(shop.log.lock(), "{line}").expect("the shop's log can be written");
    let reply = match response {
        Some(status) if status.is_success() => "accepted",
        Some(_) => "rejected",
        None => "unanswered",
    };
    shop.counters.one("deliveries", reply);
    let Some(response) = response else {
        pause(NO_RESPONSE).await;
        return StatusCode::REQUEST_TIMEOUT;
    };
    response
}

impl Customers {
    /// Follows the store's list of events until everything is drained and the list has no more.
    pub(super) async fn follow_events(self, mut log: File, is_drained: Arc<AtomicBool>) {
        let mut after = None;
        loop {
            let was_drained = is_drained.load(Ordering::Relaxed);
            let Some(page) = self.event_page(after.as_deref()).await else {
                pause(PAUSE).await;
                continue;
            };
            for event in page["events"].as_array().into_iter().flatten() {
                let line = json!({"store": "demo", "id": event["id"]});
                writeln!(log, "{line}").expect("the folder is writable");
                self.counters.one("store", "events read from the list");
            }
            match page["next"].as_str() {
                Some(next) => after = Some(next.to_owned()),
                None if was_drained => return,
                None => pause(PAUSE).await,
            }
        }
    }

    /// A page; `None` when the request failed.
    async fn event_page(&self, after: Option<&str>) -> Option<Value> {
        let after = after.map_or_else(String::new, |after| format!("&after={after}"));
        let url = format!("{}/v1/events?limit={PAGE}{after}", self.proxy);
        let request = self.http.get(url).bearer_auth(secrets::STORE_KEY);
        let response = request.send().await.ok()?;
        let status = response.status().as_u16();
        let body: Value = response.json().await.ok()?;
        assert!(status == 200 || status >= 500, "{status}: {body}");
        (status == 200).then_some(body)
    }
}
