//! A store's backend, which calls the proxy with its secret key, or signs order tokens by a library that shares nothing with
//! the proxy; and the client of an operator, on the admin listener. And the store's webhook endpoint, which checks the signature of
//! every delivery and forwards it to the demo shop.

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
use jwt_compact::alg::{Hs256, Hs256Key};
use jwt_compact::{AlgorithmExt as _, Claims, Header};
use parking_lot::{Mutex, MutexGuard};
use reqwest::Method;
use serde_json::{Value, json};
use standardwebhooks::Webhook;

use crate::clock::MovableClock;
use crate::http_response::{CONTRACT, HttpResponse, plain_client, text_at};
use crate::local_server::LocalServer;
use crate::wait::pause;
use crate::world::secrets;

#[derive(Clone, Debug)]
pub struct StoreServer {
    pub(crate) http: reqwest::Client,
    pub(crate) base: String,
    pub(crate) key: String,
    pub(crate) idempotency_key: Option<String>,
}

impl StoreServer {
    pub fn with_key(&self, key: &str) -> Self {
        Self {
            key: key.to_owned(),
            ..self.clone()
        }
    }

    /// The same backend, whose every POST carries this `Idempotency-Key`.
    pub fn with_idempotency_key(&self, key: &str) -> Self {
        Self {
            idempotency_key: Some(key.to_owned()),
            ..self.clone()
        }
    }

    pub async fn open(&self, order: &Value) -> HttpResponse {
        self.post("/v1/orders", order).await
    }

    pub async fn order(&self, id: &str) -> Value {
        self.get(&format!("/v1/orders/{id}")).await.with(200).body
    }

    pub async fn orders(&self) -> Vec<Value> {
        let (mut found, mut path) = (Vec::new(), "/v1/orders?limit=100".to_owned());
        loop {
            let page = self.get(&path).await.with(200).body;
            let orders = page["orders"].as_array().expect("a page holds orders");
            found.extend(orders.iter().cloned());
            let Some(next) = page["next"].as_str() else {
                return found;
            };
            path = format!("/v1/orders?limit=100&after={next}");
        }
    }

    pub async fn events_of(&self, order: &str) -> Vec<Value> {
        let page = self.get("/v1/events?limit=100").await.with(200).body;
        let events = page["events"].as_array().expect("a page holds events");
        let is_its = |event: &&Value| event["data"]["order"]["id"] == order;
        events.iter().filter(is_its).cloned().collect()
    }

    pub async fn get(&self, path: &str) -> HttpResponse {
        self.request(Method::GET, path, None).await
    }

    pub async fn post(&self, path: &str, body: &Value) -> HttpResponse {
        self.send(Method::POST, path, &body.to_string()).await
    }

    pub async fn send(&self, method: Method, path: &str, json: &str) -> HttpResponse {
        self.request(method, path, Some(json.to_owned())).await
    }

    /// Sends the store's key. The response must be as the description of the HTTP says.
    async fn request(&self, method: Method, path: &str, json: Option<String>) -> HttpResponse {
        let url = format!("{}{path}", self.base);
        let mut request = self
            .http
            .request(method.clone(), url)
            .bearer_auth(&self.key);
        if let Some(json) = json {
            request = request
                .header("content-type", "application/json")
                .body(json);
        }
        let key = self.idempotency_key.as_ref();
        if let Some(key) = key.filter(|_| method == Method::POST) {
            request = request.header("idempotency-key", key);
        }
        HttpResponse::of(request).await.described(&method, path)
    }
}

#[derive(Clone, Debug)]
pub struct TokenSigner {
    pub(crate) audience: String,
    pub(crate) clock: MovableClock,
    pub(crate) store: String,
    pub(crate) kid: String,
    pub(crate) secret: String,
}

impl TokenSigner {
    /// The key of the store `demo` at a proxy.
    pub(crate) fn of_demo(proxy_url: String, clock: MovableClock) -> Self {
        Self {
            audience: proxy_url,
            clock,
            store: "demo".to_owned(),
            kid: "k1".to_owned(),
            secret: secrets::TOKEN_KEY.to_owned(),
        }
    }

    pub fn with_key(&self, kid: &str, secret: &str) -> Self {
        Self {
            kid: kid.to_owned(),
            secret: secret.to_owned(),
            ..self.clone()
        }
    }

    pub fn claims(&self, reference: &str, amount: &str) -> Value {
        let now = self.clock.now().as_second();
        json!({
            "aud": self.audience, "store": self.store, "reference": reference, "amount": amount,
            "currency": "USD", "iat": now, "exp": now + 3600,
        })
    }

    pub fn sign(&self, claims: &Value) -> String {
        let header = Header::empty().with_key_id(&self.kid);
        let key = Hs256Key::new(&self.secret);
        let token = Hs256.token(&header, &Claims::new(claims), &key);
        token.expect("claims are JSON")
    }

    pub fn token(&self, reference: &str, amount: &str) -> String {
        self.sign(&self.claims(reference, amount))
    }
}

/// An operator with a token, or a client without one.
#[derive(Clone, Debug)]
pub struct OperatorApi {
    pub http: reqwest::Client,
    pub base: String,
    pub token: Option<String>,
}

impl OperatorApi {
    pub async fn send(&self, method: Method, path: &str, body: Option<&Value>) -> HttpResponse {
        let mut request = self.http.request(method, format!("{}{path}", self.base));
        if let Some(token) = &self.token {
            request = request.bearer_auth(token);
        }
        if let Some(body) = body {
            request = request.json(body);
        }
        HttpResponse::of(request).await
    }

    pub async fn get(&self, path: &str) -> HttpResponse {
        self.send(Method::GET, path, None).await
    }

    pub async fn post(&self, path: &str, body: &Value) -> HttpResponse {
        self.send(Method::POST, path, Some(body)).await
    }

    pub async fn order(&self, id: &str) -> Value {
        let response = self.get(&format!("/api/orders/{id}")).await.with(200);
        response.body["order"].clone()
    }

    pub async fn decide(&self, id: &str, decision: &str) -> HttpResponse {
        let version = self.order(id).await["version"].clone();
        let body = json!({ "decision": decision, "reason": "agreed by phone", "version": version });
        self.post(&format!("/api/orders/{id}/decision"), &body)
            .await
    }
}

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
