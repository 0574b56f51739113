//! Several stores in one proxy: to another store, everything of a store is as if it were not there. What is found by a
//! guess and what is found at a neighbour get the same answer, byte for byte but for the request's id.

use reqwest::Method;
use serde_json::{Value, json};
use support::{Answer, Checkout, World, WorldConfig, pays_in_full, secrets};

/// The page of the other store.
const OTHER_PAGE: &str = "https://other.example";
/// A key of a customer's or a store's own.
const KEY: &str = "9e1f5c3a7b2d4860a4c6e8f01b3d5f79";

/// Where something is looked for.
type Address = fn(&Belongings) -> String;
/// What is shown as a receipt.
type Shown = fn(&Belongings) -> &str;

/// Everything that the store `demo` has, and one of each that nobody has.
struct Belongings {
    order: String,
    reference: String,
    client_token: String,
    event: String,
    delivery: String,
    invoice: String,
    receipt: String,
    code: String,
}

impl Belongings {
    async fn of(world: &World) -> (Checkout, Self) {
        let wanted = json!({ "amount": "42.00", "currency": "USD", "reference": "lamp-1" });
        let store = world.store();
        let opened = store.open(&wanted).await.with(201);
        let client_token = opened.text_at("/client_token");
        let order = opened.text_at("/order/id");
        let checkout = world.shopper().with_token(&client_token, &order);
        checkout.choose("BTC").await;
        let invoice = world.sandbox().invoice_of(&checkout.address().await).await;
        pays_in_full(world, &checkout).await;
        world.wait_for_deliveries().await;
        let event = text(&store.events_of(&order).await[0]["id"]);
        let tried = format!("/v1/deliveries?event={event}");
        let delivery = store.get(&tried).await.text_at("/deliveries/0/id");
        let receipt = checkout.get("/receipt").await.with(200);
        let has = Self {
            order,
            reference: "lamp-1".to_owned(),
            client_token,
            event,
            delivery,
            invoice,
            receipt: receipt.text_at("/token"),
            code: receipt.text_at("/code"),
        };
        (checkout, has)
    }

    fn of_nobody() -> Self {
        let zeros = "0".repeat(32);
        Self {
            order: format!("ord_{zeros}"),
            reference: "nobodys".to_owned(),
            client_token: "0".repeat(64),
            event: format!("evt_{zeros}_1"),
            delivery: format!("dlv_{zeros}_1_1"),
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
fn are_the_same(what: &str, status: u16, anothers: &Answer, nobodys: &Answer) {
    assert_eq!(anothers.status, status, "{what}: {}", anothers.text);
    assert_eq!(anothers.status, nobodys.status, "{what}");
    assert_eq!(
        anothers.without_request_id(),
        nobodys.without_request_id(),
        "{what}"
    );
    let names = |answer: &Answer| {
        let names = answer.headers.keys().map(ToString::to_string);
        names.collect::<Vec<_>>()
    };
    assert_eq!(names(anothers), names(nobodys), "{what}");
}

#[tokio::test]
async fn to_another_stores_server_nothing_is_there() {
    let world = World::start_with(WorldConfig {
        service_access: true,
        ..WorldConfig::default()
    })
    .await;
    let (_, demo) = Belongings::of(&world).await;
    let nobody = Belongings::of_nobody();
    let other = world.other_store();
    let reads: [(u16, Address); 10] = [
        (404, |has| format!("/v1/orders/{}", has.order)),
        (404, |has| format!("/v1/orders/{}/receipt", has.order)),
        (200, |has| format!("/v1/orders?reference={}", has.reference)),
        (400, |has| format!("/v1/orders?after={}", has.order)),
        (400, |has| format!("/v1/events?after={}", has.event)),
        (404, |has| format!("/v1/deliveries?event={}", has.event)),
        (404, |has| format!("/v1/deliveries?after={}", has.delivery)),
        (404, |has| {
            format!("/v1/deliveries?event={}&after={}", has.event, has.delivery)
        }),
        (404, |has| format!("/v1/service/invoice?id={}", has.invoice)),
        (404, |has| {
            format!("/v1/service/invoice?id={}&hist=true", has.invoice)
        }),
    ];
    for (status, address) in reads {
        // What its own store gets is another answer: the address is a good one.
        world.store().get(&address(&demo)).await.with(200);
        let (anothers, nobodys) = (
            other.get(&address(&demo)).await,
            other.get(&address(&nobody)).await,
        );
        are_the_same(&address(&demo), status, &anothers, &nobodys);
        assert!(!anothers.text.contains("lamp"), "{}", anothers.text);
    }
    let writes: [(u16, Address); 2] = [
        (404, |has| format!("/v1/orders/{}/cancel", has.order)),
        (404, |has| format!("/v1/events/{}/redeliver", has.event)),
    ];
    for (status, address) in writes {
        for key in [None, Some(KEY)] {
            let other = key.map_or(other.clone(), |key| other.with_idempotency_key(key));
            let anothers = other.post(&address(&demo), &json!({})).await;
            let nobodys = other.post(&address(&nobody), &json!({})).await;
            are_the_same(&address(&demo), status, &anothers, &nobodys);
        }
    }
    let shown: [Shown; 2] = [|has| &has.receipt, |has| &has.code];
    for shown in shown {
        let verify = async |store: &support::StoreServer, has: &Belongings| {
            let presented = json!({ "receipt": shown(has) });
            store.post("/v1/receipts/verify", &presented).await
        };
        let own = verify(&world.store(), &demo).await.with(200);
        assert_eq!(own.body["valid"], true);
        let (anothers, nobodys) = (verify(&other, &demo).await, verify(&other, &nobody).await);
        are_the_same(shown(&demo), 200, &anothers, &nobodys);
        assert_eq!(anothers.body, json!({ "valid": false }));
    }
    for list in ["/v1/orders", "/v1/events", "/v1/deliveries"] {
        let page = other.get(list).await.with(200).body;
        let members = page.as_object().unwrap().values().next().unwrap();
        assert_eq!(members, &json!([]), "{list}");
    }
    let telling = other.get("/v1/webhook").await.with(200).body;
    assert_eq!(telling, json!({ "state": "none", "events_waiting": 0 }));
    world.end().await;
}

#[tokio::test]
async fn a_reference_is_each_stores_own_and_so_is_what_is_told_of_it() {
    let world = World::start().await;
    let (_, demo) = Belongings::of(&world).await;
    let heard = world.webhooks.deliveries().len();
    // At another price: no conflict, since it is another order.
    let wanted = json!({ "amount": "20.00", "currency": "USD", "reference": demo.reference });
    let other = world.other_store();
    let opened = other
        .with_idempotency_key(KEY)
        .open(&wanted)
        .await
        .with(201);
    let order = opened.text_at("/order/id");
    assert_ne!(order, demo.order);
    let page = world.shopper().from_page_of(OTHER_PAGE);
    let checkout = page.with_token(&opened.text_at("/client_token"), &order);
    checkout.choose("BTC").await;
    pays_in_full(&world, &checkout).await;
    world.wait_for_deliveries().await;
    assert_eq!(
        other.events_of(&order).await.last().unwrap()["type"],
        "order.paid"
    );
    assert_eq!(world.store().events_of(&order).await, [Value::Null; 0]);
    // The store without an endpoint is told nothing, and least of all through another's.
    assert_eq!(world.webhooks.deliveries().len(), heard);
    assert_eq!(world.store().order(&demo.order).await["amount"], "42.00");
    world.end().await;
}

#[tokio::test]
async fn a_key_opens_its_own_store_and_is_no_client_token_nor_the_other_way_round() {
    let world = World::start().await;
    let (checkout, demo) = Belongings::of(&world).await;
    let nobody = Belongings::of_nobody();
    // A secret key, an order's token and a signature's key where something else belongs.
    let misplaced = [
        secrets::OTHER_STORE_KEY,
        secrets::STORE_KEY,
        secrets::TOKEN_KEY,
        &nobody.client_token,
    ];
    let asks = async |token: &str, path: &str, method: Method| {
        let body = (method == Method::POST).then(|| json!({}));
        let path = format!("/v1/checkout{path}");
        world
            .shopper()
            .sends(method, &path, Some(token), body.as_ref())
            .await
    };
    for (method, path) in [
        (Method::GET, ""),
        (Method::GET, "/quotes"),
        (Method::GET, "/receipt"),
        (Method::GET, "/events"),
        (Method::POST, "/paid"),
        (Method::POST, "/session"),
    ] {
        let nobodys = asks("", path, method.clone()).await;
        for token in misplaced {
            let answer = asks(token, path, method.clone()).await;
            are_the_same(path, 404, &answer, &nobodys);
        }
    }
    let list = world.store().with_key("").get("/v1/orders").await;
    for key in [
        checkout.token(),
        secrets::TOKEN_KEY,
        secrets::OTHER_TOKEN_KEY,
        secrets::CALLBACK_TOKEN,
    ] {
        let answer = world.store().with_key(key).get("/v1/orders").await;
        are_the_same("/v1/orders", 401, &answer, &list);
    }
    // Nor does it help to carry a good token to another store's page.
    let elsewhere = checkout.from_page_of(OTHER_PAGE);
    for path in ["", "/quotes", "/receipt", "/events"] {
        let answer = elsewhere.get(path).await.refused(403, "origin_not_allowed");
        assert_eq!(
            answer.header("access-control-allow-origin"),
            Some(OTHER_PAGE)
        );
        assert!(!answer.text.contains(&demo.order), "{}", answer.text);
    }
    world.end().await;
}

#[tokio::test]
async fn each_door_is_its_own_stores() {
    let world = World::start().await;
    let elsewhere = world.shopper().from_page_of(OTHER_PAGE);
    // What the other sells is not what this one sells, though it has the same name.
    let book = |store: &str| json!({ "store": store, "product": "ebook" });
    let its = elsewhere.request_order(&book("other")).await.with(201);
    assert_eq!(its.text_at("/order/amount"), "7.00");
    let coffee = |amount: &str| json!({ "store": "other", "donation": "coffee", "amount": amount });
    elsewhere.request_order(&coffee("1.00")).await.with(201);
    elsewhere
        .request_order(&coffee("9.01"))
        .await
        .refused(422, "donation_out_of_range");
    // What this one alone sells is at the other as what nobody sells.
    let product = |sku: &str| json!({ "store": "other", "product": sku });
    let anothers = elsewhere.request_order(&product("mug")).await;
    let nobodys = elsewhere.request_order(&product("nobodys")).await;
    are_the_same("a product", 404, &anothers, &nobodys);
    world.shopper().open("mug").await;
    // No page opens an order at a store that does not list it.
    for (page, store) in [(&elsewhere, "demo"), (&world.shopper(), "other")] {
        let answer = page.request_order(&book(store)).await;
        answer.refused(403, "origin_not_allowed");
    }
    // A token is of the store whose key signed it: not of one that it names, nor of one whose key has the same kid.
    let mint = world.token_signer();
    let other_mint = mint
        .for_store("other")
        .with_key("k1", secrets::OTHER_TOKEN_KEY);
    let door = |token: String| json!({ "order_token": token });
    elsewhere
        .request_order(&door(other_mint.token("lamp-1", "3.00")))
        .await
        .with(201);
    world
        .shopper()
        .request_order(&door(mint.token("lamp-1", "42.00")))
        .await
        .with(201);
    let nobodys = elsewhere.request_order(&door("a.b.c".to_owned())).await;
    for forged in [
        mint.for_store("other").token("lamp-2", "3.00"),
        mint.for_store("other")
            .with_key("k2", secrets::NEXT_TOKEN_KEY)
            .token("lamp-2", "3.00"),
        other_mint.for_store("demo").token("lamp-2", "3.00"),
    ] {
        let anothers = elsewhere.request_order(&door(forged)).await;
        are_the_same("an order token", 401, &anothers, &nobodys);
    }
    world.end().await;
}

#[tokio::test]
async fn an_answer_that_is_kept_is_given_to_its_own_store_alone() {
    let world = World::start().await;
    let wanted = json!({ "amount": "42.00", "currency": "USD", "reference": "lamp-1" });
    let (demo, other) = (world.store(), world.other_store());
    let (demo, other) = (
        demo.with_idempotency_key(KEY),
        other.with_idempotency_key(KEY),
    );
    let first = demo.open(&wanted).await.with(201);
    let second = other.open(&wanted).await.with(201);
    assert_eq!(second.header("idempotency-replayed"), None);
    assert_ne!(second.text_at("/order/id"), first.text_at("/order/id"));
    // With other bytes than the first: not refused, since it is another's key.
    let mut cheaper = wanted.clone();
    cheaper["reference"] = json!("lamp-2");
    let (demo, other) = (
        demo.with_idempotency_key("8"),
        other.with_idempotency_key("8"),
    );
    demo.open(&wanted).await.with(200);
    other.open(&cheaper).await.with(201);
    // The doors that anybody may stand at.
    let page = world.shopper().with_key(KEY);
    let elsewhere = page.from_page_of(OTHER_PAGE);
    let book = |store: &str| json!({ "store": store, "product": "ebook" });
    page.request_order(&book("demo")).await.with(201);
    let its = elsewhere.request_order(&book("other")).await.with(201);
    assert_eq!(its.header("idempotency-replayed"), None);
    assert_eq!(its.text_at("/order/amount"), "7.00");
    world.end().await;
}
