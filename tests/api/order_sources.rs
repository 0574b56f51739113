//! Orders opened by an order token, where the store's server signs the price and the browser carries the token; and orders that are
//! paid on the gateway's hosted page.

use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use support::{Checkout, HttpResponse, World, pay_in_full, secrets};

use crate::helpers::{delivered_events, event_types};

#[tokio::test]
async fn an_order_of_a_signed_token_is_paid_and_reported() {
    let world = World::start().await;
    let mut claims = world.token_signer().claims("lamp-1", "42.00");
    claims["title"] = json!("A lamp");
    claims["return_url"] = json!(format!("{}/thanks?of=lamp-1", world.shop_url()));
    claims["cancel_url"] = json!(format!("{}/cart?of=lamp-1", world.shop_url()));
    let token = world.token_signer().sign(&claims);
    let request = json!({ "order_token": token });
    for origin in ["https://evil.example", "https://other.example", "null"] {
        let page = world.customer().from_page_of(origin);
        let response = page.request_order(&request).await;
        response.refused(403, "origin_not_allowed");
    }
    let opened = world.customer().request_order(&request).await.with(201);
    assert_eq!(opened.text_at("/order/title"), "A lamp");
    assert_eq!(opened.text_at("/order/amount"), "42.00");
    let checkout = world.customer().checkout_of(&opened);
    let leads_to = async |claim: &str| {
        let base = claims[claim].as_str().unwrap();
        let url = format!("{base}&order_id={}", checkout.order);
        assert_eq!(checkout.view().await["return_url"], url, "{claim}");
    };
    leads_to("cancel_url").await;
    checkout.choose("LTC").await;
    pay_in_full(&world, &checkout).await;
    leads_to("return_url").await;
    world.wait_for_deliveries().await;
    let record = world.store().order(&checkout.order).await;
    assert_eq!(record["reference"], "lamp-1");
    assert_eq!(record["price_source"], "order_token");
    assert_eq!(record["return_url"], claims["return_url"]);
    assert_eq!(record["cancel_url"], claims["cancel_url"]);
    let events = world.store().events_of(&checkout.order).await;
    assert_eq!(event_types(&events).last(), Some(&"order.paid"));
    world.end().await;
}

/// Every reason for which a token is refused is in `proxy/src/auth/order_token/tests.rs`.
#[tokio::test]
async fn every_rejected_token_gets_the_same_response_and_the_log_holds_the_reason() {
    let world = World::with(|config| config.environment = "production").await;
    let signer = world.token_signer();
    let guessed = signer.with_key("k1", "guessed-guessed-guessed-guessed-");
    let mut expired = signer.claims("lamp-1", "42.00");
    expired["exp"] = json!(world.clock.now().as_second() - 90);
    let mut responses = Vec::new();
    for (token, reason) in [
        (format!("{}=", signer.token("lamp-1", "42.00")), "base64url"),
        (
            guessed.token("lamp-1", "42.00"),
            "its signature is not that of any key",
        ),
        (signer.sign(&expired), "it expired at"),
    ] {
        let request = json!({ "order_token": token });
        let response = world.customer().request_order(&request).await;
        let response = response.refused(401, "invalid_order_token");
        assert!(world.logged(reason), "{reason}");
        assert!(!world.logged(&token), "the log holds the token");
        responses.push(response.without_request_id());
    }
    responses.dedup();
    assert_eq!(responses.len(), 1, "{responses:?}");
    assert!(world.store().orders().await.is_empty());
    world.end().await;
}

const PAGE: &str = include_str!("../../docs/reference/order-tokens.md");

/// How each language is run, and the line that prints a token for three arguments.
const LANGUAGES: [(&str, &[&str], &str); 3] = [
    (
        "python",
        &["python3", "-c"],
        "import sys; print(order_token(sys.argv[1], sys.argv[2], json.loads(sys.argv[3])))",
    ),
    (
        "js",
        &["node", "--input-type=module", "-e"],
        "console.log(orderToken(process.argv[1], process.argv[2], JSON.parse(process.argv[3])));",
    ),
    (
        "php",
        &["php", "-r"],
        "echo order_token($argv[1], $argv[2], json_decode($argv[3], true));",
    ),
];

fn code(language: &str) -> &'static str {
    let (_, section) = PAGE.split_once("\n## Sign a token\n").unwrap();
    let (section, _) = section.split_once("\n## ").unwrap();
    let (_, code) = section.split_once(&format!("```{language}\n")).unwrap();
    code.split_once("```").unwrap().0
}

/// Returns the output of a program; `None` if the machine does not have it.
fn run_program(program: &[&str], text: &str, arguments: &[&str]) -> Option<String> {
    let mut command = Command::new(program[0]);
    command.args(&program[1..]).arg(text);
    // Otherwise PHP and Node would parse the arguments themselves.
    command.args((program[0] != "python3").then_some("--"));
    let output = command.args(arguments).stdin(Stdio::null()).output().ok()?;
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {errors}", program[0]);
    Some(String::from_utf8(output.stdout).unwrap().trim().to_owned())
}

#[tokio::test]
async fn tokens_signed_by_the_documented_code_open_orders() {
    let world = World::with(|config| config.account = ("EUR", "0.9143")).await;
    let mut signed = 0;
    for (language, program, print_line) in LANGUAGES {
        let code = code(language);
        let body = code.lines().filter(|line| line.starts_with("  "));
        assert!(body.count() <= 5, "five lines are enough: {code}");
        let claims = json!({
            "aud": world.proxy_url(), "store": "demo", "reference": format!("cart-{language}"), "amount": "19.90",
            "currency": "EUR", "title": "Ein Büchlein / 書", "return_url": format!("{}/thanks", world.shop_url()),
        });
        let text = format!("{code}\n{print_line}");
        let Some(token) = run_program(
            program,
            &text,
            &["k1", secrets::TOKEN_KEY, &claims.to_string()],
        ) else {
            println!("{} is not installed: its code was not run", program[0]);
            continue;
        };
        let request = json!({ "order_token": token });
        let opened = world.customer().request_order(&request).await.with(201);
        assert_eq!(opened.text_at("/order/title"), "Ein Büchlein / 書");
        assert_eq!(opened.text_at("/order/amount"), "19.90");
        assert_eq!(opened.text_at("/order/currency"), "EUR");
        signed += 1;
    }
    assert!(
        signed > 0,
        "none of the languages is installed: install python3"
    );
    world.end().await;
}

fn lamp() -> Value {
    json!({
        "amount": "42.00", "currency": "USD", "reference": "lamp-1", "title": "A lamp",
        "flow": "hosted", "customer_email": "ada@example.com",
    })
}

fn lamp_with(member: &str, value: Value) -> Value {
    let mut lamp = lamp();
    lamp[member] = value;
    lamp
}

async fn open_order(world: &World) -> (Checkout, String) {
    let opened = world.store().open(&lamp()).await.with(201);
    (world.customer().checkout_of(&opened), page_url(&opened))
}

#[track_caller]
fn page_url(opened: &HttpResponse) -> String {
    opened.text_at("/payment_process_url")
}

async fn session_requests(world: &World) -> usize {
    world.sandbox().count("POST", "/checkout").await
}

#[tokio::test]
async fn a_session_has_every_field_and_its_payment_is_reported_to_the_store() {
    let world =
        World::with(|config| config.store = "merchant_id = \"mer_quiet_goods\"".to_owned()).await;
    let (checkout, page) = open_order(&world).await;
    let view = checkout.view().await;
    assert_eq!(view["status"], "awaiting_payment");
    assert_eq!(view["flow"], "hosted");
    assert_eq!(view["payment_process_url"], page);
    assert_eq!(view["attempt"], Value::Null, "there is no address of ours");
    let again = world.store().open(&lamp()).await.with(200);
    assert_eq!(page_url(&again), page);
    let here = lamp_with("flow", json!("custom"));
    world.store().open(&here).await.refused(409, "other_flow");

    let page = world.hosted_page(&page);
    page.pick("DOGE").await;
    page.pay().await;
    world.sandbox().mine(1).await;
    checkout.wait_for("processing").await;
    world.sandbox().mine(2).await;
    let view = checkout.wait_for("paid").await;
    let page_of_paid = &view["payment_process_url"];
    assert_eq!(page_of_paid, &Value::Null, "a paid order has no page");
    let delivered_events = delivered_events(&world, &checkout.order).await;
    assert_eq!(
        delivered_events[..2],
        ["order.created", "order.attempt_opened"]
    );
    assert_eq!(delivered_events.last().unwrap(), "order.paid");
    let order = world.store().order(&checkout.order).await;
    assert_eq!(order["flow"], "hosted");
    assert_eq!(order["attempt"]["crypto_code"], "DOGE");
    assert_eq!(order["attempt"]["invoice_id"], page.session);
    assert_eq!(order["attempt"]["amount_in_local_currency"], "42.00");
    assert_eq!(order["attempt"]["received_in_local_currency"], "42.00");
    assert_eq!(session_requests(&world).await, 1);
    assert_eq!(world.sandbox().count("POST", "/invoice").await, 0);

    // What the gateway was sent.
    let sessions = world.sandbox().sessions().await;
    let token = secrets::CALLBACK_TOKEN;
    for (member, value) in [
        ("email", "ada@example.com".to_owned()),
        ("amount", "42.00".to_owned()),
        ("currency", "USD".to_owned()),
        ("merchant_id", "mer_quiet_goods".to_owned()),
        ("merchant_website", format!("{}/thanks", world.shop_url())),
        (
            "invoice_callback_url",
            format!("{}/callbacks/{token}", world.proxy_url()),
        ),
    ] {
        assert_eq!(sessions[0][member], value, "{member}");
    }
    world.end().await;
}

#[tokio::test]
async fn the_gateways_rejection_is_passed_on_and_a_session_with_a_lost_response_is_not_requested_again()
 {
    let world = World::start().await;
    let foreign = lamp_with("currency", json!("KPW"));
    let refused = world.store().open(&foreign).await;
    let refused = refused.refused(422, "gateway_refused");
    assert_eq!(refused.body["error"]["gateway"]["status"], 400);
    let words = "is no currency that we take";
    let message = refused.text_at("/error/gateway/message");
    assert!(message.ends_with(words), "{message}");
    assert!(world.logged(words), "the log holds the message as well");
    // One that another request could pass is not the store's fault.
    let fault =
        json!({ "endpoint": "checkout", "kind": "status", "status": 429, "retry_after": 1 });
    world.sandbox().inject_fault(fault).await;
    let another = lamp_with("reference", json!("lamp-2"));
    let refused = world.store().open(&another).await;
    refused.refused(503, "gateway_unavailable");
    world.skip(Duration::from_secs(70));
    page_url(&world.store().open(&another).await.with(200));

    let requests = session_requests(&world).await;
    let lost = lamp_with("reference", json!("lamp-3"));
    let fault = json!({ "endpoint": "checkout", "kind": "drop" });
    world.sandbox().inject_fault(fault).await;
    let refused = world.store().open(&lost).await;
    let refused = refused.refused(503, "gateway_unavailable");
    assert!(refused.header("retry-after").is_some());
    assert_eq!(session_requests(&world).await, requests + 1);
    // The order exists, and the next request opens a new session.
    page_url(&world.store().open(&lost).await.with(200));
    assert_eq!(session_requests(&world).await, requests + 2);
    world.end().await;
}

#[tokio::test]
async fn without_checkout_url_the_hosted_flow_names_the_missing_key() {
    let world = World::with(|config| config.checkout_url = Some(String::new())).await;
    let refused = world.store().open(&lamp()).await;
    let refused = refused.refused(400, "invalid_request").naming("flow");
    assert!(refused.text.contains("gateway.checkout_url"));
    assert_eq!(session_requests(&world).await, 0);
    world.end().await;
}

#[tokio::test]
async fn a_wrong_field_of_a_session_is_named_and_each_flow_rejects_requests_of_the_other() {
    let world = World::start().await;
    let (store, other) = (world.store(), world.other_store());
    for (server, member, value, field) in [
        (&store, "customer_email", Value::Null, "customer_email"),
        (&store, "assets", json!(["BTC"]), "assets"),
        (&store, "flow", json!("elsewhere"), "flow"),
        // This store has none.
        (&other, "title", json!("A lamp"), "return_url"),
    ] {
        let refused = server.open(&lamp_with(member, value)).await;
        refused.refused(400, "invalid_request").naming(field);
    }
    assert!(store.orders().await.is_empty(), "no order is left behind");
    assert_eq!(session_requests(&world).await, 0);

    let (hosted, _) = open_order(&world).await;
    let custom = world.customer().open("ebook").await;
    let choice = json!({ "crypto_code": "BTC", "quote_id": "q" });
    let email = json!({ "email": "me@example.org" });
    for (checkout, path, body) in [
        (&hosted, "/attempt", choice),
        (&hosted, "/paid", json!({})),
        (&hosted, "/email", email),
        (&custom, "/session", json!({})),
    ] {
        let refused = checkout.post(path, &body).await;
        refused.refused(409, "other_flow");
    }
    let sessions = world.sandbox().sessions().await;
    assert_eq!(sessions.len(), 1);
    assert_eq!(sessions[0]["merchant_id"], Value::Null);
    world.end().await;
}
