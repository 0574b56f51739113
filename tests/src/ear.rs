//! The store's webhook endpoint: it hears every delivery, checks its signature, and passes it on to the demo shop.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Redirect, Response};
use axum::routing::{any, post};
use jiff::Timestamp;
use serde_json::Value;
use standardwebhooks::Webhook;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::answer::text_at;
use crate::clock::MovableClock;
use crate::contract::CONTRACT;
use crate::world::secrets;

/// What the endpoint answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mood {
    /// It takes what comes.
    Takes,
    /// It answers with this status and takes nothing.
    Answers(u16),
    /// It sends the proxy elsewhere.
    Redirects,
}

/// A delivery as it arrived.
#[derive(Clone, Debug)]
pub struct Heard {
    /// The header `webhook-id`.
    pub id: String,
    /// `order.paid`
    pub kind: String,
    /// Whose.
    pub order: String,
    /// Number among the order's events.
    pub sequence: u64,
    /// The whole body.
    pub body: Value,
    /// Whether the endpoint took it.
    pub taken: bool,
}

/// The endpoint.
#[derive(Clone)]
pub struct Ear(Arc<Inner>);

struct Inner {
    address: SocketAddr,
    verifier: Webhook,
    clock: MovableClock,
    shop: String,
    http: reqwest::Client,
    state: Mutex<Ears>,
}

struct Ears {
    mood: Mood,
    heard: Vec<Heard>,
    faults: Vec<String>,
}

impl Ear {
    /// Listens; what it takes is passed on to `shop`.
    pub(crate) async fn open(
        clock: MovableClock,
        shop: String,
        shutdown: CancellationToken,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await;
        let listener = listener.expect("a port is free");
        let inner = Inner {
            address: listener.local_addr().expect("it is bound"),
            verifier: Webhook::new(secrets::WEBHOOK).expect("our own secret is base64"),
            clock,
            shop,
            http: crate::http::client()
                .build()
                .expect("a client without TLS needs nothing"),
            state: Mutex::new(Ears {
                mood: Mood::Takes,
                heard: Vec::new(),
                faults: Vec::new(),
            }),
        };
        let ear = Self(Arc::new(inner));
        let routes = Router::new()
            .route("/florin", post(receive))
            // Where a redirect leads: whoever follows it would take it for a success.
            .route("/elsewhere", any(async || StatusCode::NO_CONTENT))
            .with_state(ear.clone());
        let serve =
            axum::serve(listener, routes).with_graceful_shutdown(shutdown.cancelled_owned());
        tokio::spawn(async move { serve.await.expect("a bound listener serves") });
        ear
    }

    /// Where it listens.
    pub(crate) fn address(&self) -> SocketAddr {
        self.0.address
    }

    /// Changes what it answers from now on.
    pub fn feels(&self, mood: Mood) {
        self.lock().mood = mood;
    }

    /// Every delivery, first one first.
    pub fn heard(&self) -> Vec<Heard> {
        self.lock().heard.clone()
    }

    /// The deliveries that were taken, of one order.
    pub fn taken(&self, order: &str) -> Vec<Heard> {
        let mut heard = self.heard();
        heard.retain(|delivery| delivery.taken && delivery.order == order);
        heard
    }

    /// The types of the deliveries that were taken, of one order: `order.created`, …
    pub fn kinds(&self, order: &str) -> Vec<String> {
        let taken = self.taken(order).into_iter();
        taken.map(|delivery| delivery.kind).collect()
    }

    /// What was wrong with deliveries: nothing may be.
    pub(crate) fn faults(&self) -> Vec<String> {
        self.lock().faults.clone()
    }

    fn lock(&self) -> MutexGuard<'_, Ears> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A delivery is signed by the store's secret, over the very bytes, at this world's time.
    fn check(&self, headers: &HeaderMap, body: &[u8]) -> Result<Heard, String> {
        let header = |name: &str| {
            let value = headers.get(name).and_then(|value| value.to_str().ok());
            value.ok_or_else(|| format!("no header {name}"))
        };
        let Inner {
            verifier, clock, ..
        } = &*self.0;
        let id = header("webhook-id")?;
        let seconds: i64 = header("webhook-timestamp")?
            .parse()
            .map_err(|_| "the timestamp is no number".to_owned())?;
        let sent_at = Timestamp::from_second(seconds).map_err(|error| error.to_string())?;
        let age = clock.now().duration_since(sent_at).as_secs();
        if !(-1..=60).contains(&age) {
            return Err(format!("sent {age} s ago by its own word"));
        }
        let right = verifier.sign(id, seconds, body);
        if right.map_err(|error| error.to_string())? != header("webhook-signature")? {
            return Err(format!("{id} is not signed by the store's secret"));
        }
        if !clock.was_moved() {
            let verified = verifier.verify(body, headers);
            verified.map_err(|error| error.to_string())?;
        }
        let body: Value = serde_json::from_slice(body).map_err(|error| error.to_string())?;
        CONTRACT.check_event(&body)?;
        Ok(Heard {
            id: id.to_owned(),
            kind: text_at(&body, "/type"),
            order: text_at(&body, "/data/order/id"),
            sequence: body["data"]["sequence"].as_u64().unwrap_or(0),
            body,
            taken: false,
        })
    }
}

async fn receive(State(ear): State<Ear>, headers: HeaderMap, body: Bytes) -> Response {
    let delivery = ear.check(&headers, &body);
    let mood = {
        let mut ears = ear.lock();
        let mood = ears.mood;
        match delivery {
            Ok(delivery) => ears.heard.push(Heard {
                taken: mood == Mood::Takes,
                ..delivery
            }),
            Err(fault) => {
                ears.faults.push(fault);
                return StatusCode::BAD_REQUEST.into_response();
            }
        }
        mood
    };
    match mood {
        Mood::Takes => {}
        Mood::Answers(status) => {
            let status = StatusCode::from_u16(status).expect("tests answer with real statuses");
            return (status, "not today\n").into_response();
        }
        Mood::Redirects => return Redirect::temporary("/elsewhere").into_response(),
    }
    let mut on = ear.0.http.post(format!("{}/florin", ear.0.shop));
    for name in ["webhook-id", "webhook-timestamp", "webhook-signature"] {
        if let Some(value) = headers.get(name) {
            on = on.header(name, value);
        }
    }
    // By its own clock the shop refuses what comes out of a moved time; the endpoint has taken it all the same.
    let _ = on.body(body).send().await;
    StatusCode::NO_CONTENT.into_response()
}
