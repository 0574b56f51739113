//! An asset that lives on several networks, in a real browser: paid only on the one that was confirmed.

use std::time::Duration;

use serde_json::json;
use support::{Browser, Look, World, eventually};

use crate::asset_choice::{AS_THEY_ARE, asks, chooses_among, focused, time_passes};
use crate::steps::the_order;

#[tokio::test]
async fn an_asset_of_several_networks_is_paid_only_on_the_one_that_was_confirmed() {
    let (world, browser) = chooses_among(AS_THEY_ARE, Look::default()).await;
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
    assert_eq!(asks(&browser, badges).await, 1);
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
    let view = the_order(&world, &browser).await.view().await;
    assert_eq!(view["attempt"]["crypto_code"], "USDTERC20");
    browser.end().await;
    world.end().await;
}

/// A price lapses while the network is read: nothing is opened at a price that was not on the screen.
#[tokio::test]
async fn a_price_that_lapses_before_the_network_is_confirmed_is_shown_anew_first() {
    let (world, browser) = chooses_among(AS_THEY_ARE, Look::default()).await;
    browser.press("asset-USDTTRC20").await;
    browser.wait_for("network").await;
    let amount = async || {
        let amount = asks(
            &browser,
            "return inside.querySelector('.step .cost bdi').textContent",
        );
        amount.await.as_str().unwrap().to_owned()
    };
    let before = amount().await;
    // The proxy's prices lapse, and the page does not know yet.
    world.sandbox().set_price("USDTTRC20", "0.80").await;
    world.skip(Duration::from_mins(10));
    browser.press("network-confirm").await;
    let changed = eventually("the new price is there", async || {
        let now = amount().await;
        (now != before).then_some(now)
    })
    .await;
    let banner = asks(
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
async fn an_asset_that_goes_away_while_its_network_is_read_cannot_be_opened() {
    let (world, browser) = chooses_among(AS_THEY_ARE, Look::default()).await;
    browser.press("asset-USDTTRC20").await;
    browser.wait_for("network").await;
    browser.evaluate("window.change = quotes => quotes.map(quote => ({ ...quote, available: quote.asset !== 'USDT', reason: quote.asset === 'USDT' ? 'not_priced' : undefined }))", &[]).await;
    time_passes(&browser, 120).await;
    eventually("it says why", async || {
        let step = browser.text("network").await;
        step.contains("Temporarily unavailable").then_some(())
    })
    .await;
    asks(&browser, "named('network-confirm').click()").await;
    browser.press("network-back").await;
    browser.press("asset-BTC").await;
    browser.wait_for("status-awaiting_payment").await;
    assert_eq!(world.sandbox().count("POST", "/invoice").await, 1);
    browser.end().await;
    world.end().await;
}

#[tokio::test]
async fn what_the_page_picks_is_confirmed_as_well_and_is_no_choice_of_the_customer() {
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
