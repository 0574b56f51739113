//! The choice of assets before the program runs: what it shows is what the program shows, and a press on it counts.

use serde_json::{Value, json};
use support::{Browser, World, eventually};

use crate::asset_choice::{focused, read_field};

/// The program's file is held back until `window.release()`. `plain()` is what the checkout shows, an element a line,
/// without what cannot be seen.
const HOLD: &str = "
    const fetched = window.fetch;
    const released = new Promise((done) => (window.release = done));
    window.fetch = async (request, options) => {
        if (String(request.url ?? request).includes('widget_bg')) await released;
        return fetched(request, options);
    };
    addEventListener('florin-ready', () => {
        window.isReady = true;
        const screen = document.querySelector('florin-checkout').shadowRoot.querySelector('.screen');
        window.opacity = screen && getComputedStyle(screen).opacity;
    });
    window.plain = () => {
        const lines = [];
        const walk = (node) => {
            if (node.nodeType === Node.TEXT_NODE && node.data) lines.push(node.data);
            if (node.nodeType !== Node.ELEMENT_NODE || node.hidden) return;
            const isLink = node.localName === 'a';
            const shown = [...node.attributes].filter(({ name, value }) => !(name === 'class' && !value) && !(isLink && ['href', 'target', 'rel'].includes(name)));
            lines.push(node.localName + ' ' + shown.map(({ name, value }) => `${name}=${value}`).sort().join(' '));
            // The live region has its text once the program runs.
            if (!node.matches('.unseen')) node.childNodes.forEach(walk);
            lines.push('/' + node.localName);
        };
        walk(document.querySelector('florin-checkout').shadowRoot.querySelector('.florin'));
        return lines;
    };";

async fn open_page(world: &World, fragment: &str) -> Browser {
    let browser = Browser::open().await;
    browser.run_before_every_page(HOLD).await;
    let url = format!("{}/pay{fragment}", world.proxy_url());
    browser.goto(&url).await;
    browser
}

async fn release(browser: &Browser) {
    browser.evaluate("window.release()", &[]).await;
    browser
        .wait_for_result("the program runs", "return window.isReady", &json!(true))
        .await;
}

async fn plain(browser: &Browser) -> Vec<String> {
    let lines = browser.evaluate("return window.plain()", &[]).await;
    serde_json::from_value(lines).unwrap()
}

/// Waits for the list, which is there without the program.
async fn wait_for_list(browser: &Browser) {
    browser.wait_for("status-open").await;
    assert_eq!(
        browser.evaluate("return window.isReady", &[]).await,
        Value::Null
    );
}

#[tokio::test]
async fn every_choice_is_shown_early_as_the_program_shows_it() {
    let world = World::start().await;
    for (more, states) in [
        (
            "&locale=en",
            &["choosing", "choosing_one", "choosing_reasons"][..],
        ),
        (
            "&locale=de",
            &["choosing_lines", "choosing_many", "choosing_reasons"],
        ),
        ("&locale=ar", &["choosing_lines", "choosing_many"]),
        ("&text=%3Cb%3Ex%3C/b%3E", &["choosing_lines"]),
    ] {
        for state in states {
            let browser = open_page(&world, &format!("?{state}#gallery={state}{more}")).await;
            wait_for_list(&browser).await;
            let early = plain(&browser).await;
            assert!(early.len() > 40, "{state}{more}: {early:#?}");
            release(&browser).await;
            assert_eq!(early, plain(&browser).await, "{state}{more}");
            let opacity = browser.evaluate("return window.opacity", &[]).await;
            assert_eq!(opacity, "1", "the list does not fade in again");
            browser.end().await;
        }
    }
    world.end().await;
}

/// Names as a hostile store could write them: what turns the text around it, what breaks it, and what would be markup.
const HOSTILE: &str = "
    const answered = window.fetch;
    window.fetch = async (request, options) => {
        const response = await answered(request, options);
        if (!String(request.url ?? request).includes('/v1/checkout') || !response.ok) return response;
        const names = ['title', 'name', 'asset_name', 'network'];
        const text = JSON.stringify(await response.json(), (name, value) => names.includes(name) ? value + '\\u202e<b>x</b>\\u0000\\u2066' : value);
        return new Response(text, { headers: { 'content-type': 'application/json' } });
    };";

#[tokio::test]
async fn what_a_browser_obeys_is_removed_from_the_early_list_too() {
    let world = World::start().await;
    let browser = Browser::open().await;
    browser.run_before_every_page(HOLD).await;
    browser.run_before_every_page(HOSTILE).await;
    browser.goto(&world.checkout_page()).await;
    wait_for_list(&browser).await;
    let early = plain(&browser).await;
    let names = early.iter().filter(|line| line.contains("<b>x</b>"));
    assert!(names.count() > 5, "{early:#?}");
    assert!(!early.concat().contains('\u{202e}'));
    release(&browser).await;
    assert_eq!(early, plain(&browser).await);
    browser.end().await;
    world.end().await;
}

#[tokio::test]
async fn the_last_choice_is_first_in_the_early_list_too() {
    let world = World::start().await;
    for (state, last) in [("choosing", "LTC"), ("choosing_many", "USDTTRC20")] {
        let browser = open_page(&world, "?nothing#gallery=none").await;
        let keep = format!("localStorage.setItem('florin:asset', '{last}')");
        browser.evaluate(&keep, &[]).await;
        browser.goto("about:blank").await;
        let url = format!("{}/pay?{state}#gallery={state}", world.proxy_url());
        browser.goto(&url).await;
        wait_for_list(&browser).await;
        let first = read_field(&browser, "return rows[0]").await;
        assert_eq!(first, format!("asset-{last}"));
        let early = plain(&browser).await;
        release(&browser).await;
        assert_eq!(early, plain(&browser).await, "{state}");
        browser.end().await;
    }
    world.end().await;
}

#[tokio::test]
async fn a_state_without_a_choice_has_no_early_list() {
    let world = World::start().await;
    for state in [
        "choosing_none",
        "choosing_empty",
        "hosted_closed",
        "stopped_gone",
    ] {
        let browser = open_page(&world, &format!("?{state}#gallery={state}")).await;
        let is_loading = "return Boolean(document.querySelector('florin-checkout')?.shadowRoot?.querySelector('[aria-busy=true]'))";
        browser
            .wait_for_result("the skeleton", is_loading, &json!(true))
            .await;
        // Order, prices, texts and style are there: only the program is missing.
        let all = "return performance.getEntriesByType('resource').filter(({ name, responseEnd }) => responseEnd && /florin-\\w+\\.css|theme-|\\/en-/.test(name)).length";
        eventually("the files", async || {
            (browser.evaluate(all, &[]).await.as_u64() >= Some(3)).then_some(())
        })
        .await;
        // Time for a list that must not appear.
        support::pause(std::time::Duration::from_millis(200)).await;
        assert_eq!(browser.evaluate(is_loading, &[]).await, true, "{state}");
        release(&browser).await;
        browser.end().await;
    }
    world.end().await;
}

#[tokio::test]
async fn a_press_on_the_early_list_opens_one_attempt_once_the_program_runs() {
    let world = World::start().await;
    let browser = open_page(&world, "#store=demo&product=ebook").await;
    wait_for_list(&browser).await;
    browser.press("asset-BTC").await;
    let waiting = read_field(&browser, "return [...inside.querySelectorAll('button.option')].every(row => row.ariaDisabled === 'true')").await;
    assert_eq!(waiting, true, "every row waits");
    release(&browser).await;
    browser.wait_for("status-awaiting_payment").await;
    assert!(browser.text("address").await.len() > 20);
    let orders = world.store().orders().await;
    assert_eq!(orders.len(), 1);
    assert_eq!(world.sandbox().count("POST", "/invoice").await, 1);
    browser.end().await;
    world.end().await;
}

/// The program's file is lost once.
const LOSE: &str = "
    const held = window.fetch;
    let isLost = false;
    window.fetch = async (request, options) => {
        const response = await held(request, options);
        if (isLost || !String(request.url ?? request).includes('widget_bg')) return response;
        isLost = true;
        return Response.error();
    };";

#[tokio::test]
async fn a_press_counts_when_the_program_is_lost_and_loaded_again() {
    let world = World::start().await;
    let browser = Browser::open().await;
    browser.run_before_every_page(HOLD).await;
    browser.run_before_every_page(LOSE).await;
    let url = format!("{}/pay#store=demo&product=ebook", world.proxy_url());
    browser.goto(&url).await;
    wait_for_list(&browser).await;
    browser.press("asset-BTC").await;
    // The sentence with its countdown, then the screens.
    release(&browser).await;
    browser.wait_for("status-awaiting_payment").await;
    assert_eq!(world.sandbox().count("POST", "/invoice").await, 1);
    browser.end().await;
    world.end().await;
}

#[tokio::test]
async fn an_early_press_on_an_asset_of_several_networks_asks_for_the_network() {
    let world = World::start().await;
    let browser = open_page(&world, "#store=demo&product=ebook").await;
    wait_for_list(&browser).await;
    browser.press("asset-USDTTRC20").await;
    release(&browser).await;
    browser.wait_for("network-confirm").await;
    browser.end().await;
    world.end().await;
}

#[tokio::test]
async fn focus_and_typed_text_stay_when_the_program_takes_over() {
    let world = World::start().await;
    let browser = open_page(&world, "#store=demo&product=ebook").await;
    wait_for_list(&browser).await;
    browser.wait_for("search").await.click().await.unwrap();
    browser.type_keys("tether").await;
    release(&browser).await;
    assert_eq!(focused(&browser).await, "search");
    let (typed, rows) = (
        read_field(&browser, "return named('search').value").await,
        read_field(&browser, "return rows").await,
    );
    assert_eq!(typed, "tether");
    let rows = rows.as_array().unwrap();
    assert!(
        !rows.is_empty()
            && rows
                .iter()
                .all(|row| row.as_str().unwrap().contains("USDT")),
        "{rows:?}"
    );
    browser.end().await;
    let browser = open_page(&world, "#store=demo&product=ebook").await;
    wait_for_list(&browser).await;
    browser.tab_to("asset-LTC").await;
    release(&browser).await;
    assert_eq!(focused(&browser).await, "asset-LTC");
    browser.end().await;
    world.end().await;
}

/// A press that begins on an element and ends on another is no press to a browser.
#[tokio::test]
async fn the_program_waits_for_a_press_that_has_begun() {
    let world = World::start().await;
    let browser = open_page(&world, "#store=demo&product=ebook").await;
    wait_for_list(&browser).await;
    let begin = "named('asset-BTC').dispatchEvent(new PointerEvent('pointerdown', { bubbles: true, composed: true }))";
    read_field(&browser, begin).await;
    read_field(
        &browser,
        "window.release(); window.row = named('asset-BTC')",
    )
    .await;
    // Time for new rows, which must not replace the pressed one.
    support::pause(std::time::Duration::from_millis(400)).await;
    assert_eq!(
        read_field(&browser, "return window.row.isConnected").await,
        true
    );
    let end = "window.row.dispatchEvent(new PointerEvent('pointerup', { bubbles: true, composed: true })); window.row.click()";
    read_field(&browser, end).await;
    browser.wait_for("status-awaiting_payment").await;
    browser.end().await;
    world.end().await;
}

#[tokio::test]
async fn an_element_that_is_removed_shows_nothing_when_the_program_comes() {
    let world = World::start().await;
    let browser = open_page(&world, "#store=demo&product=ebook").await;
    wait_for_list(&browser).await;
    let remove = "window.element = document.querySelector('florin-checkout'); window.element.remove(); window.release()";
    browser.evaluate(remove, &[]).await;
    // Time for a screen that must not appear.
    support::pause(std::time::Duration::from_millis(500)).await;
    let left = "return [window.isReady ?? false, window.element.shadowRoot.querySelectorAll('.option').length]";
    assert_eq!(browser.evaluate(left, &[]).await, json!([false, 0]));
    browser.end().await;
    world.end().await;
}
