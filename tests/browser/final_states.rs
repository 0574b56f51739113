//! Payments after the end of an order, on an open page, or on a page opened later by its link.

use std::time::Duration;

use serde_json::json;
use support::{Browser, World, eventually};

use crate::helpers::{RECORD_ANNOUNCEMENTS, announced, choose_asset, end, open_payment};

#[tokio::test]
async fn a_second_payment_is_shown_to_its_sender_and_announced_once() {
    let (world, browser, checkout) = open_payment("BTC", &[RECORD_ANNOUNCEMENTS]).await;
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
    browser.wait_for("second_payment").await;
    let announced = announced(&browser).await;
    let spoken = announced.concat();
    assert_eq!(
        spoken.matches("Another payment for this order").count(),
        1,
        "{announced:?}"
    );
    end(world, browser).await;
}

#[tokio::test]
async fn a_late_payment_is_shown_on_the_open_page_and_by_its_link() {
    let world = World::start().await;
    let browser = Browser::open().await;
    let book = json!({
        "amount": "19.90", "currency": "USD", "reference": "late-1", "title": "A late e-book",
    });
    let opened = world.store().open(&book).await.with(201);
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
    browser.wait_for("late").await;
    // The link in another browser, days later.
    world.wait_for_deliveries().await;
    world.skip(Duration::from_hours(72));
    let another = Browser::open().await;
    another.goto(&link).await;
    another.wait_for("status-paid").await;
    another.end().await;
    end(world, browser).await;
}
