//! Reloads, network failures and restarts of the proxy: the order continues.

use std::time::Duration;

use support::{Browser, World, within};

use crate::helpers::{
    RECORD_ANNOUNCEMENTS, announced, checkout_page, choose_asset, end, only_order,
    open_ebook_checkout, open_payment,
};

#[tokio::test]
async fn a_reload_at_every_step_finds_the_same_order() {
    let (world, browser) = checkout_page(&[]).await;
    browser.wait_for("status-open").await;
    let checkout = only_order(&world, &browser).await;
    browser.reload().await;
    browser.press("asset-BTC").await;
    browser.wait_for("status-awaiting_payment").await;
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
    world.sandbox().pay(&checkout, "exact").await;
    world.sandbox().mine(3).await;
    browser.wait_for("status-paid").await;
    end(world, browser).await;
}

#[tokio::test]
async fn a_page_survives_a_restart_of_the_proxy() {
    let mut world = World::start().await;
    let browser = Browser::open().await;
    open_ebook_checkout(&world, &browser).await;
    let checkout = choose_asset(&world, &browser, "BTC").await;
    let address = checkout.address().await;
    world.stop_proxy().await;
    browser.wait_for("offline").await;
    let invoice = world.sandbox().invoice_of(&address).await;
    world.sandbox().pay_invoice(&invoice, "exact").await;
    world.sandbox().mine(3).await;
    world.start_proxy().await;
    browser.wait_for("status-paid").await;
    browser.wait_until_gone("offline").await;
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
    let hint =
        "Please don’t send anything to the old address. Get a new one with today’s price below.";
    assert_eq!(announced(&browser).await.last().unwrap(), hint);
    browser.press("new-quote").await;
    browser.wait_for("status-awaiting_payment").await;
    assert_ne!(browser.text("address").await, old);
    // Half arrives; the page shows the exact rest, at the same address.
    world.sandbox().pay(&checkout, "half").await;
    world.sandbox().mine(3).await;
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
    let (world, browser) = checkout_page(&[]).await;
    browser.wait_for("status-open").await;
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
