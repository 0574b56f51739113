//! Printed receipts.

use serde_json::json;
use support::{Browser, World};

use crate::helpers::{choose_asset, end, open_ebook_checkout, read_inside};

/// Counts calls of `print` without the system's dialog, which no test can close.
const PRINTS: &str = "window.printed = 0; window.print = () => { window.printed += 1; };";

async fn pay(world: &World, browser: &Browser) -> support::Checkout {
    let checkout = choose_asset(world, browser, "BTC").await;
    world.sandbox().pay(&checkout, "exact").await;
    world.sandbox().mine(3).await;
    browser.wait_for("status-paid").await;
    checkout
}

#[tokio::test]
async fn a_frame_prints_only_the_receipt_and_the_store_verifies_its_code() {
    let world = World::start().await;
    let browser = Browser::open().await;
    open_ebook_checkout(&world, &browser).await;
    let checkout = pay(&world, &browser).await;
    let issued = checkout.get("/receipt").await.with(200).body;
    browser.wait_for("print-receipt").await;
    assert!(
        !browser.is_visible("receipt").await,
        "on the screen there is a button"
    );
    browser.evaluate(PRINTS).await;
    browser.press("print-receipt").await;
    browser
        .wait_for_result("it is printed", "return window.printed", 1)
        .await;

    browser.emulate_print(true).await;
    let beside = "return [...inside.querySelectorAll('*')]
        .filter(at => at.checkVisibility() && !at.closest('.receipt') && !at.querySelector('.receipt'))
        .map(at => at.className || at.tagName)";
    assert_eq!(read_inside(&browser, beside).await, json!([]));
    let sheet = browser.text("receipt").await;
    let receipt = &issued["receipt"];
    for member in [
        "reference",
        "order_id",
        "title",
        "address",
        "transaction_hash",
        "received_in_crypto",
        "store_name",
    ] {
        let value = receipt[member].as_str().unwrap();
        assert!(sheet.contains(value), "{member} {value} in {sheet}");
    }
    assert!(
        sheet.contains("$19.90") && sheet.contains("Test environment"),
        "{sheet}"
    );
    let code = browser.text("receipt-code").await;
    assert_eq!(code, issued["code"].as_str().unwrap());
    let shown = json!({ "receipt": code });
    let verified = world.store().post("/v1/receipts/verify", &shown).await;
    assert_eq!(verified.with(200).body["valid"], true);
    let colour = "return getComputedStyle(inside.querySelector('.receipt dd')).color";
    assert_eq!(read_inside(&browser, colour).await, "rgb(0, 0, 0)");
    browser.emulate_print(false).await;
    assert!(!browser.is_visible("receipt").await);
    end(world, browser).await;
}

#[tokio::test]
async fn inline_the_shops_page_is_hidden_while_the_receipt_is_printed() {
    let world = World::start().await;
    let browser = Browser::open().await;
    let page = format!("{}/inline?product=mug", world.shop_url());
    browser.goto(&page).await;
    pay(&world, &browser).await;
    browser.evaluate(PRINTS).await;
    browser.wait_for("print-receipt").await;
    browser.press("print-receipt").await;
    browser
        .wait_for_result("it is printed", "return window.printed", 1)
        .await;
    browser.emulate_print(true).await;
    browser.wait_for("receipt").await;
    let shops = "return [...document.querySelectorAll('header, footer, h1, img, p')].filter(at => at.checkVisibility()).length";
    assert_eq!(browser.evaluate(shops).await, 0);
    browser.emulate_print(false).await;
    browser
        .evaluate("window.dispatchEvent(new Event('afterprint'))")
        .await;
    assert!(browser.evaluate(shops).await.as_u64().unwrap() > 3);
    let marks = "return document.querySelectorAll('[data-florin-printed]').length + document.adoptedStyleSheets.length";
    assert_eq!(browser.evaluate(marks).await, 0);
    // The shop's own print shows the shop's page.
    browser.emulate_print(true).await;
    assert!(browser.evaluate(shops).await.as_u64().unwrap() > 3);
    end(world, browser).await;
}
