//! `/v1/service/…` and `florin-proxy service`: the account at the service, for those who may.

use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};
use support::{Ended, Program, World, WorldConfig, eventually, pause};

/// Long enough for a call that is due.
const A_MOMENT: Duration = Duration::from_millis(300);
const WALLET: &str = r#"{"crypto_code":"BTC","wallet_address":"tb1qsomewhere"}"#;

async fn with_access() -> World {
    World::start_with(WorldConfig {
        service_access: true,
        ..WorldConfig::default()
    })
    .await
}

async fn merchant(id: &str) -> World {
    World::start_with(WorldConfig {
        service_access: true,
        merchant_id: Some(id.to_owned()),
        ..WorldConfig::default()
    })
    .await
}

fn asks(world: &World, words: &[&str]) -> Ended {
    let config = world.config_file().display().to_string();
    Program::runs(&[&["--config", &config, "service"], words].concat(), &[])
}

#[tokio::test]
async fn a_store_with_access_uses_every_endpoint_of_the_service() {
    let world = with_access().await;
    let store = world.store();
    let currencies = store.get("/v1/service/currencies").await.with(200);
    assert!(
        currencies.body.as_array().is_some_and(|all| all.len() >= 9),
        "{}",
        currencies.text
    );
    let added = store
        .sends(Method::POST, "/v1/service/preferences", WALLET)
        .await
        .with(200);
    assert_eq!(added.body["preference"]["wallet_address"], "tb1qsomewhere");
    let changed = json!({"crypto_code": "BTC", "wallet_address": "tb1qelsewhere"});
    let changed = store
        .put("/v1/service/preferences", &changed)
        .await
        .with(200);
    assert_eq!(
        changed.body["preference"]["wallet_address"],
        "tb1qelsewhere"
    );
    let shop = json!({"merchant_name": "A shop", "anything": ["else", 1.50]});
    let onboarded = store
        .post("/v1/service/aggregator/merchants", &shop)
        .await
        .with(200);
    assert_eq!(
        onboarded.body["merchant"]["anything"],
        json!(["else", 1.50])
    );
    let account = store.get("/v1/service/merchant/account").await.with(200);
    assert!(account.body["upload_url"].is_string(), "{}", account.text);
    let settings = store
        .put("/v1/service/settings", &json!({"language": "de"}))
        .await
        .with(200);
    assert_eq!(settings.body["settings"]["language"], "de");
    world.end().await;
}

#[tokio::test]
async fn a_store_without_access_may_read_what_is_supported_and_nothing_else() {
    let world = World::start().await;
    let store = world.store();
    store.get("/v1/service/currencies").await.with(200);
    let denied = [
        store
            .sends(Method::POST, "/v1/service/preferences", WALLET)
            .await,
        store
            .sends(Method::PUT, "/v1/service/preferences", WALLET)
            .await,
        store
            .post("/v1/service/aggregator/merchants", &json!({}))
            .await,
        store.get("/v1/service/merchant/account").await,
        store.put("/v1/service/settings", &json!({})).await,
    ];
    for answer in denied {
        let answer = answer.refused(403, "service_access_denied");
        assert!(
            answer.text.contains("service_access = true"),
            "{}",
            answer.text
        );
    }
    assert_eq!(world.sandbox().count("POST", "/preferences").await, 0);
    let nobody = store.with_key("no-store-has-this-key-0123456789ab");
    nobody
        .get("/v1/service/currencies")
        .await
        .refused(401, "unauthorized");
    world.end().await;
}

#[tokio::test]
async fn a_merchant_of_a_platform_acts_for_itself_alone() {
    let world = merchant("m-1").await;
    let store = world.store();
    let added = store
        .sends(Method::POST, "/v1/service/preferences", WALLET)
        .await
        .with(200);
    assert_eq!(added.body["preference"]["merchant_id"], "m-1");
    let account = store.get("/v1/service/merchant/account").await.with(200);
    assert_eq!(account.body["merchant_id"], "m-1");
    let settings = store
        .put("/v1/service/settings", &json!({"merchant_id": "m-1"}))
        .await;
    assert_eq!(settings.with(200).body["settings"]["merchant_id"], "m-1");
    for other in [
        r#"{"merchant_id":"m-2"}"#,
        r#"{"merchant_id":"m-1","merchant_id":"m-2"}"#,
        r#"{"\u006derchantId":"m-2"}"#,
    ] {
        let answer = store
            .sends(Method::PUT, "/v1/service/settings", other)
            .await;
        answer.refused(403, "service_access_denied");
    }
    let other = store
        .get("/v1/service/merchant/account?merchant_id=m-2")
        .await;
    other.refused(403, "service_access_denied");
    let other = json!({"merchant_name": "x"});
    let onboards = store.post("/v1/service/aggregator/merchants", &other);
    onboards.await.refused(403, "service_access_denied");
    assert_eq!(world.sandbox().count("PUT", "/settings").await, 1);
    world.end().await;
}

#[tokio::test]
async fn the_services_refusal_is_readable_and_ours_are_told_apart() {
    let world = with_access().await;
    let store = world.store();
    let unknown = json!({"crypto_code": "XMR", "wallet_address": "x"});
    let refused = store.post("/v1/service/preferences", &unknown).await;
    let refused = refused.refused(422, "service_refused");
    let said = &refused.body["error"]["service"];
    assert_eq!(said["code"], "UNSUPPORTED_CRYPTO_CODE");
    assert!(said["status"].is_u64(), "{said}");
    let message = said["message"].as_str().unwrap();
    assert!(refused.text_at("/error/message").contains(message));
    for body in ["{", "", "{} {}"] {
        let answer = store.sends(Method::PUT, "/v1/service/settings", body).await;
        answer.refused(400, "invalid_request");
    }
    let long = json!({ "a": "a".repeat(64 * 1024) });
    let long = store.put("/v1/service/settings", &long).await;
    long.refused(413, "payload_too_large");
    world.end().await;
}

#[tokio::test]
async fn what_may_have_been_done_is_not_done_again() {
    let world = with_access().await;
    let store = world.store();
    world
        .sandbox()
        .inject_fault(json!({"endpoint": "any", "kind": "status", "status": 500, "times": 1}))
        .await;
    let answer = store
        .sends(Method::POST, "/v1/service/preferences", WALLET)
        .await;
    let answer = answer.refused(502, "service_failed");
    assert!(
        answer.text.contains("may have been done"),
        "{}",
        answer.text
    );
    assert_eq!(world.sandbox().count("POST", "/preferences").await, 1);
    world.end().await;
}

#[tokio::test]
async fn an_invoice_is_shown_whole_to_the_store_whose_it_is() {
    let world = World::start().await;
    let checkout = world.shopper().open("ebook").await;
    checkout.choose("BTC").await;
    let address = checkout.address().await;
    let id = world.sandbox().invoice_of(&address).await;
    let path = format!("/v1/service/invoice?id={id}");
    let shown = world.store().get(&path).await.with(200);
    assert_eq!(shown.body["data"]["wallet_address"], address);
    world
        .store()
        .get(&format!("{path}&hist=true"))
        .await
        .with(200);
    let asked = world.sandbox().calls().await;
    let is_hist = |call: &Value| {
        call["path"]
            .as_str()
            .is_some_and(|path| path.ends_with("&hist=true"))
    };
    assert!(asked.iter().any(is_hist), "{asked:#?}");
    for (store, path) in [
        (world.other_store(), path.as_str()),
        (world.store(), "/v1/service/invoice?id=inv_unknown"),
        (world.store(), "/v1/service/invoice?id="),
    ] {
        store.get(path).await.refused(404, "not_found");
    }
    let unknown = world.store().get(&format!("{path}&more=1")).await;
    unknown.refused(400, "invalid_request");
    world.end().await;
}

#[tokio::test]
async fn the_operator_asks_on_the_command_line() {
    let world = World::start().await;
    let checkout = world.shopper().open("ebook").await;
    checkout.choose("BTC").await;
    let id = world.sandbox().invoice_of(&checkout.address().await).await;
    let body = world.file("body.json");
    std::fs::write(&body, "{\n  \"merchant_name\": \"A shop\"\n}\n").unwrap();
    let body = body.display().to_string();
    let wallet = world.file("wallet.json");
    std::fs::write(&wallet, WALLET).unwrap();
    let wallet = wallet.display().to_string();
    // In a thread of its own: the sandbox answers in this one.
    let run = async |words: &[&str]| {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let config = world.config_file().display().to_string();
        let ended = tokio::task::spawn_blocking(move || {
            let words: Vec<_> = words.iter().map(String::as_str).collect();
            Program::runs(
                &[&["--config", &config, "service"], &words[..]].concat(),
                &[],
            )
        });
        let ended = ended.await.unwrap();
        assert_eq!(ended.code, Some(0), "{}", ended.printed);
        serde_json::from_str::<Value>(&ended.printed).unwrap()
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
async fn a_refusal_on_the_command_line_is_a_sentence_and_a_failing_code() {
    let world = World::start().await;
    let config = world.config_file().display().to_string();
    let ended = tokio::task::spawn_blocking(move || {
        Program::runs(
            &["--config", &config, "service", "invoice", "inv_unknown"],
            &[],
        )
    });
    let ended = ended.await.unwrap();
    assert_eq!(ended.code, Some(1), "{}", ended.printed);
    let sentence = "florin-proxy: the payment service refused with status 404: ";
    assert!(ended.printed.starts_with(sentence), "{}", ended.printed);
    assert!(
        ended.printed.contains("(INVALID_INVOICE_ID)"),
        "{}",
        ended.printed
    );
    for (words, said) in [
        (
            &["add-preferences", "--body", "/nowhere/body.json"][..],
            "/nowhere/body.json",
        ),
        (&["add-preferences"], "--body"),
        (&["invoice", "a b"], "\"a b\""),
        (&["merchant-account", "--query", "a=#"], "percent-encoded"),
    ] {
        let ended = asks(&world, words);
        assert!(
            ended.code.is_some_and(|code| code != 0),
            "{}",
            ended.printed
        );
        assert!(ended.printed.contains(said), "{}", ended.printed);
    }
    let help = asks(&world, &["--help"]);
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
async fn the_assets_are_compared_with_what_the_service_offers() {
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
    assert!(world.logged("the service offers currencies that cannot be paid with here"));
    world.end().await;
}

#[tokio::test]
async fn the_assets_are_compared_once_a_day() {
    let world = World::start().await;
    let compared = |times: usize| {
        let chain = world.sandbox();
        eventually("the currencies are asked for", async move || {
            (chain.count("GET", "/currencies").await == times).then_some(())
        })
    };
    compared(1).await;
    world.skip(Duration::from_hours(23));
    pause(A_MOMENT).await;
    compared(1).await;
    world.skip(Duration::from_hours(1));
    compared(2).await;
    world.end().await;
}

#[tokio::test]
async fn a_service_without_a_list_of_currencies_keeps_nobody_from_selling() {
    let mut world = World::start().await;
    world.stop_proxy().await;
    world
        .sandbox()
        .inject_fault(json!({"endpoint": "any", "kind": "status", "status": 404, "times": 1}))
        .await;
    world.start_proxy().await;
    eventually("it is said", async || {
        world
            .logged("the service's list of currencies could not be had")
            .then_some(())
    })
    .await;
    world.shopper().open("ebook").await.choose("BTC").await;
    world.end().await;
}
