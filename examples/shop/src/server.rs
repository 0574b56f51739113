//! The shop as a server: its routes, and `POST /florin`, where the proxy delivers events. The only way an order becomes paid.
//!
//! Verify, store once by `webhook-id`, answer. Whatever takes long (shipping, mail) belongs behind the response: the
//! proxy waits 15 seconds, then counts a failure and comes back.

use std::sync::Arc;

use anyhow::Context as _;
use axum::Router;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Json, Response};
use axum::routing::{get, post};
use serde_json::json;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::Settings;
use crate::pages::{layout, orders, storefront};
use crate::shop::Shop;

/// An event is below 20 kB; nothing larger is read.
const MAX_BODY_BYTES: usize = 64 * 1024;

/// Serves the shop on `listener` until `shutdown`.
///
/// # Errors
/// A setting is unusable, or the listener fails.
pub async fn run(
    listener: TcpListener,
    settings: Settings,
    shutdown: CancellationToken,
) -> anyhow::Result<()> {
    let router = router(Arc::new(Shop::new(settings)?));
    axum::serve(listener, router)
        .with_graceful_shutdown(async move { shutdown.cancelled().await })
        .await
        .context("the shop's listener failed")
}

fn router(shop: Arc<Shop>) -> Router {
    Router::new()
        .route("/", get(storefront::storefront))
        .route("/inline", get(storefront::inline))
        .route("/dialog", get(storefront::dialog))
        .route("/donate", get(storefront::donate))
        .route("/theme-builder", get(storefront::theme_builder))
        .route("/thanks", get(storefront::thanks))
        .route("/cart", get(orders::cart).post(orders::check_out_cart))
        .route("/cart/{reference}", get(orders::cart_checkout))
        .route("/members", get(orders::members))
        .route("/members/{reference}", get(orders::members_checkout))
        .route(
            "/hosted",
            get(orders::hosted).post(orders::check_out_hosted),
        )
        .route("/orders.json", get(orders_json))
        .route("/florin", post(receive))
        .route("/site/{file}", get(layout::file))
        .fallback(storefront::not_found)
        .layer(DefaultBodyLimit::max(MAX_BODY_BYTES))
        .with_state(shop)
}

/// `POST /florin`: an event of the proxy.
async fn receive(State(shop): State<Arc<Shop>>, headers: HeaderMap, body: Bytes) -> StatusCode {
    let (webhook_id, event) = match shop.verifier.verify(&headers, &body) {
        Ok(verified) => verified,
        Err(refusal) => {
            tracing::warn!("webhook refused: {refusal:#}");
            return StatusCode::BAD_REQUEST;
        }
    };
    let kind = event.r#type.clone();
    let is_new = shop.orders().apply(&webhook_id, event);
    tracing::info!(webhook_id, kind, is_new, "event received");
    StatusCode::NO_CONTENT
}

/// `GET /orders.json`: the shop's own orders, newest first.
///
/// Public, because this is a demonstration; a real shop shows customers only their own orders.
async fn orders_json(State(shop): State<Arc<Shop>>) -> Response {
    let orders = json!({ "orders": shop.orders().newest_first() });
    ([(header::CACHE_CONTROL, "no-store")], Json(orders)).into_response()
}

#[cfg(test)]
mod tests {
    use serde_json::Value;
    use standardwebhooks::Webhook;

    use super::*;
    use crate::shop::tests::{WEBHOOK_SECRET, shop_at};

    fn event() -> Value {
        let order = json!({
            "id": "ord_1", "reference": "r-1", "title": "Enamel mug", "amount": "12.50", "currency": "USD",
        });
        json!({ "type": "order.paid", "data": { "sequence": 1, "order": order } })
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "the standardwebhooks crate reads the system's clock, so the signer has to as well"
    )]
    fn unix_now() -> i64 {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        i64::try_from(since.unwrap().as_secs()).unwrap()
    }

    /// Delivers a body, signed with a secret `age` seconds before this moment.
    async fn deliver(shop: &Arc<Shop>, body: &str, signed: &Value, secret: &str, age: i64) -> u16 {
        let timestamp = unix_now() - age;
        let webhook = Webhook::new(secret).unwrap();
        let signature = webhook.sign("msg_1", timestamp, signed.to_string().as_bytes());
        let mut headers = HeaderMap::new();
        headers.insert("webhook-id", "msg_1".parse().unwrap());
        headers.insert("webhook-timestamp", timestamp.into());
        headers.insert("webhook-signature", signature.unwrap().parse().unwrap());
        let body = Bytes::from(body.to_owned());
        receive(State(shop.clone()), headers, body).await.as_u16()
    }

    fn orders(shop: &Shop) -> Value {
        serde_json::to_value(shop.orders().newest_first()).unwrap()
    }

    #[tokio::test]
    async fn a_paid_order_is_known_with_its_event_however_often_it_is_delivered() {
        let shop = shop_at("http://127.0.0.1:9");
        let event = event();
        for _ in 0..3 {
            let status = deliver(&shop, &event.to_string(), &event, WEBHOOK_SECRET, 0).await;
            assert_eq!(status, 204);
        }
        let mut expected = event["data"]["order"].clone();
        expected["paid_by"] = json!("msg_1");
        expected["events"] = json!([{ "webhook_id": "msg_1", "type": "order.paid" }]);
        assert_eq!(orders(&shop), json!([expected]));
    }

    #[tokio::test]
    async fn a_delivery_that_is_forged_altered_old_or_no_event_changes_nothing() {
        let shop = shop_at("http://127.0.0.1:9");
        let event = event();
        let body = event.to_string();
        let altered = body.replace("12.50", "12.51");
        let other = json!({ "kind": "order.paid" });
        let guessed = "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
        for (body, signed, secret, age) in [
            (&body, &event, guessed, 0),
            (&altered, &event, WEBHOOK_SECRET, 0),
            (&body, &event, WEBHOOK_SECRET, 3600),
            (&other.to_string(), &other, WEBHOOK_SECRET, 0),
        ] {
            assert_eq!(deliver(&shop, body, signed, secret, age).await, 400);
        }
        let unsigned = receive(State(shop.clone()), HeaderMap::new(), body.into()).await;
        assert_eq!(unsigned, StatusCode::BAD_REQUEST);
        assert_eq!(orders(&shop), json!([]));
    }
}
