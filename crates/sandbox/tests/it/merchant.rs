//! A merchant: signs with its own few lines, and can be told to get each of them wrong.

use core::fmt;

use hmac::{Hmac, KeyInit as _, Mac as _};
use reqwest::Method;
use serde_json::{Value, json};
use sha2::Sha384;

use crate::world::{KEY, SECRET, START, World};

/// A call under construction, right until it is spoiled.
pub(crate) struct Call<'a> {
    world: &'a World,
    method: Method,
    path: String,
    signed_path: String,
    body: Option<String>,
    signs_body: bool,
    secret: String,
    nonce: String,
    spoil: Vec<(&'static str, Option<String>)>,
}

pub(crate) struct Merchant<'a> {
    world: &'a World,
}

impl<'a> Merchant<'a> {
    pub(crate) fn of(world: &'a World) -> Self {
        Self { world }
    }

    pub(crate) fn get(&self, path: &str) -> Call<'a> {
        self.call(Method::GET, path, None)
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Call<'a> {
        self.call(Method::POST, path, Some(body.to_string()))
    }

    /// Signed as a GET is: without the body.
    pub(crate) fn put(&self, path: &str, body: &Value) -> Call<'a> {
        let mut call = self.call(Method::PUT, path, Some(body.to_string()));
        call.signs_body = false;
        call
    }

    pub(crate) fn post_text(&self, path: &str, body: &str) -> Call<'a> {
        self.call(Method::POST, path, Some(body.to_owned()))
    }

    fn call(&self, method: Method, path: &str, body: Option<String>) -> Call<'a> {
        Call {
            world: self.world,
            method,
            path: path.to_owned(),
            signed_path: path.to_owned(),
            body,
            signs_body: true,
            secret: SECRET.to_owned(),
            nonce: START.to_string(),
            spoil: Vec::new(),
        }
    }

    pub(crate) async fn prices(&self) -> Value {
        self.get("/prices").ok().await
    }

    /// A request for an invoice over that price, computed as a merchant would.
    pub(crate) async fn order(&self, code: &str, crypto: &str, price: &str) -> Value {
        let prices = self.prices().await;
        json!({
            "conversion_id": prices[code]["conversion_id"],
            "amount_in_usd": price,
            "amount_in_local_currency": price,
            "amount_in_crypto": crypto,
            "crypto_code": code,
        })
    }

    /// An open invoice over 20 USDT on Tron, whose price holds still.
    pub(crate) async fn invoice(&self) -> Value {
        let order = self.order("USDTTRC20", "20.00", "20.00").await;
        self.post("/invoice", &order).ok().await
    }

    pub(crate) async fn record(&self, id: &str) -> Value {
        let mut answer = self.get(&format!("/invoice?id={id}")).ok().await;
        answer["data"].take()
    }
}

impl Call<'_> {
    pub(crate) fn secret(mut self, secret: &str) -> Self {
        secret.clone_into(&mut self.secret);
        self
    }

    pub(crate) fn nonce(mut self, nonce: impl fmt::Display) -> Self {
        self.nonce = format!("{nonce}");
        self
    }

    /// Signs another path than the one that is sent.
    pub(crate) fn signed_path(mut self, path: &str) -> Self {
        path.clone_into(&mut self.signed_path);
        self
    }

    pub(crate) fn signing_body(mut self, signs_body: bool) -> Self {
        self.signs_body = signs_body;
        self
    }

    pub(crate) fn without(mut self, header: &'static str) -> Self {
        self.spoil.push((header, None));
        self
    }

    pub(crate) fn with(mut self, header: &'static str, value: &str) -> Self {
        self.spoil.push((header, Some(value.to_owned())));
        self
    }

    pub(crate) fn signature(&self) -> String {
        let body = self.body.as_deref().filter(|_| self.signs_body);
        let body = body.unwrap_or_default();
        let message = format!("/api/{}{}{body}", self.nonce, self.signed_path);
        let mac = Hmac::<Sha384>::new_from_slice(self.secret.as_bytes()).unwrap();
        hex::encode(mac.chain_update(message).finalize().into_bytes())
    }

    pub(crate) fn request(self) -> reqwest::RequestBuilder {
        let mut headers = vec![
            ("apikey", KEY.to_owned()),
            ("signature", self.signature()),
            ("nonce", self.nonce.clone()),
            ("content-type", "application/json".to_owned()),
        ];
        for (spoiled, value) in self.spoil {
            headers.retain(|(name, _)| *name != spoiled);
            headers.extend(value.map(|value| (spoiled, value)));
        }
        let url = format!("{}/api{}", self.world.address, self.path);
        let mut request = self.world.http.request(self.method, url);
        for (name, value) in headers {
            request = request.header(name, value);
        }
        match self.body {
            Some(body) => request.body(body),
            None => request,
        }
    }

    pub(crate) async fn send(self) -> (u16, Value) {
        let response = self.request().send().await.unwrap();
        (response.status().as_u16(), response.json().await.unwrap())
    }

    pub(crate) async fn ok(self) -> Value {
        let (status, body) = self.send().await;
        assert_eq!(status, 200, "{body}");
        body
    }

    /// Sends a call that must be refused; returns the message.
    #[track_caller]
    pub(crate) fn refused(self, status: u16, code: &str) -> impl Future<Output = String> {
        let code = code.to_owned();
        async move {
            let (answered, body) = self.send().await;
            assert_eq!(
                (answered, body["code"].as_str()),
                (status, Some(code.as_str())),
                "{body}"
            );
            assert!(body["error"].is_string(), "{body}");
            body["message"]
                .as_str()
                .expect("a message for people")
                .to_owned()
        }
    }
}
