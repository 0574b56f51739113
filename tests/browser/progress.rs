//! A payment in progress where page and proxy meet, what a screen reader announces, and printed receipts.

use std::time::Duration;

use serde_json::json;
use support::{Browser, World, pause, pay_in_full, within};

use crate::gallery::{Gallery, table};
use crate::helpers::{
    RECORD_ANNOUNCEMENTS, change_responses, choose_asset, end, only_order, open_payment,
    read_inside, wait_for_value, wait_until_announced,
};

#[tokio::test]
async fn a_page_that_becomes_visible_sends_a_request_at_once() {
    let often = change_responses("order.next_poll_seconds = 1");
    let (world, browser, _) = open_payment("BTC", &[&often]).await;
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
    browser.evaluate(looks).await;
    // Time for a request that is under way.
    pause(Duration::from_secs(1)).await;
    let before = browser.evaluate("return asked()").await;
    // Time for a request that must not be sent.
    pause(Duration::from_secs(3)).await;
    let hidden = browser.evaluate("return asked()").await;
    assert_eq!(hidden, before, "a hidden page sends no request");
    browser.evaluate("looks('visible')").await;
    let sends = within(Duration::from_secs(2), async || {
        (browser.evaluate("return asked()").await != before).then_some(())
    });
    assert!(sends.await.is_some(), "it waits for its turn");
    end(world, browser).await;
}

/// Notifications that the customer allows, and what they say; and a tab that is hidden.
const NOTIFICATIONS: &str = "
    window.Notification = function (title, { body }) { window.notified = `${title}, ${body}`; };
    Object.assign(Notification, { permission: 'default', requestPermission: async () => 'granted' });
    window.hide = () => {
        Object.defineProperties(document, { visibilityState: { get: () => 'hidden' }, hidden: { get: () => true } });
        document.dispatchEvent(new Event('visibilitychange'));
    };";

#[tokio::test]
async fn a_hidden_tab_notifies_the_customer_who_asked_for_it() {
    let (world, browser, checkout) = open_payment("BTC", &[NOTIFICATIONS]).await;
    world.sandbox().pay(&checkout, "exact").await;
    world.sandbox().mine(1).await;
    browser.press("notify").await;
    browser
        .wait_for_text("notified", "Keep this tab open")
        .await;
    browser.evaluate("hide()").await;
    world.sandbox().mine(2).await;
    let shown = "return window.notified";
    // The price is isolated: no language around it reorders its signs.
    let paid = "\u{2066}$19.90\u{2069} paid, Quiet Goods";
    browser.wait_for_result("it is notified", shown, paid).await;
    end(world, browser).await;
}

const FOCUS: &str = "
    let at = document.activeElement;
    while (at?.shadowRoot?.activeElement) at = at.shadowRoot.activeElement;
    return at.tagName + (at.textContent ? ' ' + at.textContent : '');";

#[tokio::test]
async fn focus_elsewhere_on_the_shops_page_is_kept_and_the_change_announced() {
    let (site, world) = World::with_site().await;
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
    let heading = "H2 Pay with Bitcoin";
    browser.wait_for_result("the focus", FOCUS, heading).await;
    browser.fill("notes", "Please ring").await;
    let checkout = only_order(&world, &browser).await;
    world.sandbox().pay(&checkout, "exact").await;
    browser.wait_for("status-processing").await;
    // The heading is announced when the focus does not move to it.
    let found = "Payment found. The network is confirming it. There’s nothing more you need to do.";
    wait_until_announced(&browser, found).await;
    let focus = browser.evaluate(FOCUS).await;
    assert!(focus.as_str().unwrap().starts_with("TEXTAREA"), "{focus}");
    end(world, browser).await;
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
    let (world, browser, checkout) = open_payment("BTC", &[]).await;
    browser.wait_for_text("countdown", "Price held for").await;
    browser.evaluate(TRANSLATE).await;
    browser.wait_for_text("countdown", "«Price held for").await;
    // The computer was asleep: the time left is another one, until the next response has the exact one.
    let slept = "const now = Date.now; Date.now = () => now() + 720_000;";
    browser.evaluate(slept).await;
    let left =
        "inside.querySelector('[data-testid=countdown]')?.textContent.startsWith('Price held for')";
    wait_for_value(&browser, "the countdown continues", left, true).await;
    world.sandbox().pay(&checkout, "exact").await;
    world.sandbox().mine(1).await;
    browser
        .wait_for_text("confirmations", "Confirming 1 of 3")
        .await;
    browser.evaluate(TRANSLATE).await;
    browser
        .wait_for_text("confirmations", "«Confirming 1 of 3»")
        .await;
    world.sandbox().mine(1).await;
    let text = "inside.querySelector('[data-testid=confirmations]').textContent";
    let next = "Confirming 2 of 3";
    wait_for_value(&browser, "the next confirmation", text, next).await;
    end(world, browser).await;
}

/// Presses the receipt's button, without the system's dialog, which no test can close; then it is on paper.
async fn print(browser: &Browser) {
    let count = "window.printed = 0; window.print = () => { window.printed += 1; };";
    browser.evaluate(count).await;
    browser.wait_for("print-receipt").await;
    assert!(!browser.is_visible("receipt").await, "it is on paper alone");
    browser.press("print-receipt").await;
    let printed = "return window.printed";
    browser.wait_for_result("it is printed", printed, 1).await;
    browser.emulate_print(true).await;
    browser.wait_for("receipt").await;
}

#[tokio::test]
async fn only_the_receipt_is_printed_in_black() {
    let gallery = Gallery::open().await;
    let browser = &gallery.browser;
    gallery.show("paid", "").await;
    print(browser).await;
    let beside = "return [...inside.querySelectorAll('*')]
        .filter(at => at.checkVisibility() && !at.closest('.receipt') && !at.querySelector('.receipt'))
        .map(at => at.className || at.tagName)";
    assert_eq!(read_inside(browser, beside).await, json!([]));
    let sheet = browser.text("receipt").await;
    let receipt = &table()["receipt"]["receipt"];
    for member in [
        "reference",
        "order_id",
        "title",
        "address",
        "transaction_hash",
        "received_in_crypto",
        "store_name",
    ] {
        let value = receipt[member].as_str().unwrap();
        assert!(sheet.contains(value), "{member} {value} in {sheet}");
    }
    for part in ["$19.90", "Test environment"] {
        assert!(sheet.contains(part), "{part} in {sheet}");
    }
    let colour = "return getComputedStyle(inside.querySelector('.receipt dd')).color";
    assert_eq!(read_inside(browser, colour).await, "rgb(0, 0, 0)");
    gallery.end().await;
}

#[tokio::test]
async fn inline_the_shops_page_is_hidden_while_the_receipt_is_printed() {
    let (world, browser) = (World::start().await, Browser::open().await);
    let page = format!("{}/inline?product=mug", world.shop_url());
    browser.goto(&page).await;
    let checkout = choose_asset(&world, &browser, "BTC").await;
    pay_in_full(&world, &checkout).await;
    print(&browser).await;
    let issued = checkout.get("/receipt").await.with(200).body;
    assert_eq!(browser.text("receipt-code").await, issued["code"]);
    let shops = "return [...document.querySelectorAll('header, footer, h1, img, p')].filter(at => at.checkVisibility()).length";
    assert_eq!(browser.evaluate(shops).await, 0);
    browser.emulate_print(false).await;
    browser
        .evaluate("window.dispatchEvent(new Event('afterprint'))")
        .await;
    assert!(browser.evaluate(shops).await.as_u64().unwrap() > 3);
    let marks = "return document.querySelectorAll('[data-florin-printed]').length + document.adoptedStyleSheets.length";
    assert_eq!(browser.evaluate(marks).await, 0);
    // The shop's own print shows the shop's page.
    browser.emulate_print(true).await;
    assert!(browser.evaluate(shops).await.as_u64().unwrap() > 3);
    end(world, browser).await;
}
