//! The receipt on paper: all there is, and nothing else.

use serde_json::json;
use support::{Browser, World};

use crate::journeys::{chooses, takes_the_ebook};

/// Notes what would be printed, in place of the system's dialog, which nobody could answer.
const PRINTS: &str = "window.printed = 0; window.print = () => { window.printed += 1; };";

async fn pays(world: &World, browser: &Browser) -> support::Checkout {
    let checkout = chooses(world, browser, "BTC").await;
    world.chain().pays(&checkout, "exact").await;
    world.chain().mines(3).await;
    browser.sees("status-paid").await;
    checkout
}

#[tokio::test]
async fn a_frame_prints_the_receipt_alone_and_the_store_can_verify_its_code() {
    let world = World::start().await;
    let browser = Browser::open().await;
    takes_the_ebook(&world, &browser).await;
    let checkout = pays(&world, &browser).await;
    let issued = checkout.gets("/receipt").await.with(200).body;
    browser.sees("print-receipt").await;
    assert!(
        !browser.shows("receipt").await,
        "on the screen there is a button"
    );
    browser.runs(PRINTS, &[]).await;
    browser.presses("print-receipt").await;
    support::eventually("it is printed", async || {
        (browser.runs("return window.printed", &[]).await == 1).then_some(())
    })
    .await;

    browser.is_on_paper(true).await;
    let beside = "
        const root = document.querySelector('florin-checkout').shadowRoot;
        const seen = [...root.querySelectorAll('*')].filter(at => at.checkVisibility() && !at.closest('.receipt') && !at.querySelector('.receipt'));
        return seen.map(at => at.className || at.tagName)";
    assert_eq!(browser.runs(beside, &[]).await, json!([]));
    let sheet = browser.reads("receipt").await;
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
    let code = browser.reads("receipt-code").await;
    assert_eq!(code, issued["code"].as_str().unwrap());
    let shown = json!({ "receipt": code });
    let verified = world.store().posts("/v1/receipts/verify", &shown).await;
    assert_eq!(verified.with(200).body["valid"], true);
    let colours = "
        const sheet = document.querySelector('florin-checkout').shadowRoot.querySelector('.receipt');
        return getComputedStyle(sheet.querySelector('dd')).color";
    assert_eq!(browser.runs(colours, &[]).await, "rgb(0, 0, 0)");
    browser.is_on_paper(false).await;
    assert!(!browser.shows("receipt").await);
    browser.end().await;
    world.end().await;
}

#[tokio::test]
async fn inline_the_shops_page_stays_off_the_paper_and_comes_back() {
    let world = World::start().await;
    let browser = Browser::open().await;
    let page = format!("{}/inline?product=mug", world.shop_url());
    browser.goes_to(&page).await;
    pays(&world, &browser).await;
    browser.runs(PRINTS, &[]).await;
    browser.sees("print-receipt").await;
    browser.presses("print-receipt").await;
    support::eventually("it is printed", async || {
        (browser.runs("return window.printed", &[]).await == 1).then_some(())
    })
    .await;
    browser.is_on_paper(true).await;
    browser.sees("receipt").await;
    let shops = "return [...document.querySelectorAll('header, footer, h1, img, p')].filter(at => at.checkVisibility()).length";
    assert_eq!(browser.runs(shops, &[]).await, 0);
    browser.is_on_paper(false).await;
    browser
        .runs("window.dispatchEvent(new Event('afterprint'))", &[])
        .await;
    assert!(browser.runs(shops, &[]).await.as_u64().unwrap() > 3);
    let marks = "return document.querySelectorAll('[data-florin-printed]').length + document.adoptedStyleSheets.length";
    assert_eq!(browser.runs(marks, &[]).await, 0);
    // What the shop itself prints is the shop's own page.
    browser.is_on_paper(true).await;
    assert!(browser.runs(shops, &[]).await.as_u64().unwrap() > 3);
    browser.end().await;
    world.end().await;
}
