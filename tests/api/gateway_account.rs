//! `/v1/gateway/…` and `florin-proxy gateway`: the account at the gateway, for authorised stores.

use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};
use support::{Program, ProgramOutput, World, WorldConfig, eventually, pause};

/// Long enough for a call that is due.
const A_MOMENT: Duration = Duration::from_millis(300);
const WALLET: &str = r#"{"crypto_code":"BTC","wallet_address":"tb1qsomewhere"}"#;

async fn world_with_access() -> World {
    World::start_with(WorldConfig {
        gateway_access: true,
        ..WorldConfig::default()
    })
    .await
}

async fn world_of_merchant(id: &str) -> World {
    World::start_with(WorldConfig {
        gateway_access: true,
        merchant_id: Some(id.to_owned()),
        ..WorldConfig::default()
    })
    .await
}

fn run_command(world: &World, words: &[&str]) -> ProgramOutput {
    let config = world.config_file().display().to_string();
    Program::run(&[&["--config", &config, "gateway"], words].concat(), &[])
}

#[tokio::test]
async fn a_store_with_access_uses_every_endpoint_of_the_gateway() {
    let world = world_with_access().await;
    let store = world.store();
    let currencies = store.get("/v1/gateway/currencies").await.with(200);
    assert!(
        currencies.body.as_array().is_some_and(|all| all.len() >= 9),
        "{}",
        currencies.text
    );
    let added = store
        .send(Method::POST, "/v1/gateway/preferences", WALLET)
        .await
        .with(200);
    assert_eq!(added.body["preference"]["wallet_address"], "tb1qsomewhere");
    let changed = json!({"crypto_code": "BTC", "wallet_address": "tb1qelsewhere"});
    let changed = store
        .put("/v1/gateway/preferences", &changed)
        .await
        .with(200);
    assert_eq!(
        changed.body["preference"]["wallet_address"],
        "tb1qelsewhere"
    );
    let shop = json!({"merchant_name": "A shop", "anything": ["else", 1.50]});
    let onboarded = store
        .post("/v1/gateway/aggregator/merchants", &shop)
        .await
        .with(200);
    assert_eq!(
        onboarded.body["merchant"]["anything"],
        json!(["else", 1.50])
    );
    let account = store.get("/v1/gateway/merchant/account").await.with(200);
    assert!(account.body["upload_url"].is_string(), "{}", account.text);
    let settings = store
        .put("/v1/gateway/settings", &json!({"language": "de"}))
        .await
        .with(200);
    assert_eq!(settings.body["settings"]["language"], "de");
    world.end().await;
}

#[tokio::test]
async fn a_store_without_access_reads_the_supported_currencies_only() {
    let world = World::start().await;
    let store = world.store();
    store.get("/v1/gateway/currencies").await.with(200);
    let denied = [
        store
            .send(Method::POST, "/v1/gateway/preferences", WALLET)
            .await,
        store
            .send(Method::PUT, "/v1/gateway/preferences", WALLET)
            .await,
        store
            .post("/v1/gateway/aggregator/merchants", &json!({}))
            .await,
        store.get("/v1/gateway/merchant/account").await,
        store.put("/v1/gateway/settings", &json!({})).await,
    ];
    for response in denied {
        let response = response.refused(403, "gateway_access_denied");
        assert!(
            response.text.contains("gateway_access = true"),
            "{}",
            response.text
        );
    }
    assert_eq!(world.sandbox().count("POST", "/preferences").await, 0);
    let unknown_store = store.with_key("no-store-has-this-key-0123456789ab");
    unknown_store
        .get("/v1/gateway/currencies")
        .await
        .refused(401, "unauthorized");
    world.end().await;
}

#[tokio::test]
async fn a_merchant_of_a_platform_acts_only_for_itself() {
    let world = world_of_merchant("m-1").await;
    let store = world.store();
    let added = store
        .send(Method::POST, "/v1/gateway/preferences", WALLET)
        .await
        .with(200);
    assert_eq!(added.body["preference"]["merchant_id"], "m-1");
    let account = store.get("/v1/gateway/merchant/account").await.with(200);
    assert_eq!(account.body["merchant_id"], "m-1");
    let settings = store
        .put("/v1/gateway/settings", &json!({"merchant_id": "m-1"}))
        .await;
    assert_eq!(settings.with(200).body["settings"]["merchant_id"], "m-1");
    for other in [
        r#"{"merchant_id":"m-2"}"#,
        r#"{"merchant_id":"m-1","merchant_id":"m-2"}"#,
        r#"{"\u006derchantId":"m-2"}"#,
    ] {
        let response = store.send(Method::PUT, "/v1/gateway/settings", other).await;
        response.refused(403, "gateway_access_denied");
    }
    let other = store
        .get("/v1/gateway/merchant/account?merchant_id=m-2")
        .await;
    other.refused(403, "gateway_access_denied");
    let other = json!({"merchant_name": "x"});
    let onboards = store.post("/v1/gateway/aggregator/merchants", &other);
    onboards.await.refused(403, "gateway_access_denied");
    assert_eq!(world.sandbox().count("PUT", "/settings").await, 1);
    world.end().await;
}

#[tokio::test]
async fn rejections_by_the_gateway_and_by_the_proxy_are_distinguishable() {
    let world = world_with_access().await;
    let store = world.store();
    let unknown = json!({"crypto_code": "XMR", "wallet_address": "x"});
    let refused = store.post("/v1/gateway/preferences", &unknown).await;
    let refused = refused.refused(422, "gateway_refused");
    let message = &refused.body["error"]["gateway"];
    assert_eq!(message["code"], "UNSUPPORTED_CRYPTO_CODE");
    assert!(message["status"].is_u64(), "{message}");
    let message = message["message"].as_str().unwrap();
    assert!(refused.text_at("/error/message").contains(message));
    for body in ["{", "", "{} {}"] {
        let response = store.send(Method::PUT, "/v1/gateway/settings", body).await;
        response.refused(400, "invalid_request");
    }
    let long = json!({ "a": "a".repeat(64 * 1024) });
    let long = store.put("/v1/gateway/settings", &long).await;
    long.refused(413, "payload_too_large");
    world.end().await;
}

#[tokio::test]
async fn a_call_with_an_ambiguous_outcome_is_not_repeated() {
    let world = world_with_access().await;
    let store = world.store();
    world
        .sandbox()
        .inject_fault(json!({"endpoint": "any", "kind": "status", "status": 500, "times": 1}))
        .await;
    let response = store
        .send(Method::POST, "/v1/gateway/preferences", WALLET)
        .await;
    let response = response.refused(502, "gateway_failed");
    assert!(
        response.text.contains("may have been done"),
        "{}",
        response.text
    );
    assert_eq!(world.sandbox().count("POST", "/preferences").await, 1);
    world.end().await;
}

#[tokio::test]
async fn only_the_store_of_an_invoice_reads_it() {
    let world = World::start().await;
    let checkout = world.customer().open("ebook").await;
    checkout.choose("BTC").await;
    let address = checkout.address().await;
    let id = world.sandbox().invoice_of(&address).await;
    let path = format!("/v1/gateway/invoice?id={id}");
    let shown = world.store().get(&path).await.with(200);
    assert_eq!(shown.body["data"]["wallet_address"], address);
    world
        .store()
        .get(&format!("{path}&hist=true"))
        .await
        .with(200);
    let calls = world.sandbox().calls().await;
    let is_invoice_call = |call: &Value| {
        call["path"]
            .as_str()
            .is_some_and(|path| path.ends_with("&hist=true"))
    };
    assert!(calls.iter().any(is_invoice_call), "{calls:#?}");
    for (store, path) in [
        (world.other_store(), path.as_str()),
        (world.store(), "/v1/gateway/invoice?id=inv_unknown"),
        (world.store(), "/v1/gateway/invoice?id="),
    ] {
        store.get(path).await.refused(404, "not_found");
    }
    let unknown = world.store().get(&format!("{path}&more=1")).await;
    unknown.refused(400, "invalid_request");
    world.end().await;
}

#[tokio::test]
async fn the_command_line_calls_the_gateway() {
    let world = World::start().await;
    let checkout = world.customer().open("ebook").await;
    checkout.choose("BTC").await;
    let id = world.sandbox().invoice_of(&checkout.address().await).await;
    let body = world.file("body.json");
    std::fs::write(&body, "{\n  \"merchant_name\": \"A shop\"\n}\n").unwrap();
    let body = body.display().to_string();
    let wallet = world.file("wallet.json");
    std::fs::write(&wallet, WALLET).unwrap();
    let wallet = wallet.display().to_string();
    // In another thread: the sandbox runs in this one.
    let run = async |words: &[&str]| {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let config = world.config_file().display().to_string();
        let output = tokio::task::spawn_blocking(move || {
            let words: Vec<_> = words.iter().map(String::as_str).collect();
            Program::run(
                &[&["--config", &config, "gateway"], &words[..]].concat(),
                &[],
            )
        });
        let output = output.await.unwrap();
        assert_eq!(output.code, Some(0), "{}", output.printed);
        serde_json::from_str::<Value>(&output.printed).unwrap()
    };
    assert!(run(&["currencies"]).await.is_array());
    assert!(run(&["prices"]).await["BTC"]["conversion_id"].is_string());
    assert_eq!(
        run(&["invoice", &id, "--hist"]).await["data"]["invoice_id"],
        id
    );
    let onboarded = run(&["onboard-merchant", "--body", &body]).await;
    assert_eq!(onboarded["merchant"]["merchant_name"], "A shop");
    let added = run(&["add-preferences", "--body", &wallet, "--merchant-id", "m-7"]).await;
    assert_eq!(added["preference"]["merchant_id"], "m-7");
    run(&[
        "update-preferences",
        "--body",
        &wallet,
        "--merchant-id",
        "m-7",
    ])
    .await;
    let account = run(&["merchant-account", "--merchant-id", "m-7"]).await;
    assert_eq!(account["merchant_id"], "m-7");
    let settings = run(&["update-settings", "--body", &body]).await;
    assert_eq!(settings["message"], "OK");
    let settings = run(&["update-settings", "--body", &body, "--merchant-id", "m-7"]).await;
    assert_eq!(settings["settings"]["merchant_id"], "m-7");
    world.end().await;
}

#[tokio::test]
async fn a_rejection_on_the_command_line_prints_a_message_and_exits_with_an_error() {
    let world = World::start().await;
    let config = world.config_file().display().to_string();
    let output = tokio::task::spawn_blocking(move || {
        Program::run(
            &["--config", &config, "gateway", "invoice", "inv_unknown"],
            &[],
        )
    });
    let output = output.await.unwrap();
    assert_eq!(output.code, Some(1), "{}", output.printed);
    let sentence = "florin-proxy: the gateway refused with status 404: ";
    assert!(output.printed.starts_with(sentence), "{}", output.printed);
    assert!(
        output.printed.contains("(INVALID_INVOICE_ID)"),
        "{}",
        output.printed
    );
    for (words, message) in [
        (
            &["add-preferences", "--body", "/nowhere/body.json"][..],
            "/nowhere/body.json",
        ),
        (&["add-preferences"], "--body"),
        (&["invoice", "a b"], "\"a b\""),
        (&["merchant-account", "--query", "a=#"], "percent-encoded"),
    ] {
        let output = run_command(&world, words);
        assert!(
            output.code.is_some_and(|code| code != 0),
            "{}",
            output.printed
        );
        assert!(output.printed.contains(message), "{}", output.printed);
    }
    let help = run_command(&world, &["--help"]);
    for name in [
        "currencies",
        "prices",
        "invoice",
        "add-preferences",
        "update-preferences",
        "onboard-merchant",
        "merchant-account",
        "update-settings",
    ] {
        assert!(help.printed.contains(name), "{}", help.printed);
    }
    world.end().await;
}

#[tokio::test]
async fn the_assets_are_compared_with_the_gateways_currencies() {
    let world = World::start_with(WorldConfig {
        unknown_asset: true,
        ..WorldConfig::default()
    })
    .await;
    let found = eventually("the currencies are compared", async || {
        let url = format!("{}/health/ready", world.admin_url());
        let ready: Value = world.http().get(url).send().await.ok()?.json().await.ok()?;
        (!ready["currencies"].is_null()).then(|| ready["currencies"].clone())
    })
    .await;
    assert_eq!(found["not_offered"], json!([]));
    assert_eq!(
        found["unknown_here"].as_array().map(Vec::len),
        Some(1),
        "{found}"
    );
    assert!(world.logged("the gateway offers currencies that cannot be paid with here"));
    world.end().await;
}

#[tokio::test]
async fn the_assets_are_compared_once_a_day() {
    let world = World::start().await;
    let compared = |times: usize| {
        let chain = world.sandbox();
        eventually("the currencies are requested", async move || {
            (chain.count("GET", "/currencies").await == times).then_some(())
        })
    };
    compared(1).await;
    world.skip(Duration::from_hours(23));
    // Time for a request that must not be sent.
    pause(A_MOMENT).await;
    compared(1).await;
    world.skip(Duration::from_hours(1));
    compared(2).await;
    world.end().await;
}

#[tokio::test]
async fn orders_are_paid_while_the_gateway_has_no_list_of_currencies() {
    let mut world = World::start().await;
    world.stop_proxy().await;
    world
        .sandbox()
        .inject_fault(json!({"endpoint": "any", "kind": "status", "status": 404, "times": 1}))
        .await;
    world.start_proxy().await;
    eventually("the failure is logged", async || {
        world
            .logged("the gateway's list of currencies could not be had")
            .then_some(())
    })
    .await;
    world.customer().open("ebook").await.choose("BTC").await;
    world.end().await;
}
