//! `florin-proxy` as an operator meets it: started wrongly, ended in order, killed.

use std::net::SocketAddr;
use std::time::Instant;

use serde_json::Value;
use support::{Folder, Program, World, eventually};
use tokio::net::{TcpListener, TcpStream};

use crate::steps::times_paid;

/// The proxy of this world as a program of its own, at the same addresses and on the same database.
async fn as_a_program(world: &mut World) -> Program {
    world.stop_proxy().await;
    let program = Program::start(&world.config_file(), &world.file("proxy.log"), &[]);
    is_up(world, &program).await;
    program
}

async fn is_up(world: &World, program: &Program) {
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

/// A port that nobody listens on.
fn free_port() -> SocketAddr {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap()
}

/// A configuration that lacks nothing, for a service that nobody runs.
fn complete(database: &str) -> Vec<(&'static str, String)> {
    vec![
        ("FLORIN_LISTEN", free_port().to_string()),
        ("FLORIN_ADMIN_LISTEN", free_port().to_string()),
        ("FLORIN_DATABASE_URL", format!("sqlite://{database}")),
        ("FLORIN_SERVICE_URL", "http://127.0.0.1:9/api".into()),
        ("FLORIN_SERVICE_API_KEY", "key".into()),
        ("FLORIN_SERVICE_API_SECRET", "canary-secret".into()),
        ("FLORIN_CALLBACK_TOKEN", "x".repeat(32)),
    ]
}

fn runs(folder: &Folder, words: &[&str], change: &[(&'static str, &str)]) -> (Option<i32>, String) {
    let config = folder.file("florin.toml");
    std::fs::write(&config, "[[store]]\nid = \"demo\"\n").unwrap();
    let database = folder.file("florin.db");
    let mut variables = complete(&database.display().to_string());
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
    let ended = Program::runs(&words, &variables);
    (ended.code, ended.printed)
}

#[test]
fn a_configuration_is_checked_without_starting() {
    let folder = Folder::new();
    let (code, printed) = runs(&folder, &["check-config"], &[]);
    assert_eq!(
        (code, printed.as_str()),
        (Some(0), "The configuration is complete: 1 store(s).\n")
    );
    assert!(!folder.file("florin.db").exists());
}

#[test]
fn everything_that_is_wrong_is_said_by_its_key_and_nothing_starts() {
    let folder = Folder::new();
    let change = [
        ("FLORIN_SERVICE_API_KEY", ""),
        ("FLORIN_SERVICE_URL", "http://pay.example/api"),
        ("FLORIN_CALLBACK_TOKEN", "short-canary"),
        ("FLORIN_ENVIRONMENT", "prod"),
    ];
    for words in [&["check-config"][..], &[]] {
        let (code, printed) = runs(&folder, words, &change);
        assert_eq!(code, Some(2), "{printed}");
        for key in [
            "service.api_key",
            "service.url",
            "service.callback_token",
            "environment",
        ] {
            assert!(printed.contains(&format!("{key}: ")), "{key} in {printed}");
        }
        assert!(!printed.contains("canary"), "{printed}");
    }
}

#[tokio::test]
async fn a_port_in_use_is_said_in_a_sentence() {
    let folder = Folder::new();
    let taken = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = taken.local_addr().unwrap().to_string();
    for (variable, key) in [
        ("FLORIN_LISTEN", "listen"),
        ("FLORIN_ADMIN_LISTEN", "admin_listen"),
    ] {
        let (code, printed) = runs(&folder, &[], &[(variable, &address)]);
        assert_eq!(code, Some(1), "{printed}");
        let sentence = format!("{key}: cannot listen on {address}; is another program there?");
        assert!(printed.contains(&sentence), "{printed}");
    }
}

#[test]
fn a_database_that_cannot_be_written_is_said_in_a_sentence() {
    let folder = Folder::new();
    let nowhere = folder.file("not/there/florin.db");
    let url = format!("sqlite://{}", nowhere.display());
    let (code, printed) = runs(&folder, &[], &[("FLORIN_DATABASE_URL", &url)]);
    assert_eq!(code, Some(1), "{printed}");
    let last = printed.lines().last().unwrap();
    assert!(
        last.starts_with("florin-proxy: ") && last.contains(&url),
        "{printed}"
    );
    assert!(!printed.contains("panicked"), "{printed}");
}

#[tokio::test]
async fn a_database_of_another_environment_is_refused() {
    let folder = Folder::new();
    let url = format!("sqlite://{}", folder.file("florin.db").display());
    florin_storage::SqliteStorage::open(&url, "test")
        .await
        .unwrap()
        .close()
        .await;
    let production = [("FLORIN_ENVIRONMENT", "production")];
    let (code, printed) = runs(&folder, &[], &production);
    assert_eq!(code, Some(1), "{printed}");
    let last = printed.lines().last().unwrap();
    assert!(
        last.contains("test") && last.contains("production"),
        "{printed}"
    );
}

#[tokio::test]
async fn asked_to_end_it_ends_well_and_soon_even_with_a_page_open() {
    let mut world = World::start().await;
    let mut program = as_a_program(&mut world).await;
    let checkout = world.shopper().open("ebook").await;
    let mut stream = checkout.stream().await;
    stream.chunk().await.unwrap().unwrap();
    let address = world.proxy_url().replace("http://", "");
    let _silent = TcpStream::connect(address).await.unwrap();
    #[expect(clippy::disallowed_methods, reason = "the operator's own watch")]
    let began = Instant::now();
    assert_eq!(
        program.is_asked_to_end().await,
        Some(0),
        "{}",
        program.printed()
    );
    let took = began.elapsed().as_secs();
    assert!(took < 5, "{took} s");
    world.start_proxy().await;
    assert_eq!(checkout.view().await["status"], "open");
    world.end().await;
}

#[tokio::test]
async fn killed_in_the_middle_of_a_payment_it_finds_the_payment_and_tells_it_once() {
    let mut world = World::start().await;
    let mut program = as_a_program(&mut world).await;
    let checkout = world.shopper().open("ebook").await;
    checkout.choose("BTC").await;
    world.sandbox().pay(&checkout, "exact").await;
    world.sandbox().mine(1).await;
    checkout.wait_for("processing").await;
    program.is_killed();
    world.sandbox().mine(2).await;
    let mut program = as_a_program(&mut world).await;
    let view = checkout.wait_for("paid").await;
    assert_ne!(view["attempt"]["transaction_hash"], Value::Null);
    world.wait_for_deliveries().await;
    assert_eq!(times_paid(&world, &checkout.order).await, 1);
    let told = world.webhooks.event_types(&checkout.order);
    assert_eq!(told.iter().filter(|kind| *kind == "order.paid").count(), 1);
    assert_eq!(program.is_asked_to_end().await, Some(0));
    world.end().await;
}

#[tokio::test]
async fn killed_again_and_again_it_never_loses_or_doubles_a_credit() {
    let mut world = World::start().await;
    let mut program = as_a_program(&mut world).await;
    let checkout = world.shopper().open("ebook").await;
    checkout.choose("LTC").await;
    world.sandbox().pay(&checkout, "exact").await;
    world.sandbox().mine(3).await;
    for _ in 0..5 {
        program.is_killed();
        program = as_a_program(&mut world).await;
    }
    checkout.wait_for("paid").await;
    eventually("the store is told", async || {
        let told = world.webhooks.event_types(&checkout.order);
        told.contains(&"order.paid".to_owned()).then_some(())
    })
    .await;
    assert_eq!(times_paid(&world, &checkout.order).await, 1);
    assert_eq!(program.is_asked_to_end().await, Some(0));
    world.end().await;
}
