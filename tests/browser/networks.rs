//! Assets on several networks: an attempt opens only on the confirmed one.

use std::time::Duration;

use serde_json::json;
use support::{Browser, World, eventually};
use thirtyfour::Key;

use crate::asset_choice::{
    AS_THEY_ARE, BETWEEN, move_clock, on_more_networks, open_choice, open_second_purchase,
};
use crate::helpers::{end, read_inside, wait_for_focus, wait_until_announced};

/// A price expires during the confirmation: no attempt opens at a price that was not shown.
#[tokio::test]
async fn a_price_that_expires_before_the_confirmation_is_shown_again_first() {
    let (world, browser) = open_choice(AS_THEY_ARE).await;
    browser.press("asset-USDTTRC20").await;
    browser.wait_for("network").await;
    let amount = async || {
        let amount = "return inside.querySelector('.step .cost bdi').textContent";
        let amount = read_inside(&browser, amount).await;
        amount.as_str().unwrap().to_owned()
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
    let banner = "return inside.querySelector('.banners').textContent";
    let banner = read_inside(&browser, banner).await;
    let banner = banner.as_str().unwrap();
    assert!(banner.contains("The price has just changed"), "{banner}");
    browser.wait_for("prices-fresh").await;
    assert!(browser.is_visible("network").await);
    assert_eq!(world.sandbox().count("POST", "/invoice").await, 0);
    browser.press("network-confirm").await;
    browser.wait_for("status-awaiting_payment").await;
    let sent = browser.text("amount").await;
    assert_eq!(format!("{sent}\u{a0}USDT"), changed);
    end(world, browser).await;
}

#[tokio::test]
async fn an_asset_that_becomes_unavailable_during_the_confirmation_cannot_be_opened() {
    let (world, browser) = open_choice(AS_THEY_ARE).await;
    browser.press("asset-USDTTRC20").await;
    browser.wait_for("network").await;
    browser.evaluate("window.change = quotes => quotes.map(quote => ({ ...quote, available: quote.asset !== 'USDT', reason: quote.asset === 'USDT' ? 'not_priced' : undefined }))").await;
    move_clock(&browser, 120).await;
    browser
        .wait_for_text("network", "Temporarily unavailable")
        .await;
    read_inside(&browser, "named('network-confirm').click()").await;
    browser.press("network-back").await;
    browser.press("asset-BTC").await;
    browser.wait_for("status-awaiting_payment").await;
    assert_eq!(world.sandbox().count("POST", "/invoice").await, 1);
    end(world, browser).await;
}

#[tokio::test]
async fn a_preselected_asset_is_confirmed_and_not_stored_as_the_customers_choice() {
    let (world, browser) = (World::start().await, Browser::open().await);
    let script = format!("{BETWEEN} window.change = {};", on_more_networks(12));
    browser.run_before_every_page(&script).await;
    let page = world.checkout_page();
    browser.goto(&format!("{page}&asset=USDTTRC20")).await;
    browser.wait_for("network-confirm").await;
    assert_eq!(world.sandbox().count("POST", "/invoice").await, 0);
    browser.press("network-back").await;
    wait_for_focus(&browser, "networks-USDT").await;
    browser.evaluate("sessionStorage.clear()").await;
    browser.goto("about:blank").await;
    browser.goto(&format!("{page}&asset=LTC")).await;
    browser.wait_for("status-awaiting_payment").await;
    let stored = "return localStorage.length";
    assert_eq!(browser.evaluate(stored).await, json!(0));
    end(world, browser).await;
}

#[tokio::test]
async fn the_number_of_assets_decides_whether_there_is_a_search_and_whether_coins_come_first() {
    let (world, browser) = open_choice(AS_THEY_ARE).await;
    let twelve = on_more_networks(12);
    for (change, has_search, rows) in [
        ("quotes => quotes.slice(0, 6)", false, 6),
        ("quotes => quotes.slice(0, 7)", true, 7),
        (&*on_more_networks(11), true, 11),
        (&*twelve, true, 8),
    ] {
        let script = format!("window.change = {change}");
        browser.run_before_every_page(&script).await;
        open_second_purchase(&browser).await;
        assert_eq!(browser.is_visible("search").await, has_search, "{change}");
        let shown = read_inside(&browser, "return rows.length").await;
        assert_eq!(shown, rows, "{change}");
    }
    // A coin is unavailable if all its networks are.
    let off = format!(
        "window.change = quotes => ({twelve})(quotes).map(quote => quote.asset === 'USDT' ? {{ ...quote, available: false, reason: 'not_priced' }} : quote)"
    );
    browser.run_before_every_page(&off).await;
    open_second_purchase(&browser).await;
    let is_off = "return named('networks-USDT').hasAttribute('data-off')";
    assert_eq!(read_inside(&browser, is_off).await, true);
    read_inside(&browser, "named('networks-USDT').click()").await;
    wait_until_announced(&browser, "Tether · Temporarily unavailable").await;
    assert!(browser.is_visible("networks-USDT").await);
    end(world, browser).await;
}

#[tokio::test]
async fn from_twelve_assets_on_the_coin_is_chosen_before_the_network() {
    let (world, browser) = open_choice(&on_more_networks(12)).await;
    browser.wait_for_text("networks-USDT", "5 networks").await;
    let rows = "return rows";
    let all = read_inside(&browser, rows).await;
    // A search finds networks directly.
    browser.fill("search", "trc20").await;
    wait_until_announced(&browser, "Search currencies: 2").await;
    let found = json!(["asset-USDTTRC20", "asset-TRX"]);
    assert_eq!(read_inside(&browser, rows).await, found);
    browser.type_keys(Key::Escape).await;
    browser.tab_to("networks-USDT").await;
    browser.type_keys(Key::Enter).await;
    wait_for_focus(&browser, "Choose a network for USDT").await;
    let networks = ["USDTTRC20", "USDTERC20", "USDT0", "USDT1", "USDT2"];
    let networks = json!(networks.map(|code| format!("asset-{code}")));
    assert_eq!(read_inside(&browser, rows).await, networks);
    let has_search = browser.is_visible("search").await;
    assert!(!has_search, "one question at a time");
    // Fresh prices keep the screen and the focus.
    move_clock(&browser, 120).await;
    browser.press("back").await;
    wait_for_focus(&browser, "networks-USDT").await;
    assert_eq!(read_inside(&browser, rows).await, all);
    browser.press("networks-USDT").await;
    browser.press("asset-USDTERC20").await;
    wait_for_focus(&browser, "Check the network").await;
    browser.press("network-back").await;
    wait_for_focus(&browser, "asset-USDTERC20").await;
    assert_eq!(read_inside(&browser, rows).await, networks);
    end(world, browser).await;
}
