//! Orders opened by an order token: the store's server signs the price, the browser carries the token.

use std::process::{Command, Stdio};

use serde_json::json;
use support::{World, pay_in_full, secrets};

use crate::helpers::event_types;

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

#[tokio::test]
async fn a_token_used_again_returns_the_same_order_with_a_fresh_client_token() {
    let world = World::start().await;
    let token = world.token_signer().token("lamp-1", "42.00");
    let request = json!({ "order_token": token });
    let first = world.customer().request_order(&request).await.with(201);
    let checkout = world.customer().checkout_of(&first);
    checkout.choose("BTC").await;
    let again = world.customer().request_order(&request).await.with(200);
    assert_eq!(again.body["order"]["id"], first.body["order"]["id"]);
    assert_eq!(again.body["order"]["status"], "awaiting_payment");
    assert!(again.body["order"]["attempt"]["address"].is_string());
    assert_ne!(again.body["client_token"], first.body["client_token"]);
    // A token of the next key, during rotation, and POST /v1/orders find the order by its reference as well.
    let next = world.token_signer().with_key("k2", secrets::NEXT_TOKEN_KEY);
    let next = next.token("lamp-1", "42.00");
    let same = world.customer().open_token(&next).await;
    assert_eq!(same.order, checkout.order);
    let order = json!({ "amount": "42", "currency": "USD", "reference": "lamp-1" });
    let by_server = world.store().open(&order).await.with(200);
    assert_eq!(by_server.body["order"]["id"], first.body["order"]["id"]);
    assert_eq!(by_server.body["order"]["price_source"], "order_token");
    // At another price it is another order.
    world.expect_error("a reference came again at another price");
    let cheaper = json!({ "order_token": world.token_signer().token("lamp-1", "41.99") });
    let refused = world.customer().request_order(&cheaper).await;
    refused.refused(409, "order_conflict");
    assert_eq!(world.store().orders().await.len(), 1);
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

/// The documented code that signs order tokens.
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

/// Returns the section's code in a language.
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
