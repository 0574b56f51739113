//! Helpers that many tests share: in the demo shop, in a shop page with given elements, and with a screen reader.

use std::cell::RefCell;
use std::time::Duration;

use serde_json::{Value, json};
use support::circumstances::drawn_page;
use support::{Browser, Checkout, StoreSite, World, npm_file, within};
use thirtyfour::Key;

/// Prefix of scripts: `inside` is the checkout's shadow root, `rows` the assets on its screen.
const INSIDE: &str = "
    const inside = document.querySelector('florin-checkout').shadowRoot;
    const named = name => inside.querySelector(`[data-testid=\"${name}\"]`);
    const rows = [...inside.querySelectorAll('.option[data-testid]')].filter(row => row.offsetParent).map(row => row.dataset.testid);";

/// Runs a script in the checkout: `inside` is its shadow root, `named(testid)` an element, `rows` the assets on the screen.
pub(crate) async fn read_inside(browser: &Browser, script: &str) -> Value {
    browser.evaluate(&[INSIDE, script].concat()).await
}

/// Returns the focused element of the checkout: its `data-testid`, else its text.
pub(crate) async fn focused(browser: &Browser) -> String {
    let at =
        "return inside.activeElement?.dataset.testid ?? inside.activeElement?.textContent ?? ''";
    let at = read_inside(browser, at).await;
    at.as_str().unwrap_or_default().to_owned()
}

/// Waits until this has the focus: a `data-testid`, else a text.
pub(crate) async fn wait_for_focus(browser: &Browser, name: &str) {
    let what = format!("the focus is on {name}");
    let focus = "inside?.activeElement?.dataset.testid ?? inside?.activeElement?.textContent";
    wait_for_value(browser, &what, focus, name).await;
}

/// The page asks for the offer that it came with.
pub(crate) const WITHOUT_OFFER: &str = "(() => {
        const parse = JSON.parse;
        JSON.parse = (...text) => {
            const parsed = parse(...text);
            if (parsed?.words) delete parsed.offer;
            return parsed;
        };
    })();";

/// Opens the checkout's page in a new world; the scripts run before the page's.
pub(crate) async fn checkout_page(scripts: &[&str]) -> (World, Browser) {
    let (world, browser) = (World::start().await, Browser::open().await);
    for script in scripts {
        browser.run_before_every_page(script).await;
    }
    browser.goto(&world.checkout_page()).await;
    (world, browser)
}

/// Opens the checkout's page and the payment in this asset.
pub(crate) async fn open_payment(asset: &str, scripts: &[&str]) -> (World, Browser, Checkout) {
    let (world, browser) = checkout_page(scripts).await;
    let checkout = choose_asset(&world, &browser, asset).await;
    (world, browser, checkout)
}

pub(crate) async fn end(world: World, browser: Browser) {
    browser.end().await;
    world.end().await;
}

/// A page of another site than the proxy's with its URL, and a world whose store lists it: the checkout's frame is
/// third-party there, with partitioned storage.
pub(crate) async fn another_site() -> (StoreSite, World, String) {
    let site = StoreSite::open().await;
    let url = site.url().replace("127.0.0.1", "localhost");
    let world = World::with(|config| config.origins = vec![url.clone()]).await;
    (site, world, url)
}

/// Returns the only order of the store, with the page's client token.
pub(crate) async fn only_order(world: &World, browser: &Browser) -> Checkout {
    let orders = world.store().get("/v1/orders").await.with(200).body;
    let orders = orders["orders"].as_array().unwrap();
    assert_eq!(orders.len(), 1, "one order, whatever the page went through");
    let id = orders[0]["id"].as_str().unwrap();
    let find = "return Object.entries(sessionStorage).find(([key]) => key.startsWith('florin') && !key.startsWith('florin:sent:'))?.[1]";
    let token = browser.evaluate(find).await;
    let token = token.as_str().expect("the page keeps a token");
    world.customer().with_token(token, id)
}

/// Chooses an asset, and its network if there are several; returns the order.
pub(crate) async fn choose_asset(world: &World, browser: &Browser, crypto_code: &str) -> Checkout {
    browser.press(&format!("asset-{crypto_code}")).await;
    if crypto_code.starts_with("USDT") {
        browser.press("network-confirm").await;
    }
    browser.wait_for("status-awaiting_payment").await;
    only_order(world, browser).await
}

/// Passes the proxy's responses about the order through `change(order)`; the event stream is off.
pub(crate) fn change_responses(change: &str) -> String {
    format!(
        "(() => {{
        const fetched = window.fetch;
        const change = (order) => {{ {change} }};
        window.fetch = async (request, options) => {{
            const url = request.url ?? String(request);
            if (url.includes('/v1/checkout/events')) return new Response('', {{ status: 503 }});
            const response = await fetched(request, options);
            if (!/\\/v1\\/checkout(\\/attempt)?$/.test(url) || !response.ok) return response;
            const body = await response.json();
            const order = body.order ?? body;
            if (order.id) change(order);
            return new Response(JSON.stringify(body), {{ status: response.status }});
        }};
        }})();"
    )
}

/// Expression: the dialog is open. Read by [`wait_for_value`].
pub(crate) const IS_OPEN: &str = "inside?.querySelector('dialog')?.open";

/// Expression: opens the dialog; `true` once it is open. Read by [`wait_for_value`].
pub(crate) const OPENS: &str =
    "(element?.open?.(), Boolean(inside?.querySelector('dialog')?.open))";

/// Expression: the element's button exists. Read by [`wait_for_value`].
pub(crate) const HAS_BUTTON: &str = "Boolean(inside?.querySelector('[part=button]'))";

/// The frame that stands in the tag of this product.
pub(crate) fn tag_frame(world: &World, product: &str) -> String {
    let page = format!("{}/pay?store=demo&amp;product={product}", world.proxy_url());
    format!("<iframe src=\"{page}\" title=\"Checkout\" allow=\"clipboard-write\"></iframe>")
}

/// Opens a shop page with the loader and these elements, in a circumstance that is drawn by the test's name.
pub(crate) async fn page_with(elements: &str) -> (StoreSite, World) {
    let (site, world) = World::with_site().await;
    let (policy, body) = drawn_page().page(&world.proxy_url(), elements);
    site.serve(&policy, &body);
    (site, world)
}

/// As [`page_with`], opened in a browser.
pub(crate) async fn shop_page(elements: &str) -> (StoreSite, World, Browser) {
    let (site, world) = page_with(elements).await;
    let browser = Browser::open().await;
    browser.goto(site.url()).await;
    (site, world, browser)
}

pub(crate) async fn orders(world: &World) -> Vec<Value> {
    let orders = world.store().get("/v1/orders").await.with(200).body;
    orders["orders"].as_array().unwrap().clone()
}

/// Waits until an expression has this value; `element` and `inside` are the checkout and its shadow root.
pub(crate) async fn wait_for_value(
    browser: &Browser,
    what: &str,
    expression: &str,
    value: impl Into<Value>,
) {
    let script = format!(
        "const element = document.querySelector('florin-checkout');
         const inside = element?.shadowRoot;
         return {expression}"
    );
    browser.wait_for_result(what, &script, value).await;
}

/// Presses the element's button by the keyboard.
pub(crate) async fn open_dialog(browser: &Browser) {
    wait_for_value(browser, "the button is there", HAS_BUTTON, true).await;
    browser.evaluate("document.querySelector('florin-checkout').shadowRoot.querySelector('[part=button]').focus()").await;
    browser.type_keys(Key::Enter).await;
    wait_for_value(browser, "the dialog is open", IS_OPEN, true).await;
}

/// Records the texts of the checkout's live region in `announced`; `regions()` counts the live regions.
pub(crate) const RECORD_ANNOUNCEMENTS: &str = "(() => {
    window.announced = [];
    const inside = () => document.querySelector('florin-checkout')?.shadowRoot;
    window.regions = () => inside().querySelectorAll(
        '[role=status], [role=alert], [role=log], [aria-live=polite], [aria-live=assertive]').length;
    // The program's region takes the place of the first list's.
    let region;
    setInterval(() => {
        const found = inside()?.querySelector('.unseen[role=status]');
        if (!found || found === region) return;
        region = found;
        const record = () => found.textContent.trim() && window.announced.push(found.textContent.trim());
        new MutationObserver(record).observe(found, { childList: true, characterData: true, subtree: true });
        record();
    }, 5);
})();";

/// Returns the announcements so far, which [`RECORD_ANNOUNCEMENTS`] recorded.
pub(crate) async fn announced(browser: &Browser) -> Vec<String> {
    let announced = browser.evaluate("return window.announced").await;
    let texts = announced.as_array().into_iter().flatten();
    texts.filter_map(Value::as_str).map(str::to_owned).collect()
}

pub(crate) async fn wait_until_announced(browser: &Browser, words: &str) {
    let what = format!("announcement of {words:?}");
    let is_last = "return window.announced?.at(-1) === arguments[0]";
    browser
        .wait_until_with(&what, is_last, &[json!(words)])
        .await;
}

/// Waits until a warning of the console contains this text; returns the warnings that came until then, as they are written.
pub(crate) async fn wait_for_warning(browser: &Browser, text: &str) -> String {
    let console = RefCell::new(String::new());
    let found = within(Duration::from_secs(45), async || {
        let warnings = browser.console_warnings().await.join("\n");
        // The driver writes strings as JSON.
        let warnings = warnings.replace("\\\"", "\"").replace("\\n", "\n");
        console
            .borrow_mut()
            .push_str(&warnings.replace("\\u003C", "<"));
        console.borrow().contains(text).then_some(())
    })
    .await;
    let console = console.into_inner();
    assert!(found.is_some(), "{text} is nowhere in {console}");
    console
}

/// Returns the findings of axe-core, one per line; an empty string is a clean page.
pub(crate) async fn axe_findings(browser: &Browser) -> String {
    const RUN: &str = "
        const [done] = [...arguments].slice(-1);
        axe.run(document, {
            runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
            resultTypes: ['violations'],
            preload: false,
        }).then(({ violations, passes }) => done([passes.length, violations.flatMap(({ id, nodes }) => nodes.map(({ target, any, all, none }) =>
            id + ' at ' + target.flat().join(' ') + ': ' + [...any, ...all, ...none].map(({ message }) => message).join('; ')))]), (error) => done([0, ['' + error]]));";
    let there = browser.evaluate("return typeof axe").await;
    if there != "object" {
        let axe = std::fs::read_to_string(npm_file("axe-core/axe.min.js")).unwrap();
        browser.evaluate(&axe).await;
    }
    let response = browser.evaluate_async(RUN).await;
    assert!(
        response[0].as_u64() > Some(5),
        "axe-core looked: {response}"
    );
    let found = response[1].as_array().unwrap().iter();
    let found: Vec<_> = found.map(|line| line.as_str().unwrap()).collect();
    found.join("\n")
}
