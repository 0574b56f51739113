//! What a customer sees who kept the page, or its link, after everything seemed over.

use std::time::Duration;

use support::{Browser, World};

use crate::journeys::chooses;

#[tokio::test]
async fn money_that_comes_late_is_shown_to_who_kept_the_page_or_its_link() {
    let world = World::start().await;
    let browser = Browser::open().await;
    let lamp = serde_json::json!({
        "amount": "19.90", "currency": "USD", "reference": "late-1", "title": "A late e-book",
    });
    let opened = world.store().opens(&lamp).await.with(201);
    let link = opened.text_at("/checkout_url");
    browser.goes_to(&link).await;
    let checkout = chooses(&world, &browser, "BTC").await;
    let address = checkout.address().await;
    let invoice = world.chain().invoice_of(&address).await;
    world.everything_is_told().await;
    world.skip(Duration::from_mins(16));
    browser.sees("status-expired").await;
    world.chain().pays_invoice(&invoice, "exact").await;
    world.chain().mines(1).await;
    world.skip(Duration::from_mins(2));
    browser.sees("status-processing").await;
    world.chain().mines(2).await;
    browser.sees("status-paid").await;
    // The link alone, in another browser, days later.
    world.everything_is_told().await;
    world.skip(Duration::from_hours(72));
    let another = Browser::open().await;
    another.goes_to(&link).await;
    another.sees("status-paid").await;
    another.end().await;
    browser.end().await;
    world.end().await;
}

#[tokio::test]
async fn a_payment_that_the_service_takes_back_is_not_kept_from_its_customer() {
    let world = World::start().await;
    world.expect_error("the service takes back a payment that was credited");
    let browser = Browser::open().await;
    browser.goes_to(&world.checkout_page()).await;
    let checkout = chooses(&world, &browser, "BTC").await;
    world.chain().pays(&checkout, "exact").await;
    world.chain().mines(3).await;
    browser.sees("status-paid").await;
    assert!(!browser.shows("reverted").await);
    world.everything_is_told().await;
    world.chain().reorgs(9).await;
    world.skip(Duration::from_mins(11));
    support::eventually("the proxy says so", async || {
        (checkout.looks().await["reverted"] == true).then_some(())
    })
    .await;
    // The page asks again when its customer comes back to it.
    browser
        .runs("window.dispatchEvent(new Event('focus'))", &[])
        .await;
    let words = browser.reads("reverted").await;
    assert!(words.contains("Quiet Goods has been notified"), "{words}");
    browser.sees("status-paid").await;
    browser.end().await;
    world.end().await;
}
