//! What is wrong with the proxy itself, on the operator's first page.

use std::time::Duration;

use serde_json::json;
use support::{MovedFile, Program, Reply, World, eventually, secrets};

use crate::operators_pages::{Pages, ada};
use crate::program::{assert_ended, start_program};
use crate::reload::{RELOADED, change, line};
use crate::staff_pages::zoe;

const ALL_IS_WELL: &str = "Nothing waits for you.";

type Cookies = [(String, String)];

/// Waits until the first page of an operator has all of these texts, and returns it.
async fn page_with(world: &World, session: &Cookies, texts: &[&str]) -> String {
    eventually(&texts.join(", "), async || {
        let mut pages = Pages::of(world);
        pages.cookies = session.to_vec();
        let page = pages.get("/").await.with(200).text;
        let has_all = texts.iter().all(|text| page.contains(text));
        has_all.then_some(page)
    })
    .await
}

#[tokio::test]
async fn the_page_shows_why_orders_cannot_be_stored_and_what_else_is_wrong() {
    let mut world = World::start().await;
    let program = start_program(&mut world).await;
    world.customer().open("ebook").await.choose("BTC").await;
    let session = ada(&world).await.cookies;
    page_with(&world, &session, &[ALL_IS_WELL]).await;

    let file = MovedFile::move_away(&world.database());
    let page = page_with(&world, &session, &["Orders cannot be stored"]).await;
    assert!(page.contains("Move the same file back"), "{page}");
    assert!(page.contains("docs/operations/running.md#full-disk"));
    assert!(!page.contains(ALL_IS_WELL), "{page}");
    file.put_back();
    page_with(&world, &session, &[ALL_IS_WELL]).await;

    change(&world, &program, &[("price = \"19.90\"", "price = 19.90")]);
    let refused = ["The configuration was not reloaded", "product.ebook.price"];
    page_with(&world, &session, &refused).await;
    change(&world, &program, &[("price = 19.90", "price = \"19.90\"")]);
    page_with(&world, &session, &[ALL_IS_WELL]).await;

    let right = format!("api_secret = \"{}\"", secrets::API_SECRET);
    let wrong = "api_secret = \"canary-wrong\"";
    change(&world, &program, &[(&right, wrong)]);
    let page = page_with(&world, &session, &["The gateway rejects the key"]).await;
    assert!(!page.contains("canary"), "{page}");
    let config = world.config_file().display().to_string();
    let health = Program::run(&["health", "--config", &config], &[]);
    let condition = "The gateway rejects the key: It answers 401.";
    // A restart would not help.
    assert_ended(&health, 0, &["The proxy is ready.\n", condition]);
    change(&world, &program, &[(wrong, &right)]);
    line(&program, 2, RELOADED).await;
    page_with(&world, &session, &[ALL_IS_WELL]).await;
    drop(program);
    world.end().await;
}

#[tokio::test]
async fn the_page_shows_that_the_gateway_is_away_and_events_wait_and_staff_does_not_see_it() {
    let mut world = World::start().await;
    world.webhooks.reply_with(Reply::Status(500));
    world.customer().open("ebook").await.choose("BTC").await;
    world.skip(Duration::from_mins(2));
    let session = ada(&world).await.cookies;
    let page = page_with(&world, &session, &["Events wait for a store"]).await;
    assert!(
        page.contains("demo: 2, the oldest happened 2 minutes ago"),
        "{page}"
    );
    world.sandbox().set_clock(3600).await;
    world.customer().open("ebook").await.choose("LTC").await;
    page_with(&world, &session, &["The clocks differ", "s ahead."]).await;
    world.gateway_link.cut().await;
    page_with(&world, &session, &["The gateway does not answer"]).await;
    let staff = zoe(&world).await.get("/staff/").await.with(200).text;
    assert!(staff.contains(ALL_IS_WELL), "{staff}");
    world.gateway_link.restore().await;
    world.sandbox().set_clock(0).await;
    world.webhooks.reply_with(Reply::Accept);
    eventually("all is well again", async || {
        world.skip(Duration::from_mins(1));
        let mut pages = Pages::of(&world);
        pages.cookies.clone_from(&session);
        let page = pages.get("/").await.text;
        page.contains(ALL_IS_WELL).then_some(())
    })
    .await;
    let url = format!("{}/v1/checkout", world.proxy_url());
    let order = world.http().post(url).header("origin", world.shop_url());
    let order = order.header("x-forwarded-for", "203.0.113.7");
    let order = order.json(&json!({ "store": "demo", "product": "ebook" }));
    assert_eq!(order.send().await.unwrap().status(), 201);
    page_with(&world, &session, &["A reverse proxy is not named"]).await;
    world.end().await;
}
