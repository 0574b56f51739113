//! Whole purchases in each browser engine, in a shop of another site; and the hosts that a purchase sends requests to.
//! `languages.rs` buys in the dialog of the demo shop, by keyboard.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use support::{Browser, BrowserOptions, Engine, StoreSite, World};

use crate::helpers::{another_site, choose_asset, end, open_payment, read_inside};

fn attempt(view: &Value, member: &str) -> String {
    view["attempt"][member].as_str().unwrap().to_owned()
}

/// Another tab, as far as this one receives from it.
const OTHER_TAB: &str = "
    window.received = [];
    window.other = new BroadcastChannel('florin');
    other.onmessage = ({ data }) => received.push(data.order);
    window.say = (more) => other.postMessage({ tab: 'other', order: 'ord_other', source: 'demo/ebook', ...more });";

#[tokio::test]
async fn back_leads_to_the_list_and_another_tab_with_the_product_is_shown() {
    let (world, browser, checkout) = open_payment("BTC", &[OTHER_TAB]).await;
    let entries = "return history.length";
    let chosen = browser.evaluate(entries).await;
    for (turn, shown) in [
        ("history.back()", "status-open"),
        ("history.forward()", "status-awaiting_payment"),
        ("history.back()", "status-open"),
    ] {
        browser.evaluate(turn).await;
        browser.wait_for(shown).await;
    }
    browser.press("back").await;
    browser.wait_for("status-awaiting_payment").await;
    assert_eq!(browser.evaluate(entries).await, chosen, "one entry");

    browser.evaluate("say({ source: 'demo/mug' })").await;
    let received = "return received.at(-1)";
    let order = checkout.order.as_str();
    browser.wait_for_result("it answers", received, order).await;
    assert!(!browser.is_visible("other-tab").await, "another product");
    browser.evaluate("say()").await;
    let twice = "This order is also open in another tab.";
    browser.wait_for_text("other-tab", twice).await;
    browser.evaluate("say({ isGone: true })").await;
    browser.wait_until_gone("other-tab").await;
    end(world, browser).await;
}

/// `http://host:port` of `METHOD http://host:port/path`.
fn origin(line: &str) -> &str {
    let url = line.split_once(' ').map_or(line, |(_, url)| url);
    let host = url
        .split_once("//")
        .map_or(0, |(scheme, _)| scheme.len() + 2);
    let end = url[host..].find('/').map_or(url.len(), |end| host + end);
    &url[..end]
}

/// Inline, where no policy of the proxy forbids one. The page itself names other hosts: an image of a host without a server, and a DNS
/// look-up. Without them in the log, the test could not fail.
#[tokio::test]
async fn a_purchase_sends_requests_only_to_the_proxy() {
    // Another host than the proxy's, so that the log separates the requests of both pages.
    let (site, world, shop) = another_site().await;
    let proxy = world.proxy_url();
    site.serve(
        "",
        &format!(
            "<script src=\"{proxy}/florin.js\" async></script>
             <img src=\"http://tracker.invalid/pixel.png\" alt=\"\"><link rel=\"preconnect\" href=\"http://fonts.invalid\">
             <florin-checkout store=\"demo\" product=\"mug\" display=\"inline\"></florin-checkout>"
        ),
    );
    let browser = Browser::open_alone(Engine::Chromium, BrowserOptions::default()).await;
    browser.goto(&shop).await;
    let checkout = choose_asset(&world, &browser, "BTC").await;
    browser.press("i-have-paid").await;
    world.sandbox().settle(&checkout, "exact").await;
    browser.wait_for("status-paid").await;
    browser.wait_for("print-receipt").await;
    let asked = browser.end_and_list_requests("localhost").await;
    let is_asked = |begin: &str| asked.iter().any(|line| line.starts_with(begin));
    for begin in [
        format!("GET {proxy}/florin.js"),
        format!("GET {proxy}/assets/widget_bg"),
        format!("POST {proxy}/v1/checkout"),
        format!("GET {proxy}/v1/checkout/events"),
    ] {
        assert!(is_asked(&begin), "{begin} is missing in {asked:#?}");
    }
    world.end().await;
    let foreign = ["http://fonts.invalid", "http://tracker.invalid"].map(str::to_owned);
    let expected: BTreeSet<_> = foreign.into_iter().chain([shop, proxy]).collect();
    let origins = asked.iter().map(|line| origin(line).to_owned());
    assert_eq!(origins.collect::<BTreeSet<_>>(), expected);
}

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
    let last = "return window.announced.slice(-2)";
    let expected = json!(["paid", "paid event"]);
    browser
        .wait_for_result("the shop's page got the event", last, expected)
        .await;
    browser.enter_checkout().await;
    browser.press("return").await;
    browser.leave_checkout().await;
    let is_back = format!(
        "return location.href.startsWith('{}/thanks?')",
        world.shop_url()
    );
    browser
        .wait_until("the customer is back in the shop", &is_back)
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
