//! A payment in each browser engine, in a shop of another site.

use serde_json::{Value, json};
use support::{Browser, BrowserOptions, Engine, Site, World, eventually};

use crate::steps::{another_site, choose_asset};

/// A shop page that shows the checkout and records its events.
async fn shop(display: &str) -> (Site, World, String) {
    let (site, world, url) = another_site().await;
    let proxy = world.proxy_url();
    site.serve(
        "",
        &format!(
            "<script>
                window.announced = [];
                addEventListener('florin-status', event => announced.push(event.detail.status));
                addEventListener('florin-paid', () => announced.push('paid event'));
            </script>
            <script src=\"{proxy}/florin.js\" async></script>
            <h1>A shop</h1>
            <florin-checkout store=\"demo\" product=\"mug\" display=\"{display}\"></florin-checkout>"
        ),
    );
    (site, world, url)
}

fn attempt(view: &Value, member: &str) -> String {
    view["attempt"][member].as_str().unwrap().to_owned()
}

/// Buys, from the asset choice to the button back to the shop.
async fn buy(world: &World, browser: &Browser) {
    let checkout = choose_asset(world, browser, "BTC").await;
    let view = checkout.view().await;
    assert_eq!(browser.text("address").await, attempt(&view, "address"));
    let amount = attempt(&view, "amount_in_crypto");
    assert_eq!(browser.text("amount").await, amount);
    assert_eq!(browser.scan("qr").await, attempt(&view, "qr_string"));
    browser.press("i-have-paid").await;
    browser.wait_for("status-checking").await;
    world.sandbox().pay(&checkout, "exact").await;
    world.sandbox().mine(1).await;
    browser.wait_for("status-processing").await;
    assert!(browser.text("confirmations").await.contains("1 of 3"));
    world.sandbox().mine(2).await;
    browser.wait_for("status-paid").await;
}

async fn in_a_frame(engine: Engine) {
    let (_site, world, url) = shop("frame").await;
    let browser = Browser::open_engine(engine, BrowserOptions::default()).await;
    browser.goto(&url).await;
    browser.enter_checkout().await;
    buy(&world, &browser).await;
    browser.leave_checkout().await;
    eventually("the shop's page got the event", async || {
        let announced = browser.evaluate("return window.announced", &[]).await;
        let ends_well = announced
            .as_array()?
            .ends_with(&[json!("paid"), json!("paid event")]);
        ends_well.then_some(())
    })
    .await;
    browser.enter_checkout().await;
    browser.press("return").await;
    browser.leave_checkout().await;
    eventually("the customer is back in the shop", async || {
        let place = browser.evaluate("return location.href", &[]).await;
        let thanks = format!("{}/thanks?", world.shop_url());
        place.as_str()?.starts_with(&thanks).then_some(())
    })
    .await;
    browser.end().await;
    world.end().await;
}

async fn inline(engine: Engine) {
    let (_site, world, url) = shop("inline").await;
    let browser = Browser::open_engine(engine, BrowserOptions::default()).await;
    browser.goto(&url).await;
    buy(&world, &browser).await;
    let frames = "return document.querySelector('florin-checkout').shadowRoot.querySelectorAll('iframe').length";
    assert_eq!(browser.evaluate(frames, &[]).await, 0);
    browser.end().await;
    world.end().await;
}

#[tokio::test]
async fn an_order_is_paid_in_chromium_in_a_frame_of_another_site() {
    in_a_frame(Engine::Chromium).await;
}

#[tokio::test]
async fn an_order_is_paid_in_firefox_in_a_frame_of_another_site() {
    in_a_frame(Engine::Firefox).await;
}

#[tokio::test]
async fn an_order_is_paid_in_webkit_in_a_frame_of_another_site() {
    in_a_frame(Engine::WebKit).await;
}

#[tokio::test]
async fn an_order_is_paid_in_firefox_inline() {
    inline(Engine::Firefox).await;
}

#[tokio::test]
async fn an_order_is_paid_in_webkit_inline() {
    inline(Engine::WebKit).await;
}

/// A failing test only drops its browser.
#[tokio::test]
async fn a_dropped_browser_leaves_no_process() {
    for engine in Engine::ALL {
        let browser = Browser::open_alone(engine, BrowserOptions::default()).await;
        browser.goto("data:text/html,<h1>Hello</h1>").await;
        let running = browser.processes();
        // The driver, the browser, and at least one renderer.
        assert!(running().len() > 2, "{engine:?}: {:?}", running());
        drop(browser);
        eventually(&format!("all processes of {engine:?} end"), async || {
            running().is_empty().then_some(())
        })
        .await;
    }
}
