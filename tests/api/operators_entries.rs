//! What waits for a person on the operator's pages, and what an order's page shows.

use std::time::Duration;

use support::{Checkout, Reply, World, eventually, pause, secrets};

use crate::helpers::skip_until;
use crate::operators_pages::{Pages, ada};
use crate::program::start_program;
use crate::reload::{RELOADED, change, line};

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
    ada.post("/stores/demo/enable", &[("csrf", "0")])
        .await
        .with(403);
    ada.post("/stores/demo/enable", &[("csrf", &*csrf)])
        .await
        .with(303);
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

#[tokio::test]
async fn a_changed_address_waits_on_the_first_page_until_it_is_closed() {
    let world = World::start().await;
    world.expect_error("the gateway changed an invoice's address");
    let blocked = world.customer().open("ebook").await;
    blocked.choose("BTC").await;
    let other = "tb1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3q0sl5k7";
    world.sandbox().change_address(&blocked, other).await;
    blocked.wait_for("blocked").await;
    let mut ada = ada(&world).await;
    let page = ada.get("/").await.with(200).text;
    for text in [
        "Address changed",
        "The gateway named another address",
        &blocked.order,
    ] {
        assert!(page.contains(text), "{text} in {page}");
    }
    let order = ada
        .get(&format!("/orders/{}", blocked.order))
        .await
        .with(200);
    let form = [
        ("csrf", order.hidden("csrf")),
        ("version", order.hidden("version")),
        ("back", "/".to_owned()),
        ("reason", "the gateway explained it".to_owned()),
        ("decision", "close".to_owned()),
    ];
    let form: Vec<(&str, &str)> = form.iter().map(|(name, value)| (*name, &**value)).collect();
    let path = format!("/orders/{}/decision", blocked.order);
    ada.post(&path, &form).await.with(303);
    let page = ada.get("/").await.with(200).text;
    assert!(!page.contains(&blocked.order), "{page}");
    world.end().await;
}

#[tokio::test]
async fn a_second_payment_and_a_reverted_one_wait_on_the_first_page() {
    let world = World::start().await;
    world.expect_error("the gateway takes back a payment that was credited");
    let invoice =
        async |checkout: &Checkout| world.sandbox().invoice_of(&checkout.address().await).await;
    let twice = world.customer().open("ebook").await;
    twice.choose("BTC").await;
    let first = invoice(&twice).await;
    twice.choose("LTC").await;
    let second = invoice(&twice).await;
    world.sandbox().pay_invoice(&first, "exact").await;
    world.sandbox().mine(3).await;
    twice.wait_for("paid").await;
    world.sandbox().pay_invoice(&second, "exact").await;
    world.sandbox().mine(3).await;
    let mut ada = ada(&world).await;
    let waits = async |pages: &mut Pages<'_>, title: &str, sentence: &str| {
        for _ in 0..100 {
            let page = pages.get("/").await.with(200).text;
            if page.contains(title) {
                assert!(page.contains(sentence), "{sentence} in {page}");
                return;
            }
            pause(Duration::from_millis(200)).await;
        }
        panic!("no {title}");
    };
    let sentence = "More money arrived for an order that is paid or closed.";
    waits(&mut ada, "Paid twice", sentence).await;
    world.wait_for_deliveries().await;
    world.sandbox().reorg(9).await;
    world.skip(Duration::from_mins(11));
    let sentence = "The order is credited, and the gateway contradicts that now.";
    waits(&mut ada, "Credit contradicted", sentence).await;
    world.end().await;
}

#[tokio::test]
async fn a_reload_with_another_password_ends_the_sessions_of_that_operator_alone() {
    let mut world = World::start().await;
    let program = start_program(&mut world).await;
    let mut ada = ada(&world).await;
    let mut rita = Pages::of(&world);
    rita.sign_in("rita", secrets::READER_PASSWORD)
        .await
        .with(303);
    let hash = |hash: &str| format!("name = \"ada\"\npassword_hash = \"{hash}\"");
    let (old, new) = (hash(secrets::OPERATOR_HASH), hash(secrets::READER_HASH));
    change(&world, &program, &[(&old, &new)]);
    let logged = line(&program, 0, RELOADED).await;
    assert!(logged.contains("operator.ada.password_hash"), "{logged}");
    ada.get("/orders").await.with(303);
    rita.get("/orders").await.with(200);
    let mut again = Pages::of(&world);
    again
        .sign_in("ada", secrets::READER_PASSWORD)
        .await
        .with(303);
    again.get("/orders").await.with(200);
    drop(program);
    world.end().await;
}
