//! Who the checkout is for: people without a mouse, people who read from right to left; and who it is not for.

use thirtyfour::Key;

use serde_json::json;
use tests::{Browser, Site, World, eventually};

use crate::journeys::the_order;

#[tokio::test]
async fn the_whole_way_can_be_gone_by_keyboard() {
    let world = World::start().await;
    let browser = Browser::open().await;
    browser.goes_to(&world.shop_url()).await;
    browser.sees("pay-ebook").await;
    browser.reaches_by_keyboard("pay-ebook").await;
    browser.types(Key::Enter).await;
    browser.enters_the_checkout().await;
    browser.sees("asset-BTC").await;
    browser.reaches_by_keyboard("asset-BTC").await;
    browser.types(Key::Enter).await;
    browser.sees("status-awaiting_payment").await;
    let checkout = the_order(&world, &browser).await;
    for stop in ["copy-amount", "wallet-link", "copy-address"] {
        browser.reaches_by_keyboard(stop).await;
    }
    browser.reaches_by_keyboard("i-have-paid").await;
    browser.types(Key::Enter).await;
    browser.sees("status-checking").await;
    world.chain().pays(&checkout, "exact").await;
    world.chain().mines(3).await;
    browser.sees("status-paid").await;
    browser.end().await;
    world.end().await;
}

#[tokio::test]
async fn arabic_is_read_from_right_to_left_and_amounts_are_not() {
    let world = World::start().await;
    let browser = Browser::open().await;
    let page = format!(
        "{}/pay?store=demo#store=demo&product=ebook&locale=ar",
        world.proxy_url()
    );
    browser.goes_to(&page).await;
    browser.presses("asset-BTC").await;
    browser.sees("status-awaiting_payment").await;
    let root = "const root = document.querySelector('florin-checkout').shadowRoot.querySelector('[dir]'); return [root.dir, root.lang.slice(0, 2)]";
    assert_eq!(browser.runs(root, &[]).await, json!(["rtl", "ar"]));
    let direction = "const at = document.querySelector('florin-checkout').shadowRoot.querySelector(`[data-testid=\"${arguments[0]}\"]`); return getComputedStyle(at).direction";
    for name in ["address", "amount"] {
        assert_eq!(
            browser.runs(direction, &[json!(name)]).await,
            "ltr",
            "{name}"
        );
    }
    let words = browser.reads("i-have-paid").await;
    assert!(
        words.chars().any(|c| ('\u{600}'..='\u{6ff}').contains(&c)),
        "{words}"
    );
    let checkout = the_order(&world, &browser).await;
    let view = checkout.looks().await;
    assert_eq!(browser.reads("address").await, view["attempt"]["address"]);
    assert_eq!(
        browser.reads("amount").await,
        view["attempt"]["amount_in_crypto"]
    );
    browser.end().await;
    world.end().await;
}

#[tokio::test]
async fn a_strangers_page_cannot_frame_the_checkout() {
    let (site, world) = (Site::open().await, World::start().await);
    let page = world.checkout_page();
    site.shows(
        "",
        &format!("<iframe id=\"theirs\" src=\"{page}\"></iframe>"),
    );
    let browser = Browser::open().await;
    browser.goes_to(site.url()).await;
    let complaint = eventually("the browser refuses the frame", async || {
        let said = browser.complaints().await;
        said.into_iter()
            .find(|text| text.contains("frame-ancestors"))
    })
    .await;
    assert!(complaint.contains("violates"), "{complaint}");
    let orders = world.store().gets("/v1/orders").await.with(200).body;
    assert_eq!(orders["orders"], json!([]));
    browser.end().await;
    world.end().await;
}

#[tokio::test]
async fn a_strangers_page_cannot_use_the_element_either() {
    let (site, world) = (Site::open().await, World::start().await);
    let proxy = world.proxy_url();
    site.shows(
        "",
        &format!(
            "<script src=\"{proxy}/florin.js\" async></script>\
             <florin-checkout store=\"demo\" product=\"mug\" display=\"inline\"></florin-checkout>"
        ),
    );
    let browser = Browser::open().await;
    browser.goes_to(site.url()).await;
    let link =
        "return document.querySelector('florin-checkout')?.shadowRoot?.querySelector('a')?.target";
    eventually(
        "a link to the checkout's own page is all that is left",
        async || (browser.runs(link, &[]).await == "_top").then_some(()),
    )
    .await;
    let orders = world.store().gets("/v1/orders").await.with(200).body;
    assert_eq!(orders["orders"], json!([]));
    browser.end().await;
    world.end().await;
}

/// The page without an order in its address once showed a customer the reader's own words about `null`.
#[tokio::test]
async fn a_page_without_an_order_says_so_and_asks_for_none() {
    let world = World::start().await;
    let browser = Browser::open().await;
    browser.goes_to(&format!("{}/pay", world.proxy_url())).await;
    browser.sees("status-stopped").await;
    let words = browser.reads("status-stopped").await;
    assert!(words.contains("no longer available here"), "{words}");
    let asked = "return performance.getEntriesByType('resource').filter(e => e.name.includes('/v1/')).length";
    assert_eq!(browser.runs(asked, &[]).await, 0);
    browser.end().await;
    world.end().await;
}
