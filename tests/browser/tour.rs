//! The tour of `cargo xtask demo`: one sale through the shop, the phone, the proxy and the webhook.

use support::{Browser, Demo};

use crate::helpers::axe_findings;

#[tokio::test]
async fn one_press_plays_a_sale_that_lights_every_light() {
    let demo = Demo::start_simulated().await;
    let browser = Browser::open().await;
    browser.goto(&demo.tour()).await;
    browser.press("play-sale").await;
    let lights = "return [...document.querySelectorAll('[data-light]')]
        .map(({ dataset }) => `${dataset.light} ${dataset.state}`).join(', ')";
    let shines = "wallet on, chain on, credited on, webhook on, shipped on";
    browser
        .wait_for_result("every light is on", lights, shines)
        .await;
    browser
        .wait_for_text("caption", "the shop has the signed webhook")
        .await;
    assert_eq!(axe_findings(&browser).await, "");

    browser
        .evaluate("document.querySelector('form').target = ''")
        .await;
    browser.press("operator").await;
    let signed_in = "return document.querySelector('[action=\"/logout\"]') !== null";
    browser
        .wait_until("the operator is signed in", signed_in)
        .await;
    browser.end().await;
}
