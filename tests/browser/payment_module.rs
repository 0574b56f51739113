//! The payment module (the screens after the asset choice): prefetched during the choice, with retries when it is
//! missing.

use serde_json::json;
use support::{Browser, World};

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

/// Program and style of the module; the gallery has what is shown without its texts.
const KINDS: [&str; 2] = ["wasm", "css"];

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

const STEPS: &str = "return window.steps";

#[tokio::test]
async fn the_module_is_loaded_during_the_choice_and_at_once_for_a_paid_order() {
    let world = World::start().await;
    let browser = open_checkout(&world, &[RECORD]).await;
    let expected = json!(["ready", "module"]);
    browser
        .wait_for_result("the module is requested", STEPS, expected)
        .await;
    browser.press("asset-BTC").await;
    browser.wait_for("status-awaiting_payment").await;
    browser.reload().await;
    browser.wait_for("status-awaiting_payment").await;
    assert_eq!(browser.evaluate(STEPS).await, json!(["module", "ready"]));
    end(world, browser).await;
}

#[tokio::test]
async fn a_missing_file_is_retried_automatically_and_by_a_button() {
    let world = World::start().await;
    for (kind, is_pressed) in KINDS.into_iter().zip([true, false]) {
        let browser = open_checkout(&world, &[&lost(kind), RECORD, LOSE]).await;
        let is_repeated = "return window.steps.length > 2";
        browser.wait_until("a second try", is_repeated).await;
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
    let browser = open_checkout(&world, &[RECORD, DEPLOY]).await;
    browser.press("asset-BTC").await;
    let text = browser.text("status-next_step").await;
    assert!(text.contains("This page is out of date."), "{text}");
    browser.press("reload").await;
    browser.wait_for("status-awaiting_payment").await;
    browser.wait_for("address").await;
    end(world, browser).await;
}
