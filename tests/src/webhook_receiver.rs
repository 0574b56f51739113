//! The store's webhook endpoint: checks the signature of every delivery and forwards it to the demo shop.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};
use axum::routing::post;
use jiff::Timestamp;
use parking_lot::{Mutex, MutexGuard};
use serde_json::Value;
use standardwebhooks::Webhook;

use crate::clock::MovableClock;
use crate::http_response::{CONTRACT, plain_client, text_at};
use crate::local_server::LocalServer;
use crate::wait::pause;
use crate::world::secrets;

/// How a fault ends whose delivery has a wrong signature.
const UNSIGNED: &str = "is not signed by the store's secret";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply {
    Accept,
    /// It takes what comes, and answers after this time.
    After(Duration),
    /// It answers with this status and takes nothing.
    Status(u16),
}

#[derive(Clone, Debug)]
pub struct Delivery {
    pub id: String,
    /// `order.paid`
    pub kind: String,
    pub order: String,
    /// When it arrived, by the world's clock.
    pub arrived_at: Timestamp,
    pub body: Value,
    pub bytes: Bytes,
    /// The header `webhook-timestamp`.
    pub timestamp: i64,
    /// The header `webhook-signature`: one signature for each secret.
    pub signatures: String,
    /// The header `traceparent`; absent without one.
    pub traceparent: Option<String>,
    pub taken: bool,
}

pub struct WebhookReceiver {
    server: LocalServer,
    endpoint: Arc<Endpoint>,
}

struct Endpoint {
    verifier: Webhook,
    clock: MovableClock,
    shop: String,
    http: reqwest::Client,
    state: Mutex<Received>,
}

struct Received {
    reply: Reply,
    deliveries: Vec<Delivery>,
    faults: Vec<String>,
}

impl WebhookReceiver {
    /// Listens; what it takes is passed on to `shop`.
    pub(crate) async fn open(clock: MovableClock, shop: String) -> Self {
        let endpoint = Arc::new(Endpoint {
            verifier: Webhook::new(secrets::WEBHOOK).expect("our own secret is base64"),
            clock,
            shop,
            http: plain_client(),
            state: Mutex::new(Received {
                reply: Reply::Accept,
                deliveries: Vec::new(),
                faults: Vec::new(),
            }),
        });
        let routes = Router::new()
            .route("/florin", post(receive))
            .with_state(endpoint.clone());
        let server = LocalServer::start(routes).await;
        Self { server, endpoint }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.server.address
    }

    pub fn reply_with(&self, reply: Reply) {
        self.lock().reply = reply;
    }

    pub fn deliveries(&self) -> Vec<Delivery> {
        self.lock().deliveries.clone()
    }

    pub fn accepted(&self, order: &str) -> Vec<Delivery> {
        let mut received = self.deliveries();
        received.retain(|delivery| delivery.taken && delivery.order == order);
        received
    }

    /// The types of the deliveries that were taken, of one order: `order.created`, …
    pub fn event_types(&self, order: &str) -> Vec<String> {
        let taken = self.accepted(order).into_iter();
        taken.map(|delivery| delivery.kind).collect()
    }

    pub(crate) fn faults(&self) -> Vec<String> {
        self.lock().faults.clone()
    }

    fn lock(&self) -> MutexGuard<'_, Received> {
        self.endpoint.state.lock()
    }
}

impl Endpoint {
    /// A delivery is signed by the store's secret, over the very bytes, at this world's time.
    fn check(&self, headers: &HeaderMap, bytes: &Bytes) -> Result<Delivery, String> {
        let header = |name: &str| {
            let value = headers.get(name).and_then(|value| value.to_str().ok());
            value.ok_or_else(|| format!("no header {name}"))
        };
        let (verifier, clock) = (&self.verifier, &self.clock);
        let id = header("webhook-id")?;
        let seconds: i64 = header("webhook-timestamp")?
            .parse()
            .map_err(|_| "the timestamp is no number".to_owned())?;
        let sent_at = Timestamp::from_second(seconds).map_err(|error| error.to_string())?;
        let ages = clock.times_in_flight().into_iter();
        let ages: Vec<_> = ages
            .map(|now| now.duration_since(sent_at).as_secs())
            .collect();
        if !ages.iter().any(|age| (-1..=60).contains(age)) {
            return Err(format!("its timestamp is {} s old", ages[0]));
        }
        let right = verifier.sign(id, seconds, bytes);
        let right = right.map_err(|error| error.to_string())?;
        let signatures = header("webhook-signature")?;
        if !signatures.split(' ').any(|signature| signature == right) {
            return Err(format!("{id} {UNSIGNED}"));
        }
        let body: Value = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
        CONTRACT.check_event(&body)?;
        Ok(Delivery {
            id: id.to_owned(),
            kind: text_at(&body, "/type"),
            // An operator's test event is of no order.
            order: match body.pointer("/data/store") {
                Some(_) => String::new(),
                None => text_at(&body, "/data/order/id"),
            },
            arrived_at: clock.now(),
            body,
            bytes: bytes.clone(),
            timestamp: seconds,
            signatures: signatures.to_owned(),
            traceparent: header("traceparent").ok().map(str::to_owned),
            taken: false,
        })
    }
}

async fn receive(
    State(endpoint): State<Arc<Endpoint>>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let delivery = endpoint.check(&headers, &body);
    let reply = {
        let mut state = endpoint.state.lock();
        let reply = state.reply;
        match delivery {
            Ok(delivery) => state.deliveries.push(Delivery {
                taken: matches!(reply, Reply::Accept | Reply::After(_)),
                ..delivery
            }),
            Err(fault) => {
                state.faults.push(fault);
                return StatusCode::BAD_REQUEST.into_response();
            }
        }
        reply
    };
    match reply {
        Reply::Accept => {}
        Reply::After(time) => pause(time).await,
        Reply::Status(status) => {
            let status = StatusCode::from_u16(status).expect("tests answer with real statuses");
            return (status, "not today\n").into_response();
        }
    }
    let mut on = endpoint.http.post(format!("{}/florin", endpoint.shop));
    for name in ["webhook-id", "webhook-timestamp", "webhook-signature"] {
        if let Some(value) = headers.get(name) {
            on = on.header(name, value);
        }
    }
    // By its own clock the shop refuses what comes out of a moved time; the endpoint has taken it all the same.
    let _ = on.body(body).send().await;
    StatusCode::NO_CONTENT.into_response()
}
