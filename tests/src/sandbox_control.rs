//! Client of the sandbox's control API: events on the chains and at the gateway.

use reqwest::Method;
use serde_json::{Value, json};

use crate::customer::Checkout;
use crate::http_response::HttpResponse;

#[derive(Clone, Debug)]
pub struct SandboxControl {
    pub(crate) http: reqwest::Client,
    pub(crate) base: String,
}

impl SandboxControl {
    /// Pays the invoice that a checkout shows: `exact`, `half`, `double`, `rest`, or an amount of the asset.
    pub async fn pay(&self, checkout: &Checkout, amount: &str) {
        let id = self.invoice_of(&checkout.address().await).await;
        self.pay_invoice(&id, amount).await;
    }

    pub async fn pay_invoice(&self, id: &str, amount: &str) {
        self.act(id, "pay", &json!({ "amount": amount })).await;
    }

    pub async fn settle(&self, checkout: &Checkout, amount: &str) {
        self.pay(checkout, amount).await;
        self.mine(3).await;
    }

    pub async fn settle_invoice(&self, id: &str, amount: &str) {
        self.pay_invoice(id, amount).await;
        self.mine(3).await;
    }

    pub async fn mine(&self, blocks: u32) {
        self.post("mine", &json!({ "blocks": blocks })).await;
    }

    pub async fn expire_invoice(&self, id: &str) {
        self.act(id, "expire", &json!({})).await;
    }

    pub async fn reorg(&self, blocks: u32) {
        self.post("reorg", &json!({ "blocks": blocks })).await;
    }

    /// Overrides members of GET /invoice for an invoice; `{}` ends that.
    pub async fn override_invoice(&self, id: &str, members: &Value) {
        self.act(id, "override", members).await;
    }

    pub async fn sessions(&self) -> Vec<Value> {
        self.list("sessions").await
    }

    /// One unit of an asset costs this number of dollars from here on.
    pub async fn set_price(&self, crypto_code: &str, usd: &str) {
        let price = json!({ "crypto_code": crypto_code, "usd": usd });
        self.post("prices", &price).await;
    }

    pub async fn override_next_invoice(&self, overrides: Value) {
        self.post("next-invoice", &overrides).await;
    }

    /// The gateway's clock is wrong by a number of seconds: nonces are compared with it.
    pub async fn set_clock(&self, ahead_seconds: i32) {
        self.post("clock", &json!({ "ahead_seconds": ahead_seconds }))
            .await;
    }

    pub async fn inject_fault(&self, fault: Value) {
        self.post("faults", &fault).await;
    }

    pub async fn waiting_faults(&self) -> usize {
        self.list("faults").await.len()
    }

    pub async fn clear_faults(&self) {
        self.send(Method::DELETE, "faults", None).await;
    }

    pub async fn invoices(&self) -> Vec<Value> {
        self.list("invoices").await
    }

    pub async fn calls(&self) -> Vec<Value> {
        self.list("requests").await
    }

    pub async fn count(&self, method: &str, path: &str) -> usize {
        let is_it = |call: &&Value| {
            let called = call["path"].as_str().unwrap_or_default();
            call["method"] == method && called.split('?').next() == Some(path)
        };
        self.calls().await.iter().filter(is_it).count()
    }

    pub async fn invoice_of(&self, address: &str) -> String {
        let invoices = self.invoices().await;
        let found = invoices
            .iter()
            .find(|invoice| invoice["address"] == address);
        let id = found.and_then(|invoice| invoice["id"].as_str());
        id.unwrap_or_else(|| panic!("no invoice has the address {address}"))
            .to_owned()
    }

    async fn list(&self, path: &str) -> Vec<Value> {
        let all = self.send(Method::GET, path, None).await.body;
        all.as_array().expect("a list").clone()
    }

    async fn act(&self, invoice: &str, what: &str, body: &Value) {
        self.post(&format!("invoices/{invoice}/{what}"), body).await;
    }

    async fn post(&self, path: &str, body: &Value) -> HttpResponse {
        self.send(Method::POST, path, Some(body)).await
    }

    async fn send(&self, method: Method, path: &str, body: Option<&Value>) -> HttpResponse {
        let mut request = self
            .http
            .request(method, format!("{}/sandbox/{path}", self.base));
        if let Some(body) = body {
            request = request.json(body);
        }
        HttpResponse::of(request).await.with(200)
    }
}
