//! Assets on several networks in a real browser: an attempt opens only on the confirmed one.

use std::time::Duration;

use serde_json::json;
use support::{Browser, BrowserOptions, World, eventually};

use crate::asset_choice::{AS_THEY_ARE, focused, move_clock, open_choice, read_field};
use crate::steps::only_order;

#[tokio::test]
async fn an_asset_of_several_networks_is_paid_on_the_confirmed_one() {
    let (world, browser) = open_choice(AS_THEY_ARE, BrowserOptions::default()).await;
    browser.press("asset-USDTTRC20").await;
    let step = browser.text("network").await;
    for words in [
        "Check the network",
        "USDT · Tron",
        "Send it on Tron only",
        "TRC20 / TRON",
        "A Tron address looks like this: T••••••",
        "Pay on Tron",
    ] {
        assert!(step.contains(words), "{words} in {step}");
    }
    eventually("the heading has the focus", async || {
        (focused(&browser).await == "Check the network").then_some(())
    })
    .await;
    let badges = "return inside.querySelectorAll('.step .badge .trx').length";
    assert_eq!(read_field(&browser, badges).await, 1);
    assert!(
        !browser.is_visible("asset-BTC").await,
        "one question at a time"
    );
    browser.press("network-back").await;
    eventually("the asset has the focus", async || {
        (focused(&browser).await == "asset-USDTTRC20").then_some(())
    })
    .await;
    assert_eq!(world.sandbox().count("POST", "/invoice").await, 0);
    browser.press("asset-USDTERC20").await;
    let step = browser.text("network").await;
    assert!(
        step.contains("Pay on Ethereum") && step.contains("0x••••") && !step.contains("TRC20"),
        "{step}"
    );
    browser.press("network-confirm").await;
    browser.wait_for("status-awaiting_payment").await;
    let view = only_order(&world, &browser).await.view().await;
    assert_eq!(view["attempt"]["crypto_code"], "USDTERC20");
    browser.end().await;
    world.end().await;
}

/// A price expires during the confirmation: no attempt opens at a price that was not shown.
#[tokio::test]
async fn a_price_that_expires_before_the_confirmation_is_shown_again_first() {
    let (world, browser) = open_choice(AS_THEY_ARE, BrowserOptions::default()).await;
    browser.press("asset-USDTTRC20").await;
    browser.wait_for("network").await;
    let amount = async || {
        let amount = read_field(
            &browser,
            "return inside.querySelector('.step .cost bdi').textContent",
        );
        amount.await.as_str().unwrap().to_owned()
    };
    let before = amount().await;
    // The proxy's quotes expire; the page does not know yet.
    world.sandbox().set_price("USDTTRC20", "0.80").await;
    world.skip(Duration::from_mins(10));
    browser.press("network-confirm").await;
    let changed = eventually("the new price is shown", async || {
        let now = amount().await;
        (now != before).then_some(now)
    })
    .await;
    let banner = read_field(
        &browser,
        "return inside.querySelector('.banners').textContent",
    )
    .await;
    let banner = banner.as_str().unwrap();
    assert!(banner.contains("The price has just changed"), "{banner}");
    browser.wait_for("prices-fresh").await;
    assert!(browser.is_visible("network").await);
    assert_eq!(world.sandbox().count("POST", "/invoice").await, 0);
    browser.press("network-confirm").await;
    browser.wait_for("status-awaiting_payment").await;
    let sent = browser.text("amount").await;
    assert_eq!(format!("{sent}\u{a0}USDT"), changed);
    browser.end().await;
    world.end().await;
}

#[tokio::test]
async fn an_asset_that_becomes_unavailable_during_the_confirmation_cannot_be_opened() {
    let (world, browser) = open_choice(AS_THEY_ARE, BrowserOptions::default()).await;
    browser.press("asset-USDTTRC20").await;
    browser.wait_for("network").await;
    browser.evaluate("window.change = quotes => quotes.map(quote => ({ ...quote, available: quote.asset !== 'USDT', reason: quote.asset === 'USDT' ? 'not_priced' : undefined }))", &[]).await;
    move_clock(&browser, 120).await;
    eventually("the reason is shown", async || {
        let step = browser.text("network").await;
        step.contains("Temporarily unavailable").then_some(())
    })
    .await;
    read_field(&browser, "named('network-confirm').click()").await;
    browser.press("network-back").await;
    browser.press("asset-BTC").await;
    browser.wait_for("status-awaiting_payment").await;
    assert_eq!(world.sandbox().count("POST", "/invoice").await, 1);
    browser.end().await;
    world.end().await;
}

#[tokio::test]
async fn a_preselected_asset_is_confirmed_and_not_stored_as_the_customers_choice() {
    let world = World::start().await;
    let browser = Browser::open().await;
    browser
        .goto(&format!("{}&asset=USDTTRC20", world.checkout_page()))
        .await;
    browser.wait_for("network-confirm").await;
    assert_eq!(world.sandbox().count("POST", "/invoice").await, 0);
    browser.evaluate("sessionStorage.clear()", &[]).await;
    browser.goto("about:blank").await;
    browser
        .goto(&format!("{}&asset=LTC", world.checkout_page()))
        .await;
    browser.wait_for("status-awaiting_payment").await;
    assert_eq!(
        browser.evaluate("return localStorage.length", &[]).await,
        json!(0)
    );
    browser.end().await;
    world.end().await;
}
