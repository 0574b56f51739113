//! The shop's webhook endpoint: logs every delivery and sometimes rejects it or does not answer.

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
use jiff::Timestamp;
use parking_lot::Mutex;
use serde_json::json;
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use crate::counters::Counters;
use crate::random::SeededRandom;
use crate::wait::pause;

/// Replies to a delivery, with their weights: a status, or none.
const REPLIES: [(u64, Option<StatusCode>); 5] = [
    (90, Some(StatusCode::NO_CONTENT)),
    (5, Some(StatusCode::INTERNAL_SERVER_ERROR)),
    (2, Some(StatusCode::SERVICE_UNAVAILABLE)),
    (2, Some(StatusCode::FOUND)),
    (1, None),
];
/// Replies that every campaign has.
pub(super) const MUST_HAPPEN: [&str; 2] = ["accepted", "rejected"];
/// Longer than the proxy's timeout.
const NO_RESPONSE: Duration = Duration::from_secs(20);
const SLOW: Duration = Duration::from_millis(300);

/// The endpoint; it closes when dropped.
#[derive(Debug)]
pub(super) struct Shop {
    pub(super) address: SocketAddr,
    state: Arc<Inner>,
    _serving: JoinSet<()>,
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
        let log = File::options().create(true).append(true).open(log);
        let state = Arc::new(Inner {
            log: Mutex::new(log.expect("the folder is writable")),
            random,
            accepts_all: AtomicBool::new(false),
            counters,
        });
        let listener = TcpListener::bind("127.0.0.1:0").await;
        let listener = listener.expect("a port is free");
        let address = listener.local_addr().expect("it is bound");
        let routes = Router::new()
            .route("/florin", post(receive))
            .with_state(state.clone());
        let mut serving = JoinSet::new();
        serving.spawn(async move {
            axum::serve(listener, routes)
                .await
                .expect("a bound listener serves");
        });
        Self {
            address,
            state,
            _serving: serving,
        }
    }

    pub(super) fn accept_all(&self) {
        self.state.accepts_all.store(true, Ordering::Relaxed);
    }
}

async fn receive(State(shop): State<Arc<Inner>>, headers: HeaderMap, body: String) -> StatusCode {
    let at = SystemClock.now();
    let accepts_all = shop.accepts_all.load(Ordering::Relaxed);
    let response = if !is_timely(&headers) {
        Some(StatusCode::BAD_REQUEST)
    } else if accepts_all {
        Some(StatusCode::NO_CONTENT)
    } else {
        shop.random.weigh(&REPLIES)
    };
    if !accepts_all && shop.random.percent(5) {
        pause(SLOW).await;
    }
    shop.log_delivery(at, &headers, &body, response);
    let Some(response) = response else {
        pause(NO_RESPONSE).await;
        return StatusCode::REQUEST_TIMEOUT;
    };
    response
}

/// As a store's library does it. Source: Standard Webhooks 1.0.0, "Verifying timestamps"; its libraries take five minutes.
fn is_timely(headers: &HeaderMap) -> bool {
    let sent_at = headers
        .get("webhook-timestamp")
        .and_then(|value| value.to_str().ok()?.parse::<i64>().ok());
    sent_at.is_some_and(|sent_at| SystemClock.now().as_second().abs_diff(sent_at) <= 300)
}

impl Inner {
    /// Logs one line before the response is sent, so that every accepted delivery is in the log.
    fn log_delivery(
        &self,
        at: Timestamp,
        headers: &HeaderMap,
        body: &str,
        response: Option<StatusCode>,
    ) {
        let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        let line = json!({
            "at": at.to_string(),
            "id": header("webhook-id").unwrap_or_default(),
            "timestamp": header("webhook-timestamp").unwrap_or_default(),
            "signature": header("webhook-signature").unwrap_or_default(),
            "body": body,
            "response": response.map(|status| status.as_u16()),
        });
        let mut log = self.log.lock();
        writeln!(log, "{line}").expect("the shop's log can be written");
        let reply = match response {
            Some(status) if status.is_success() => "accepted",
            Some(_) => "rejected",
            None => "unanswered",
        };
        self.counters.one("deliveries", reply);
    }
}
