//! The screens after the asset choice: a module that is loaded while the customer chooses, and what is said when it does
//! not come.

use serde_json::{Value, json};
use support::{Browser, World, eventually};

use crate::asset_choice::focused;

/// Records when the module is requested, or another file of its screens, and when the checkout is ready.
const RECORD: &str = "
    const fetched = window.fetch;
    window.steps = [];
    addEventListener('florin-ready', () => steps.push('ready'));
    window.fetch = (request, options) => {
        const url = String(request.url ?? request);
        const [, kind] = /payment-\\w+\\.(wasm|css|json)$/.exec(url) ?? [];
        if (kind === (window.kind ?? 'wasm')) {
            steps.push('module');
            if (window.breaks) return breaks(url, fetched);
        }
        return fetched(request, options);
    };";

/// The files of the screens after the asset choice: program, style, texts.
const KINDS: [&str; 3] = ["wasm", "css", "json"];

/// Requests of the file are lost until the page heals.
const LOSE: &str = "window.breaks = (url, fetched) => {
    if (window.heals) return fetched(url);
    throw new TypeError('the answer is lost');
};";

/// The first page of the tab asks for a file that this proxy no longer has, as after a deployment.
const DEPLOY: &str = "if (!sessionStorage.deployed) {
    sessionStorage.deployed = 'true';
    window.breaks = (url, fetched) => fetched(url.replace(/payment-\\w+/, 'payment-00000000'));
}";

fn lost(kind: &str) -> String {
    format!("window.kind = '{kind}'")
}

async fn opens(world: &World, scripts: &[&str]) -> Browser {
    let browser = Browser::open().await;
    for script in scripts {
        browser.run_before_every_page(script).await;
    }
    browser.goto(&world.checkout_page()).await;
    browser.wait_for("status-open").await;
    browser
}

async fn steps(browser: &Browser) -> Value {
    browser.evaluate("return window.steps", &[]).await
}

#[tokio::test]
async fn the_module_is_loaded_while_the_customer_chooses_and_at_once_for_an_order_that_is_paid() {
    let world = World::start().await;
    let browser = opens(&world, &[RECORD]).await;
    eventually("the module is requested", async || {
        (steps(&browser).await == json!(["ready", "module"])).then_some(())
    })
    .await;
    browser.press("asset-BTC").await;
    browser.wait_for("status-awaiting_payment").await;
    browser.reload().await;
    browser.wait_for("status-awaiting_payment").await;
    assert_eq!(steps(&browser).await, json!(["module", "ready"]));
    browser.end().await;
    world.end().await;
}

#[tokio::test]
async fn a_file_that_does_not_come_is_tried_again_by_itself_and_by_a_press() {
    let world = World::start().await;
    for (kind, is_pressed) in KINDS.into_iter().zip([true, false, true]) {
        let browser = opens(&world, &[&lost(kind), RECORD, LOSE]).await;
        eventually("it was requested more than once", async || {
            steps(&browser)
                .await
                .as_array()
                .filter(|steps| steps.len() > 2)
                .map(|_| ())
        })
        .await;
        // Nothing is said while nothing is missing.
        assert!(browser.is_visible("asset-BTC").await);
        browser.press("asset-BTC").await;
        let text = browser.text("status-next_step").await;
        assert!(text.contains("The next step couldn’t be loaded."), "{text}");
        assert!(text.contains("Try again"), "{text}");
        browser.evaluate("window.heals = true", &[]).await;
        if is_pressed {
            // A pause before the next try by itself would hide a button that does nothing.
            let tries = "return window.steps.length";
            let before = browser.evaluate(tries, &[]).await;
            browser.press("retry").await;
            let after = browser.evaluate(tries, &[]).await;
            assert!(after.as_u64() > before.as_u64(), "{before} {after}");
        }
        browser.wait_for("status-awaiting_payment").await;
        browser.wait_for("address").await;
        browser.end().await;
    }
    world.end().await;
}

#[tokio::test]
async fn after_try_again_the_focus_is_on_the_heading_of_the_step_that_came() {
    let world = World::start().await;
    let browser = opens(&world, &[RECORD]).await;
    browser.press("asset-BTC").await;
    browser.wait_for("status-awaiting_payment").await;
    // From here on the page opens in the middle of the order.
    browser.run_before_every_page(LOSE).await;
    browser.reload().await;
    browser.wait_for("retry").await;
    browser.evaluate("window.heals = true", &[]).await;
    browser.press("retry").await;
    browser.wait_for("status-awaiting_payment").await;
    eventually("the heading has the focus", async || {
        (focused(&browser).await == "Pay with Bitcoin").then_some(())
    })
    .await;
    browser.end().await;
    world.end().await;
}

#[tokio::test]
async fn a_page_of_a_version_that_is_gone_asks_to_be_reloaded_and_keeps_the_order() {
    let world = World::start().await;
    for kind in KINDS {
        let browser = opens(&world, &[&lost(kind), RECORD, DEPLOY]).await;
        browser.press("asset-BTC").await;
        let text = browser.text("status-next_step").await;
        assert!(text.contains("This page is out of date."), "{kind}: {text}");
        browser.press("reload").await;
        browser.wait_for("status-awaiting_payment").await;
        browser.wait_for("address").await;
        browser.end().await;
    }
    world.end().await;
}
