//! The payment service's own page in a real browser: in a frame of the checkout, or in the whole window. What happens
//! there is believed when the proxy says so, and not before.

use serde_json::{Value, json};
use support::{Browser, World, eventually};

async fn only_order(world: &World) -> Value {
    let orders = world.store().get("/v1/orders").await.with(200).body;
    let orders = orders["orders"].as_array().unwrap();
    assert_eq!(orders.len(), 1, "{orders:#?}");
    orders[0].clone()
}

/// The shop sells by the hosted flow: in a frame, or with the whole window for the checkout's own page.
async fn begins(world: &World, way: &str) -> Browser {
    let browser = Browser::open().await;
    browser.goto(&world.shop_url()).await;
    browser.press("to-hosted").await;
    browser.press(way).await;
    if way == "hosted-redirect-way" {
        eventually("the link has the focus", async || {
            let link = "
                const link = document.querySelector('florin-checkout')?.shadowRoot?.querySelector('a');
                link?.focus();
                return Boolean(link)";
            (browser.evaluate(link, &[]).await == true).then_some(())
        })
        .await;
        browser.type_keys(thirtyfour::Key::Enter).await;
    } else {
        browser.enter_checkout().await;
    }
    browser.wait_for("status-hosted").await;
    browser
}

/// The page of the shop that shows how an order stands.
fn page_of(world: &World, order: &Value) -> String {
    let reference = order["reference"].as_str().unwrap();
    format!("{}/cart/{reference}?display=frame", world.shop_url())
}

#[tokio::test]
async fn in_a_frame_the_services_page_is_paid_and_the_checkout_says_so() {
    let world = World::start().await;
    let browser = begins(&world, "hosted-frame-way").await;
    let frame = "
        const frame = document.querySelector('florin-checkout').shadowRoot.querySelector('iframe');
        return [frame.sandbox.value, new URL(frame.src).origin, frame.clientHeight]";
    let frame = browser.evaluate(frame, &[]).await;
    assert_eq!(
        frame,
        json!([
            "allow-scripts allow-same-origin allow-forms allow-popups",
            world.sandbox_url(),
            740
        ])
    );
    let beyond =
        "const page = document.documentElement; return page.scrollHeight - page.clientHeight";
    eventually("the frame is as high as what it shows", async || {
        (browser.evaluate(beyond, &[]).await == 0).then_some(())
    })
    .await;
    browser.enter_frame("hosted-frame").await;
    browser.press("hosted-DOGE").await;
    browser.press("hosted-pay").await;
    browser.enter_checkout().await;
    browser.wait_for("status-paid").await;
    browser.wait_for("print-receipt").await;
    world
        .wait_until_paid_in_shop(only_order(&world).await["id"].as_str().unwrap())
        .await;
    browser.end().await;
    world.end().await;
}

#[tokio::test]
async fn a_page_that_was_left_can_be_gone_to_again() {
    let world = World::start().await;
    let browser = begins(&world, "hosted-frame-way").await;
    browser.enter_frame("hosted-frame").await;
    browser.press("hosted-leave").await;
    browser.enter_checkout().await;
    browser.wait_for("status-cancelled").await;
    let words = browser.text("status-cancelled").await;
    assert!(words.contains("You haven’t paid yet"), "{words}");
    // The shop's page is where it was: the framed page may not lead it away.
    browser.leave_checkout().await;
    let at = browser.evaluate("return location.pathname", &[]).await;
    assert!(at.as_str().unwrap().starts_with("/cart/"), "{at}");
    browser.enter_checkout().await;
    browser.press("new-session").await;
    browser.wait_for("status-hosted").await;
    browser.enter_frame("hosted-frame").await;
    browser.press("hosted-LTC").await;
    browser.press("hosted-pay").await;
    browser.enter_checkout().await;
    browser.wait_for("status-paid").await;
    assert_eq!(only_order(&world).await["status"], "paid");
    browser.end().await;
    world.end().await;
}

#[tokio::test]
async fn in_the_whole_window_the_way_leads_there_and_back() {
    let world = World::start().await;
    let browser = begins(&world, "hosted-redirect-way").await;
    let frames = "return document.querySelector('florin-checkout').shadowRoot.querySelectorAll('iframe').length";
    assert_eq!(browser.evaluate(frames, &[]).await, 0);
    browser.press("hosted-link").await;
    eventually("the window shows the service's page", async || {
        let at = browser.evaluate("return location.href", &[]).await;
        at.as_str()?.starts_with(&world.sandbox_url()).then_some(())
    })
    .await;
    browser.press("hosted-BTC").await;
    browser.press("hosted-pay").await;
    browser.press("hosted-back").await;
    let thanks = browser.text("thanks").await;
    assert!(thanks.starts_with("Thank you"), "{thanks}");
    let order = only_order(&world).await;
    world
        .wait_until_paid_in_shop(order["id"].as_str().unwrap())
        .await;
    // The page that was left behind knows by asking.
    browser.goto(&page_of(&world, &order)).await;
    browser.enter_checkout().await;
    browser.wait_for("status-paid").await;
    browser.end().await;
    world.end().await;
}

#[tokio::test]
async fn coming_back_without_paying_is_believed_of_nobody() {
    let world = World::start().await;
    let browser = begins(&world, "hosted-redirect-way").await;
    let order = only_order(&world).await;
    let id = order["id"].as_str().unwrap();
    let claim = format!("{}&status=paid&order_id={id}", page_of(&world, &order));
    browser.goto(&claim).await;
    browser.enter_checkout().await;
    browser.wait_for("status-hosted").await;
    assert_eq!(only_order(&world).await["status"], "awaiting_payment");
    browser.end().await;
    world.end().await;
}

#[tokio::test]
async fn the_checkout_page_frames_the_services_page_alone_and_lends_it_the_clipboard() {
    let world = World::start().await;
    let page = world.http().get(world.checkout_page()).send().await;
    let page = page.unwrap();
    let header = |name: &str| page.headers()[name].to_str().unwrap().to_owned();
    let sandbox = world.sandbox_url();
    let policy = header("content-security-policy");
    // Itself as well, in the test environment: the gallery of its states.
    let framed = format!(" frame-src 'self' {sandbox};");
    assert!(policy.contains(&framed), "{policy}");
    let lent = format!("clipboard-write=(self \"{sandbox}\"),");
    let features = header("permissions-policy");
    assert!(features.starts_with(&lent), "{features}");
    world.end().await;
}
