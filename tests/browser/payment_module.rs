//! The payment module (the screens after the asset choice): prefetched during the choice, with retries when it is
//! missing.

use serde_json::{Value, json};
use support::{Browser, World, eventually};

use crate::helpers::{end, wait_for_focus};

/// Records the requests of the module's files and the event `florin-ready`.
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

/// The files of the module: program, style, texts.
const KINDS: [&str; 3] = ["wasm", "css", "json"];

/// Drops requests of the file until `window.healed`.
const LOSE: &str = "window.breaks = (url, fetched) => {
    if (window.heals) return fetched(url);
    throw new TypeError('the response is lost');
};";

/// The first page of the tab requests a file that this proxy no longer has, as after a deployment.
const DEPLOY: &str = "if (!sessionStorage.deployed) {
    sessionStorage.deployed = 'true';
    window.breaks = (url, fetched) => fetched(url.replace(/payment-\\w+/, 'payment-00000000'));
}";

fn lost(kind: &str) -> String {
    format!("window.kind = '{kind}'")
}

async fn open_checkout(world: &World, scripts: &[&str]) -> Browser {
    let browser = Browser::open().await;
    for script in scripts {
        browser.run_before_every_page(script).await;
    }
    browser.goto(&world.checkout_page()).await;
    browser.wait_for("status-open").await;
    browser
}

async fn steps(browser: &Browser) -> Value {
    browser.evaluate("return window.steps").await
}

#[tokio::test]
async fn the_module_is_loaded_during_the_choice_and_at_once_for_a_paid_order() {
    let world = World::start().await;
    let browser = open_checkout(&world, &[RECORD]).await;
    eventually("the module is requested", async || {
        (steps(&browser).await == json!(["ready", "module"])).then_some(())
    })
    .await;
    browser.press("asset-BTC").await;
    browser.wait_for("status-awaiting_payment").await;
    browser.reload().await;
    browser.wait_for("status-awaiting_payment").await;
    assert_eq!(steps(&browser).await, json!(["module", "ready"]));
    end(world, browser).await;
}

#[tokio::test]
async fn a_missing_file_is_retried_automatically_and_by_a_button() {
    let world = World::start().await;
    for (kind, is_pressed) in KINDS.into_iter().zip([true, false, true]) {
        let browser = open_checkout(&world, &[&lost(kind), RECORD, LOSE]).await;
        eventually("it was requested more than once", async || {
            steps(&browser)
                .await
                .as_array()
                .filter(|steps| steps.len() > 2)
                .map(|_| ())
        })
        .await;
        // Nothing is shown while nothing is missing.
        assert!(browser.is_visible("asset-BTC").await);
        browser.press("asset-BTC").await;
        let text = browser.text("status-next_step").await;
        assert!(text.contains("The next step couldn’t be loaded."), "{text}");
        assert!(text.contains("Try again"), "{text}");
        browser.evaluate("window.heals = true").await;
        if is_pressed {
            // A pause before the next try by itself would hide a button that does nothing.
            let tries = "return window.steps.length";
            let before = browser.evaluate(tries).await;
            browser.press("retry").await;
            let after = browser.evaluate(tries).await;
            assert!(after.as_u64() > before.as_u64(), "{before} {after}");
        }
        browser.wait_for("status-awaiting_payment").await;
        browser.wait_for("address").await;
        browser.end().await;
    }
    world.end().await;
}

#[tokio::test]
async fn after_try_again_the_focus_is_on_the_heading_of_the_new_step() {
    let world = World::start().await;
    let browser = open_checkout(&world, &[RECORD]).await;
    browser.press("asset-BTC").await;
    browser.wait_for("status-awaiting_payment").await;
    // From here on the page opens with the order's attempt.
    browser.run_before_every_page(LOSE).await;
    browser.reload().await;
    browser.wait_for("retry").await;
    browser.evaluate("window.heals = true").await;
    browser.press("retry").await;
    browser.wait_for("status-awaiting_payment").await;
    wait_for_focus(&browser, "Pay with Bitcoin").await;
    end(world, browser).await;
}

#[tokio::test]
async fn a_page_of_a_removed_version_asks_for_a_reload_and_keeps_the_order() {
    let world = World::start().await;
    for kind in KINDS {
        let browser = open_checkout(&world, &[&lost(kind), RECORD, DEPLOY]).await;
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
