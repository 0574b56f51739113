//! A store's backend, which calls the proxy with its secret key, or signs order tokens by a library that shares nothing with
//! the proxy.

use jwt_compact::alg::{Hs256, Hs256Key};
use jwt_compact::{AlgorithmExt as _, Claims, Header};
use reqwest::Method;
use serde_json::{Value, json};

use crate::clock::MovableClock;
use crate::http_response::HttpResponse;
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

    /// POST /v1/orders.
    pub async fn open(&self, order: &Value) -> HttpResponse {
        self.post("/v1/orders", order).await
    }

    pub async fn order(&self, id: &str) -> Value {
        self.get(&format!("/v1/orders/{id}")).await.with(200).body
    }

    /// All its orders, newest first.
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

    /// Asks with the store's key. The response must be as the description of the HTTP says.
    pub async fn get(&self, path: &str) -> HttpResponse {
        let request = self.http.get(format!("{}{path}", self.base));
        let response = request.bearer_auth(&self.key).send().await;
        let response = HttpResponse::read(response.expect("the proxy answers")).await;
        response.described(&Method::GET, path)
    }

    pub async fn put(&self, path: &str, body: &Value) -> HttpResponse {
        self.send(Method::PUT, path, &body.to_string()).await
    }

    pub async fn send(&self, method: Method, path: &str, json: &str) -> HttpResponse {
        let request = self
            .http
            .request(method.clone(), format!("{}{path}", self.base));
        let request = request
            .header("content-type", "application/json")
            .body(json.to_owned());
        let response = request.bearer_auth(&self.key).send().await;
        let response = HttpResponse::read(response.expect("the proxy answers")).await;
        response.described(&method, path)
    }

    /// Asks for something to be done, with the store's key and the idempotency key that was given.
    pub async fn post(&self, path: &str, body: &Value) -> HttpResponse {
        let mut request = self.http.post(format!("{}{path}", self.base));
        if let Some(key) = &self.idempotency_key {
            request = request.header("idempotency-key", key);
        }
        let response = request.bearer_auth(&self.key).json(body).send().await;
        let response = HttpResponse::read(response.expect("the proxy answers")).await;
        response.described(&Method::POST, path)
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
        let (kid, secret) = (kid.to_owned(), secret.to_owned());
        Self {
            kid,
            secret,
            ..self.clone()
        }
    }

    pub fn for_store(&self, store: &str) -> Self {
        let store = store.to_owned();
        Self {
            store,
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
