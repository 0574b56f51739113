//! Client of the operator's API on the admin listener.

use reqwest::Method;
use serde_json::{Value, json};

use crate::http_response::HttpResponse;

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
        HttpResponse::read(request.send().await.expect("the admin listener answers")).await
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
