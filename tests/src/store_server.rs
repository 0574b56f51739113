//! A store's backend, which calls the proxy with its secret key, or signs order tokens by a library that shares nothing with
//! the proxy; and the client of an operator, on the admin listener.

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
