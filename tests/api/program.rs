//! The program `florin-proxy`: wrong configuration, orderly shutdown. The campaign kills it.

use std::fs;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Instant;

use support::{Folder, Program, World};
use tokio::net::{TcpListener, TcpStream};

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
            .filter(|response| response.status() == 200)
    };
    let up = support::within(std::time::Duration::from_secs(10), up).await;
    assert!(up.is_some(), "it does not start:\n{}", program.printed());
}

/// Returns the address of a free port.
pub(crate) fn free_port() -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], support::free_port()))
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
        (
            "FLORIN_GATEWAY__CALLBACK_TOKEN",
            "0123456789abcdef".repeat(2),
        ),
    ]
}

pub(crate) fn run(
    folder: &Folder,
    words: &[&str],
    change: &[(&'static str, &str)],
) -> (Option<i32>, String) {
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

/// A complete configuration file with these changes, and what `check-config` prints about it.
pub(crate) fn check(
    folder: &Folder,
    database: &str,
    changes: &[(&str, &str)],
    variables: &[(&str, &str)],
) -> String {
    let mut text = COMPLETE.replace("DATABASE", database);
    for (from, to) in changes {
        assert!(text.contains(from), "{from}");
        text = text.replacen(from, to, 1);
    }
    let config = folder.file("florin.toml");
    support::write_private(&config, &text);
    let words = ["--config", &config.display().to_string(), "check-config"];
    let ended = Program::run(&words, variables);
    let is_wrong = !ended.printed.starts_with("The configuration is complete");
    assert_eq!(
        ended.code,
        Some(if is_wrong { 2 } else { 0 }),
        "{}",
        ended.printed
    );
    ended.printed
}

pub(crate) const COMPLETE: &str = r#"
database_url = "sqlite://DATABASE"
[gateway]
url = "http://127.0.0.1:8090/api"
api_key = "key"
api_secret = "secret"
callback_token = "0123456789abcdef0123456789abcdef"
[[store]]
id = "demo"
secret_key = "sk_0123456789abcdef0123456789abcdef"
[[store.product]]
sku = "ebook"
price = "19.90"
"#;

/// The wrong configurations of a merchant's first day: each has a sentence with the key or the file, and with what to
/// do.
#[test]
fn every_wrong_configuration_gets_a_sentence() {
    let folder = Folder::new();
    let missing = folder.file("not/there/florin.db").display().to_string();
    let here = folder.path().display().to_string();
    let good = folder.file("florin.db").display().to_string();
    let text = folder.file("notes.txt");
    std::fs::write(&text, "Buy milk, and some more text than sixteen bytes.").unwrap();
    for (database, sentence) in [
        (missing, "does not exist: create it"),
        (here, "is a folder: write the path of a file in it"),
        (text.display().to_string(), "is not an SQLite database"),
    ] {
        let printed = check(&folder, &database, &[], &[]);
        assert!(printed.contains("database_url: "), "{printed}");
        assert!(printed.contains(sentence), "{sentence} in {printed}");
    }
    for (from, to, key, sentence) in [
        (
            "\"19.90\"",
            "19.90",
            "store.demo.product.ebook.price",
            "a string; write it in quotes (line 13)",
        ),
        (
            "[gateway]",
            "log = \"info,florin=loud\"\n[gateway]",
            "log",
            "\"florin=loud\" is no filter",
        ),
        (
            "\"key\"",
            "\"…\"",
            "gateway.api_key",
            "still has the placeholder of the sample",
        ),
        (
            "[gateway]",
            "environment = \"production\"\n[gateway]",
            "public_url",
            "is required in production",
        ),
        (
            "id = \"demo\"",
            "id = \"demo\"\nunderpayment_tolerance = \"18.90\"",
            "store.demo.product.ebook",
            "more than 10 % of the price 19.90",
        ),
        (
            "\"sk_0123456789abcdef0123456789abcdef\"",
            "\"0123456789abcdef0123456789abcdef\"",
            "store.demo.secret_key",
            "is the same as gateway.callback_token: generate a separate one",
        ),
        (
            "sk_0123456789abcdef0123456789abcdef",
            "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
            "store.demo.secret_key",
            "1 different characters and can be guessed",
        ),
    ] {
        let printed = check(&folder, &good, &[(from, to)], &[]);
        let problem = printed
            .lines()
            .find(|line| line.starts_with(&format!("{key}: ")));
        let problem = problem.unwrap_or_else(|| panic!("{key} in {printed}"));
        assert!(problem.contains(sentence), "{sentence} in {problem}");
        assert_eq!(printed.lines().count(), 2, "{printed}");
    }
    assert!(
        !folder.file("florin.db").exists(),
        "the check creates nothing"
    );
}

#[test]
fn what_kubernetes_sets_prevents_no_start_and_a_misspelt_variable_does() {
    let folder = Folder::new();
    let good = folder.file("florin.db").display().to_string();
    let kubernetes = [
        ("FLORIN_PORT", "tcp://10.96.0.12:8080"),
        ("FLORIN_SERVICE_HOST", "10.96.0.12"),
        ("FLORIN_SERVICE_PORT", "8080"),
        ("FLORIN_SERVICE_PORT_HTTP", "8080"),
        ("FLORIN_PORT_8080_TCP", "tcp://10.96.0.12:8080"),
        ("FLORIN_PORT_8080_TCP_PROTO", "tcp"),
        ("FLORIN_PORT_8080_TCP_PORT", "8080"),
        ("FLORIN_PORT_8080_TCP_ADDR", "10.96.0.12"),
        ("FLORIN_ADMIN_SERVICE_HOST", "10.96.0.13"),
    ];
    let printed = check(&folder, &good, &[], &kubernetes);
    assert_eq!(printed, "The configuration is complete: 1 store(s).\n");
    for misspelt in [("FLORIN_PORT", "8080"), ("FLORIN_LISTENS", "127.0.0.1:1")] {
        let printed = check(&folder, &good, &[], &[misspelt]);
        let sentence = format!("{}: is no variable of Florin's", misspelt.0);
        assert!(printed.contains(&sentence), "{printed}");
    }
}

#[tokio::test]
async fn a_database_of_a_newer_version_or_of_another_program_is_named() {
    let folder = Folder::new();
    let (newer, other) = (folder.file("newer.db"), folder.file("other.db"));
    let url = format!("sqlite://{}", newer.display());
    let storage = florin_storage::SqliteStorage::open(&url, "test").await;
    storage.unwrap().close().await;
    for (file, statement, sentence) in [
        (
            &newer,
            "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
             VALUES (9999, 'later', 1, x'00', 0)",
            "a newer version of Florin wrote the database",
        ),
        (
            &other,
            "CREATE TABLE orders (id INTEGER PRIMARY KEY)",
            "it is the database of another program",
        ),
    ] {
        let options = sqlx::sqlite::SqliteConnectOptions::new();
        let options = options.filename(file).create_if_missing(true);
        let mut database = sqlx::ConnectOptions::connect(&options).await.unwrap();
        sqlx::query(statement).execute(&mut database).await.unwrap();
        sqlx::Connection::close(database).await.unwrap();
        let url = format!("sqlite://{}", file.display());
        // The check of the configuration finds the same, and leaves no trace.
        let before = fs::read(file).unwrap();
        let printed = check(&folder, &file.display().to_string(), &[], &[]);
        let found = printed
            .lines()
            .find(|line| line.starts_with("database_url: "));
        assert!(
            found.is_some_and(|line| line.contains(sentence)),
            "{printed}"
        );
        assert_eq!(fs::read(file).unwrap(), before);
        assert!(!PathBuf::from(format!("{}-wal", file.display())).exists());
        let (code, printed) = run(&folder, &[], &[("FLORIN_DATABASE_URL", &url)]);
        assert_eq!(code, Some(1), "{printed}");
        let last = printed.lines().last().unwrap();
        assert!(last.starts_with("florin-proxy: database_url: "), "{last}");
        assert!(
            last.contains(sentence) && last.contains(&file.display().to_string()),
            "{last}"
        );
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

#[tokio::test]
async fn a_database_of_another_environment_is_rejected() {
    let folder = Folder::new();
    let url = format!("sqlite://{}", folder.file("florin.db").display());
    let storage = florin_storage::SqliteStorage::open(&url, "test").await;
    storage.unwrap().close().await;
    let production = [
        ("FLORIN_ENVIRONMENT", "production"),
        ("FLORIN_PUBLIC_URL", "https://pay.shop.example"),
    ];
    let (code, printed) = run(&folder, &[], &production);
    assert_eq!(code, Some(1), "{printed}");
    let last = printed.lines().last().unwrap();
    assert!(
        last.contains("test") && last.contains("production"),
        "{last}"
    );
}

#[tokio::test]
async fn sigterm_ends_it_quickly_even_with_an_open_stream() {
    let mut world = World::start().await;
    let mut program = start_program(&mut world).await;
    let checkout = world.customer().open("ebook").await;
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
