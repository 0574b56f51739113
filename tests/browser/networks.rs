//! Assets on several networks in a real browser: an attempt opens only on the confirmed one.

use std::time::Duration;

use serde_json::json;
use support::{Browser, BrowserOptions, World, eventually};
use thirtyfour::Key;

use crate::asset_choice::{
    AS_THEY_ARE, BETWEEN, FIRST, focused, move_clock, on_more_networks, open_choice,
    open_second_purchase, read_field,
};
use crate::helpers::{only_order, wait_until_announced};

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
    browser
        .wait_for_text("network", "Temporarily unavailable")
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

#[tokio::test]
async fn eleven_assets_are_eleven_rows() {
    let (world, browser) = open_choice(&on_more_networks(11), BrowserOptions::default()).await;
    browser.wait_for("asset-USDTTRC20").await;
    let count = read_field(&browser, "return rows.length").await;
    assert_eq!(count, 11);
    browser.end().await;
    world.end().await;
}

#[tokio::test]
async fn from_twelve_assets_on_the_coin_is_chosen_before_the_network() {
    let (world, browser) = open_choice(&on_more_networks(12), BrowserOptions::default()).await;
    browser.wait_for("networks-USDT").await;
    let coins = "return rows";
    let all = json!([
        "asset-BTC",
        "asset-ETH",
        "networks-USDT",
        "asset-LTC",
        "asset-TRX",
        "asset-BNB",
        "asset-BCH",
        "asset-DOGE"
    ]);
    let has_focus = async |at: &str| {
        eventually(&format!("the focus is at {at}"), async || {
            (focused(&browser).await == at).then_some(())
        })
        .await;
    };
    assert_eq!(read_field(&browser, coins).await, all);
    let row = browser.text("networks-USDT").await;
    assert!(row.contains("5 networks"), "{row}");
    assert!(row.contains("USDT"), "the price of all: {row}");
    // A search finds networks directly.
    browser.fill("search", "trc20").await;
    eventually("the network is found", async || {
        (read_field(&browser, coins).await == json!(["asset-USDTTRC20", "asset-TRX"])).then_some(())
    })
    .await;
    browser.type_keys(Key::Escape).await;
    browser.tab_to("networks-USDT").await;
    browser.type_keys(Key::Enter).await;
    has_focus("Choose a network for USDT").await;
    let networks = json!([
        "asset-USDTTRC20",
        "asset-USDTERC20",
        "asset-USDT0",
        "asset-USDT1",
        "asset-USDT2"
    ]);
    assert_eq!(read_field(&browser, coins).await, networks);
    assert!(
        !browser.is_visible("search").await,
        "one question at a time"
    );
    // Fresh prices keep the screen and the focus.
    move_clock(&browser, 120).await;
    browser.press("back").await;
    has_focus("networks-USDT").await;
    assert_eq!(read_field(&browser, coins).await, all);
    browser.press("networks-USDT").await;
    browser.press("asset-USDTERC20").await;
    has_focus("Check the network").await;
    browser.press("network-back").await;
    has_focus("asset-USDTERC20").await;
    assert_eq!(read_field(&browser, coins).await, networks);
    browser.press("asset-USDTERC20").await;
    browser.press("network-confirm").await;
    browser.wait_for("status-awaiting_payment").await;
    // The last choice is listed directly, without its coin.
    open_second_purchase(&browser).await;
    assert_eq!(
        read_field(&browser, FIRST).await,
        json!(["asset-USDTERC20", ["asset-USDTERC20"]])
    );
    browser.end().await;
    world.end().await;
}

#[tokio::test]
async fn back_from_a_preselected_network_the_focus_is_on_its_coin() {
    let (world, browser) = (World::start().await, Browser::open().await);
    let script = format!("{BETWEEN} window.change = {};", on_more_networks(12));
    browser.run_before_every_page(&script).await;
    browser
        .goto(&format!("{}&asset=USDTTRC20", world.checkout_page()))
        .await;
    browser.press("network-back").await;
    eventually("the focus is on the coin's row", async || {
        (focused(&browser).await == "networks-USDT").then_some(())
    })
    .await;
    browser.end().await;
    world.end().await;
}

#[tokio::test]
async fn a_coin_is_unavailable_only_if_all_its_networks_are() {
    let off = |condition: &str| {
        let list = on_more_networks(12);
        format!(
            "quotes => ({list})(quotes).map(quote => {condition} ? {{ ...quote, available: false, reason: 'not_priced' }} : quote)"
        )
    };
    let is_off = "return named('networks-USDT').hasAttribute('data-off')";
    for (condition, expected) in [
        ("quote.crypto_code === 'USDTTRC20'", false),
        ("quote.asset === 'USDT'", true),
    ] {
        let (world, browser) = open_choice(&off(condition), BrowserOptions::default()).await;
        browser.wait_for("networks-USDT").await;
        assert_eq!(read_field(&browser, is_off).await, expected);
        read_field(&browser, "named('networks-USDT').click()").await;
        if expected {
            wait_until_announced(&browser, "Tether · Temporarily unavailable").await;
            assert!(browser.is_visible("networks-USDT").await);
        } else {
            browser.wait_for("asset-USDTERC20").await;
        }
        browser.end().await;
        world.end().await;
    }
}
