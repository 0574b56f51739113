//! The asset choice where page and proxy meet: prices that change, come late, or end, and the last choice; and assets on several
//! networks, of which an attempt opens only on the confirmed one.

use std::time::Duration;

use serde_json::json;
use support::{Browser, World, eventually, pause};
use thirtyfour::Key;

use crate::helpers::{
    RECORD_ANNOUNCEMENTS, WITHOUT_OFFER, announced, checkout_page, end, focused, read_inside,
    wait_for_focus, wait_until_announced,
};

/// Passes the proxy's quotes through `window.change`, and lets the page's clock be moved forward. With [`WITHOUT_OFFER`].
pub(crate) const BETWEEN: &str = "
    window.later = 0;
    const now = performance.now.bind(performance);
    performance.now = () => now() + window.later;
    const fetched = window.fetch;
    window.fetch = async (request, options) => {
        const response = await fetched(request, options);
        const address = request.url ?? String(request);
        if (!/\\/v1\\/checkout\\/(quotes|offer)/.test(address) || !response.ok) return response;
        const body = await response.json();
        // The quotes come by themselves, or with an offer.
        if (body.quotes) body.quotes = await window.change(body.quotes);
        const changed = Array.isArray(body) ? await window.change(body) : body;
        return new Response(JSON.stringify(changed), { status: response.status, headers: response.headers });
    };";
pub(crate) const AS_THEY_ARE: &str = "quotes => quotes";

/// Opens the asset choice with changed quotes.
pub(crate) async fn open_choice(change: &str) -> (World, Browser) {
    let script = format!("{BETWEEN} window.change = {change};");
    let (world, browser) = checkout_page(&[WITHOUT_OFFER, RECORD_ANNOUNCEMENTS, &script]).await;
    browser.wait_for("status-open").await;
    (world, browser)
}

/// Moves the page's clock forward, so that the quotes on the screen expire.
pub(crate) async fn move_clock(browser: &Browser, seconds: u32) {
    let script = format!("window.later += {seconds} * 1000");
    browser.evaluate(&script).await;
}

const DEARER: &str = "window.change = (change => quotes => change(quotes).map(quote => quote.asset === 'BTC' ? { ...quote, amount_in_crypto: '0.00099999', amount_shown: '0.00099999\\u00a0BTC' } : quote))(window.change)";
const FRESH: &str = "The prices have just been updated.";

#[tokio::test]
async fn fresh_prices_keep_the_input_the_focus_and_the_scroll_position() {
    let (world, browser) = open_choice(&on_more_networks(10)).await;
    browser.set_viewport(390, 400).await;
    browser.fill("search", "bitcoin").await;
    wait_until_announced(&browser, "Search currencies: 2").await;
    read_inside(&browser, "for (const row of inside.querySelectorAll('.option')) row.same = true; scrollTo(0, 120); window.was = scrollY").await;
    browser.evaluate(DEARER).await;
    move_clock(&browser, 120).await;
    browser.wait_for_text("asset-BTC", "0.00099999").await;
    let kept = "return [named('search').value, rows, scrollY === window.was, window.was > 0, [...inside.querySelectorAll('.option')].every(row => row.same)]";
    assert_eq!(
        read_inside(&browser, kept).await,
        json!(["bitcoin", ["asset-BTC", "asset-BCH"], true, true, true])
    );
    assert_eq!(focused(&browser).await, "search");
    // Only changed prices are marked.
    let marked = "return [...inside.querySelectorAll('.moved')].map(at => at.closest('[data-testid]').dataset.testid)";
    assert_eq!(read_inside(&browser, marked).await, json!(["asset-BTC"]));
    let moving = "return getComputedStyle(inside.querySelector('.moved')).animationName";
    assert_eq!(read_inside(&browser, moving).await, "moved");
    browser.wait_for("prices-fresh").await;
    assert_eq!(announced(&browser).await.last().unwrap(), FRESH);
    // The same with the focus on an asset.
    read_inside(&browser, "named('asset-BTC').focus()").await;
    browser
        .evaluate(&DEARER.replace("0.00099999", "0.00088888"))
        .await;
    move_clock(&browser, 120).await;
    browser.wait_for_text("asset-BTC", "0.00088888").await;
    assert_eq!(focused(&browser).await, "asset-BTC");
    end(world, browser).await;
}

#[tokio::test]
async fn changed_prices_are_announced_once_a_minute() {
    let short = "quotes => quotes.map(quote => ({ ...quote, valid_for_seconds: 5, ...(quote.asset === 'BTC' && { amount_in_crypto: '0.0' + ++window.count, amount_shown: '0.0' + window.count }) }))";
    let (world, browser) = open_choice(&format!("(window.count = 10, {short})")).await;
    let shows = async |amount: &str| {
        browser.wait_for_text("asset-BTC", amount).await;
    };
    let times = async |count: u32| {
        let times = format!("return announced.filter((words) => words === '{FRESH}').length");
        browser
            .wait_for_result("announcements", &times, count)
            .await;
    };
    let is_gone = "const note = document.querySelector('florin-checkout').shadowRoot.querySelector('[data-testid=prices-fresh]');
        return !(note?.offsetHeight && note.checkVisibility({ opacityProperty: true, visibilityProperty: true }));";
    shows("0.011").await;
    times(0).await;
    move_clock(&browser, 6).await;
    shows("0.012").await;
    times(1).await;
    move_clock(&browser, 6).await;
    shows("0.013").await;
    times(1).await;
    browser.wait_until("the note is gone", is_gone).await;
    // Unchanged prices are not announced.
    browser.evaluate("const change = window.change; window.asked = 0; window.change = quotes => { window.asked++; window.count--; return change(quotes); }").await;
    move_clock(&browser, 70).await;
    let are_requested = "return window.asked > 0";
    browser
        .wait_until("they are requested", are_requested)
        .await;
    times(1).await;
    assert!(!browser.is_visible("prices-fresh").await);
    browser.evaluate("window.change = (change => quotes => { window.count += 2; return change(quotes); })(window.change)").await;
    move_clock(&browser, 70).await;
    times(2).await;
    end(world, browser).await;
}

/// Deletes the page's order, so that the proxy opens another.
pub(crate) async fn open_second_purchase(browser: &Browser) {
    browser.evaluate("sessionStorage.clear()").await;
    browser.reload().await;
    browser.wait_for("asset-BTC").await;
}

pub(crate) const FIRST: &str = "return [rows[0], [...inside.querySelectorAll('[data-testid=\"last_used\"]')].map(at => at.closest('.option').dataset.testid)]";

#[tokio::test]
async fn the_last_choice_comes_first_and_is_not_preselected() {
    let (world, browser) = open_choice(AS_THEY_ARE).await;
    browser.wait_for("asset-BTC").await;
    assert_eq!(read_inside(&browser, FIRST).await, json!(["asset-BTC", []]));
    browser.press("asset-LTC").await;
    browser.wait_for("status-awaiting_payment").await;
    open_second_purchase(&browser).await;
    assert_eq!(
        read_inside(&browser, FIRST).await,
        json!(["asset-LTC", ["asset-LTC"]])
    );
    assert_eq!(world.sandbox().count("POST", "/invoice").await, 1);
    // Only a crypto code is kept beyond the tab.
    let kept = "return Object.entries(localStorage)";
    assert_eq!(
        browser.evaluate(kept).await,
        json!([["florin:asset", "LTC"]])
    );
    // An unavailable one keeps its place.
    let gone = "window.change = quotes => quotes.map(quote => quote.asset === 'LTC' ? { ...quote, available: false, reason: 'not_priced' } : quote)";
    browser.run_before_every_page(gone).await;
    open_second_purchase(&browser).await;
    assert_eq!(read_inside(&browser, FIRST).await, json!(["asset-BTC", []]));
    end(world, browser).await;
}

#[tokio::test]
async fn without_storage_the_page_remembers_the_last_choice() {
    let forbidden = "for (const name of ['localStorage', 'sessionStorage']) Object.defineProperty(window, name, { get() { throw new DOMException('forbidden', 'SecurityError'); } });";
    let (world, browser) = checkout_page(&[forbidden]).await;
    browser.press("asset-LTC").await;
    browser.wait_for("status-awaiting_payment").await;
    read_inside(
        &browser,
        "[...inside.querySelectorAll('button.plain')].find(at => at.textContent === 'Pay with another currency').click()",
    )
    .await;
    browser.wait_for("asset-LTC").await;
    assert_eq!(
        read_inside(&browser, FIRST).await,
        json!(["asset-LTC", ["asset-LTC"]])
    );
    assert_eq!(browser.console_warnings().await, Vec::<String>::new());
    end(world, browser).await;
}

/// The nine assets, and USDT on further networks up to this number.
pub(crate) fn on_more_networks(assets: usize) -> String {
    let more = "{ ...quotes.find(quote => quote.crypto_code === 'USDTTRC20'), crypto_code: 'USDT' + n, network: 'Network ' + n, name: 'USDT · Network ' + n }";
    let is_long = assets >= 12;
    format!(
        "quotes => [...quotes, ...Array.from({{ length: {assets} - 9 }}, (_, n) => ({more}))].map(quote => ({{ ...quote, is_folded: {is_long} && quote.asset === 'USDT' }}))"
    )
}

/// Holds the offer until `release()`.
const HELD: &str = "quotes => new Promise(release => (window.release = () => release(quotes)))";

/// Disables the timers of these milliseconds, which let a screen start without its data.
fn without_timers(times: &str) -> String {
    format!(
        "const timer = window.setTimeout;
         window.setTimeout = (work, time, ...rest) => [{times}].includes(time) ? 0 : timer(work, time, ...rest);"
    )
}

async fn release(browser: &Browser) {
    let release = "window.release?.(); return Boolean(window.release)";
    browser.wait_until("the prices are shown", release).await;
}

/// Notes how many assets the first screen has.
const FIRST_SCREEN: &str = "
    const look = () => {
        const inside = document.querySelector('florin-checkout')?.shadowRoot;
        if (!inside?.querySelector('[data-testid=status-open]')) return requestAnimationFrame(look);
        window.first = inside.querySelectorAll('.option[data-testid]').length;
    };
    requestAnimationFrame(look);";

#[tokio::test]
async fn the_first_screen_includes_prices_that_arrive_in_time() {
    let held = format!("{BETWEEN} window.change = {HELD}; {FIRST_SCREEN}");
    let (world, browser) =
        checkout_page(&[WITHOUT_OFFER, &without_timers("400, 3000"), &held]).await;
    // Long enough for everything else: a screen without prices would be shown by then.
    pause(Duration::from_millis(1500)).await;
    release(&browser).await;
    browser.wait_for("asset-BTC").await;
    assert_eq!(browser.evaluate("return window.first").await, 9);
    end(world, browser).await;
}

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
async fn a_preselected_asset_is_confirmed_and_not_stored_as_the_customers_choice() {
    let (world, browser) = (World::start().await, Browser::open().await);
    let script = format!("{BETWEEN} window.change = {};", on_more_networks(12));
    for script in [WITHOUT_OFFER, &script] {
        browser.run_before_every_page(script).await;
    }
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
        (AS_THEY_ARE, false, 9),
        (&*on_more_networks(10), true, 10),
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
    assert!(!browser.is_visible("networks-USDT").await, "it is folded");
    read_inside(&browser, "named('unavailable').open = true").await;
    read_inside(&browser, "named('networks-USDT').click()").await;
    wait_until_announced(&browser, "USDT · Tron · Temporarily unavailable").await;
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
    wait_for_focus(&browser, "Does your wallet send USDT on Ethereum?").await;
    browser.press("network-back").await;
    wait_for_focus(&browser, "asset-USDTERC20").await;
    assert_eq!(read_inside(&browser, rows).await, networks);
    end(world, browser).await;
}
