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
async fn a_delivery_that_is_forged_altered_old_or_no_event_changes_nothing() {
    let shop = Shop::start(NO_PROXY).await;
    let right = || delivery("msg_1", "order.paid");
    for wrong in [
        Delivery {
            secret: "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
            ..right()
        },
        Delivery {
            altered: true,
            ..right()
        },
        Delivery {
            age_seconds: 3600,
            ..right()
        },
        Delivery {
            event: json!({ "kind": "order.paid" }),
            ..right()
        },
    ] {
        assert_eq!(shop.deliver(&wrong).await, StatusCode::BAD_REQUEST);
    }
    let unsigned = shop.http.post(format!("{}/florin", shop.url));
    let unsigned = unsigned.body(right().event.to_string()).send().await;
    assert_eq!(unsigned.unwrap().status(), StatusCode::BAD_REQUEST);
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
async fn a_return_to_the_thanks_page_pays_nothing() {
    let shop = Shop::start(NO_PROXY).await;
    shop.deliver(&delivery("msg_1", "order.created")).await;
    let (status, page) = shop.page("/thanks?order_id=ord_1&status=paid").await;
    assert_eq!(status, StatusCode::OK);
    assert!(page.contains("is being checked"), "{page}");
    assert_eq!(shop.orders().await[0]["paid_by"], json!(null));
}
