//! Late payments on an open page, or on a page opened later by its link.

use std::time::Duration;

use support::{Browser, World};

use crate::steps::choose_asset;

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
