//! Processes with different roles on one PostgreSQL, as programs.

use serde_json::Value;
use support::{Program, World, WorldConfig, eventually, postgres_database};

use crate::program::{free_port, wait_until_up};

/// What a process says about itself.
async fn health(world: &World, admin: &str) -> Option<Value> {
    let url = format!("{admin}/health/ready");
    let response = world.http().get(url).send().await.ok()?;
    response.json().await.ok()
}

#[tokio::test]
async fn one_process_serves_another_one_works_and_the_purchase_is_paid_and_reported() {
    let mut world = World::start_with(WorldConfig {
        database_url: Some(postgres_database().await),
        ..WorldConfig::default()
    })
    .await;
    world.stop_proxy().await;
    let config = world.config_file();
    let http = Program::start(
        &config,
        &world.file("http.log"),
        &[("FLORIN_ROLES", "http")],
    );
    wait_until_up(&world, &http).await;
    let shown = health(&world, &world.admin_url()).await.unwrap();
    assert_eq!(shown["roles"], serde_json::json!(["http"]));
    let missing = "this process does not have poller, dispatcher, cleanup";
    assert!(http.printed().contains(missing), "{}", http.printed());

    let checkout = world.customer().open("ebook").await;
    checkout.choose("BTC").await;
    world.sandbox().pay(&checkout, "exact").await;
    world.sandbox().mine(3).await;
    // Nothing polls, though the gateway has called back, and nothing is delivered.
    support::pause(std::time::Duration::from_secs(3)).await;
    let status = checkout.view().await["status"].clone();
    assert!(
        ["awaiting_payment", "checking"].contains(&status.as_str().unwrap()),
        "{status}"
    );
    let waiting = health(&world, &world.admin_url()).await.unwrap();
    assert!(waiting["events_waiting"].as_u64() > Some(0), "{waiting}");

    let (listen, admin) = (free_port().to_string(), free_port().to_string());
    let workers = [
        ("FLORIN_ROLES", "poller, dispatcher, cleanup"),
        ("FLORIN_LISTEN", listen.as_str()),
        ("FLORIN_ADMIN_LISTEN", admin.as_str()),
    ];
    let mut workers = Program::start(&config, &world.file("workers.log"), &workers);
    eventually("the order is paid and reported", async || {
        let is_paid = checkout.view().await["status"] == "paid";
        let shown = health(&world, &format!("http://{admin}")).await?;
        let expected = serde_json::json!(["poller", "dispatcher", "cleanup"]);
        assert_eq!(shown["roles"], expected);
        (is_paid && shown["events_waiting"] == 0).then_some(())
    })
    .await;
    let public = tokio::net::TcpStream::connect(&listen).await;
    assert!(public.is_err(), "a process without the role http listens");
    assert_eq!(workers.stop().await, Some(0), "{}", workers.printed());
    let mut http = http;
    assert_eq!(http.stop().await, Some(0), "{}", http.printed());
    world.end().await;
}

#[tokio::test]
async fn a_list_of_roles_that_cannot_be_used_is_refused_by_its_key() {
    let mut world = World::start().await;
    world.stop_proxy().await;
    let config = world.config_file().display().to_string();
    for (roles, sentence) in [
        ("[]", "roles: is empty"),
        (
            "http, watcher",
            "roles: \"watcher\" is no role: write some of http, poller, dispatcher, cleanup",
        ),
        (
            "http",
            "roles: lacks poller, dispatcher, cleanup: one process serves a file of SQLite",
        ),
    ] {
        let variables = [("FLORIN_ROLES", roles)];
        let ended = Program::run(&["--config", &config], &variables);
        assert_eq!(ended.code, Some(2), "{}", ended.printed);
        assert!(
            ended.printed.contains(sentence),
            "{roles}: {}",
            ended.printed
        );
    }
    world.end().await;
}
