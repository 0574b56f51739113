//! The program `florin-proxy`: wrong configuration, orderly shutdown, kills.

use std::net::SocketAddr;
use std::time::Instant;

use serde_json::Value;
use support::{Folder, Program, World, eventually};
use tokio::net::{TcpListener, TcpStream};

use crate::steps::paid_event_count;

/// Replaces the world's proxy by the program, at the same addresses and on the same database.
pub(crate) async fn start_program(world: &mut World) -> Program {
    world.stop_proxy().await;
    let program = Program::start(&world.config_file(), &world.file("proxy.log"), &[]);
    wait_until_up(world, &program).await;
    program
}

pub(crate) async fn wait_until_up(world: &World, program: &Program) {
    let up = async || {
        let health = world
            .http()
            .get(format!("{}/health/ready", world.admin_url()));
        health
            .send()
            .await
            .ok()
            .filter(|answer| answer.status() == 200)
    };
    let up = support::within(std::time::Duration::from_secs(10), up).await;
    assert!(up.is_some(), "it does not start:\n{}", program.printed());
}

/// Returns a free port.
pub(crate) fn free_port() -> SocketAddr {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap()
}

/// Returns a complete configuration; its gateway does not exist.
pub(crate) fn complete_environment(database: &str) -> Vec<(&'static str, String)> {
    vec![
        ("FLORIN_LISTEN", free_port().to_string()),
        ("FLORIN_ADMIN_LISTEN", free_port().to_string()),
        ("FLORIN_DATABASE_URL", format!("sqlite://{database}")),
        ("FLORIN_GATEWAY__URL", "http://127.0.0.1:9/api".into()),
        ("FLORIN_GATEWAY__API_KEY", "key".into()),
        ("FLORIN_GATEWAY__API_SECRET", "canary-secret".into()),
        ("FLORIN_GATEWAY__CALLBACK_TOKEN", "x".repeat(32)),
    ]
}

fn run(folder: &Folder, words: &[&str], change: &[(&'static str, &str)]) -> (Option<i32>, String) {
    let config = folder.file("florin.toml");
    std::fs::write(&config, "[[store]]\nid = \"demo\"\n").unwrap();
    let database = folder.file("florin.db");
    let mut variables = complete_environment(&database.display().to_string());
    for (name, value) in change {
        variables.retain(|(known, _)| known != name);
        if !value.is_empty() {
            variables.push((name, (*value).to_owned()));
        }
    }
    let variables: Vec<_> = variables
        .iter()
        .map(|(name, value)| (*name, value.as_str()))
        .collect();
    let config = config.display().to_string();
    let words = [&["--config", &config], words].concat();
    let ended = Program::run(&words, &variables);
    (ended.code, ended.printed)
}

#[test]
fn check_config_starts_nothing() {
    let folder = Folder::new();
    let (code, printed) = run(&folder, &["check-config"], &[]);
    assert_eq!(
        (code, printed.as_str()),
        (Some(0), "The configuration is complete: 1 store(s).\n")
    );
    assert!(!folder.file("florin.db").exists());
}

#[test]
fn every_configuration_error_names_its_key_and_prevents_the_start() {
    let folder = Folder::new();
    let change = [
        ("FLORIN_GATEWAY__API_KEY", ""),
        ("FLORIN_GATEWAY__URL", "http://pay.example/api"),
        ("FLORIN_GATEWAY__CALLBACK_TOKEN", "short-canary"),
        ("FLORIN_ENVIRONMENT", "prod"),
    ];
    for words in [&["check-config"][..], &[]] {
        let (code, printed) = run(&folder, words, &change);
        assert_eq!(code, Some(2), "{printed}");
        for key in [
            "gateway.api_key",
            "gateway.url",
            "gateway.callback_token",
            "environment",
        ] {
            assert!(printed.contains(&format!("{key}: ")), "{key} in {printed}");
        }
        assert!(!printed.contains("canary"), "{printed}");
    }
}

#[tokio::test]
async fn a_port_in_use_is_a_readable_error() {
    let folder = Folder::new();
    let taken = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = taken.local_addr().unwrap().to_string();
    for (variable, key) in [
        ("FLORIN_LISTEN", "listen"),
        ("FLORIN_ADMIN_LISTEN", "admin_listen"),
    ] {
        let (code, printed) = run(&folder, &[], &[(variable, &address)]);
        assert_eq!(code, Some(1), "{printed}");
        let sentence = format!("{key}: cannot listen on {address}; is another program there?");
        assert!(printed.contains(&sentence), "{printed}");
    }
}

#[test]
fn an_unwritable_database_is_a_readable_error() {
    let folder = Folder::new();
    let unwritable = folder.file("not/there/florin.db");
    let url = format!("sqlite://{}", unwritable.display());
    let (code, printed) = run(&folder, &[], &[("FLORIN_DATABASE_URL", &url)]);
    assert_eq!(code, Some(1), "{printed}");
    let last = printed.lines().last().unwrap();
    assert!(
        last.starts_with("florin-proxy: database_url: ") && last.contains(&url),
        "{printed}"
    );
    let reason = format!(
        "the folder {} does not exist: create it",
        unwritable.parent().unwrap().display()
    );
    assert!(last.contains(&reason), "{printed}");
    assert!(!printed.contains("panicked"), "{printed}");
}

#[tokio::test]
async fn a_database_of_another_environment_is_rejected() {
    let folder = Folder::new();
    let url = format!("sqlite://{}", folder.file("florin.db").display());
    florin_storage::SqliteStorage::open(&url, "test")
        .await
        .unwrap()
        .close()
        .await;
    let production = [("FLORIN_ENVIRONMENT", "production")];
    let (code, printed) = run(&folder, &[], &production);
    assert_eq!(code, Some(1), "{printed}");
    let last = printed.lines().last().unwrap();
    assert!(
        last.contains("test") && last.contains("production"),
        "{printed}"
    );
}

#[tokio::test]
async fn sigterm_ends_it_quickly_even_with_an_open_stream() {
    let mut world = World::start().await;
    let mut program = start_program(&mut world).await;
    let checkout = world.shopper().open("ebook").await;
    let mut stream = checkout.stream().await;
    stream.chunk().await.unwrap().unwrap();
    let address = world.proxy_url().replace("http://", "");
    let _silent = TcpStream::connect(address).await.unwrap();
    #[expect(clippy::disallowed_methods, reason = "the operator's own watch")]
    let began = Instant::now();
    assert_eq!(program.stop().await, Some(0), "{}", program.printed());
    let took = began.elapsed().as_secs();
    assert!(took < 5, "{took} s");
    world.start_proxy().await;
    assert_eq!(checkout.view().await["status"], "open");
    world.end().await;
}

#[tokio::test]
async fn a_kill_during_a_payment_loses_nothing_and_reports_it_once() {
    let mut world = World::start().await;
    let mut program = start_program(&mut world).await;
    let checkout = world.shopper().open("ebook").await;
    checkout.choose("BTC").await;
    world.sandbox().pay(&checkout, "exact").await;
    world.sandbox().mine(1).await;
    checkout.wait_for("processing").await;
    program.kill();
    world.sandbox().mine(2).await;
    let mut program = start_program(&mut world).await;
    let view = checkout.wait_for("paid").await;
    assert_ne!(view["attempt"]["transaction_hash"], Value::Null);
    world.wait_for_deliveries().await;
    assert_eq!(paid_event_count(&world, &checkout.order).await, 1);
    let delivered_events = world.webhooks.event_types(&checkout.order);
    assert_eq!(
        delivered_events
            .iter()
            .filter(|kind| *kind == "order.paid")
            .count(),
        1
    );
    assert_eq!(program.stop().await, Some(0));
    world.end().await;
}

#[tokio::test]
async fn repeated_kills_never_lose_or_double_a_credit() {
    let mut world = World::start().await;
    let mut program = start_program(&mut world).await;
    let checkout = world.shopper().open("ebook").await;
    checkout.choose("LTC").await;
    world.sandbox().pay(&checkout, "exact").await;
    world.sandbox().mine(3).await;
    for _ in 0..5 {
        program.kill();
        program = start_program(&mut world).await;
    }
    checkout.wait_for("paid").await;
    eventually("the store is notified", async || {
        let delivered_events = world.webhooks.event_types(&checkout.order);
        delivered_events
            .contains(&"order.paid".to_owned())
            .then_some(())
    })
    .await;
    assert_eq!(paid_event_count(&world, &checkout.order).await, 1);
    assert_eq!(program.stop().await, Some(0));
    world.end().await;
}
