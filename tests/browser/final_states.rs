//! The final states of an order, and late payments on an open page, or on a page opened later by its link.

use std::time::Duration;

use serde_json::json;
use support::{Browser, BrowserOptions, World, eventually};

use crate::helpers::{
    RECORD_ANNOUNCEMENTS, announced, change_responses, choose_asset, open_ebook_checkout,
};

#[tokio::test]
async fn a_failed_order_shows_a_reference_a_prepared_email_and_a_link_back() {
    let world = World::start().await;
    // The shop's dialog scrolls, but the driver cannot scroll the page around a frame: the window must show all of it.
    let browser = Browser::open_with(BrowserOptions {
        size: (1280, 1400),
        ..BrowserOptions::default()
    })
    .await;
    open_ebook_checkout(&world, &browser).await;
    let checkout = choose_asset(&world, &browser, "BTC").await;
    world.sandbox().pay(&checkout, "half").await;
    world.sandbox().mine(3).await;
    browser.wait_for("status-underpaid").await;
    let view = checkout.view().await;
    let hash = view["attempt"]["transaction_hash"].as_str().unwrap();
    let mail = "
        const inside = document.querySelector('florin-checkout').shadowRoot;
        const link = inside.querySelector('.contact [data-testid=help]').href;
        const [address, fields] = link.split('?');
        return [address, ...fields.split('&').map(decodeURIComponent)];";
    let mail = browser.evaluate(mail, &[]).await;
    assert_eq!(mail[0], "mailto:help@quiet-goods.example");
    let order = &checkout.order;
    assert_eq!(mail[1], format!("subject=Quiet Goods · {order}"));
    let title = view["title"].as_str().unwrap();
    let body = format!(
        "body={title}\r\nYour reference: {order}\r\nPart of the payment is missing\r\nTransaction: {hash}\r\n"
    );
    assert_eq!(mail[2], body);
    let back = browser.wait_for("return").await.attr("href").await.unwrap();
    assert_eq!(back.as_deref(), view["return_url"].as_str());
    browser.press("copy-reference").await;
    eventually("the reference is in the clipboard", async || {
        (browser.clipboard().await == *order).then_some(())
    })
    .await;
    browser.end().await;
    world.end().await;
}

#[tokio::test]
async fn a_new_price_is_the_first_action_of_an_expired_order() {
    let world = World::start().await;
    let browser = Browser::open().await;
    browser.run_before_every_page(RECORD_ANNOUNCEMENTS).await;
    browser.goto(&world.checkout_page()).await;
    browser.press("asset-BTC").await;
    browser.wait_for("status-awaiting_payment").await;
    world.wait_for_deliveries().await;
    world.skip(Duration::from_mins(16));
    browser.wait_for("status-expired").await;
    let hint =
        "Please don’t send anything to the old address. Get a new one with today’s price below.";
    assert_eq!(announced(&browser).await.last().unwrap(), hint);
    let actions = "
        const inside = document.querySelector('florin-checkout').shadowRoot;
        return [...inside.querySelectorAll('.screen button, .screen a')].slice(0, 2).map((at) => at.textContent);";
    let expected = json!(["Get a new price", "Choose another currency"]);
    assert_eq!(browser.evaluate(actions, &[]).await, expected);
    browser.set_viewport(390, 844).await;
    let widths = "
        const inside = document.querySelector('florin-checkout').shadowRoot;
        return ['.screen', '.primary'].map((at) => inside.querySelector(at).offsetWidth);";
    let widths = browser.evaluate(widths, &[]).await;
    assert_eq!(
        widths[0], widths[1],
        "on a phone it is as wide as the screen"
    );
    browser.press("new-quote").await;
    browser.wait_for("status-awaiting_payment").await;
    browser.end().await;
    world.end().await;
}

#[tokio::test]
async fn an_overpayment_is_shown_with_a_contact() {
    let world = World::start().await;
    let browser = Browser::open().await;
    browser.goto(&world.checkout_page()).await;
    let checkout = choose_asset(&world, &browser, "BTC").await;
    world.sandbox().pay(&checkout, "double").await;
    world.sandbox().mine(3).await;
    let words = browser.text("status-overpaid").await;
    let view = checkout.view().await;
    let excess = view["attempt"]["excess_in_crypto"].as_str().unwrap();
    let local = format!(
        "${}",
        view["attempt"]["excess_in_local_currency"]
            .as_str()
            .unwrap()
    );
    assert!(
        words.contains(&format!(
            "You paid {excess}\u{a0}BTC (≈\u{a0}{local}) more than the price."
        )),
        "{words}"
    );
    assert!(browser.is_visible("copy-reference").await && browser.is_visible("return").await);
    browser.end().await;
    world.end().await;
}

#[tokio::test]
async fn a_credited_late_payment_is_explained() {
    let world = World::start().await;
    let browser = Browser::open().await;
    browser.goto(&world.checkout_page()).await;
    let checkout = choose_asset(&world, &browser, "BTC").await;
    let invoice = world.sandbox().invoice_of(&checkout.address().await).await;
    world.wait_for_deliveries().await;
    world.skip(Duration::from_mins(16));
    browser.wait_for("status-expired").await;
    world.sandbox().pay_invoice(&invoice, "exact").await;
    world.sandbox().mine(3).await;
    world.skip(Duration::from_mins(2));
    browser.wait_for("status-paid").await;
    let words = browser.text("late").await;
    assert!(
        words.contains("arrived late, but it was accepted"),
        "{words}"
    );
    browser.end().await;
    world.end().await;
}

#[tokio::test]
async fn a_second_payment_is_shown_to_its_sender() {
    let world = World::start().await;
    let browser = Browser::open().await;
    browser.run_before_every_page(RECORD_ANNOUNCEMENTS).await;
    browser.goto(&world.checkout_page()).await;
    let checkout = choose_asset(&world, &browser, "BTC").await;
    let first = world.sandbox().invoice_of(&checkout.address().await).await;
    checkout.choose("LTC").await;
    world.sandbox().pay(&checkout, "exact").await;
    world.sandbox().mine(3).await;
    browser.wait_for("status-paid").await;
    assert!(!browser.is_visible("second_payment").await && !browser.is_visible("late").await);
    world.sandbox().pay_invoice(&first, "exact").await;
    world.sandbox().mine(3).await;
    eventually("the proxy reports it", async || {
        (checkout.view().await["late_payment"] == "second").then_some(())
    })
    .await;
    let words = browser.text("second_payment").await;
    assert!(
        words.contains("Quiet Goods has been notified and can refund it"),
        "{words}"
    );
    let announced = announced(&browser).await;
    let spoken = announced.concat();
    assert_eq!(
        spoken.matches("Another payment for this order").count(),
        1,
        "{announced:?}"
    );
    browser.end().await;
    world.end().await;
}

#[tokio::test]
async fn a_blocked_or_cancelled_order_shows_a_contact() {
    let world = World::start().await;
    let browser = Browser::open().await;
    let status = "order.status = sessionStorage.getItem('end') ?? order.status; order.can_open_attempt = false;";
    browser
        .run_before_every_page(&change_responses(status))
        .await;
    browser.goto(&world.checkout_page()).await;
    browser.wait_for("status-open").await;
    for end in ["failed", "cancelled", "blocked", "expired"] {
        browser
            .evaluate("sessionStorage.setItem('end', arguments[0])", &[json!(end)])
            .await;
        browser
            .evaluate("dispatchEvent(new Event('focus'))", &[])
            .await;
        browser.wait_for(&format!("status-{end}")).await;
        for help in ["copy-reference", "help", "return"] {
            assert!(browser.is_visible(help).await, "{end} has no {help}");
        }
    }
    browser.end().await;
    world.end().await;
}

/// The facts of a paid order: each label with its value.
const FACTS: &str = "
    const inside = document.querySelector('florin-checkout').shadowRoot;
    return Object.fromEntries([...inside.querySelectorAll('.fact')].map((row) =>
        [row.querySelector('dt').textContent, row.querySelector('dd').textContent.trim()]))";

/// The page's icon, by its name without the hash.
const ICON: &str = "return new URL(document.querySelector('link[rel=icon]').href).pathname.split('/').pop().replace(/-[0-9a-f]{8}(?=\\.svg)/, '')";

#[tokio::test]
async fn a_paid_order_is_one_list_with_its_copy_buttons_in_one_column() {
    let world = World::start().await;
    let browser = Browser::open().await;
    open_ebook_checkout(&world, &browser).await;
    browser.wait_for("status-open").await;
    assert_eq!(browser.evaluate(ICON, &[]).await, "icon.svg");
    let checkout = choose_asset(&world, &browser, "BTC").await;
    world.sandbox().pay(&checkout, "exact").await;
    world.sandbox().mine(3).await;
    browser.wait_for("status-paid").await;
    assert_eq!(browser.evaluate(ICON, &[]).await, "paid-icon.svg");
    let facts = browser.evaluate(FACTS, &[]).await;
    let view = checkout.view().await;
    let (order, attempt) = (&checkout.order, &view["attempt"]);
    let received = attempt["received_in_crypto"].as_str().unwrap();
    let hash = attempt["transaction_hash"].as_str().unwrap();
    assert_eq!(facts["Amount"], format!("{received}\u{a0}BTC ≈ $19.90"));
    assert_eq!(facts["Network"], "Bitcoin");
    let year = &view["paid_at"].as_str().unwrap()[..4];
    assert!(facts["Time"].as_str().unwrap().contains(year), "{facts}");
    assert!(facts["Reference"].as_str().unwrap().starts_with(order));
    assert!(facts["Transaction"].as_str().unwrap().starts_with(hash));
    let column = "
        const inside = document.querySelector('florin-checkout').shadowRoot;
        return [...inside.querySelectorAll('.facts .copy')].map((at) => at.getBoundingClientRect().right);";
    let column = browser.evaluate(column, &[]).await;
    assert_eq!(column[0], column[1]);
    for (name, value) in [
        ("copy-reference", order.as_str()),
        ("copy-transaction", hash),
    ] {
        browser.press(name).await;
        eventually(&format!("{name} copies"), async || {
            (browser.clipboard().await == value).then_some(())
        })
        .await;
    }
    browser.end().await;
    world.end().await;
}

#[tokio::test]
async fn a_paid_order_without_an_email_asks_for_one() {
    let world = World::start().await;
    let browser = Browser::open().await;
    browser.goto(&world.checkout_page()).await;
    let checkout = choose_asset(&world, &browser, "BTC").await;
    world.sandbox().pay(&checkout, "exact").await;
    world.sandbox().mine(3).await;
    browser.wait_for("status-paid").await;
    browser.press("email-receipt").await;
    let wrong = browser.text("email-wrong").await;
    assert_eq!(wrong, "Enter an email address like name@example.com.");
    browser.fill("email", "me@shop.example").await;
    browser.press("email-receipt").await;
    let saved = browser.text("email-saved").await;
    assert_eq!(saved, "Email saved for your receipt: me@shop.example");
    eventually("the gateway knows the address of the receipt", async || {
        let invoices = world.sandbox().invoices().await;
        (invoices[0]["email"] == "me@shop.example").then_some(())
    })
    .await;
    browser.reload().await;
    browser.wait_for("status-paid").await;
    assert!(!browser.is_visible("email").await);
    browser.end().await;
    world.end().await;
}

#[tokio::test]
async fn what_is_delivered_by_email_has_its_address_before_the_one_to_pay_to() {
    let world = World::start().await;
    let browser = Browser::open().await;
    let page = world.checkout_page().replace("ebook", "guide");
    browser.goto(&page).await;
    choose_asset(&world, &browser, "BTC").await;
    browser.press("email-receipt").await;
    let wrong = browser.text("email-wrong").await;
    assert_eq!(wrong, "Enter an email address like name@example.com.");
    assert!(!browser.is_visible("address").await);
    browser.fill("email", "me@shop.example").await;
    browser.press("email-receipt").await;
    browser.wait_for("address").await;
    let focused =
        "return document.querySelector('florin-checkout').shadowRoot.activeElement?.tagName";
    browser
        .wait_for_result("the focus is on the heading", focused, &json!("H2"))
        .await;
    browser.end().await;
    world.end().await;
}

#[tokio::test]
async fn the_page_icon_shows_a_problem() {
    let world = World::start().await;
    let browser = Browser::open().await;
    browser.goto(&world.checkout_page()).await;
    let checkout = choose_asset(&world, &browser, "BTC").await;
    world.sandbox().pay(&checkout, "half").await;
    world.sandbox().mine(3).await;
    browser.wait_for("status-underpaid").await;
    assert_eq!(browser.evaluate(ICON, &[]).await, "problem-icon.svg");
    world.sandbox().pay(&checkout, "rest").await;
    world.sandbox().mine(3).await;
    browser.wait_for("status-paid").await;
    assert_eq!(browser.evaluate(ICON, &[]).await, "paid-icon.svg");
    assert_eq!(
        browser.console_warnings().await,
        [""; 0],
        "the policy lets the icons in"
    );
    browser.end().await;
    world.end().await;
}

#[tokio::test]
async fn a_late_payment_is_shown_on_the_open_page_and_by_its_link() {
    let world = World::start().await;
    let browser = Browser::open().await;
    let lamp = serde_json::json!({
        "amount": "19.90", "currency": "USD", "reference": "late-1", "title": "A late e-book",
    });
    let opened = world.store().open(&lamp).await.with(201);
    let link = opened.text_at("/checkout_url");
    browser.goto(&link).await;
    let checkout = choose_asset(&world, &browser, "BTC").await;
    let address = checkout.address().await;
    let invoice = world.sandbox().invoice_of(&address).await;
    world.wait_for_deliveries().await;
    world.skip(Duration::from_mins(16));
    browser.wait_for("status-expired").await;
    world.sandbox().pay_invoice(&invoice, "exact").await;
    world.sandbox().mine(1).await;
    world.skip(Duration::from_mins(2));
    browser.wait_for("status-processing").await;
    world.sandbox().mine(2).await;
    browser.wait_for("status-paid").await;
    // The link in another browser, days later.
    world.wait_for_deliveries().await;
    world.skip(Duration::from_hours(72));
    let another = Browser::open().await;
    another.goto(&link).await;
    another.wait_for("status-paid").await;
    another.end().await;
    browser.end().await;
    world.end().await;
}

#[tokio::test]
async fn a_reverted_payment_is_shown_to_the_customer() {
    let world = World::start().await;
    world.expect_error("the gateway takes back a payment that was credited");
    let browser = Browser::open().await;
    browser.goto(&world.checkout_page()).await;
    let checkout = choose_asset(&world, &browser, "BTC").await;
    world.sandbox().pay(&checkout, "exact").await;
    world.sandbox().mine(3).await;
    browser.wait_for("status-paid").await;
    assert!(!browser.is_visible("reverted").await);
    world.wait_for_deliveries().await;
    world.sandbox().reorg(9).await;
    world.skip(Duration::from_mins(11));
    support::eventually("the proxy reports it", async || {
        (checkout.view().await["reverted"] == true).then_some(())
    })
    .await;
    // The page polls again when it becomes visible.
    browser
        .evaluate("window.dispatchEvent(new Event('focus'))", &[])
        .await;
    let words = browser.text("reverted").await;
    assert!(words.contains("Quiet Goods has been notified"), "{words}");
    browser.wait_for("status-paid").await;
    browser.end().await;
    world.end().await;
}
