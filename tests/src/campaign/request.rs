//! A request to the proxy that can be sent repeatedly.

use reqwest::Method;
use serde_json::Value;

/// A request.
pub(super) struct Request<'a> {
    pub(super) method: Method,
    pub(super) path: &'a str,
    pub(super) token: Option<&'a str>,
    /// `Idempotency-Key`
    pub(super) idempotency_key: Option<&'a str>,
    pub(super) body: Option<Value>,
}

impl<'a> Request<'a> {
    /// Without a token and without a key.
    pub(super) fn post(path: &'a str, body: Value) -> Self {
        Self {
            method: Method::POST,
            path,
            token: None,
            idempotency_key: None,
            body: Some(body),
        }
    }

    pub(super) async fn send(
        &self,
        http: &reqwest::Client,
        proxy: &str,
    ) -> reqwest::Result<reqwest::Response> {
        let mut request = http.request(self.method.clone(), format!("{proxy}{}", self.path));
        if let Some(token) = self.token {
            request = request.bearer_auth(token);
        }
        if let Some(idempotency_key) = self.idempotency_key {
            request = request.header("idempotency-key", idempotency_key);
        }
        if let Some(body) = &self.body {
            request = request.json(body);
        }
        request.send().await
    }
}
