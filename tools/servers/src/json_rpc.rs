//! Calls to a node by JSON-RPC over HTTP.

use anyhow::{Context as _, bail};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// A node at an address of loopback, which may have a user and a password.
#[derive(Debug)]
pub(crate) struct JsonRpc {
    http: reqwest::Client,
    pub(crate) url: String,
}

impl JsonRpc {
    pub(crate) fn new(url: String) -> anyhow::Result<Self> {
        // Fails when it is installed already, which is the aim.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let http = reqwest::Client::builder().no_proxy().tls_certs_only([]);
        let http = http.build()?;
        Ok(Self { http, url })
    }

    pub(crate) async fn call<T: DeserializeOwned>(
        &self,
        method: &str,
        params: Value,
    ) -> anyhow::Result<T> {
        let request = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let response = self.http.post(&self.url).json(&request).send();
        let response = response.await.context("the node does not answer")?;
        let mut response: Value = response.json().await?;
        if let Some(error) = response.get("error").filter(|error| !error.is_null()) {
            bail!("{request}: {error}");
        }
        Ok(serde_json::from_value(response["result"].take())?)
    }
}
