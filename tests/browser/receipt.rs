//! The receipt on paper: all there is, and nothing else.

use serde_json::json;
use support::{Browser, World};

use crate::steps::{chooses, takes_the_ebook};

/// Notes what would be printed, in place of the system's dialog, which nobody could answer.
const PRINTS: &str = "window.printed = 0; window.print = () => { window.printed += 1; };";

async fn pays(world: &World, browser: &Browser) -> support::Checkout {
    let checkout = chooses(world, browser, "BTC").await;
    world.sandbox().pay(&checkout, "exact").await;
    world.sandbox().mine(3).await;
    browser.wait_for("status-paid").await;
    checkout
}

#[tokio::test]
async fn a_frame_prints_the_receipt_alone_and_the_store_can_verify_its_code() {
    let world = World::start().await;
    let browser = Browser::open().await;
    takes_the_ebook(&world, &browser).await;
    let checkout = pays(&world, &browser).await;
    let issued = checkout.get("/receipt").await.with(200).body;
    browser.wait_for("print-receipt").await;
    assert!(
        !browser.is_visible("receipt").await,
        "on the screen there is a button"
    );
    browser.evaluate(PRINTS, &[]).await;
    browser.press("print-receipt").await;
    support::eventually("it is printed", async || {
        (browser.evaluate("return window.printed", &[]).await == 1).then_some(())
    })
    .await;

    browser.emulate_print(true).await;
    let beside = "
        const root = document.querySelector('florin-checkout').shadowRoot;
        const seen = [...root.querySelectorAll('*')].filter(at => at.checkVisibility() && !at.closest('.receipt') && !at.querySelector('.receipt'));
        return seen.map(at => at.className || at.tagName)";
    assert_eq!(browser.evaluate(beside, &[]).await, json!([]));
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
    let colours = "
        const sheet = document.querySelector('florin-checkout').shadowRoot.querySelector('.receipt');
        return getComputedStyle(sheet.querySelector('dd')).color";
    assert_eq!(browser.evaluate(colours, &[]).await, "rgb(0, 0, 0)");
    browser.emulate_print(false).await;
    assert!(!browser.is_visible("receipt").await);
    browser.end().await;
    world.end().await;
}

#[tokio::test]
async fn inline_the_shops_page_stays_off_the_paper_and_comes_back() {
    let world = World::start().await;
    let browser = Browser::open().await;
    let page = format!("{}/inline?product=mug", world.shop_url());
    browser.goto(&page).await;
    pays(&world, &browser).await;
    browser.evaluate(PRINTS, &[]).await;
    browser.wait_for("print-receipt").await;
    browser.press("print-receipt").await;
    support::eventually("it is printed", async || {
        (browser.evaluate("return window.printed", &[]).await == 1).then_some(())
    })
    .await;
    browser.emulate_print(true).await;
    browser.wait_for("receipt").await;
    let shops = "return [...document.querySelectorAll('header, footer, h1, img, p')].filter(at => at.checkVisibility()).length";
    assert_eq!(browser.evaluate(shops, &[]).await, 0);
    browser.emulate_print(false).await;
    browser
        .evaluate("window.dispatchEvent(new Event('afterprint'))", &[])
        .await;
    assert!(browser.evaluate(shops, &[]).await.as_u64().unwrap() > 3);
    let marks = "return document.querySelectorAll('[data-florin-printed]').length + document.adoptedStyleSheets.length";
    assert_eq!(browser.evaluate(marks, &[]).await, 0);
    // What the shop itself prints is the shop's own page.
    browser.emulate_print(true).await;
    assert!(browser.evaluate(shops, &[]).await.as_u64().unwrap() > 3);
    browser.end().await;
    world.end().await;
}
