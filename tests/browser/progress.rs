//! The screens during a payment, and what a screen reader announces.

use std::time::Duration;

use serde_json::json;
use support::{Browser, StoreSite, World, eventually, pause, within};

use crate::helpers::{
    RECORD_ANNOUNCEMENTS, announced, change_responses, choose_asset, only_order,
    open_ebook_checkout, wait_until_announced,
};

/// The innermost element with the focus.
const FOCUS: &str = "
    let at = document.activeElement;
    while (at?.shadowRoot?.activeElement) at = at.shadowRoot.activeElement;
    return at.tagName + (at.textContent ? ' ' + at.textContent : '');";

#[tokio::test]
async fn every_step_of_a_purchase_is_announced_once_and_in_order() {
    let world = World::start().await;
    let browser = Browser::open().await;
    browser.run_before_every_page(RECORD_ANNOUNCEMENTS).await;
    browser.goto(&world.checkout_page()).await;
    let checkout = choose_asset(&world, &browser, "BTC").await;
    let found = "The network is confirming it. There’s nothing more you need to do.";
    let thanks = "Thank you. Quiet Goods has received your payment.";
    world.sandbox().pay(&checkout, "exact").await;
    wait_until_announced(&browser, found).await;
    for words in ["1 of 3 confirmations", "2 of 3 confirmations", thanks] {
        world.sandbox().mine(1).await;
        wait_until_announced(&browser, words).await;
    }
    assert_eq!(browser.evaluate("return regions()", &[]).await, 1);
    let whole = [
        found,
        "1 of 3 confirmations",
        "2 of 3 confirmations",
        thanks,
    ];
    assert_eq!(announced(&browser).await, whole);
    browser.end().await;
    world.end().await;
}

#[tokio::test]
async fn the_last_minute_is_announced() {
    let world = World::start().await;
    let browser = Browser::open().await;
    let soon = "
        if (!order.attempt) return;
        window.opened ??= performance.now();
        order.attempt.expires_in_seconds = Math.ceil(64 - (performance.now() - window.opened) / 1000);";
    browser.run_before_every_page(RECORD_ANNOUNCEMENTS).await;
    browser.run_before_every_page(&change_responses(soon)).await;
    browser.goto(&world.checkout_page()).await;
    browser.press("asset-BTC").await;
    wait_until_announced(&browser, "1 minute left to pay").await;
    assert_eq!(announced(&browser).await, ["1 minute left to pay"]);
    browser.end().await;
    world.end().await;
}

#[tokio::test]
async fn a_payment_in_progress_shows_steps_estimate_and_transaction() {
    let world = World::start().await;
    let browser = Browser::open().await;
    open_ebook_checkout(&world, &browser).await;
    let checkout = choose_asset(&world, &browser, "BTC").await;
    world.sandbox().pay(&checkout, "exact").await;
    world.sandbox().mine(1).await;
    browser.wait_for("status-processing").await;
    eventually("one block is shown", async || {
        let words = browser.text("confirmations").await;
        (words == "Confirming 1 of 3").then_some(())
    })
    .await;
    // Two blocks of ten minutes remain.
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
async fn an_explorer_link_opens_a_new_window() {
    let world = World::start().await;
    let browser = Browser::open().await;
    let known = "if (order.attempt?.transaction_hash) order.attempt.explorer_url =
        'https://mempool.space/tx/' + order.attempt.transaction_hash;";
    browser
        .run_before_every_page(&change_responses(known))
        .await;
    browser.goto(&world.checkout_page()).await;
    let checkout = choose_asset(&world, &browser, "BTC").await;
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
async fn the_age_of_the_view_counts_up_and_is_not_announced() {
    let mut world = World::start().await;
    let browser = Browser::open().await;
    browser.run_before_every_page(RECORD_ANNOUNCEMENTS).await;
    browser.goto(&world.checkout_page()).await;
    browser.press("asset-BTC").await;
    browser.press("i-have-paid").await;
    browser.wait_for("status-checking").await;
    let first = browser.text("checked").await;
    assert!(
        first.starts_with("Last checked ") && first.ends_with(" ago"),
        "{first}"
    );
    // Without a response the age only grows.
    world.stop_proxy().await;
    eventually("the age grows", async || {
        let seconds = |text: &str| text.split(' ').nth(2).and_then(|n| n.parse::<u32>().ok());
        let now = browser.text("checked").await;
        (seconds(&now)? >= seconds(&first)? + 3).then_some(())
    })
    .await;
    let announced = announced(&browser).await;
    assert!(
        !announced.concat().contains("Last checked"),
        "{announced:?}"
    );
    world.start_proxy().await;
    browser.end().await;
    world.end().await;
}

#[tokio::test]
async fn a_page_that_becomes_visible_sends_a_request_at_once() {
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
    // Time for a request that is under way.
    pause(Duration::from_secs(1)).await;
    let before = browser.evaluate("return asked()", &[]).await;
    // Time for a request that must not be sent.
    pause(Duration::from_secs(8)).await;
    let hidden = browser.evaluate("return asked()", &[]).await;
    assert_eq!(hidden, before, "a hidden page sends no request");
    browser.evaluate("looks('visible')", &[]).await;
    let read_field = within(Duration::from_secs(2), async || {
        (browser.evaluate("return asked()", &[]).await != before).then_some(())
    });
    assert!(read_field.await.is_some(), "it waits for its turn");
    browser.end().await;
    world.end().await;
}

#[tokio::test]
async fn a_restored_connection_is_shown_and_announced_once() {
    let mut world = World::start().await;
    let browser = Browser::open().await;
    browser.run_before_every_page(RECORD_ANNOUNCEMENTS).await;
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
    assert_eq!(announced(&browser).await, [lost, back]);
    assert_eq!(browser.evaluate("return regions()", &[]).await, 1);
    browser.end().await;
    world.end().await;
}

#[tokio::test]
async fn the_focus_moves_to_the_heading_of_a_new_screen_in_a_frame() {
    let world = World::start().await;
    let browser = Browser::open().await;
    open_ebook_checkout(&world, &browser).await;
    let checkout = choose_asset(&world, &browser, "BTC").await;
    world.sandbox().pay(&checkout, "exact").await;
    browser.wait_for("status-processing").await;
    browser
        .wait_for_result(
            "the heading has the focus",
            FOCUS,
            &json!("H2 Payment found"),
        )
        .await;
    browser.end().await;
    world.end().await;
}

#[tokio::test]
async fn focus_elsewhere_on_the_shops_page_is_kept_and_the_change_announced() {
    let site = StoreSite::open().await;
    let world = World::start_for(&site).await;
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
    browser.run_before_every_page(RECORD_ANNOUNCEMENTS).await;
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
    let checkout = only_order(&world, &browser).await;
    world.sandbox().pay(&checkout, "exact").await;
    browser.wait_for("status-processing").await;
    // The heading is announced when the focus does not move to it.
    let found = "Payment found. The network is confirming it. There’s nothing more you need to do.";
    wait_until_announced(&browser, found).await;
    let focus = browser.evaluate(FOCUS, &[]).await;
    assert!(focus.as_str().unwrap().starts_with("TEXTAREA"), "{focus}");
    browser.end().await;
    world.end().await;
}

/// Puts `<font>` elements in the places of all texts, as translators of browsers do.
const TRANSLATE: &str = "
    const inside = document.querySelector('florin-checkout').shadowRoot;
    const walker = document.createTreeWalker(inside, NodeFilter.SHOW_TEXT);
    const texts = [];
    while (walker.nextNode()) texts.push(walker.currentNode);
    for (const text of texts.filter(({ data, parentElement }) => data.trim() && !parentElement.closest('font'))) {
        const [outer, inner] = ['font', 'font'].map((tag) => document.createElement(tag));
        inner.textContent = `«${text.data}»`;
        outer.append(inner);
        if (window.inSteps ^= 1) {
            text.before(outer);
            text.remove();
        } else text.replaceWith(outer);
    }";

#[tokio::test]
async fn texts_change_on_a_translated_page() {
    let world = World::start().await;
    let browser = Browser::open().await;
    browser.goto(&world.checkout_page()).await;
    let checkout = choose_asset(&world, &browser, "BTC").await;
    browser.wait_for_text("countdown", "Price held for").await;
    browser.evaluate(TRANSLATE, &[]).await;
    browser.wait_for_text("countdown", "«Price held for").await;
    // The computer was asleep: the time left is another one, until the next response has the exact one.
    let slept = "const now = Date.now; Date.now = () => now() + 720_000;";
    browser.evaluate(slept, &[]).await;
    eventually("the countdown continues", async || {
        let left = browser.text("countdown").await;
        left.starts_with("Price held for").then_some(())
    })
    .await;
    world.sandbox().pay(&checkout, "exact").await;
    world.sandbox().mine(1).await;
    browser
        .wait_for_text("confirmations", "Confirming 1 of 3")
        .await;
    browser.evaluate(TRANSLATE, &[]).await;
    browser
        .wait_for_text("confirmations", "«Confirming 1 of 3»")
        .await;
    world.sandbox().mine(1).await;
    eventually("the next confirmation is shown", async || {
        let text = browser.text("confirmations").await;
        (text == "Confirming 2 of 3").then_some(())
    })
    .await;
    world.sandbox().mine(1).await;
    browser.wait_for("status-paid").await;
    browser.end().await;
    world.end().await;
}
