//! `display="modal"` in a real browser: a button, and a dialog that keeps its invoice.

use serde_json::{Value, json};
use support::{Browser, World, pays_in_full};
use thirtyfour::Key;

use crate::shop_page::{IS_OPEN, opens_the_dialog, orders, page_with, says};
use crate::steps::chooses;

/// An element on a page that is longer than its window.
pub(crate) const MODAL: &str = "<p>Above</p><florin-checkout store=\"demo\" product=\"ebook\" display=\"modal\">Pay <b>now</b>\
     </florin-checkout><p style=\"height: 3000px\">Below</p>";

#[tokio::test]
async fn a_dialog_that_is_closed_keeps_its_invoice() {
    let (site, world) = page_with(MODAL).await;
    let browser = Browser::open().await;
    browser.goto(site.url()).await;
    let listen = "window.closings = 0; addEventListener('florin-close', () => window.closings++)";
    browser.evaluate(listen, &[]).await;
    opens_the_dialog(&browser).await;
    let locked = "getComputedStyle(document.documentElement).overflow";
    says(
        &browser,
        "the page behind stands still",
        locked,
        &json!("hidden"),
    )
    .await;
    browser.enter_checkout().await;
    browser.press("asset-BTC").await;
    let address = browser.text("address").await;

    // The key is pressed within the frame, and heard around it.
    browser.type_keys(Key::Escape).await;
    browser.leave_checkout().await;
    says(&browser, "Escape closes", IS_OPEN, &json!(false)).await;
    let focused = "inside.activeElement.getAttribute('part')";
    says(
        &browser,
        "the focus is back on the button",
        focused,
        &json!("button"),
    )
    .await;
    says(
        &browser,
        "the page scrolls again",
        locked,
        &json!("visible"),
    )
    .await;

    // What is closed is not gone: the same frame shows the same invoice.
    opens_the_dialog(&browser).await;
    browser.enter_checkout().await;
    assert_eq!(browser.text("address").await, address);
    browser.leave_checkout().await;
    browser.click_at(4, 500).await;
    says(&browser, "a click beside it closes", IS_OPEN, &json!(false)).await;
    browser
        .evaluate("document.querySelector('florin-checkout').open()", &[])
        .await;
    says(&browser, "open() opens", IS_OPEN, &json!(true)).await;
    let press = "document.querySelector('florin-checkout').shadowRoot.querySelector('[aria-label=Close]').click()";
    browser.evaluate(press, &[]).await;
    says(&browser, "the button closes", IS_OPEN, &json!(false)).await;
    browser
        .evaluate("document.querySelector('florin-checkout').open()", &[])
        .await;
    browser
        .evaluate("document.querySelector('florin-checkout').close()", &[])
        .await;
    says(&browser, "close() closes", IS_OPEN, &json!(false)).await;
    says(
        &browser,
        "the page heard of each",
        "window.closings",
        &json!(4),
    )
    .await;
    assert_eq!(orders(&world).await.len(), 1);
    assert_eq!(browser.console_warnings().await, [""; 0]);
    browser.end().await;
    world.end().await;
}

#[tokio::test]
async fn a_dialog_asks_for_nothing_before_it_is_opened_and_holds_nothing_when_it_is_removed() {
    let (site, world) = page_with(MODAL).await;
    let browser = Browser::open().await;
    browser.goto(site.url()).await;
    let words = "element.textContent";
    says(&browser, "the shop's own words", words, &json!("Pay now")).await;
    let frames = "inside?.querySelectorAll('iframe').length";
    says(&browser, "no frame yet", frames, &json!(0)).await;
    assert_eq!(orders(&world).await, [] as [Value; 0]);
    opens_the_dialog(&browser).await;
    browser
        .evaluate("document.querySelector('florin-checkout').remove()", &[])
        .await;
    let locked = "getComputedStyle(document.documentElement).overflow";
    says(
        &browser,
        "the page scrolls again",
        locked,
        &json!("visible"),
    )
    .await;
    browser.end().await;
    world.end().await;
}

#[tokio::test]
async fn a_dialog_fills_a_phone_and_leaves_a_desk_its_edge() {
    let (site, world) = page_with(MODAL).await;
    let browser = Browser::open().await;
    for (width, height, expected) in [
        (320, 600, [0, 52, 320, 600]),
        (1270, 740, [24, 76, 1246, 716]),
    ] {
        browser.set_viewport(width, height).await;
        browser.goto(site.url()).await;
        opens_the_dialog(&browser).await;
        let place = "(({ left, top, right, bottom }) => [left, top, right, bottom])(inside.querySelector('iframe').getBoundingClientRect())";
        says(
            &browser,
            &format!("the place at {width}"),
            place,
            &json!(expected),
        )
        .await;
        browser.enter_checkout().await;
        browser.wait_for("status-open").await;
        let wide = "return document.documentElement.scrollWidth - innerWidth";
        assert!(
            browser.evaluate(wide, &[]).await.as_f64().unwrap() <= 0.0,
            "{width}"
        );
        browser.leave_checkout().await;
    }
    browser.end().await;
    world.end().await;
}

#[tokio::test]
async fn the_demo_shop_sells_in_a_dialog() {
    let world = World::start().await;
    let browser = Browser::open().await;
    let page = format!("{}/dialog?product=ebook", world.shop_url());
    browser.goto(&page).await;
    opens_the_dialog(&browser).await;
    browser.enter_checkout().await;
    let checkout = chooses(&world, &browser, "BTC").await;
    pays_in_full(&world, &checkout).await;
    browser.wait_for("status-paid").await;
    world.wait_until_paid_in_shop(&checkout.order).await;
    browser.end().await;
    world.end().await;
}
