//! A payment in each browser engine, in a shop of another site.

use serde_json::{Value, json};
use support::{Browser, BrowserOptions, Engine, StoreSite, World, eventually};

use crate::helpers::{another_site, choose_asset, read_inside};

/// A shop page that shows the checkout and records its events.
async fn shop(display: &str) -> (StoreSite, World, String) {
    let (site, world, url) = another_site().await;
    let proxy = world.proxy_url();
    // Only what allows it is shown on such a page.
    site.set_header("cross-origin-embedder-policy", "require-corp");
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
    browser.wait_for_text("confirmations", "1 of 3").await;
    world.sandbox().mine(2).await;
    browser.wait_for("status-paid").await;
}

/// As most customers have it; other tests save the time.
const WITH_MOTION: BrowserOptions = BrowserOptions {
    size: (1280, 1000),
    dark: false,
    motion: true,
    ratio: 1.0,
};

async fn in_a_frame(browser: &Browser) {
    let (_site, world, url) = shop("frame").await;
    browser.goto(&url).await;
    browser.enter_checkout().await;
    buy(&world, browser).await;
    browser.leave_checkout().await;
    eventually("the shop's page got the event", async || {
        let announced = browser.evaluate("return window.announced").await;
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
        let place = browser.evaluate("return location.href").await;
        let thanks = format!("{}/thanks?", world.shop_url());
        place.as_str()?.starts_with(&thanks).then_some(())
    })
    .await;
    browser.goto("about:blank").await;
    world.end().await;
}

async fn inline(browser: &Browser) {
    let (_site, world, url) = shop("inline").await;
    browser.goto(&url).await;
    buy(&world, browser).await;
    let frames = "return inside.querySelectorAll('iframe').length";
    assert_eq!(read_inside(browser, frames).await, 0);
    browser.goto("about:blank").await;
    world.end().await;
}

async fn a_shop_of_another_site_sells(engine: Engine) {
    let browser = Browser::open_engine(engine, WITH_MOTION).await;
    in_a_frame(&browser).await;
    inline(&browser).await;
    browser.end().await;
}

#[tokio::test]
async fn an_order_is_paid_in_chromium_in_a_frame_and_inline() {
    a_shop_of_another_site_sells(Engine::Chromium).await;
}

#[tokio::test]
async fn an_order_is_paid_in_firefox_in_a_frame_and_inline() {
    a_shop_of_another_site_sells(Engine::Firefox).await;
}

#[tokio::test]
async fn an_order_is_paid_in_webkit_in_a_frame_and_inline() {
    a_shop_of_another_site_sells(Engine::WebKit).await;
}
