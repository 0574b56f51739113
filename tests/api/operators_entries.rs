//! What waits for a person on the operator's pages, and what an order's page shows.

use std::time::Duration;

use support::{Reply, World, eventually};

use crate::helpers::skip_until;
use crate::operators_pages::{Pages, ada};

#[tokio::test]
async fn the_time_line_has_the_payment_seen_its_confirmations_and_the_credit() {
    let world = World::start().await;
    let checkout = world.customer().open("ebook").await;
    checkout.choose("BTC").await;
    world.sandbox().pay(&checkout, "exact").await;
    world.sandbox().mine(1).await;
    checkout.wait_for("processing").await;
    world.sandbox().mine(2).await;
    checkout.wait_for("paid").await;
    world.wait_for_deliveries().await;
    let path = format!("/orders/{}", checkout.order);
    let page = ada(&world).await.get(&path).await.with(200).text;
    let mut rest = page.split_once("id=\"timeline\"").unwrap().1;
    // The latest first.
    for entry in [
        "Credited</strong> <span>19.9",
        "/3 confirmations",
        "Payment seen",
        "Address shown",
        "Order opened",
    ] {
        let found = rest.split_once(entry);
        rest = found.unwrap_or_else(|| panic!("{entry} in {page}")).1;
    }
    world.end().await;
}

#[tokio::test]
async fn a_disabled_webhook_is_enabled_on_the_page() {
    let world = World::start().await;
    world.expect_error("a store's endpoint says that it is gone");
    world.webhooks.reply_with(Reply::Status(410));
    let checkout = world.customer().open("ebook").await;
    let mut ada = ada(&world).await;
    let page = eventually("the webhook is disabled", async || {
        let mut pages = Pages::of(&world);
        pages.cookies.clone_from(&ada.cookies);
        let page = pages.get("/").await.text;
        page.contains("Disabled webhooks").then_some(page)
    })
    .await;
    assert!(page.contains("answered 410 Gone"), "{page}");
    let stores = ada.get("/stores").await.with(200);
    assert!(
        stores.text.contains("Enable the webhook"),
        "{}",
        stores.text
    );
    world.webhooks.reply_with(Reply::Accept);
    let csrf = stores.hidden("csrf");
    for (action, status) in [("enable", 303), ("test", 200)] {
        let path = format!("/stores/demo/{action}");
        ada.post(&path, &[("csrf", "0")]).await.with(403);
        ada.post(&path, &[("csrf", &*csrf)]).await.with(status);
    }
    world.wait_for_deliveries().await;
    assert_eq!(
        world.webhooks.event_types(&checkout.order),
        ["order.created"]
    );
    let page = ada.get("/").await.with(200).text;
    assert!(page.contains("Nothing waits for you."), "{page}");
    let audit = ada.get("/audit").await.with(200).text;
    assert!(audit.contains("enable webhook"), "{audit}");
    world.end().await;
}

#[tokio::test]
async fn an_event_that_was_given_up_is_redelivered_on_the_page() {
    let world = World::start().await;
    world.expect_error("an event was given up");
    world.webhooks.reply_with(Reply::Status(500));
    let checkout = world.customer().open("ebook").await;
    let step = Duration::from_hours(48);
    skip_until(&world, step, "the event is given up", || {
        world.logged("an event was given up")
    })
    .await;
    world.webhooks.reply_with(Reply::Accept);
    let mut ada = ada(&world).await;
    let page = ada.get("/").await.with(200);
    assert!(page.text.contains("in none of ten tries"), "{}", page.text);
    let (csrf, event) = (page.hidden("csrf"), page.hidden("event"));
    let path = format!("/orders/{}/redeliver", checkout.order);
    ada.post(&path, &[("csrf", &*csrf), ("event", &*event)])
        .await
        .with(303);
    eventually("the event arrives", async || {
        let types = world.webhooks.event_types(&checkout.order);
        types.contains(&"order.created".to_owned()).then_some(())
    })
    .await;
    let page = ada.get("/").await.with(200).text;
    assert!(!page.contains("in none of ten tries"), "{page}");
    // The event behind it may have failed before the store accepted.
    world.skip(step);
    world.end().await;
}
