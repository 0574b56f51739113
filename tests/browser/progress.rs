//! What a customer sees, and hears from a screen reader, while a payment is on its way.

use std::time::Duration;

use serde_json::json;
use support::{Browser, Site, World, WorldConfig, eventually, pause, within};

use crate::changed_responses::answers_changed;
use crate::screen_reader::{LISTEN, has_told, told};
use crate::steps::{chooses, takes_the_ebook, the_order};

/// The focus: the innermost element that has it.
const FOCUS: &str = "
    let at = document.activeElement;
    while (at?.shadowRoot?.activeElement) at = at.shadowRoot.activeElement;
    return at.tagName + (at.textContent ? ' ' + at.textContent : '');";

#[tokio::test]
async fn a_screen_reader_is_told_of_a_whole_purchase_once_and_in_order() {
    let world = World::start().await;
    let browser = Browser::open().await;
    browser.run_before_every_page(LISTEN).await;
    browser.goto(&world.checkout_page()).await;
    let checkout = chooses(&world, &browser, "BTC").await;
    let found = "The network is confirming it. There’s nothing more you need to do.";
    let thanks = "Thank you. Quiet Goods has received your payment.";
    world.sandbox().pay(&checkout, "exact").await;
    has_told(&browser, found).await;
    for words in ["1 of 3 confirmations", "2 of 3 confirmations", thanks] {
        world.sandbox().mine(1).await;
        has_told(&browser, words).await;
    }
    assert_eq!(browser.evaluate("return regions()", &[]).await, 1);
    let whole = [
        found,
        "1 of 3 confirmations",
        "2 of 3 confirmations",
        thanks,
    ];
    assert_eq!(told(&browser).await, json!(whole));
    browser.end().await;
    world.end().await;
}

#[tokio::test]
async fn the_countdown_is_told_when_a_minute_is_left() {
    let world = World::start().await;
    let browser = Browser::open().await;
    let soon = "
        if (!order.attempt) return;
        window.opened ??= performance.now();
        order.attempt.expires_in_seconds = Math.ceil(64 - (performance.now() - window.opened) / 1000);";
    browser.run_before_every_page(LISTEN).await;
    browser.run_before_every_page(&answers_changed(soon)).await;
    browser.goto(&world.checkout_page()).await;
    browser.press("asset-BTC").await;
    has_told(&browser, "1 minute left to pay").await;
    assert_eq!(told(&browser).await, json!(["1 minute left to pay"]));
    browser.end().await;
    world.end().await;
}

#[tokio::test]
async fn a_payment_on_its_way_shows_its_steps_an_estimate_and_its_transaction() {
    let world = World::start().await;
    let browser = Browser::open().await;
    takes_the_ebook(&world, &browser).await;
    let checkout = chooses(&world, &browser, "BTC").await;
    world.sandbox().pay(&checkout, "exact").await;
    world.sandbox().mine(1).await;
    browser.wait_for("status-processing").await;
    eventually("one block is shown", async || {
        let words = browser.text("confirmations").await;
        (words == "Confirming 1 of 3").then_some(())
    })
    .await;
    // Two blocks of ten minutes are missing.
    let estimate = browser.text("estimate").await;
    assert_eq!(estimate, "About 20 minutes to go.");
    let steps = "
        const inside = document.querySelector('florin-checkout').shadowRoot;
        return [...inside.querySelectorAll('[data-testid=steps] > li')]
            .map((step) => step.className + ':' + step.firstChild.textContent);";
    let steps = browser.evaluate(steps, &[]).await;
    let expected = ["passed:Payment found", "now:Confirming 1 of 3", ":Paid"];
    assert_eq!(steps, json!(expected));
    let view = checkout.view().await;
    let received = view["attempt"]["received_in_crypto"].as_str().unwrap();
    assert_eq!(
        browser.text("received").await,
        format!("{received}\u{a0}BTC received")
    );
    let hash = view["attempt"]["transaction_hash"].as_str().unwrap();
    assert_eq!(browser.text("transaction").await, hash);
    browser.press("copy-transaction").await;
    eventually("the whole hash is in the clipboard", async || {
        (browser.clipboard().await == hash).then_some(())
    })
    .await;
    browser.end().await;
    world.end().await;
}

#[tokio::test]
async fn an_explorer_is_linked_in_a_window_of_its_own() {
    let world = World::start().await;
    let browser = Browser::open().await;
    let known = "if (order.attempt?.transaction_hash) order.attempt.explorer_url =
        'https://mempool.space/tx/' + order.attempt.transaction_hash;";
    browser.run_before_every_page(&answers_changed(known)).await;
    browser.goto(&world.checkout_page()).await;
    let checkout = chooses(&world, &browser, "BTC").await;
    world.sandbox().pay(&checkout, "exact").await;
    let link = browser.wait_for("explorer").await;
    let attribute = async |name: &str| link.attr(name).await.unwrap().unwrap_or_default();
    assert!(
        attribute("href")
            .await
            .starts_with("https://mempool.space/tx/")
    );
    assert_eq!(attribute("target").await, "_blank");
    assert_eq!(attribute("rel").await, "noopener noreferrer");
    browser.end().await;
    world.end().await;
}

#[tokio::test]
async fn how_fresh_it_is_ticks_on_the_screen_and_is_not_read_aloud() {
    let mut world = World::start().await;
    let browser = Browser::open().await;
    browser.run_before_every_page(LISTEN).await;
    browser.goto(&world.checkout_page()).await;
    browser.press("asset-BTC").await;
    browser.press("i-have-paid").await;
    browser.wait_for("status-checking").await;
    let first = browser.text("checked").await;
    assert!(
        first.starts_with("Last checked ") && first.ends_with(" ago"),
        "{first}"
    );
    // Without an answer it can only grow older.
    world.stop_proxy().await;
    eventually("the line ticks on", async || {
        let seconds = |text: &str| text.split(' ').nth(2).and_then(|n| n.parse::<u32>().ok());
        let now = browser.text("checked").await;
        (seconds(&now)? >= seconds(&first)? + 3).then_some(())
    })
    .await;
    let told = told(&browser).await;
    assert!(!told.to_string().contains("Last checked"), "{told}");
    world.start_proxy().await;
    browser.end().await;
    world.end().await;
}

#[tokio::test]
async fn a_page_that_is_looked_at_again_asks_at_once() {
    let world = World::start().await;
    let browser = Browser::open().await;
    browser.goto(&world.checkout_page()).await;
    browser.press("asset-BTC").await;
    browser.wait_for("status-awaiting_payment").await;
    let looks = "
        let state = 'visible';
        Object.defineProperty(document, 'visibilityState', { get: () => state });
        window.looks = (now) => {
            state = now;
            document.dispatchEvent(new Event('visibilitychange'));
        };
        window.asked = () => performance.getEntriesByType('resource')
            .filter(({ name }) => name.endsWith('/v1/checkout')).length;
        looks('hidden');";
    browser.evaluate(looks, &[]).await;
    pause(Duration::from_secs(1)).await;
    let before = browser.evaluate("return asked()", &[]).await;
    pause(Duration::from_secs(8)).await;
    let hidden = browser.evaluate("return asked()", &[]).await;
    assert_eq!(hidden, before, "a page that nobody looks at asks nothing");
    browser.evaluate("looks('visible')", &[]).await;
    let asks = within(Duration::from_secs(2), async || {
        (browser.evaluate("return asked()", &[]).await != before).then_some(())
    });
    assert!(asks.await.is_some(), "it waits for its turn");
    browser.end().await;
    world.end().await;
}

#[tokio::test]
async fn a_connection_that_comes_back_is_said_and_told_once() {
    let mut world = World::start().await;
    let browser = Browser::open().await;
    browser.run_before_every_page(LISTEN).await;
    browser.goto(&world.checkout_page()).await;
    browser.press("asset-BTC").await;
    browser.wait_for("status-awaiting_payment").await;
    world.front_link.freeze();
    browser.set_offline(true).await;
    browser.wait_for("offline").await;
    world.front_link.restore().await;
    browser.set_offline(false).await;
    browser.wait_for("back_online").await;
    assert!(!browser.is_visible("offline").await);
    browser.wait_until_gone("back_online").await;
    let lost = "You’re offline. The amount and the address stay valid until the time is up.";
    let back = "You’re back online.";
    assert_eq!(told(&browser).await, json!([lost, back]));
    assert_eq!(browser.evaluate("return regions()", &[]).await, 1);
    browser.end().await;
    world.end().await;
}

#[tokio::test]
async fn the_focus_goes_to_the_heading_of_a_new_screen_in_a_frame() {
    let world = World::start().await;
    let browser = Browser::open().await;
    takes_the_ebook(&world, &browser).await;
    let checkout = chooses(&world, &browser, "BTC").await;
    world.sandbox().pay(&checkout, "exact").await;
    browser.wait_for("status-processing").await;
    eventually("the heading has the focus", async || {
        (browser.evaluate(FOCUS, &[]).await == "H2 Payment found").then_some(())
    })
    .await;
    browser.end().await;
    world.end().await;
}

#[tokio::test]
async fn who_types_elsewhere_on_the_shops_page_is_told_and_not_called_away() {
    let site = Site::open().await;
    let world = World::start_with(WorldConfig {
        origins: vec![site.url().to_owned()],
        ..WorldConfig::default()
    })
    .await;
    let proxy = world.proxy_url();
    site.serve(
        "",
        &format!(
            "<label>Notes <textarea data-testid=\"notes\"></textarea></label>\
             <script src=\"{proxy}/florin.js\" async></script>\
             <florin-checkout store=\"demo\" product=\"mug\" display=\"inline\"></florin-checkout>"
        ),
    );
    let browser = Browser::open().await;
    browser.run_before_every_page(LISTEN).await;
    browser.goto(site.url()).await;
    browser.press("asset-BTC").await;
    browser.wait_for("status-awaiting_payment").await;
    let focused = eventually("the heading has the focus", async || {
        let focus = browser.evaluate(FOCUS, &[]).await;
        let focus = focus.as_str()?.to_owned();
        focus.starts_with("H2 ").then_some(focus)
    })
    .await;
    assert!(focused.contains("Bitcoin"), "{focused}");
    browser.fill("notes", "Please ring").await;
    let checkout = the_order(&world, &browser).await;
    world.sandbox().pay(&checkout, "exact").await;
    browser.wait_for("status-processing").await;
    // The heading is told where the focus does not lead to it.
    let found = "Payment found. The network is confirming it. There’s nothing more you need to do.";
    has_told(&browser, found).await;
    let focus = browser.evaluate(FOCUS, &[]).await;
    assert!(focus.as_str().unwrap().starts_with("TEXTAREA"), "{focus}");
    browser.end().await;
    world.end().await;
}
