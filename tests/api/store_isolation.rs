//! Isolation of several stores in one proxy: an object of another store and an object that does not exist get the same
//! response, byte for byte except the request id.

use serde_json::{Value, json};
use support::{HttpResponse, StoreServer, World, pay_in_full};

use crate::helpers::invoice_of;

/// An origin of the other store.
const OTHER_PAGE: &str = "https://other.example";
/// An idempotency key.
const KEY: &str = "9e1f5c3a7b2d4860a4c6e8f01b3d5f79";

/// Returns the path of an object.
type Address = fn(&StoreFixture) -> String;
/// Returns the text of a receipt.
type Shown = fn(&StoreFixture) -> &str;

/// Every kind of object of the store `demo`, or of no store.
struct StoreFixture {
    order: String,
    reference: String,
    event: String,
    delivery: String,
    invoice: String,
    receipt: String,
    code: String,
}

impl StoreFixture {
    async fn of(world: &World) -> Self {
        let wanted = json!({ "amount": "42.00", "currency": "USD", "reference": "lamp-1" });
        let store = world.store();
        let opened = store.open(&wanted).await.with(201);
        let order = opened.text_at("/order/id");
        let checkout = world.customer().checkout_of(&opened);
        let invoice = invoice_of(world, &checkout.choose("BTC").await).await;
        pay_in_full(world, &checkout).await;
        world.wait_for_deliveries().await;
        let event = text(&store.events_of(&order).await[0]["id"]);
        let tried = format!("/v1/deliveries?event={event}");
        let delivery = store.get(&tried).await.text_at("/deliveries/0/id");
        let receipt = checkout.get("/receipt").await.with(200);
        Self {
            order,
            reference: "lamp-1".to_owned(),
            event,
            delivery,
            invoice,
            receipt: receipt.text_at("/token"),
            code: receipt.text_at("/code"),
        }
    }

    fn unknown() -> Self {
        let (zeros, hash) = ("0".repeat(32), "0".repeat(16));
        Self {
            order: format!("ord_{zeros}"),
            reference: "nobodys".to_owned(),
            event: format!("evt_{zeros}_1_{hash}"),
            delivery: format!("dlv_{zeros}_1_{hash}_1"),
            invoice: "inv_nobodys".to_owned(),
            receipt: "a.b.c".to_owned(),
            code: "00000-00000-00000-00000-00000-00000-00000-00000".to_owned(),
        }
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

#[track_caller]
fn assert_same(what: &str, status: u16, for_another: &HttpResponse, for_unknown: &HttpResponse) {
    assert_eq!(for_another.status, status, "{what}: {}", for_another.text);
    assert_eq!(for_another.status, for_unknown.status, "{what}");
    assert_eq!(
        for_another.without_request_id(),
        for_unknown.without_request_id(),
        "{what}"
    );
    let names = |response: &HttpResponse| {
        let names = response.headers.keys().map(ToString::to_string);
        names.collect::<Vec<_>>()
    };
    assert_eq!(names(for_another), names(for_unknown), "{what}");
}

#[tokio::test]
async fn another_stores_server_finds_nothing() {
    let world = World::with(|config| config.gateway_access = true).await;
    let demo = StoreFixture::of(&world).await;
    let unknown = StoreFixture::unknown();
    let other = world.other_store();
    let reads: [(u16, Address); 9] = [
        (404, |has| format!("/v1/orders/{}", has.order)),
        (404, |has| format!("/v1/orders/{}/receipt", has.order)),
        (200, |has| format!("/v1/orders?reference={}", has.reference)),
        (400, |has| format!("/v1/orders?after={}", has.order)),
        (400, |has| format!("/v1/events?after={}", has.event)),
        (404, |has| format!("/v1/deliveries?event={}", has.event)),
        (404, |has| format!("/v1/deliveries?after={}", has.delivery)),
        (404, |has| format!("/v1/gateway/invoice?id={}", has.invoice)),
        (404, |has| {
            format!("/v1/gateway/invoice?id={}&hist=true", has.invoice)
        }),
    ];
    for (status, address) in reads {
        let (its, nobodys) = (address(&demo), address(&unknown));
        // Its own store gets another response: the path is valid.
        world.store().get(&its).await.with(200);
        let for_another = other.get(&its).await;
        let for_unknown = other.get(&nobodys).await;
        assert_same(&its, status, &for_another, &for_unknown);
        assert!(!for_another.text.contains("lamp"), "{}", for_another.text);
    }
    let writes: [Address; 2] = [
        |has| format!("/v1/orders/{}/cancel", has.order),
        |has| format!("/v1/events/{}/redeliver", has.event),
    ];
    for address in writes {
        let (its, nobodys) = (address(&demo), address(&unknown));
        for other in [other.clone(), other.with_idempotency_key(KEY)] {
            let for_another = other.post(&its, &json!({})).await;
            let for_unknown = other.post(&nobodys, &json!({})).await;
            assert_same(&its, 404, &for_another, &for_unknown);
        }
    }
    let shown: [Shown; 2] = [|has| &has.receipt, |has| &has.code];
    for shown in shown {
        let verify = async |store: &StoreServer, has: &StoreFixture| {
            let presented = json!({ "receipt": shown(has) });
            store.post("/v1/receipts/verify", &presented).await
        };
        let own = verify(&world.store(), &demo).await.with(200);
        assert_eq!(own.body["valid"], true);
        let for_another = verify(&other, &demo).await;
        let for_unknown = verify(&other, &unknown).await;
        assert_same(shown(&demo), 200, &for_another, &for_unknown);
        assert_eq!(for_another.body, json!({ "valid": false }));
    }
    for list in ["/v1/orders", "/v1/events", "/v1/deliveries"] {
        let page = other.get(list).await.with(200).body;
        let members = page.as_object().unwrap().values().next().unwrap();
        assert_eq!(members, &json!([]), "{list}");
    }
    let webhook = other.get("/v1/webhook").await.with(200).body;
    assert_eq!(webhook, json!({ "state": "none", "events_waiting": 0 }));
    world.end().await;
}

/// Tokens are in `proxy/src/auth/order_token/tests.rs`.
#[tokio::test]
async fn products_and_donations_are_per_store() {
    let world = World::start().await;
    let elsewhere = world.customer().from_page_of(OTHER_PAGE);
    // Equal product names of two stores are different products.
    let book = |store: &str| json!({ "store": store, "product": "ebook" });
    let its = elsewhere.request_order(&book("other")).await.with(201);
    assert_eq!(its.text_at("/order/amount"), "7.00");
    let coffee = |amount: &str| json!({ "store": "other", "donation": "coffee", "amount": amount });
    elsewhere.request_order(&coffee("1.00")).await.with(201);
    elsewhere
        .request_order(&coffee("9.01"))
        .await
        .refused(422, "donation_out_of_range");
    // A product of one store does not exist at the other.
    let product = |sku: &str| json!({ "store": "other", "product": sku });
    for sku in ["mug", "nobodys"] {
        let refused = elsewhere.request_order(&product(sku)).await;
        let refused = refused.refused(404, "unknown_product");
        // In the test environment alone, and of the catalogue of this store alone.
        let reason = format!("the store other has no product \"{sku}\"; it has [\"ebook\"]");
        assert_eq!(refused.text_at("/error/reason"), reason);
    }
    world.customer().open("mug").await;
    // No page opens an order of a store that does not list its origin.
    for (page, store) in [(&elsewhere, "demo"), (&world.customer(), "other")] {
        let response = page.request_order(&book(store)).await;
        response.refused(403, "origin_not_allowed");
    }
    world.end().await;
}
