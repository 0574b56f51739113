//! `cargo add axum serde_json standardwebhooks tokio --features tokio/full`; `WEBHOOK_SECRET=whsec_… cargo run`
use std::{collections::BTreeSet, env, fs, sync::Mutex};

use axum::http::{HeaderMap, StatusCode};
use axum::{Router, body::Bytes, response::Html, routing::get, routing::post};
use serde_json::Value;
use standardwebhooks::Webhook;

/// A shop keeps the ids in its database.
static KNOWN: Mutex<BTreeSet<Vec<u8>>> = Mutex::new(BTreeSet::new());

async fn receive(headers: HeaderMap, body: Bytes) -> StatusCode {
    let secret = env::var("WEBHOOK_SECRET").unwrap_or_default();
    let webhook = Webhook::new(&secret);
    let verified = webhook.and_then(|webhook| webhook.verify(&body, &headers));
    if verified.is_err() {
        return StatusCode::BAD_REQUEST; // Not signed by the proxy, or older than five minutes.
    }
    let event: Value = serde_json::from_slice(&body).unwrap_or_default();
    let id = headers["webhook-id"].as_bytes().to_vec();
    let is_new = KNOWN.lock().is_ok_and(|mut known| known.insert(id));
    if is_new && event["type"] == "order.paid" {
        let order = event["data"]["order"]["id"].as_str().unwrap_or_default();
        println!("{order} is paid");
    }
    StatusCode::NO_CONTENT
}

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let page = get(async || Html(fs::read_to_string("shop.html").unwrap_or_default()));
    let routes = Router::new().route("/florin", post(receive)).fallback(page);
    let port = env::var("PORT").unwrap_or("3000".into());
    let listener = tokio::net::TcpListener::bind(format!("127.0.0.1:{port}")).await?;
    axum::serve(listener, routes).await
}
