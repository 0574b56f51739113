//! The gateway's hosted page in a real browser: in a frame of the checkout, or in the whole window. Only the proxy
//! reports its result.

use serde_json::{Value, json};
use support::{Browser, World};

use crate::helpers::{end, orders, read_inside};

async fn only_order(world: &World) -> Value {
    let orders = orders(world).await;
    assert_eq!(orders.len(), 1, "{orders:#?}");
    orders[0].clone()
}

/// Opens a hosted order in a frame, or on the checkout's page in the whole window.
async fn open_hosted_checkout(world: &World, display: &str) -> Browser {
    let browser = Browser::open().await;
    browser.goto(&world.shop_url()).await;
    browser.press("to-hosted").await;
    browser.press(display).await;
    if display == "hosted-redirect-way" {
        let link = "const link = document.querySelector('florin-checkout')?.shadowRoot?.querySelector('a');
            link?.focus();
            return Boolean(link)";
        browser.wait_until("the link has the focus", link).await;
        browser.type_keys(thirtyfour::Key::Enter).await;
    } else {
        browser.enter_checkout().await;
    }
    browser.wait_for("status-hosted").await;
    browser
}

/// The shop's page about an order.
fn page_of(world: &World, order: &Value) -> String {
    let reference = order["reference"].as_str().unwrap();
    format!("{}/cart/{reference}?display=frame", world.shop_url())
}

#[tokio::test]
async fn a_hosted_page_in_a_frame_can_be_closed_opened_again_and_paid() {
    let world = World::start().await;
    let browser = open_hosted_checkout(&world, "hosted-frame-way").await;
    let frame = "const frame = inside.querySelector('iframe');
        return [frame.sandbox.value, new URL(frame.src).origin, frame.clientHeight]";
    let expected = json!([
        "allow-scripts allow-same-origin allow-forms allow-popups",
        world.sandbox_url(),
        740
    ]);
    assert_eq!(read_inside(&browser, frame).await, expected);
    let is_whole =
        "const page = document.documentElement; return page.scrollHeight === page.clientHeight";
    let what = "the frame has the height of its content";
    browser.wait_until(what, is_whole).await;
    browser.enter_frame("hosted-frame").await;
    browser.press("hosted-leave").await;
    browser.enter_checkout().await;
    let words = browser.text("status-cancelled").await;
    assert!(words.contains("You haven’t paid yet"), "{words}");
    // The shop's page is unchanged: the framed page may not navigate it.
    browser.leave_checkout().await;
    let at = browser.evaluate("return location.pathname").await;
    assert!(at.as_str().unwrap().starts_with("/cart/"), "{at}");
    browser.enter_checkout().await;
    browser.press("new-session").await;
    browser.wait_for("status-hosted").await;
    browser.enter_frame("hosted-frame").await;
    browser.press("hosted-LTC").await;
    browser.press("hosted-pay").await;
    browser.enter_checkout().await;
    browser.wait_for("status-paid").await;
    browser.wait_for("print-receipt").await;
    let order = only_order(&world).await;
    world
        .wait_until_paid_in_shop(order["id"].as_str().unwrap())
        .await;
    end(world, browser).await;
}

#[tokio::test]
async fn in_the_whole_window_the_customer_goes_there_and_back() {
    let world = World::start().await;
    let browser = open_hosted_checkout(&world, "hosted-redirect-way").await;
    let frames = "return inside.querySelectorAll('iframe').length";
    assert_eq!(read_inside(&browser, frames).await, 0);
    let order = only_order(&world).await;
    let id = order["id"].as_str().unwrap();
    browser.press("hosted-link").await;
    let is_there = format!("return location.href.startsWith('{}')", world.sandbox_url());
    browser.wait_until("the hosted page", &is_there).await;
    browser.press("hosted-BTC").await;
    browser.press("hosted-pay").await;
    browser.press("hosted-back").await;
    let thanks = browser.text("thanks").await;
    assert!(thanks.starts_with("Thank you"), "{thanks}");
    world.wait_until_paid_in_shop(id).await;
    // The page in the background learns it by polling.
    browser.goto(&page_of(&world, &order)).await;
    browser.enter_checkout().await;
    browser.wait_for("status-paid").await;
    end(world, browser).await;
}

#[tokio::test]
async fn returning_without_paying_is_not_shown_as_paid() {
    let world = World::start().await;
    let browser = open_hosted_checkout(&world, "hosted-redirect-way").await;
    let order = only_order(&world).await;
    let id = order["id"].as_str().unwrap();
    let claim = format!("{}&status=paid&order_id={id}", page_of(&world, &order));
    browser.goto(&claim).await;
    browser.enter_checkout().await;
    browser.wait_for("status-hosted").await;
    assert_eq!(only_order(&world).await["status"], "awaiting_payment");
    end(world, browser).await;
}

#[tokio::test]
async fn the_checkout_page_frames_only_the_hosted_page_and_allows_it_the_clipboard() {
    let world = World::start().await;
    let page = world.http().get(world.checkout_page()).send().await;
    let page = page.unwrap();
    let header = |name: &str| page.headers()[name].to_str().unwrap().to_owned();
    let sandbox = world.sandbox_url();
    let policy = header("content-security-policy");
    // In the test environment also itself, for the state gallery.
    let framed = format!(" frame-src 'self' {sandbox};");
    assert!(policy.contains(&framed), "{policy}");
    let lent = format!("clipboard-write=(self \"{sandbox}\"),");
    let features = header("permissions-policy");
    assert!(features.starts_with(&lent), "{features}");
    world.end().await;
}
