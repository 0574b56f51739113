//! What stands between the gateway and a node, and counts its calls.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::Router;
use axum::body::Bytes;
use axum::extract::{Request, State};
use reqwest::Url;
use serde_json::Value;

use crate::http_response::plain_client;
use crate::local_server::LocalServer;

/// Passes requests on to a node.
#[derive(Debug)]
pub struct NodeCounter {
    /// With the node's user and password.
    pub url: String,
    counts: Arc<Counts>,
    _server: LocalServer,
}

/// Calls, and the requests that brought them.
#[derive(Debug, Default)]
struct Counts {
    calls: AtomicU64,
    requests: AtomicU64,
}

/// What [`NodeCounter::take`] counted.
#[derive(Clone, Copy, Debug)]
pub struct Counted {
    calls: u64,
    requests: u64,
}

impl NodeCounter {
    pub async fn start(node: &str) -> Self {
        let counts = Arc::new(Counts::default());
        let node: Url = node.parse().expect("an address");
        let state = (node.clone(), counts.clone(), plain_client());
        let server = LocalServer::start(Router::new().fallback(pass).with_state(state)).await;
        let mut url = node;
        url.set_port(Some(server.address.port()))
            .expect("it has a host");
        Self {
            url: url.as_str().trim_end_matches('/').to_owned(),
            counts,
            _server: server,
        }
    }

    /// The counts since the last call of this.
    pub fn take(&self) -> Counted {
        let take = |count: &AtomicU64| count.swap(0, Ordering::Relaxed);
        Counted {
            calls: take(&self.counts.calls),
            requests: take(&self.counts.requests),
        }
    }
}

impl fmt::Display for Counted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.calls, self.requests)
    }
}

async fn pass(
    State((mut node, counts, http)): State<(Url, Arc<Counts>, reqwest::Client)>,
    request: Request,
) -> Vec<u8> {
    let (parts, body) = request.into_parts();
    let body = axum::body::to_bytes(body, usize::MAX)
        .await
        .unwrap_or_default();
    let calls: Value = serde_json::from_slice(&body).unwrap_or_default();
    let calls = calls.as_array().map_or(1, Vec::len) as u64;
    counts.calls.fetch_add(calls, Ordering::Relaxed);
    counts.requests.fetch_add(1, Ordering::Relaxed);
    node.set_path(parts.uri.path());
    let response = http
        .post(node)
        .body(body)
        .header("content-type", "application/json");
    let response = response.send().await.expect("the node answers");
    let body: Bytes = response.bytes().await.expect("the node answers whole");
    body.to_vec()
}
