//! The choice of assets before the program runs: the program takes its list, and a press on it counts.

use serde_json::{Value, json};
use support::{Browser, World, eventually};
use thirtyfour::Key;

use crate::gallery::wide;
use crate::helpers::{
    axe_findings, change_responses, checkout_page, end, focused, only_order, orders, read_inside,
    wait_for_value,
};

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
            // The program's list alone has fresh prices.
            if (node.nodeType !== Node.ELEMENT_NODE || node.hidden || node.matches('.fresh')) return;
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

/// Opens the order of the e-book, without the program.
async fn open_order(scripts: &[&str]) -> (World, Browser) {
    let scripts = [&[HOLD][..], scripts].concat();
    let (world, browser) = checkout_page(&scripts).await;
    wait_for_list(&browser).await;
    (world, browser)
}

async fn open_gallery() -> (World, Browser) {
    let (world, browser) = (World::start().await, Browser::open().await);
    browser.run_before_every_page(HOLD).await;
    (world, browser)
}

async fn load_state(world: &World, browser: &Browser, state: &str, more: &str) {
    let proxy = world.proxy_url();
    // With the same address, the browser would keep the page.
    browser.goto("about:blank").await;
    let url = format!("{proxy}/pay?{state}#gallery={state}{more}");
    browser.goto(&url).await;
}

async fn release(browser: &Browser) {
    browser.evaluate("window.release()").await;
    browser
        .wait_until("the program runs", "return window.isReady")
        .await;
}

async fn plain(browser: &Browser) -> Vec<String> {
    let lines = browser.evaluate("return window.plain()").await;
    serde_json::from_value(lines).unwrap()
}

/// Waits for the list, which is there without the program.
async fn wait_for_list(browser: &Browser) {
    browser.wait_for("status-open").await;
    assert_eq!(browser.evaluate("return window.isReady").await, Value::Null);
}

/// The program takes the list; what is around it, it draws as it was.
#[tokio::test]
async fn the_early_list_stays_and_what_is_around_it_looks_the_same() {
    let (world, browser) = open_gallery().await;
    for (state, more) in [
        ("choosing_many", "&locale=ar"),
        ("choosing_reasons", "&locale=de"),
        // What would be markup, and what turns the text around it.
        ("choosing_lines", "&text=%3Cb%3Ex%3C/b%3E%E2%80%AE%E2%81%A6"),
    ] {
        load_state(&world, &browser, state, more).await;
        wait_for_list(&browser).await;
        let early = plain(&browser).await;
        assert!(early.len() > 40, "{state}{more}: {early:#?}");
        assert!(!early.concat().contains('\u{202e}'));
        let rows = "window.early = [...inside.querySelectorAll('.pick, .option')]";
        read_inside(&browser, rows).await;
        release(&browser).await;
        assert_eq!(early, plain(&browser).await, "{state}{more}");
        let stays = "return window.early.every((element) => element.isConnected)";
        assert_eq!(browser.evaluate(stays).await, true, "{state}{more}");
        let opacity = browser.evaluate("return window.opacity").await;
        assert_eq!(opacity, "1", "the list does not fade in again");
    }
    // The last choice comes first, also where a row of its coin stands for it.
    let keep = "localStorage.setItem('florin:asset', 'USDTTRC20')";
    browser.evaluate(keep).await;
    load_state(&world, &browser, "choosing_many", "").await;
    wait_for_list(&browser).await;
    release(&browser).await;
    let first = read_inside(&browser, "return rows[0]").await;
    assert_eq!(first, "asset-USDTTRC20");
    end(world, browser).await;
}

#[tokio::test]
async fn a_state_without_a_choice_has_no_early_list() {
    let (world, browser) = open_gallery().await;
    for state in [
        "choosing_none",
        "choosing_empty",
        "hosted_closed",
        "stopped_gone",
    ] {
        load_state(&world, &browser, state, "").await;
        let is_loading = "return Boolean(document.querySelector('florin-checkout')?.shadowRoot?.querySelector('[aria-busy=true]'))";
        browser.wait_until("the skeleton", is_loading).await;
        // Order, prices, texts and style are there: only the program is missing.
        let all = "return performance.getEntriesByType('resource').filter(({ name, responseEnd }) => responseEnd && /first-|\\/en[-.]/.test(name)).length >= 3";
        browser.wait_until("the files", all).await;
        // Time for a list that must not appear.
        support::pause(std::time::Duration::from_millis(200)).await;
        assert_eq!(browser.evaluate(is_loading).await, true, "{state}");
        release(&browser).await;
    }
    end(world, browser).await;
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
async fn a_press_on_the_early_list_counts_also_when_the_program_is_lost_and_loaded_again() {
    let (world, browser) = open_order(&[LOSE]).await;
    browser.press("asset-USDTTRC20").await;
    let waiting = "return [...inside.querySelectorAll('button.option')].every(row => row.ariaDisabled === 'true')";
    let waiting = read_inside(&browser, waiting).await;
    assert_eq!(waiting, true, "every row waits");
    // The sentence with its countdown, then the screens.
    release(&browser).await;
    // An asset of several networks.
    browser.press("network-confirm").await;
    browser.wait_for("status-awaiting_payment").await;
    assert_eq!(world.store().orders().await.len(), 1);
    assert_eq!(world.sandbox().count("POST", "/invoice").await, 1);
    end(world, browser).await;
}

#[tokio::test]
async fn focus_and_typed_text_stay_when_the_program_takes_over() {
    let (world, browser) = open_gallery().await;
    load_state(&world, &browser, "choosing_many", "").await;
    wait_for_list(&browser).await;
    browser.wait_for("search").await.click().await.unwrap();
    browser.type_keys("tether").await;
    release(&browser).await;
    assert_eq!(focused(&browser).await, "search");
    let (typed, rows) = (
        read_inside(&browser, "return named('search').value").await,
        read_inside(&browser, "return rows").await,
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
    browser.evaluate("sessionStorage.clear()").await;
    browser.reload().await;
    wait_for_list(&browser).await;
    browser.tab_to("asset-LTC").await;
    release(&browser).await;
    assert_eq!(focused(&browser).await, "asset-LTC");
    end(world, browser).await;
}

/// Amount, address and code are on the screen without the program, at work, and where its screens have them.
#[tokio::test]
async fn the_payment_is_shown_early_as_the_program_shows_it() {
    let (world, browser) = open_order(&[]).await;
    for (asset, locale, width) in [
        ("asset-BTC", "en", 390),
        ("asset-LTC", "de", 1270),
        ("asset-BTC", "ar", 1270),
    ] {
        browser.emulate(wide(width)).await;
        browser.evaluate("sessionStorage.clear()").await;
        let page = format!("{}&locale={locale}", world.checkout_page());
        browser.goto("about:blank").await;
        browser.goto(&page).await;
        assert_eq!(axe_findings(&browser).await, "", "the list in {locale}");
        browser.tab_to(asset).await;
        browser.type_keys(Key::Enter).await;
        browser.wait_for("address").await;
        let heading = "return named('address').getRootNode().activeElement.localName";
        assert_eq!(read_inside(&browser, heading).await, "h2");
        let address = browser
            .text("address")
            .await
            .replace(char::is_whitespace, "");
        assert!(browser.scan("qr").await.contains(&address));
        let shown = "
            return ['h2', '.countdown', '.amount', '.warnings', '.destination', '.verified', '.qr'].map((at) => {
                const element = inside.querySelector(at);
                const { x, y, width, height } = element.getBoundingClientRect();
                return [at, element.innerText, x, y + scrollY, width, height].join();
            })";
        let early = read_inside(&browser, shown).await;
        assert_eq!(axe_findings(&browser).await, "", "the payment in {locale}");
        let copy = "navigator.clipboard.writeText = async (text) => { window.copied = text; }; named('copy-address').click()";
        read_inside(&browser, copy).await;
        browser
            .wait_for_result(
                "the address is copied",
                "return window.copied",
                json!(address),
            )
            .await;
        // A customer who scans it keeps it in front.
        browser.press("qr").await;
        browser.wait_for("qr-large").await;
        release(&browser).await;
        let is_over =
            "inside.querySelector('.confirm') && inside.querySelector('dialog').matches(':modal')";
        wait_for_value(
            &browser,
            "the large code is above the screen",
            is_over,
            true,
        )
        .await;
        browser.press("qr-close").await;
        // The button says for two seconds that it has copied.
        eventually("the program's screen is the early one", async || {
            (read_inside(&browser, shown).await == early).then_some(())
        })
        .await;
        browser.press("qr").await;
        browser.press("qr-address-only").await;
        assert_eq!(browser.scan("qr-bare").await, address);
    }
    end(world, browser).await;
}

/// While the module of the screens is missing, the early payment stands for as long as it is due.
#[tokio::test]
async fn an_early_payment_ends_when_it_is_made() {
    let (world, browser) = open_order(&[]).await;
    browser.block(&["*/payment-*.wasm"]).await;
    browser.press("asset-BTC").await;
    browser.wait_for("address").await;
    release(&browser).await;
    browser.wait_for("address").await;
    let checkout = only_order(&world, &browser).await;
    world.sandbox().pay(&checkout, "exact").await;
    browser.wait_until_gone("address").await;
    browser.block(&[]).await;
    eventually("the screens are loaded", async || {
        read_inside(&browser, "named('retry')?.click()").await;
        browser.is_visible("status-processing").await.then_some(())
    })
    .await;
    end(world, browser).await;
}

/// Nothing but the program reads the order's state: without it, the address goes when its time is up.
#[tokio::test]
async fn an_early_address_goes_with_its_time() {
    let collect = "
        window.late = [];
        const wait = window.setTimeout;
        window.setTimeout = (act, ms, ...more) => (ms > 600000 ? window.late.push(act) : wait(act, ms, ...more));";
    let (world, browser) = open_order(&[collect]).await;
    browser.press("asset-BTC").await;
    browser.wait_for("address").await;
    let later = "const now = Date.now; Date.now = () => now() + 3600000";
    browser.evaluate(later).await;
    browser.wait_until_gone("address").await;
    let sentence = "Don’t send to the old address. A new price takes a second.";
    browser
        .wait_for_text("status-awaiting_payment", sentence)
        .await;
    end(world, browser).await;
}

/// What stands above the payment, or before it, comes with the program: nothing of it is pushed away.
#[tokio::test]
async fn a_payment_that_begins_with_more_waits_for_the_program() {
    let (world, browser) = open_gallery().await;
    let page = world.checkout_page();
    // A bare address may be a token's, whose heading names its network.
    let bare = "if (order.attempt?.asset === 'BNB') {
        delete order.attempt.evm_transaction;
        order.attempt.qr_string = order.attempt.address;
    }";
    browser.run_before_every_page(&change_responses(bare)).await;
    // One that a wallet of this browser may pay, that one, and one that asks for an email address first.
    for (product, asset) in [
        ("ebook", "asset-ETH"),
        ("mug", "asset-BNB"),
        ("guide", "asset-BTC"),
    ] {
        let before = orders(&world).await.len();
        browser.goto("about:blank").await;
        browser.goto(&page.replace("ebook", product)).await;
        browser.press(asset).await;
        eventually("the order is opened", async || {
            (orders(&world).await.len() > before).then_some(())
        })
        .await;
        // Time for a screen that must not appear.
        support::pause(std::time::Duration::from_millis(400)).await;
        browser.wait_for("status-open").await;
        release(&browser).await;
        browser.wait_for("status-awaiting_payment").await;
    }
    end(world, browser).await;
}

/// A press that begins on an element and ends on another is no press to a browser.
#[tokio::test]
async fn the_program_waits_for_a_press_that_has_begun() {
    let (world, browser) = open_order(&[]).await;
    let begin = "named('asset-BTC').dispatchEvent(new PointerEvent('pointerdown', { bubbles: true, composed: true }))";
    read_inside(&browser, begin).await;
    read_inside(
        &browser,
        "window.release(); window.row = named('asset-BTC')",
    )
    .await;
    // Time for new rows, which must not replace the pressed one.
    support::pause(std::time::Duration::from_millis(400)).await;
    assert_eq!(
        read_inside(&browser, "return window.row.isConnected").await,
        true
    );
    let release = "window.row.dispatchEvent(new PointerEvent('pointerup', { bubbles: true, composed: true })); window.row.click()";
    read_inside(&browser, release).await;
    browser.wait_for("status-awaiting_payment").await;
    end(world, browser).await;
}

#[tokio::test]
async fn an_element_that_is_removed_shows_nothing_when_the_program_comes() {
    let (world, browser) = open_order(&[]).await;
    let remove = "window.element = document.querySelector('florin-checkout'); window.element.remove(); window.release()";
    browser.evaluate(remove).await;
    // Time for a screen that must not appear.
    support::pause(std::time::Duration::from_millis(500)).await;
    let left = "return [window.isReady ?? false, window.element.shadowRoot.querySelectorAll('.option').length]";
    assert_eq!(browser.evaluate(left).await, json!([false, 0]));
    end(world, browser).await;
}

/// The page is one response: without the proxy after it, the list is there, and a press says what is wrong.
#[tokio::test]
async fn without_the_proxy_the_list_is_shown_and_a_press_says_so() {
    let (world, browser) = (World::start().await, Browser::open().await);
    // The first sends a request, the second waits for the program.
    for (asset, next) in [
        ("asset-BTC", "status-awaiting_payment"),
        ("asset-USDTTRC20", "network"),
    ] {
        browser.block(&["*/assets/*", "*/v1/*"]).await;
        browser.goto(&world.checkout_page()).await;
        browser.press(asset).await;
        let text = "return inside.querySelector('.banner[role=alert]')?.textContent ?? ''";
        eventually("the press is answered", async || {
            let text = read_inside(&browser, text).await;
            text.as_str()?
                .contains("There’s no connection")
                .then_some(())
        })
        .await;
        browser.block(&[]).await;
        if asset == "asset-BTC" {
            assert_eq!(orders(&world).await, [] as [Value; 0]);
            browser.press(asset).await;
        }
        browser.wait_for(next).await;
        assert_eq!(orders(&world).await.len(), 1);
        browser.evaluate("sessionStorage.clear()").await;
    }
    end(world, browser).await;
}
