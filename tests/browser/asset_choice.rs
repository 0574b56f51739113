//! The asset choice in a real browser: search, prices and networks, by mouse, keyboard and screen reader.

use std::time::Duration;

use serde_json::{Value, json};
use support::{Browser, BrowserOptions, World, eventually, pause, within};
use thirtyfour::Key;

use crate::helpers::{RECORD_ANNOUNCEMENTS, announced, wait_until_announced};

/// Passes the proxy's quotes through `window.change`, and lets the page's clock be moved forward.
pub(crate) const BETWEEN: &str = "
    window.later = 0;
    const now = performance.now.bind(performance);
    performance.now = () => now() + window.later;
    const fetched = window.fetch;
    window.fetch = async (request, options) => {
        const response = await fetched(request, options);
        const address = request.url ?? String(request);
        if (!/\\/v1\\/checkout(\\/quotes)?$/.test(address) || !response.ok || response.status === 304) return response;
        const body = await response.json();
        // The quotes come by themselves, or with a new order.
        if (body.quotes) body.quotes = await window.change(body.quotes);
        const changed = Array.isArray(body) ? await window.change(body) : body;
        return new Response(JSON.stringify(changed), { status: response.status, headers: response.headers });
    };";
pub(crate) const AS_THEY_ARE: &str = "quotes => quotes";

/// Prefix of every script: `inside` is the checkout, `rows` its assets on the screen.
const INSIDE: &str = "
    const inside = document.querySelector('florin-checkout').shadowRoot;
    const named = name => inside.querySelector(`[data-testid=\"${name}\"]`);
    const rows = [...inside.querySelectorAll('.option[data-testid]')].filter(row => row.offsetParent).map(row => row.dataset.testid);";

pub(crate) async fn read_field(browser: &Browser, script: &str) -> Value {
    browser.evaluate(&[INSIDE, script].concat(), &[]).await
}

/// Opens the asset choice with changed quotes.
pub(crate) async fn open_choice(change: &str, options: BrowserOptions) -> (World, Browser) {
    let (world, browser) = (World::start().await, Browser::open_with(options).await);
    let script = format!("{BETWEEN} window.change = {change};");
    browser.run_before_every_page(RECORD_ANNOUNCEMENTS).await;
    browser.run_before_every_page(&script).await;
    browser.goto(&world.checkout_page()).await;
    browser.wait_for("status-open").await;
    (world, browser)
}

/// Moves the page's clock forward, so that the quotes on the screen expire.
pub(crate) async fn move_clock(browser: &Browser, seconds: u32) {
    let script = format!("window.later += {seconds} * 1000");
    browser.evaluate(&script, &[]).await;
}

pub(crate) async fn focused(browser: &Browser) -> String {
    let at = read_field(
        browser,
        "return inside.activeElement?.dataset.testid ?? inside.activeElement?.textContent ?? ''",
    )
    .await;
    at.as_str().unwrap_or_default().to_owned()
}

const DEARER: &str = "window.change = quotes => quotes.map(quote => quote.asset === 'BTC' ? { ...quote, amount_in_crypto: '0.00099999' } : quote)";
const FRESH: &str = "The prices have just been updated.";

#[tokio::test]
async fn fresh_prices_keep_the_input_the_focus_and_the_scroll_position() {
    let options = BrowserOptions {
        size: (390, 400),
        dark: false,
        ..BrowserOptions::default()
    };
    let (world, browser) = open_choice(AS_THEY_ARE, options).await;
    browser.fill("search", "bitcoin").await;
    wait_until_announced(&browser, "Search currencies: 2").await;
    read_field(&browser, "for (const row of inside.querySelectorAll('.option')) row.same = true; scrollTo(0, 120); window.was = scrollY").await;
    browser.evaluate(DEARER, &[]).await;
    move_clock(&browser, 120).await;
    browser.wait_for_text("asset-BTC", "0.00099999").await;
    let kept = "return [named('search').value, rows, scrollY === window.was, window.was > 0, [...inside.querySelectorAll('.option')].every(row => row.same)]";
    assert_eq!(
        read_field(&browser, kept).await,
        json!(["bitcoin", ["asset-BTC", "asset-BCH"], true, true, true])
    );
    assert_eq!(focused(&browser).await, "search");
    // Only changed prices are marked.
    let marked = "return [...inside.querySelectorAll('.moved')].map(at => at.closest('[data-testid]').dataset.testid)";
    assert_eq!(read_field(&browser, marked).await, json!(["asset-BTC"]));
    let moving = "return getComputedStyle(inside.querySelector('.moved')).animationName";
    assert_eq!(read_field(&browser, moving).await, "moved");
    browser.wait_for("prices-fresh").await;
    assert_eq!(announced(&browser).await.last().unwrap(), FRESH);
    // The note disappears and takes no space then.
    let gone = within(Duration::from_secs(15), async || {
        (!browser.is_visible("prices-fresh").await).then_some(())
    })
    .await;
    assert!(gone.is_some(), "the note stays");
    // The same with the focus on an asset.
    read_field(&browser, "named('asset-BTC').focus()").await;
    browser
        .evaluate(&DEARER.replace("0.00099999", "0.00088888"), &[])
        .await;
    move_clock(&browser, 120).await;
    browser.wait_for_text("asset-BTC", "0.00088888").await;
    assert_eq!(focused(&browser).await, "asset-BTC");
    browser.end().await;
    world.end().await;
}

#[tokio::test]
async fn changed_prices_are_announced_once_a_minute() {
    let short = "quotes => quotes.map(quote => ({ ...quote, valid_for_seconds: 5, amount_in_crypto: quote.asset === 'BTC' ? '0.0' + ++window.count : quote.amount_in_crypto }))";
    let (world, browser) = open_choice(
        &format!("(window.count = 10, {short})"),
        BrowserOptions::default(),
    )
    .await;
    let shows = async |amount: &str| {
        browser.wait_for_text("asset-BTC", amount).await;
    };
    let times = async || {
        let announced = announced(&browser).await;
        announced.iter().filter(|words| *words == FRESH).count()
    };
    shows("0.011").await;
    assert_eq!(times().await, 0);
    move_clock(&browser, 6).await;
    shows("0.012").await;
    eventually("it is announced", async || {
        (times().await == 1).then_some(())
    })
    .await;
    move_clock(&browser, 6).await;
    shows("0.013").await;
    assert_eq!(times().await, 1);
    eventually("the note is gone", async || {
        (!browser.is_visible("prices-fresh").await).then_some(())
    })
    .await;
    // Unchanged prices are not announced.
    browser.evaluate("const change = window.change; window.asked = 0; window.change = quotes => { window.asked++; window.count--; return change(quotes); }", &[]).await;
    move_clock(&browser, 70).await;
    eventually("they were requested", async || {
        let asked = browser.evaluate("return window.asked", &[]).await;
        (asked.as_u64()? > 0).then_some(())
    })
    .await;
    assert_eq!(times().await, 1);
    assert!(!browser.is_visible("prices-fresh").await);
    browser.evaluate("window.change = (change => quotes => { window.count += 2; return change(quotes); })(window.change)", &[]).await;
    move_clock(&browser, 70).await;
    eventually("it is announced again", async || {
        (times().await == 2).then_some(())
    })
    .await;
    browser.end().await;
    world.end().await;
}

#[tokio::test]
async fn an_asset_is_found_by_its_common_names() {
    let (world, browser) = open_choice(AS_THEY_ARE, BrowserOptions::default()).await;
    for (typed, found) in [
        ("doge", &["asset-DOGE"][..]),
        ("TETHER", &["asset-USDTTRC20", "asset-USDTERC20"]),
        ("trc20", &["asset-USDTTRC20", "asset-TRX"]),
        ("usdt ethereum", &["asset-USDTERC20"]),
        ("dollars", &[]),
    ] {
        browser.fill("search", typed).await;
        eventually(&format!("{typed} is searched for"), async || {
            (read_field(&browser, "return rows").await == json!(found)).then_some(())
        })
        .await;
        let sentence = match found.len() {
            0 => "No currency matches “\u{2068}dollars\u{2069}”.".to_owned(),
            number => format!("Search currencies: {number}"),
        };
        wait_until_announced(&browser, &sentence).await;
    }
    let screen = browser.text("status-open").await;
    assert!(
        screen.contains("No currency matches “\u{2068}dollars\u{2069}”."),
        "{screen}"
    );
    // Escape clears the field and closes no dialog; in an empty field it closes the dialog.
    read_field(&browser, "window.pressed = []; addEventListener('keydown', event => window.pressed.push(event), true)").await;
    browser.type_keys(Key::Escape).await;
    let all = "return [named('search').value, rows.length, window.pressed.map(event => event.defaultPrevented)]";
    assert_eq!(read_field(&browser, all).await, json!(["", 9, [true]]));
    assert_eq!(focused(&browser).await, "search");
    browser.type_keys(Key::Escape).await;
    assert_eq!(
        read_field(&browser, all).await,
        json!(["", 9, [true, false]])
    );
    browser.end().await;
    world.end().await;
}

#[tokio::test]
async fn six_assets_need_no_search() {
    for (number, searched) in [(6, false), (7, true)] {
        let change = format!("quotes => quotes.slice(0, {number})");
        let (world, browser) = open_choice(&change, BrowserOptions::default()).await;
        browser.wait_for("asset-BTC").await;
        assert_eq!(browser.is_visible("search").await, searched, "{number}");
        browser.end().await;
        world.end().await;
    }
}

/// Deletes the page's order, so that the proxy opens another.
pub(crate) async fn open_second_purchase(browser: &Browser) {
    browser.evaluate("sessionStorage.clear()", &[]).await;
    browser.reload().await;
    browser.wait_for("asset-BTC").await;
}

pub(crate) const FIRST: &str = "return [rows[0], [...inside.querySelectorAll('[data-testid=\"last-used\"]')].map(at => at.closest('.option').dataset.testid)]";

#[tokio::test]
async fn the_last_choice_comes_first_and_is_not_preselected() {
    let (world, browser) = open_choice(AS_THEY_ARE, BrowserOptions::default()).await;
    browser.wait_for("asset-BTC").await;
    assert_eq!(read_field(&browser, FIRST).await, json!(["asset-BTC", []]));
    browser.press("asset-LTC").await;
    browser.wait_for("status-awaiting_payment").await;
    open_second_purchase(&browser).await;
    assert_eq!(
        read_field(&browser, FIRST).await,
        json!(["asset-LTC", ["asset-LTC"]])
    );
    assert!(browser.text("asset-LTC").await.contains("Your last choice"));
    assert!(browser.is_visible("status-open").await);
    assert_eq!(world.sandbox().count("POST", "/invoice").await, 1);
    // Only a crypto code is kept beyond the tab.
    let kept = "return Object.entries(localStorage)";
    assert_eq!(
        browser.evaluate(kept, &[]).await,
        json!([["florin:asset", "LTC"]])
    );
    // An unavailable one keeps its place.
    let gone = "window.change = quotes => quotes.map(quote => quote.asset === 'LTC' ? { ...quote, available: false, reason: 'not_priced' } : quote)";
    browser.run_before_every_page(gone).await;
    open_second_purchase(&browser).await;
    assert_eq!(read_field(&browser, FIRST).await, json!(["asset-BTC", []]));
    browser.end().await;
    world.end().await;
}

#[tokio::test]
async fn without_storage_the_page_remembers_the_last_choice() {
    let (world, browser) = (World::start().await, Browser::open().await);
    let forbidden = "for (const name of ['localStorage', 'sessionStorage']) Object.defineProperty(window, name, { get() { throw new DOMException('forbidden', 'SecurityError'); } });";
    browser.run_before_every_page(forbidden).await;
    browser.goto(&world.checkout_page()).await;
    browser.press("asset-LTC").await;
    browser.wait_for("status-awaiting_payment").await;
    read_field(
        &browser,
        "[...inside.querySelectorAll('button.plain')].find(at => at.textContent === 'Pay with another currency').click()",
    )
    .await;
    browser.wait_for("asset-LTC").await;
    assert_eq!(
        read_field(&browser, FIRST).await,
        json!(["asset-LTC", ["asset-LTC"]])
    );
    assert_eq!(browser.console_warnings().await, Vec::<String>::new());
    browser.end().await;
    world.end().await;
}

#[tokio::test]
async fn an_unavailable_asset_shows_and_announces_the_reason() {
    let low = "quotes => quotes.map(quote => quote.asset === 'BTC' ? { ...quote, available: false, reason: 'below_minimum', min: '0.5', limit_in_order_currency: '32125.07' } : quote)";
    // The ticker stays beside the reason.
    let reason = "BTC · Minimum 0.5\u{a0}BTC (≈\u{a0}$32,125.07)";
    for dark in [false, true] {
        let options = BrowserOptions {
            size: (1270, 740),
            dark,
            ..BrowserOptions::default()
        };
        let (world, browser) = open_choice(low, options).await;
        browser.wait_for("asset-BTC").await;
        browser.tab_to("asset-BTC").await;
        let name = read_field(&browser, "return named('asset-BTC').innerText").await;
        assert!(name.as_str().unwrap().contains(reason), "{name}");
        browser.type_keys(Key::Enter).await;
        wait_until_announced(&browser, reason).await;
        assert_eq!(world.sandbox().count("POST", "/invoice").await, 0);
        // Greyed out and still readable: WCAG 2.2, 1.4.3.
        let contrast = "
            const light = rgb => { const [r, g, b] = rgb.match(/[\\d.]+/g).map(v => rgb.startsWith('color(') ? +v : v / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
            const row = named('asset-BTC');
            const ground = light(getComputedStyle(row).backgroundColor);
            return Math.min(...[...row.querySelectorAll('b, small')].filter(at => at.textContent).map(at => {
                let seen = 1;
                for (let up = at; up !== row.parentNode; up = up.parentNode) seen *= getComputedStyle(up).opacity;
                if (seen < 1) return 0;
                const ink = light(getComputedStyle(at).color);
                return (Math.max(ink, ground) + 0.05) / (Math.min(ink, ground) + 0.05);
            }));";
        let ratio = read_field(&browser, contrast).await.as_f64().unwrap();
        assert!(ratio >= 4.5, "{ratio} (dark: {dark})");
        browser.end().await;
        world.end().await;
    }
}

#[tokio::test]
async fn one_asset_or_thirty_with_endless_names_fit_the_smallest_phone() {
    let many = "quotes => Array.from({ length: 30 }, (_, n) => ({ ...quotes[n % 9], crypto_code: 'ASSET' + n, asset: n % 3 ? quotes[n % 9].asset : 'W'.repeat(24), asset_name: 'Averylongname'.repeat(10).slice(0, 120), network: n % 2 ? 'Network'.repeat(10) : quotes[n % 9].network, amount_in_crypto: '123456789.12345678' }))";
    // Thirty assets are seven rows; one of them leads to the networks with the longest names.
    let coin = format!("networks-{}", "W".repeat(24));
    for (change, assets, networks) in [("quotes => quotes.slice(0, 1)", 1, 0), (many, 7, 10)] {
        for locale in ["en", "ar"] {
            let options = BrowserOptions {
                size: (320, 640),
                dark: false,
                ..BrowserOptions::default()
            };
            let (world, browser) = (World::start().await, Browser::open_with(options).await);
            let script = format!("{BETWEEN} window.change = {change};");
            browser.run_before_every_page(&script).await;
            browser
                .goto(&format!("{}&locale={locale}", world.checkout_page()))
                .await;
            browser.wait_for("status-open").await;
            let shape = async || {
                let shape = read_field(&browser, "return [rows.length, document.documentElement.scrollWidth <= innerWidth, [...inside.querySelectorAll('.option')].every(row => !row.offsetParent || row.offsetHeight >= 44 && row.scrollWidth <= row.clientWidth)]").await;
                (shape[0] != 0).then_some(shape)
            };
            let found = eventually("the assets are shown", shape).await;
            assert_eq!(found, json!([assets, true, true]), "{locale}");
            if networks > 0 {
                browser.press(&coin).await;
                assert_eq!(
                    shape().await,
                    Some(json!([networks, true, true])),
                    "{locale}"
                );
            }
            browser.end().await;
            world.end().await;
        }
    }
}

/// The nine assets, and USDT on further networks up to this number.
pub(crate) fn on_more_networks(assets: usize) -> String {
    let more = "{ ...quotes.find(quote => quote.crypto_code === 'USDTTRC20'), crypto_code: 'USDT' + n, network: 'Network ' + n }";
    format!("quotes => [...quotes, ...Array.from({{ length: {assets} - 9 }}, (_, n) => ({more}))]")
}

#[tokio::test]
async fn an_empty_list_is_explained_and_can_be_requested_again() {
    let (world, browser) = open_choice("() => []", BrowserOptions::default()).await;
    browser.wait_for("retry").await;
    let screen = browser.text("status-open").await;
    assert!(
        screen.contains("No currencies are available right now"),
        "{screen}"
    );
    browser
        .evaluate("window.change = quotes => quotes", &[])
        .await;
    browser.press("retry").await;
    browser.wait_for("asset-BTC").await;
    browser.end().await;
    world.end().await;
}

/// Holds the quotes until `release()`.
const HELD: &str = "quotes => new Promise(release => (window.release = () => release(quotes)))";

/// Disables the timers of these milliseconds, which let a screen start without its data.
fn without_timers(times: &str) -> String {
    format!(
        "const timer = window.setTimeout;
         window.setTimeout = (work, time, ...rest) => [{times}].includes(time) ? 0 : timer(work, time, ...rest);"
    )
}

async fn release(browser: &Browser) {
    eventually("the prices are shown", async || {
        let release = browser.evaluate("window.release?.(); return Boolean(window.release)", &[]);
        (release.await == true).then_some(())
    })
    .await;
}

#[tokio::test]
async fn slow_prices_do_not_hide_the_order() {
    let (world, browser) = (World::start().await, Browser::open().await);
    browser.run_before_every_page(&without_timers("3000")).await;
    let script = format!("{BETWEEN} window.change = {HELD};");
    browser.run_before_every_page(&script).await;
    browser.goto(&world.checkout_page()).await;
    browser.wait_for("status-open").await;
    let waiting = "return [!!inside.querySelector('.options[aria-busy=true]').offsetHeight, rows]";
    assert_eq!(read_field(&browser, waiting).await, json!([true, []]));
    release(&browser).await;
    browser.wait_for("asset-BTC").await;
    browser.end().await;
    world.end().await;
}

#[tokio::test]
async fn the_first_screen_includes_prices_that_arrive_in_time() {
    let (world, browser) = (World::start().await, Browser::open().await);
    browser
        .run_before_every_page(&without_timers("400, 3000"))
        .await;
    let script = format!(
        "{BETWEEN} window.change = {HELD};
         const look = () => {{
             const inside = document.querySelector('florin-checkout')?.shadowRoot;
             if (!inside?.querySelector('[data-testid=status-open]')) return requestAnimationFrame(look);
             window.first = inside.querySelectorAll('.option[data-testid]').length;
         }};
         requestAnimationFrame(look);"
    );
    browser.run_before_every_page(&script).await;
    browser.goto(&world.checkout_page()).await;
    // Long enough for everything else: a screen without prices would be shown by then.
    pause(Duration::from_millis(1500)).await;
    release(&browser).await;
    browser.wait_for("asset-BTC").await;
    assert_eq!(browser.evaluate("return window.first", &[]).await, 9);
    browser.end().await;
    world.end().await;
}

#[tokio::test]
async fn an_asset_is_searched_confirmed_and_paid_by_keyboard() {
    let (world, browser) = open_choice(AS_THEY_ARE, BrowserOptions::default()).await;
    browser.wait_for("search").await;
    browser.tab_to("search").await;
    browser.type_keys("usdt tron").await;
    browser.type_keys(Key::Tab).await;
    assert_eq!(focused(&browser).await, "asset-USDTTRC20");
    browser.type_keys(Key::Enter).await;
    eventually("the heading has the focus", async || {
        (focused(&browser).await == "Check the network").then_some(())
    })
    .await;
    browser.type_keys(Key::Tab).await;
    assert_eq!(focused(&browser).await, "network-confirm");
    browser.type_keys(Key::Enter).await;
    browser.wait_for("status-awaiting_payment").await;
    eventually("the next heading has the focus", async || {
        (focused(&browser).await == "Send USDT on Tron").then_some(())
    })
    .await;
    browser.end().await;
    world.end().await;
}
