//! Reloads, network failures and restarts of the proxy: the order continues. Responses that arrive late, out of order, or changed.

use std::time::Duration;

use serde_json::json;
use support::{Browser, World, pause, pay_in_full, within};

use crate::helpers::{
    RECORD_ANNOUNCEMENTS, announced, change_responses, checkout_page, choose_asset, end,
    only_order, open_payment, page_with, read_inside,
};

#[tokio::test]
async fn a_reload_at_every_step_finds_the_same_order() {
    let (world, browser) = checkout_page(&[]).await;
    browser.wait_for("status-open").await;
    browser.reload().await;
    let checkout = choose_asset(&world, &browser, "BTC").await;
    let address = browser.text("address").await;
    browser.reload().await;
    browser.wait_for("status-awaiting_payment").await;
    assert_eq!(browser.text("address").await, address);
    browser.press("i-have-paid").await;
    for (act, status) in [
        (None, "status-checking"),
        (Some(1), "status-processing"),
        (Some(2), "status-paid"),
    ] {
        if let Some(blocks) = act {
            if blocks == 1 {
                world.sandbox().pay(&checkout, "exact").await;
            }
            world.sandbox().mine(blocks).await;
        }
        browser.wait_for(status).await;
        browser.reload().await;
        browser.wait_for(status).await;
    }
    assert_eq!(only_order(&world, &browser).await.order, checkout.order);
    assert_eq!(world.sandbox().count("POST", "/invoice").await, 1);
    end(world, browser).await;
}

#[tokio::test]
async fn a_page_without_a_network_shows_it_and_recovers() {
    let (mut world, browser, checkout) = open_payment("BTC", &[RECORD_ANNOUNCEMENTS]).await;
    world.front_link.freeze();
    browser.set_offline(true).await;
    // The browser knows at once; the silent stream would time out only later.
    let soon = Duration::from_secs(15);
    let is_shown = within(soon, async || {
        browser.is_visible("offline").await.then_some(())
    })
    .await;
    assert!(is_shown.is_some(), "nothing says that the network is gone");
    assert!(
        browser.is_visible("address").await,
        "what can be paid is still shown"
    );
    world.front_link.restore().await;
    browser.set_offline(false).await;
    browser.wait_for("back_online").await;
    assert!(!browser.is_visible("offline").await);
    browser.wait_until_gone("back_online").await;
    let lost = "You’re offline. The amount and the address stay valid until the time is up.";
    let back = "You’re back online.";
    assert_eq!(announced(&browser).await, [lost, back]);
    assert_eq!(browser.evaluate("return regions()").await, 1);
    world.sandbox().settle(&checkout, "exact").await;
    browser.wait_for("status-paid").await;
    end(world, browser).await;
}

#[tokio::test]
async fn expired_and_underpaid_orders_offer_a_next_step() {
    let (world, browser, checkout) = open_payment("BTC", &[RECORD_ANNOUNCEMENTS]).await;
    let old = browser.text("address").await;
    // The attempt expires; a new quote is one press away.
    world.wait_for_deliveries().await;
    world.skip(Duration::from_mins(16));
    browser.wait_for("status-expired").await;
    let hint = "Don’t send to the old address. A new price takes a second.";
    assert_eq!(announced(&browser).await.last().unwrap(), hint);
    browser.press("new-quote").await;
    browser.wait_for("status-awaiting_payment").await;
    assert_ne!(browser.text("address").await, old);
    // Half arrives; the page shows the exact rest, at the same address.
    world.sandbox().settle(&checkout, "half").await;
    browser.wait_for("status-underpaid").await;
    let view = checkout.view().await;
    let missing = view["attempt"]["remaining_in_crypto"].as_str().unwrap();
    assert_eq!(browser.text("remaining").await, missing);
    // The code is for the rest, at the same address.
    let code = browser.scan("qr").await;
    assert_eq!(code, view["attempt"]["qr_string"]);
    let address = view["attempt"]["address"].as_str().unwrap();
    assert!(code.contains(address), "{code}");
    assert!(code.ends_with(&format!("amount={missing}")));
    end(world, browser).await;
}

#[tokio::test]
async fn a_gateway_outage_is_explained_and_retried() {
    let mut world = World::start().await;
    let browser = Browser::open().await;
    world.gateway_link.cut().await;
    let page = world.checkout_page();
    browser.goto(&page).await;
    browser.wait_for("retry").await;
    let screen = browser.text("status-open").await;
    assert!(screen.contains("Please try again in a moment"), "{screen}");
    world.gateway_link.restore().await;
    browser.press("retry").await;
    browser.press("asset-BTC").await;
    browser.wait_for("status-awaiting_payment").await;
    end(world, browser).await;
}

#[tokio::test]
async fn an_unreadable_response_is_requested_again_without_its_etag() {
    let (world, browser, _) = open_payment("BTC", &[]).await;
    let spoil_one_response = "
        const fetched = window.fetch;
        window.tags = [];
        window.fetch = async (request, options) => {
            const response = await fetched(request, options);
            if (!(request.url ?? request).endsWith('/v1/checkout')) return response;
            window.tags.push(new Request(request, options).headers.get('if-none-match') ?? 'none');
            const spoiled = new Response('{}', { headers: { etag: 'unread' } });
            return window.tags.length > 1 ? response : spoiled;
        };";
    browser.evaluate(spoil_one_response).await;
    let wake = "window.dispatchEvent(new Event('focus')); return window.tags[1] ?? null";
    let second = within(Duration::from_secs(10), async || {
        let tag = browser.evaluate(wake).await;
        (!tag.is_null()).then_some(tag)
    })
    .await;
    // With its ETag the response would be 304.
    assert_eq!(second, Some("none".into()));
    end(world, browser).await;
}

/// `hold()` holds the next responses about the order until `release()`.
const HELD: &str = "(() => {
    let until;
    window.waiting = 0;
    window.hold = () => {
        until = new Promise((done) => (window.release = done));
        window.waiting = 0;
        dispatchEvent(new Event('focus'));
    };
    window.goOn = () => (until = undefined);
    const fetched = window.fetch;
    window.fetch = async (request, options) => {
        const response = await fetched(request, options);
        const isAnswer = /\\/v1\\/checkout$/.test(request.url ?? String(request)) && (request.method ?? options?.method ?? 'GET') === 'GET';
        if (until && isAnswer) { window.waiting += 1; await until; }
        return response;
    };
})();";

async fn hold(browser: &Browser) {
    browser.evaluate("hold()").await;
    let is_waiting = "if (!waiting) return false; goOn(); return true;";
    let what = "a response is held";
    browser.wait_until(what, is_waiting).await;
}

/// Lets the held response come; then there is time for what it must not change.
async fn release(browser: &Browser) {
    browser.evaluate("release()").await;
    pause(Duration::from_millis(800)).await;
}

/// Regression: the old address came back.
#[tokio::test]
async fn a_late_response_restores_no_replaced_address_and_no_previous_order() {
    let (world, browser, checkout) = open_payment("BTC", &[HELD]).await;
    let replaced = browser.text("address").await;
    hold(&browser).await;
    browser.press("other-asset").await;
    choose_asset(&world, &browser, "LTC").await;
    let address = browser.text("address").await;
    assert_ne!(address, replaced);
    release(&browser).await;
    assert_eq!(browser.text("address").await, address);

    pay_in_full(&world, &checkout).await;
    browser.wait_for("status-paid").await;
    hold(&browser).await;
    let again = "[...inside.querySelectorAll('button')].find((button) => button.textContent.includes('ew purchase')).click()";
    read_inside(&browser, again).await;
    browser.wait_for("status-open").await;
    release(&browser).await;
    assert!(
        browser.is_visible("status-open").await,
        "the paid order is back"
    );
    end(world, browser).await;
}

/// Loses or replaces the responses to so many POST requests, `losses`, of the path `lost`, by `kind`.
const LOSE: &str = "(() => {
    const fetched = window.fetch;
    window.losses = 0;
    window.fetch = async (request, options) => {
        const { url, method } = request.url ? request : { url: String(request), method: options?.method };
        if (method !== 'POST' || !url.endsWith(window.lost) || window.losses-- <= 0) return fetched(request, options);
        if (window.kind === 'received') await fetched(request, options);
        if (window.kind === 'portal') return new Response('<!doctype html><title>Sign in to the WLAN', { headers: { 'content-type': 'text/html' } });
        throw new TypeError('the network is gone');
    };
})();";

async fn lose(browser: &Browser, path: &str, kind: &str, losses: u32) {
    let set = "[window.lost, window.kind, window.losses] = arguments";
    let arguments = [json!(path), json!(kind), json!(losses)];
    browser.evaluate_with(set, &arguments).await;
}

#[tokio::test]
async fn a_press_without_a_result_is_reported_until_it_is_done() {
    let (world, browser) = checkout_page(&[LOSE]).await;
    browser.wait_for("asset-BTC").await;
    lose(&browser, "/checkout", "portal", 1_000).await;
    browser.press("asset-BTC").await;
    let banner = async || {
        browser.wait_for("press-again").await;
        let banner = "return inside.querySelector('.banners').textContent";
        let banner = read_inside(&browser, banner).await;
        let banner = banner.as_str().unwrap().to_owned();
        assert!(
            banner.contains("There’s no connection right now."),
            "{banner}"
        );
    };
    banner().await;
    // Reads and prices arrive; the report stays, also while the press is tried again.
    browser.evaluate("dispatchEvent(new Event('focus'))").await;
    pause(Duration::from_secs(2)).await;
    banner().await;
    // Something else is done: the press is given up.
    browser.press("asset-USDTTRC20").await;
    browser.wait_until_gone("press-again").await;
    browser.press("network-back").await;
    browser.press("asset-BTC").await;
    banner().await;
    lose(&browser, "", "", 0).await;
    browser.press("press-again").await;
    browser.wait_for("status-awaiting_payment").await;
    browser.wait_until_gone("press-again").await;
    lose(&browser, "/paid", "unsent", 1_000).await;
    browser.press("i-have-paid").await;
    banner().await;
    lose(&browser, "", "", 0).await;
    browser.press("press-again").await;
    browser.wait_for("status-checking").await;
    end(world, browser).await;
}

#[tokio::test]
async fn a_price_keeps_its_decimals() {
    // Browsers write forint without decimals.
    let forint = "order.currency = 'HUF'; order.amount = '1990.55';";
    let (world, browser, _) = open_payment("BTC", &[&change_responses(forint)]).await;
    let price = "return inside.querySelector('.price').textContent";
    assert_eq!(read_inside(&browser, price).await, "HUF\u{a0}1,990.55");
    end(world, browser).await;
}

#[tokio::test]
async fn a_silent_stream_does_not_slow_polling_down() {
    let silent = "(() => {
        const fetched = window.fetch;
        window.fetch = (request, options) => (request.url ?? String(request)).includes('/v1/checkout/events')
            ? Promise.resolve(new Response(new ReadableStream({})))
            : fetched(request, options);
    })();";
    let (world, browser, checkout) = open_payment("BTC", &[silent]).await;
    world.sandbox().pay(&checkout, "exact").await;
    let seen = within(Duration::from_secs(20), async || {
        browser.is_visible("status-processing").await.then_some(())
    });
    assert!(seen.await.is_some(), "it waits for a stream that is silent");
    end(world, browser).await;
}

/// Answers every GET request out of its cache, and what is not in it once the whole response is.
const CACHING_WORKER: &str = "
    addEventListener('install', () => skipWaiting());
    addEventListener('activate', (event) => event.waitUntil(clients.claim()));
    const respond = async (request) => {
        const cache = await caches.open('all');
        const known = await cache.match(request);
        if (known) return known;
        const response = await fetch(request);
        await cache.put(request, response.clone());
        return response;
    };
    addEventListener('fetch', (event) => event.request.method === 'GET' && event.respondWith(respond(event.request)));";

#[tokio::test]
async fn a_shops_caching_service_worker_keeps_no_status_back() {
    let element = "<script>navigator.serviceWorker.register('/worker.js')</script>\
        <florin-checkout store=\"demo\" product=\"ebook\" display=\"inline\"></florin-checkout>";
    let (site, world) = page_with(element).await;
    site.set_script("worker.js", Some(CACHING_WORKER));
    let browser = Browser::open().await;
    let is_controlled = "return Boolean(navigator.serviceWorker.controller)";
    browser.goto(site.url()).await;
    browser.wait_until("the worker runs", is_controlled).await;
    browser.reload().await;
    let checkout = choose_asset(&world, &browser, "BTC").await;
    browser.reload().await;
    browser.wait_for("status-awaiting_payment").await;
    pay_in_full(&world, &checkout).await;
    browser.wait_for("status-paid").await;
    end(world, browser).await;
}
