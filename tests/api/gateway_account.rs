//! `/v1/gateway/…` and `florin-proxy gateway`: the account at the gateway, for authorised stores. What is forwarded, and how it
//! is refused, is in `crates/gateway`.

use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};
use support::{Program, ProgramOutput, World, eventually, pause};

use crate::helpers::invoice_of;

const WALLET: &str = r#"{"crypto_code":"BTC","wallet_address":"tb1qsomewhere"}"#;

/// A world whose store `demo` has access, and the other one has none.
async fn world_with_access(merchant_id: Option<&str>) -> World {
    World::with(|config| {
        config.gateway_access = true;
        config.merchant_id = merchant_id.map(str::to_owned);
    })
    .await
}

/// Runs a command. The world answers meanwhile.
async fn run_command(world: &World, words: &[&str]) -> ProgramOutput {
    let config = world.config_file().display().to_string();
    Program::run_beside(&[&["--config", &config, "gateway"], words].concat(), &[]).await
}

/// Method and path, a member of the response and its value, and the body.
const CHANGES: &str = r#"
POST preferences /preference/wallet_address "tb1qa" {"crypto_code":"BTC","wallet_address":"tb1qa"}
PUT preferences /preference/wallet_address "tb1qb" {"crypto_code":"BTC","wallet_address":"tb1qb"}
POST aggregator/merchants /merchant/anything ["x",1.50] {"merchant_name":"A","anything":["x",1.50]}
PUT settings /settings/language "de" {"language":"de"}
"#;

#[tokio::test]
async fn a_store_with_access_uses_every_endpoint_of_the_gateway_and_another_none() {
    let world = world_with_access(None).await;
    let (store, other) = (world.store(), world.other_store());
    for store in [&store, &other] {
        let currencies = store.get("/v1/gateway/currencies").await.with(200);
        let count = currencies.body.as_array().map(Vec::len);
        assert!(count >= Some(9), "{}", currencies.text);
    }
    for line in CHANGES.trim().lines() {
        let cells: Vec<&str> = line.split(' ').collect();
        let [method, path, pointer, value, body] = cells[..] else {
            panic!("{line}")
        };
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
    let settings = "/v1/gateway/settings";
    let refused = store.send(Method::PUT, settings, "{} {}").await;
    refused.refused(400, "invalid_request");
    let long = json!({ "a": "a".repeat(64 * 1024) });
    let refused = store.put(settings, &long).await;
    refused.refused(413, "payload_too_large");
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
    let world = world_with_access(Some("m-1")).await;
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
        store.put("/v1/gateway/settings", &other).await,
        store.get(&format!("{account}?merchant_id=m-2")).await,
        store.post("/v1/gateway/aggregator/merchants", &shop).await,
    ] {
        refused.refused(403, "gateway_access_denied");
    }
    assert_eq!(world.sandbox().count("PUT", "/settings").await, 0);
    world.end().await;
}

/// The invoice of another store is in `store_isolation.rs`.
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
    let nothing = world.store().get("/v1/gateway/invoice?id=").await;
    nothing.refused(404, "not_found");
    let unknown = world.store().get(&format!("{path}&more=1")).await;
    unknown.refused(400, "invalid_request");

    let file = |name: &str, json: &str| {
        let path = world.file(name);
        std::fs::write(&path, json).unwrap();
        path.display().to_string()
    };
    let shop = file("shop.json", "{\n  \"merchant_name\": \"A shop\"\n}\n");
    let wallet = file("wallet.json", WALLET);
    let merchant = ["--merchant-id", "m-7"];
    let run = async |words: &[&str], more: &[&str]| {
        let output = run_command(&world, &[words, more].concat()).await;
        assert_eq!(output.code, Some(0), "{}", output.printed);
        serde_json::from_str::<Value>(&output.printed).unwrap()
    };
    assert!(run(&["currencies"], &[]).await.is_array());
    let prices = run(&["prices"], &[]).await;
    assert!(prices["BTC"]["conversion_id"].is_string());
    let shown = run(&["invoice", &id, "--hist"], &[]).await;
    assert_eq!(shown["data"]["invoice_id"], id);
    let onboarded = run(&["onboard-merchant", "--body", &shop], &[]).await;
    assert_eq!(onboarded["merchant"]["merchant_name"], "A shop");
    for command in ["add-preferences", "update-preferences"] {
        let set = run(&[command, "--body", &wallet], &merchant).await;
        assert_eq!(set["preference"]["merchant_id"], "m-7", "{command}");
    }
    let account = run(&["merchant-account"], &merchant).await;
    assert_eq!(account["merchant_id"], "m-7");
    let settings = run(&["update-settings", "--body", &shop], &merchant).await;
    assert_eq!(settings["settings"]["merchant_id"], "m-7");
    for (words, message) in [
        (
            "invoice inv_unknown",
            "the gateway refused with status 404: ",
        ),
        ("invoice inv_unknown", "(INVALID_INVOICE_ID)"),
        ("add-preferences --body /nowhere/body.json", "/nowhere/body"),
        ("add-preferences", "--body"),
        ("merchant-account --query a=#", "percent-encoded"),
    ] {
        let words: Vec<&str> = words.split(' ').collect();
        let output = run_command(&world, &words).await;
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
    world.skip(Duration::from_hours(23));
    // Time for a request that must not be sent.
    pause(Duration::from_millis(300)).await;
    assert_eq!(world.sandbox().count("GET", "/currencies").await, 1);
    world.skip(Duration::from_hours(1));
    eventually("the currencies are requested again", async || {
        (world.sandbox().count("GET", "/currencies").await == 2).then_some(())
    })
    .await;
    world.end().await;
}
