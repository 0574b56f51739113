//! The gateway is down: the client gets a clear error, and the page shows the delay.
//! And `/v1/gateway/…` and `florin-proxy gateway`: the account at the gateway, for authorised stores. What is forwarded, and how it
//! is refused, is in `crates/gateway`.

use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};
use support::{World, eventually, pay_in_full, rows};

use crate::helpers::invoice_of;
use crate::program::{assert_ended, run_for};

/// The simulation has payments during outages.
#[tokio::test]
async fn an_outage_opens_the_circuit_opens_no_attempt_and_is_shown_as_a_delay() {
    let mut world = World::with(|config| config.callbacks = false).await;
    let waiting = world.customer().open("ebook").await;
    let quote = waiting.quote("BTC").await;
    let checkout = world.customer().open_with("ebook", "BTC").await;
    assert_eq!(checkout.view().await["delayed"], false);
    world.gateway_link.cut().await;
    let choice = json!({ "crypto_code": "BTC", "quote_id": quote["quote_id"] });
    let refused = waiting.post("/attempt", &choice).await;
    let refused = refused.refused(503, "gateway_unavailable");
    assert_eq!(refused.header("retry-after"), Some("5"));
    assert_eq!(waiting.view().await["attempt"], Value::Null);
    let circuit = async |world: &World| {
        let ready = world.get_admin("/health/ready").await.with(200);
        ready.text_at("/gateway/circuit")
    };
    eventually("the page shows the delay of an open circuit", async || {
        let is_delayed = checkout.view().await["delayed"] == true;
        (is_delayed && circuit(&world).await == "open").then_some(())
    })
    .await;
    world.gateway_link.restore().await;
    world.skip(Duration::from_mins(1));
    pay_in_full(&world, &checkout).await;
    assert_eq!(checkout.view().await["delayed"], false);
    assert_eq!(circuit(&world).await, "closed");
    waiting.choose("BTC").await;
    world.end().await;
}

const WALLET: &str = r#"{"crypto_code":"BTC","wallet_address":"tb1qsomewhere"}"#;

/// A world whose store `demo` has access, and the other one has none.
async fn world_with_access(more: &str) -> World {
    World::with(|config| {
        config.store = format!("gateway_access = true\n{more}");
    })
    .await
}

/// Method and path, a member of the response and its value, and the body.
const CHANGES: &str = r#"
POST | preferences | /preference/wallet_address | "tb1qa" | {"crypto_code":"BTC","wallet_address":"tb1qa"}
PUT | preferences | /preference/wallet_address | "tb1qb" | {"crypto_code":"BTC","wallet_address":"tb1qb"}
POST | aggregator/merchants | /merchant/anything | ["x",1.50] | {"merchant_name":"A","anything":["x",1.50]}
PUT | settings | /settings/language | "de" | {"language":"de"}
"#;

#[tokio::test]
async fn a_store_with_access_uses_every_endpoint_of_the_gateway_and_another_none() {
    let world = world_with_access("").await;
    let (store, other) = (world.store(), world.other_store());
    for store in [&store, &other] {
        let currencies = store.get("/v1/gateway/currencies").await.with(200);
        let count = currencies.body.as_array().map(Vec::len);
        assert!(count >= Some(9), "{}", currencies.text);
    }
    for [method, path, pointer, value, body] in rows(CHANGES) {
        let method: Method = method.parse().unwrap();
        let path = format!("/v1/gateway/{path}");
        let refused = other.send(method.clone(), &path, body).await;
        let refused = refused.refused(403, "gateway_access_denied");
        let remedy = "gateway_access = true";
        assert!(refused.text.contains(remedy), "{}", refused.text);
        let done = store.send(method, &path, body).await.with(200);
        let value: Option<Value> = serde_json::from_str(value).ok();
        assert_eq!(done.body.pointer(pointer).cloned(), value, "{path}");
    }
    let account = "/v1/gateway/merchant/account";
    let refused = other.get(account).await;
    refused.refused(403, "gateway_access_denied");
    let shown = store.get(account).await.with(200);
    assert!(shown.body["upload_url"].is_string(), "{}", shown.text);

    // Refusals of the gateway and of the proxy have different codes.
    let path = "/v1/gateway/preferences";
    let unknown = json!({ "crypto_code": "XMR", "wallet_address": "x" });
    let refused = store.post(path, &unknown).await;
    let refused = refused.refused(422, "gateway_refused");
    let rejection = &refused.body["error"]["gateway"];
    assert_eq!(rejection["code"], "UNSUPPORTED_CRYPTO_CODE");
    assert!(rejection["status"].is_u64(), "{rejection}");
    let message = rejection["message"].as_str().unwrap();
    assert!(refused.text_at("/error/message").contains(message));
    // An ambiguous outcome is not repeated.
    let fault = json!({ "endpoint": "any", "kind": "status", "status": 500, "times": 1 });
    world.sandbox().inject_fault(fault).await;
    let before = world.sandbox().count("POST", "/preferences").await;
    let failed = store.send(Method::POST, path, WALLET).await;
    let failed = failed.refused(502, "gateway_failed").text;
    assert!(failed.contains("may have been done"), "{failed}");
    let count = world.sandbox().count("POST", "/preferences").await;
    assert_eq!(count, before + 1);
    world.end().await;
}

/// Every way to write another merchant's id is in `crates/gateway/src/client/raw_request.rs`.
#[tokio::test]
async fn a_merchant_of_a_platform_acts_only_for_itself() {
    let world = world_with_access("merchant_id = \"m-1\"").await;
    let store = world.store();
    let path = "/v1/gateway/preferences";
    let added = store.send(Method::POST, path, WALLET).await.with(200);
    assert_eq!(added.text_at("/preference/merchant_id"), "m-1");
    let account = "/v1/gateway/merchant/account";
    let shown = store.get(account).await.with(200);
    assert_eq!(shown.text_at("/merchant_id"), "m-1");
    let other = json!({ "merchant_id": "m-2" });
    let shop = json!({ "merchant_name": "x" });
    for refused in [
        store
            .send(Method::PUT, "/v1/gateway/settings", &other.to_string())
            .await,
        store.get(&format!("{account}?merchant_id=m-2")).await,
        store.post("/v1/gateway/aggregator/merchants", &shop).await,
    ] {
        refused.refused(403, "gateway_access_denied");
    }
    assert_eq!(world.sandbox().count("PUT", "/settings").await, 0);
    world.end().await;
}

/// A command, a member of what it prints, and its value.
const COMMANDS: &str = "
invoice INVOICE --hist | /data/invoice_id | INVOICE
onboard-merchant --body SHOP | /merchant/merchant_name | A shop
add-preferences --body WALLET --merchant-id m-7 | /preference/merchant_id | m-7
update-preferences --body WALLET --merchant-id m-7 | /preference/merchant_id | m-7
merchant-account --merchant-id m-7 | /merchant_id | m-7
update-settings --body SHOP --merchant-id m-7 | /settings/merchant_id | m-7
";

/// The invoice of another store is in `isolation.rs`.
#[tokio::test]
async fn a_store_without_access_reads_its_invoices_and_the_command_line_everything() {
    let world = World::start().await;
    let checkout = world.customer().open("ebook").await;
    let view = checkout.choose("BTC").await;
    let id = invoice_of(&world, &view).await;
    let path = format!("/v1/gateway/invoice?id={id}");
    let shown = world.store().get(&path).await.with(200);
    let address = &view["attempt"]["address"];
    assert_eq!(&shown.body["data"]["wallet_address"], address);
    let history = format!("{path}&hist=true");
    world.store().get(&history).await.with(200);
    let calls = world.sandbox().calls().await;
    let asks = |call: &Value| call["path"].as_str().unwrap().ends_with("&hist=true");
    assert!(calls.iter().any(asks), "{calls:#?}");

    let file = |name: &str, json: &str| {
        let path = world.file(name);
        std::fs::write(&path, json).unwrap();
        path.display().to_string()
    };
    let shop = file("shop.json", "{\n  \"merchant_name\": \"A shop\"\n}\n");
    let wallet = file("wallet.json", WALLET);
    let commands = COMMANDS.replace("INVOICE", &id).replace("SHOP", &shop);
    for [words, pointer, value] in rows(&commands.replace("WALLET", &wallet)) {
        let words = [&["gateway"], &*words.split(' ').collect::<Vec<_>>()].concat();
        let output = run_for(&world, &words, &[]).await;
        assert_ended(&output, 0, &[]);
        let printed: Value = serde_json::from_str(&output.printed).unwrap();
        let found = printed.pointer(pointer);
        assert_eq!(found, Some(&json!(value)), "{words:?}: {printed}");
    }
    let unknown = "the gateway refused with status 404: ";
    for (words, message) in [
        ("invoice inv_unknown", unknown),
        ("add-preferences --body /nowhere/body.json", "/nowhere/body"),
        ("add-preferences", "--body"),
        ("merchant-account --query a=#", "percent-encoded"),
    ] {
        let words = [&["gateway"], &*words.split(' ').collect::<Vec<_>>()].concat();
        let output = run_for(&world, &words, &[]).await;
        assert!(output.code.is_some_and(|code| code != 0), "{words:?}");
        assert!(output.printed.contains(message), "{}", output.printed);
    }
    world.end().await;
}

#[tokio::test]
async fn the_assets_are_compared_with_the_gateways_currencies_once_a_day() {
    let world = World::with(|config| config.unknown_asset = true).await;
    let found = eventually("the currencies are compared", async || {
        let ready = world.get_admin("/health/ready").await.body;
        (!ready["currencies"].is_null()).then(|| ready["currencies"].clone())
    })
    .await;
    assert_eq!(found["not_offered"], json!([]));
    let unknown = found["unknown_here"].as_array().map(Vec::len);
    assert_eq!(unknown, Some(1), "{found}");
    assert!(world.logged("the gateway offers currencies that cannot be paid with here"));
    world.skip(Duration::from_hours(24));
    eventually("the currencies are requested again", async || {
        (world.sandbox().count("GET", "/currencies").await == 2).then_some(())
    })
    .await;
    world.end().await;
}
