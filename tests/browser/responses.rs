//! Responses that arrive late, out of order, or changed.

use std::time::Duration;

use serde_json::json;
use support::{Browser, World, eventually, pay_in_full, within};

use crate::helpers::{change_responses, choose_asset, only_order};

/// Holds responses about the order while `window.held`, each until `release()`.
const HELD: &str = "(() => {
    let go;
    const until = new Promise((done) => { go = done; });
    window.release = go;
    window.waiting = 0;
    const fetched = window.fetch;
    window.fetch = async (request, options) => {
        const response = await fetched(request, options);
        const isAnswer = /\\/v1\\/checkout$/.test(request.url ?? String(request)) && (request.method ?? options?.method ?? 'GET') === 'GET';
        if (window.held && isAnswer) { window.waiting += 1; await until; }
        return response;
    };
})();";

#[tokio::test]
async fn a_response_for_a_previous_order_changes_nothing() {
    let world = World::start().await;
    let browser = Browser::open().await;
    browser.run_before_every_page(HELD).await;
    browser.goto(&world.checkout_page()).await;
    browser.press("asset-BTC").await;
    browser.wait_for("status-awaiting_payment").await;
    pay_in_full(&world, &only_order(&world, &browser).await).await;
    browser.wait_for("status-paid").await;
    browser
        .evaluate("held = true; dispatchEvent(new Event('focus'))", &[])
        .await;
    browser
        .wait_for_result("a response is held", "return waiting > 0", &json!(true))
        .await;
    let again =
        "[...document.querySelector('florin-checkout').shadowRoot.querySelectorAll('button')]
        .find((button) => button.textContent.includes('ew purchase')).click()";
    browser.evaluate(again, &[]).await;
    browser.wait_for("status-open").await;
    browser.evaluate("held = false; release()", &[]).await;
    // Time for the held response, which must not change the screen.
    support::pause(Duration::from_millis(800)).await;
    assert!(
        browser.is_visible("status-open").await,
        "the paid order is back"
    );
    browser.end().await;
    world.end().await;
}

#[tokio::test]
async fn a_request_in_progress_is_repeated_automatically() {
    let world = World::start().await;
    let browser = Browser::open().await;
    let busy = "(() => {
        const fetched = window.fetch;
        let refused = 0;
        window.fetch = async (request, options) => {
            if (options?.method !== 'POST' || refused++) return fetched(request, options);
            const body = { error: { code: 'request_in_progress', message: 'Still at work.', request_id: 'req_1' } };
            return new Response(JSON.stringify(body), { status: 409 });
        };
    })();";
    browser.run_before_every_page(busy).await;
    browser.goto(&world.checkout_page()).await;
    browser.wait_for("status-stopped").await;
    browser.wait_for("status-open").await;
    browser.end().await;
    world.end().await;
}

#[tokio::test]
async fn another_amount_at_the_same_address_is_shown() {
    let world = World::start().await;
    let browser = Browser::open().await;
    let other = "if (order.attempt && window.other) { order.attempt.amount_in_crypto = '0.5'; order.version += 1; }";
    browser
        .run_before_every_page(&change_responses(other))
        .await;
    browser.goto(&world.checkout_page()).await;
    browser.press("asset-BTC").await;
    browser.wait_for("status-awaiting_payment").await;
    let address = browser.text("address").await;
    browser
        .evaluate("other = true; dispatchEvent(new Event('focus'))", &[])
        .await;
    eventually("the new amount is shown", async || {
        (browser.text("amount").await == "0.5").then_some(())
    })
    .await;
    assert_eq!(browser.text("address").await, address);
    browser.end().await;
    world.end().await;
}

#[tokio::test]
async fn a_price_keeps_its_decimals() {
    let world = World::start().await;
    let browser = Browser::open().await;
    // Browsers write forint without decimals.
    let forint = "order.currency = 'HUF'; order.amount = '1990.55';";
    browser
        .run_before_every_page(&change_responses(forint))
        .await;
    browser
        .goto(&format!("{}&locale=en", world.checkout_page()))
        .await;
    browser.wait_for("status-open").await;
    let price = "return document.querySelector('florin-checkout').shadowRoot.querySelector('.price').textContent";
    assert_eq!(browser.evaluate(price, &[]).await, "HUF\u{a0}1,990.55");
    browser.end().await;
    world.end().await;
}

#[tokio::test]
async fn after_sleep_the_countdown_is_correct_before_the_next_response() {
    let mut world = World::start().await;
    let browser = Browser::open().await;
    browser.goto(&world.checkout_page()).await;
    browser.press("asset-BTC").await;
    browser.wait_for("status-awaiting_payment").await;
    // Neither a poll nor the event stream may bring the exact time.
    world.front_link.freeze();
    let slept = "const now = Date.now; Date.now = () => now() + 3_600_000;";
    browser.evaluate(slept, &[]).await;
    eventually("the countdown has ended", async || {
        let screen = browser.text("status-awaiting_payment").await;
        screen.starts_with("Time is up").then_some(())
    })
    .await;
    world.front_link.restore().await;
    browser.end().await;
    world.end().await;
}

#[tokio::test]
async fn a_silent_stream_does_not_slow_polling_down() {
    let world = World::start().await;
    let browser = Browser::open().await;
    let silent = "(() => {
        const fetched = window.fetch;
        window.fetch = (request, options) => (request.url ?? String(request)).includes('/v1/checkout/events')
            ? Promise.resolve(new Response(new ReadableStream({})))
            : fetched(request, options);
    })();";
    browser.run_before_every_page(silent).await;
    browser.goto(&world.checkout_page()).await;
    let checkout = choose_asset(&world, &browser, "BTC").await;
    world.sandbox().pay(&checkout, "exact").await;
    let seen = within(Duration::from_secs(20), async || {
        browser.is_visible("status-processing").await.then_some(())
    });
    assert!(seen.await.is_some(), "it waits for a stream that is silent");
    browser.end().await;
    world.end().await;
}
