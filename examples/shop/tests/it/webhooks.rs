//! The shop accepts signed webhooks alone.

use reqwest::StatusCode;
use serde_json::json;

use crate::shop::{Delivery, Shop, delivery};

/// Nothing listens there: these journeys never call the proxy.
const NO_PROXY: &str = "http://127.0.0.1:9";

#[tokio::test]
async fn a_paid_order_is_shown_with_its_event() {
    let shop = Shop::start(NO_PROXY).await;
    let status = shop.deliver(&delivery("msg_1", "order.paid")).await;
    assert_eq!(status, StatusCode::NO_CONTENT);
    assert_eq!(
        shop.orders().await,
        json!([{
            "id": "ord_1",
            "reference": "r-1",
            "title": "Enamel mug",
            "amount": "12.50",
            "currency": "USD",
            "paid_by": "msg_1",
            "events": [{ "webhook_id": "msg_1", "type": "order.paid" }],
        }])
    );
}

#[tokio::test]
async fn a_forged_signature_changes_nothing() {
    let shop = Shop::start(NO_PROXY).await;
    let forged = Delivery {
        secret: "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
        ..delivery("msg_1", "order.paid")
    };
    assert_eq!(shop.deliver(&forged).await, StatusCode::BAD_REQUEST);
    assert_eq!(shop.orders().await, json!([]));
}

#[tokio::test]
async fn a_body_altered_on_its_way_changes_nothing() {
    let shop = Shop::start(NO_PROXY).await;
    let altered = Delivery {
        altered: true,
        ..delivery("msg_1", "order.paid")
    };
    assert_eq!(shop.deliver(&altered).await, StatusCode::BAD_REQUEST);
    assert_eq!(shop.orders().await, json!([]));
}

#[tokio::test]
async fn a_recording_of_an_old_delivery_changes_nothing() {
    let shop = Shop::start(NO_PROXY).await;
    let old = Delivery {
        age_seconds: 3600,
        ..delivery("msg_1", "order.paid")
    };
    assert_eq!(shop.deliver(&old).await, StatusCode::BAD_REQUEST);
    assert_eq!(shop.orders().await, json!([]));
}

#[tokio::test]
async fn an_unsigned_request_changes_nothing() {
    let shop = Shop::start(NO_PROXY).await;
    let url = format!("{}/florin", shop.url);
    let event = serde_json::to_string(&delivery("msg_1", "order.paid").event).unwrap();
    let response = shop.http.post(url).body(event).send().await.unwrap();
    assert_eq!(response.status(), StatusCode::BAD_REQUEST);
    assert_eq!(shop.orders().await, json!([]));
}

#[tokio::test]
async fn a_repeated_webhook_is_accepted_and_stored_once() {
    let shop = Shop::start(NO_PROXY).await;
    for _ in 0..3 {
        let status = shop.deliver(&delivery("msg_1", "order.paid")).await;
        assert_eq!(status, StatusCode::NO_CONTENT);
    }
    assert_eq!(
        shop.orders().await[0]["events"].as_array().unwrap().len(),
        1
    );
}

#[tokio::test]
async fn an_excess_is_noted_and_pays_nothing() {
    let shop = Shop::start(NO_PROXY).await;
    shop.deliver(&delivery("msg_1", "order.overpaid")).await;
    assert_eq!(shop.orders().await[0]["paid_by"], json!(null));
}

#[tokio::test]
async fn a_return_to_the_thanks_page_pays_nothing() {
    let shop = Shop::start(NO_PROXY).await;
    shop.deliver(&delivery("msg_1", "order.created")).await;
    let (status, page) = shop.page("/thanks?order_id=ord_1&status=paid").await;
    assert_eq!(status, StatusCode::OK);
    assert!(page.contains("is being checked"), "{page}");
    assert_eq!(shop.orders().await[0]["paid_by"], json!(null));
}

#[tokio::test]
async fn a_signed_body_that_is_no_event_is_refused() {
    let shop = Shop::start(NO_PROXY).await;
    let odd = Delivery {
        event: json!({ "kind": "order.paid" }),
        ..delivery("msg_1", "order.paid")
    };
    assert_eq!(shop.deliver(&odd).await, StatusCode::BAD_REQUEST);
}
