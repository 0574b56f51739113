//! A page is loaded again, loses its network, or meets a proxy that is away: the order goes on where it was.

use std::time::Duration;

use support::{Browser, World, within};

use crate::steps::{chooses, opens_the_ebook, takes_the_ebook, the_order};

#[tokio::test]
async fn loaded_again_at_every_step_it_is_the_same_order() {
    let world = World::start().await;
    let browser = Browser::open().await;
    let page = world.checkout_page();
    browser.goto(&page).await;
    browser.wait_for("status-open").await;
    let checkout = the_order(&world, &browser).await;
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
    assert_eq!(the_order(&world, &browser).await.order, checkout.order);
    assert_eq!(world.sandbox().count("POST", "/invoice").await, 1);
    browser.end().await;
    world.end().await;
}

#[tokio::test]
async fn a_shops_page_that_is_loaded_again_finds_its_order_in_the_frame() {
    let world = World::start().await;
    let browser = Browser::open().await;
    takes_the_ebook(&world, &browser).await;
    browser.press("asset-BTC").await;
    let address = browser.text("address").await;
    browser.reload().await;
    opens_the_ebook(&browser).await;
    browser.wait_for("status-awaiting_payment").await;
    assert_eq!(browser.text("address").await, address);
    the_order(&world, &browser).await;
    browser.end().await;
    world.end().await;
}

#[tokio::test]
async fn a_page_without_a_network_says_so_and_goes_on_when_it_is_back() {
    let mut world = World::start().await;
    let browser = Browser::open().await;
    let page = world.checkout_page();
    browser.goto(&page).await;
    let checkout = chooses(&world, &browser, "BTC").await;
    world.front_link.freeze();
    browser.set_offline(true).await;
    // The browser knows at once; the stream, which merely goes quiet, would tell only much later.
    let soon = Duration::from_secs(15);
    let told = within(soon, async || {
        browser.is_visible("offline").await.then_some(())
    })
    .await;
    assert!(told.is_some(), "nothing says that the network is gone");
    let banner = browser.text("offline").await;
    assert!(banner.contains("You’re offline"), "{banner}");
    assert!(
        browser.is_visible("address").await,
        "what can be paid is still shown"
    );
    world.front_link.restore().await;
    browser.set_offline(false).await;
    browser.wait_until_gone("offline").await;
    world.sandbox().pay(&checkout, "exact").await;
    world.sandbox().mine(3).await;
    browser.wait_for("status-paid").await;
    browser.end().await;
    world.end().await;
}

#[tokio::test]
async fn a_page_outlives_a_proxy_that_is_started_again() {
    let mut world = World::start().await;
    let browser = Browser::open().await;
    takes_the_ebook(&world, &browser).await;
    let checkout = chooses(&world, &browser, "BTC").await;
    let address = checkout.address().await;
    world.stop_proxy().await;
    browser.wait_for("offline").await;
    let invoice = world.sandbox().invoice_of(&address).await;
    world.sandbox().pay_invoice(&invoice, "exact").await;
    world.sandbox().mine(3).await;
    world.start_proxy().await;
    browser.wait_for("status-paid").await;
    browser.wait_until_gone("offline").await;
    browser.end().await;
    world.end().await;
}

#[tokio::test]
async fn a_bad_end_leads_on() {
    let world = World::start().await;
    let browser = Browser::open().await;
    let page = world.checkout_page();
    browser.goto(&page).await;
    browser.press("asset-BTC").await;
    let old = browser.text("address").await;
    let checkout = the_order(&world, &browser).await;
    // Time runs out; a new quote is one press away.
    world.wait_for_deliveries().await;
    world.skip(std::time::Duration::from_mins(16));
    browser.wait_for("status-expired").await;
    browser.press("new-quote").await;
    browser.wait_for("status-awaiting_payment").await;
    assert_ne!(browser.text("address").await, old);
    // Half arrives; the page says exactly what is missing, and the code leads to the same address.
    world.sandbox().pay(&checkout, "half").await;
    world.sandbox().mine(3).await;
    browser.wait_for("status-underpaid").await;
    let view = checkout.view().await;
    let missing = view["attempt"]["remaining_in_crypto"].as_str().unwrap();
    assert_eq!(browser.text("remaining").await, missing);
    // The code is for the rest, at the same address.
    let code = browser.scan("qr").await;
    assert_eq!(code, view["attempt"]["qr_string"]);
    assert!(
        code.contains(view["attempt"]["address"].as_str().unwrap()),
        "{code}"
    );
    assert!(code.ends_with(&format!("amount={missing}")));
    world.sandbox().pay(&checkout, "rest").await;
    world.sandbox().mine(3).await;
    browser.wait_for("status-paid").await;
    browser.end().await;
    world.end().await;
}

#[tokio::test]
async fn a_service_that_is_away_is_explained_and_asked_again() {
    let mut world = World::start().await;
    let browser = Browser::open().await;
    world.service_link.cut().await;
    let page = world.checkout_page();
    browser.goto(&page).await;
    browser.wait_for("retry").await;
    let screen = browser.text("status-open").await;
    assert!(screen.contains("Please try again in a moment"), "{screen}");
    world.service_link.restore().await;
    browser.press("retry").await;
    browser.press("asset-BTC").await;
    browser.wait_for("status-awaiting_payment").await;
    browser.end().await;
    world.end().await;
}

#[tokio::test]
async fn an_address_that_failed_its_checks_is_nowhere_on_the_page() {
    let world = World::start().await;
    world.expect_error("the service's invoice is not shown");
    let browser = Browser::open().await;
    let page = world.checkout_page();
    browser.goto(&page).await;
    browser.wait_for("asset-BTC").await;
    let wrong = "tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsy";
    let lie = serde_json::json!({ "address": wrong });
    world.sandbox().override_next_invoice(lie).await;
    browser.press("asset-BTC").await;
    browser.wait_for("status-blocked").await;
    let everything = "return document.querySelector('florin-checkout').shadowRoot.innerHTML";
    let everything = browser.evaluate(everything, &[]).await;
    assert!(!everything.as_str().unwrap().contains("tb1q"));
    assert!(!browser.is_visible("qr").await && !browser.is_visible("address").await);
    browser.end().await;
    world.end().await;
}

/// A customer changes the asset while an answer about the old one is still on its way: the old address came back.
#[tokio::test]
async fn an_answer_that_could_not_be_read_is_asked_for_whole_again() {
    let world = World::start().await;
    let browser = Browser::open().await;
    browser.goto(&world.checkout_page()).await;
    browser.wait_for("status-open").await;
    let spoil_one_answer = "
        const fetched = window.fetch;
        window.tags = [];
        window.fetch = async (request, options) => {
            const answer = await fetched(request, options);
            if (!(request.url ?? request).endsWith('/v1/checkout')) return answer;
            window.tags.push(new Request(request, options).headers.get('if-none-match') ?? 'none');
            const spoiled = new Response('{}', { headers: { etag: 'unread' } });
            return window.tags.length > 1 ? answer : spoiled;
        };";
    browser.evaluate(spoil_one_answer, &[]).await;
    let wake = "window.dispatchEvent(new Event('focus')); return window.tags[1] ?? null";
    let second = within(Duration::from_secs(10), async || {
        let tag = browser.evaluate(wake, &[]).await;
        (!tag.is_null()).then_some(tag)
    })
    .await;
    // With its tag, the answer would be that nothing has changed.
    assert_eq!(second, Some("none".into()));
    browser.end().await;
    world.end().await;
}

#[tokio::test]
async fn a_slow_answer_brings_no_replaced_address_back() {
    let world = World::start().await;
    let browser = Browser::open().await;
    let page = world.checkout_page();
    browser.goto(&page).await;
    browser.press("asset-BTC").await;
    let replaced = browser.text("address").await;
    let hold_one_answer = "
        const fetched = window.fetch;
        window.held = 0;
        window.fetch = async (request, options) => {
            const answer = await fetched(request, options);
            const isView = (request.url ?? request).endsWith('/v1/checkout');
            const isAsked = (options?.method ?? request.method ?? 'GET') === 'GET';
            if (isView && isAsked && !window.held) {
                window.held = 1;
                await new Promise(done => setTimeout(done, 4000));
                window.held = 2;
            }
            return answer;
        };
        window.dispatchEvent(new Event('focus'));";
    browser.evaluate(hold_one_answer, &[]).await;
    let change = "
        const inside = document.querySelector('florin-checkout').shadowRoot;
        inside.querySelector('.screen > button.plain').click();";
    browser.evaluate(change, &[]).await;
    browser.press("asset-LTC").await;
    browser.wait_for("status-awaiting_payment").await;
    let address = browser.text("address").await;
    assert_ne!(address, replaced);
    let arrived = within(Duration::from_secs(10), async || {
        let held = browser.evaluate("return window.held", &[]).await;
        assert_ne!(browser.text("address").await, replaced);
        (held == 2).then_some(())
    })
    .await;
    assert!(arrived.is_some(), "no answer was held");
    assert_eq!(browser.text("address").await, address);
    browser.end().await;
    world.end().await;
}
