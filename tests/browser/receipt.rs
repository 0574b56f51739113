//! Printed receipts.

use serde_json::json;
use support::{Browser, World, pay_in_full};

use crate::gallery::{Gallery, table};
use crate::helpers::{choose_asset, end, read_inside};

/// Presses the receipt's button, without the system's dialog, which no test can close; then it is on paper.
async fn print(browser: &Browser) {
    let count = "window.printed = 0; window.print = () => { window.printed += 1; };";
    browser.evaluate(count).await;
    browser.wait_for("print-receipt").await;
    assert!(!browser.is_visible("receipt").await, "it is on paper alone");
    browser.press("print-receipt").await;
    let printed = "return window.printed";
    browser.wait_for_result("it is printed", printed, 1).await;
    browser.emulate_print(true).await;
    browser.wait_for("receipt").await;
}

#[tokio::test]
async fn only_the_receipt_is_printed_in_black() {
    let gallery = Gallery::open().await;
    let browser = &gallery.browser;
    gallery.show("paid", "").await;
    print(browser).await;
    let beside = "return [...inside.querySelectorAll('*')]
        .filter(at => at.checkVisibility() && !at.closest('.receipt') && !at.querySelector('.receipt'))
        .map(at => at.className || at.tagName)";
    assert_eq!(read_inside(browser, beside).await, json!([]));
    let sheet = browser.text("receipt").await;
    let receipt = &table()["receipt"]["receipt"];
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
    for part in ["$19.90", "Test environment"] {
        assert!(sheet.contains(part), "{part} in {sheet}");
    }
    let colour = "return getComputedStyle(inside.querySelector('.receipt dd')).color";
    assert_eq!(read_inside(browser, colour).await, "rgb(0, 0, 0)");
    gallery.end().await;
}

#[tokio::test]
async fn inline_the_shops_page_is_hidden_while_the_receipt_is_printed() {
    let (world, browser) = (World::start().await, Browser::open().await);
    let page = format!("{}/inline?product=mug", world.shop_url());
    browser.goto(&page).await;
    let checkout = choose_asset(&world, &browser, "BTC").await;
    pay_in_full(&world, &checkout).await;
    print(&browser).await;
    let issued = checkout.get("/receipt").await.with(200).body;
    assert_eq!(browser.text("receipt-code").await, issued["code"]);
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
