//! The program `florin-proxy`: wrong configuration, orderly shutdown; and what an installation needs, with the remedy of what is
//! missing: `doctor` and `check-config --online`. The campaign kills it. Permissions of files are in
//! `proxy/src/config/source/tests.rs`.

use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::time::{Duration, Instant};

use axum::Router;
use axum::http::StatusCode;
use axum::routing::post;
use serde_json::Value;
use support::{Folder, Language, Program, ProgramOutput, Receiver, ReverseProxy, World, secrets};
use tokio::net::{TcpListener, TcpStream};

/// Replaces the world's proxy by the program, at the same addresses and on the same database.
pub(crate) async fn start_program(world: &mut World) -> Program {
    start_program_with(world, &[]).await
}

pub(crate) async fn start_program_with(world: &mut World, variables: &[(&str, &str)]) -> Program {
    world.stop_proxy().await;
    let program = Program::start(&world.config_file(), &world.file("proxy.log"), variables);
    wait_until_up(world, &program).await;
    program
}

pub(crate) async fn wait_until_up(world: &World, program: &Program) {
    let health = format!("{}/health/ready", world.admin_url());
    let up = async || {
        let response = world.http().get(&health).send().await.ok()?;
        (response.status() == 200).then_some(())
    };
    let up = support::within(Duration::from_secs(10), up).await;
    assert!(up.is_some(), "it does not start:\n{}", program.printed());
}

pub(crate) async fn end(world: World, mut program: Program) {
    assert_eq!(program.stop().await, Some(0), "{}", program.printed());
    world.end().await;
}

#[track_caller]
pub(crate) fn assert_ended(ended: &ProgramOutput, code: i32, texts: &[&str]) {
    assert_eq!(ended.code, Some(code), "{}", ended.printed);
    for text in texts {
        assert!(ended.printed.contains(text), "{text} in {}", ended.printed);
    }
}

pub(crate) fn free_port() -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], support::free_port()))
}

/// Variables of a complete configuration; its gateway does not exist.
pub(crate) fn complete_environment(database_url: &str) -> Vec<(&'static str, String)> {
    vec![
        ("FLORIN_LISTEN", free_port().to_string()),
        ("FLORIN_ADMIN_LISTEN", free_port().to_string()),
        ("FLORIN_DATABASE_URL", database_url.to_owned()),
        ("FLORIN_GATEWAY__URL", "http://127.0.0.1:9/api".into()),
        ("FLORIN_GATEWAY__API_KEY", "key".into()),
        ("FLORIN_GATEWAY__API_SECRET", "canary-secret".into()),
        (
            "FLORIN_GATEWAY__CALLBACK_TOKEN",
            "0123456789abcdef".repeat(2),
        ),
    ]
}

pub(crate) fn database_in(folder: &Folder) -> String {
    format!("sqlite://{}", folder.file("florin.db").display())
}

pub(crate) fn run_with(words: &[&str], variables: &[(&str, String)]) -> ProgramOutput {
    let variables = variables
        .iter()
        .map(|(name, value)| (*name, value.as_str()));
    Program::run(words, &variables.collect::<Vec<_>>())
}

/// Runs the program with a complete configuration and these changes; an empty value takes a variable away.
pub(crate) fn run(
    folder: &Folder,
    words: &[&str],
    changes: &[(&'static str, &str)],
) -> ProgramOutput {
    let config = folder.file("florin.toml");
    fs::write(&config, "[[store]]\nid = \"demo\"\n").unwrap();
    let mut variables = complete_environment(&database_in(folder));
    for (name, value) in changes {
        variables.retain(|(known, _)| known != name);
        variables.push((name, (*value).to_owned()));
    }
    variables.retain(|(_, value)| !value.is_empty());
    let config = config.display().to_string();
    run_with(&[&["--config", &config], words].concat(), &variables)
}

/// Runs a command with the configuration of a world, which answers meanwhile.
pub(crate) async fn run_for(
    world: &World,
    words: &[&str],
    variables: &[(&str, &str)],
) -> ProgramOutput {
    let config = world.config_file().display().to_string();
    Program::run_beside(&[words, &["--config", &config]].concat(), variables).await
}

pub(crate) const IS_COMPLETE: &str = "The configuration is complete: 1 store(s).\n";

/// `check-config` refuses a complete configuration with this database.
#[track_caller]
fn assert_database_refused(folder: &Folder, database: &Path, sentence: &str) {
    let config = folder.file("florin.toml");
    let text = COMPLETE.replace("DATABASE", &database.display().to_string());
    support::write_private(&config, &text);
    let words = ["--config", &config.display().to_string(), "check-config"];
    assert_ended(&Program::run(&words, &[]), 2, &["database_url: ", sentence]);
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

/// `proxy/src/config/tests.rs` has what each section takes.
#[test]
fn a_database_that_cannot_be_one_gets_a_sentence() {
    let folder = Folder::new();
    let text = folder.file("notes.txt");
    fs::write(&text, "Buy milk, and some more text than sixteen bytes.").unwrap();
    let (nowhere, here) = (folder.file("not/there/florin.db"), folder.path().to_owned());
    for (database, sentence) in [
        (nowhere, "does not exist: create it"),
        (here, "is a folder: write the path of a file in it"),
        (text, "is not an SQLite database"),
    ] {
        assert_database_refused(&folder, &database, sentence);
    }
    assert_ended(&run(&folder, &["check-config"], &[]), 0, &[]);
    let database = folder.file("florin.db");
    assert!(!database.exists(), "the check creates nothing");
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
        // The check of the configuration finds the same, and changes nothing.
        let before = fs::read(file).unwrap();
        let name = file.display().to_string();
        assert_database_refused(&folder, file, sentence);
        assert_eq!(fs::read(file).unwrap(), before);
        let url = format!("sqlite://{name}");
        let ended = run(&folder, &[], &[("FLORIN_DATABASE_URL", &url)]);
        assert_ended(
            &ended,
            1,
            &["florin-proxy: database_url: ", sentence, &name],
        );
    }
}

#[tokio::test]
async fn what_another_program_or_environment_has_is_a_readable_error() {
    let folder = Folder::new();
    let taken = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = taken.local_addr().unwrap().to_string();
    for (variable, key) in [
        ("FLORIN_LISTEN", "listen"),
        ("FLORIN_ADMIN_LISTEN", "admin_listen"),
    ] {
        let ended = run(&folder, &[], &[(variable, &address)]);
        let sentence = format!("{key}: cannot listen on {address}; is another program there?");
        assert_ended(&ended, 1, &[&sentence]);
    }
    let storage = florin_storage::SqliteStorage::open(&database_in(&folder), "test").await;
    storage.unwrap().close().await;
    let production = [
        ("FLORIN_ENVIRONMENT", "production"),
        ("FLORIN_PUBLIC_URL", "https://pay.shop.example"),
    ];
    let ended = run(&folder, &[], &production);
    assert_eq!(ended.code, Some(1), "{}", ended.printed);
    let last = ended.printed.lines().last().unwrap();
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

/// A configuration for the world's proxy and gateway, and a receiver of webhooks.
struct Installation {
    world: World,
    config: String,
    _receiver: Receiver,
}

impl Installation {
    async fn new() -> Self {
        let receiver = Receiver::start(Language::Rust, secrets::WEBHOOK).await;
        let receiver = receiver.unwrap();
        let world = World::start().await;
        let config = world.file("doctor.toml").display().to_string();
        let (proxy, gateway) = (world.proxy_url(), format!("{}/api", world.sandbox_url()));
        let webhook = format!("{}/florin", receiver.url());
        let words = ["init", "--sandbox", "--config", &config];
        let addresses = [
            ["--public-url", &proxy],
            ["--gateway-url", &gateway],
            ["--origin", "http://127.0.0.1:8081"],
            ["--webhook-url", &webhook],
        ];
        let written = Program::run(&[&words[..], addresses.as_flattened()].concat(), &[]);
        assert_ended(&written, 0, &[]);
        Self {
            world,
            config,
            _receiver: receiver,
        }
    }

    /// Runs a command with the account's key and secret, unless others are given. The world answers meanwhile.
    async fn run(&self, words: &[&str], changes: &[(&'static str, &str)]) -> ProgramOutput {
        let mut variables = vec![
            ("FLORIN_GATEWAY__API_KEY", secrets::API_KEY),
            ("FLORIN_GATEWAY__API_SECRET", secrets::API_SECRET),
        ];
        for (name, value) in changes {
            variables.retain(|(known, _)| known != name);
            variables.push((name, value));
        }
        let words = [words, &["--config", &self.config]].concat();
        Program::run_beside(&words, &variables).await
    }

    /// Runs the doctor. Returns what is not well, as `key: message → remedy`.
    async fn findings(&self, changes: &[(&'static str, &str)]) -> Vec<String> {
        let ended = self.run(&["doctor", "--json"], changes).await;
        let report: Value = serde_json::from_str(&ended.printed)
            .unwrap_or_else(|_| panic!("no JSON: {}", ended.printed));
        assert_eq!(report["ok"] == true, ended.code == Some(0), "{report}");
        let findings = report["findings"].as_array().unwrap().iter();
        let wrong = findings.filter(|finding| finding["status"] != "ok");
        let text = |finding: &Value, name: &str| finding[name].as_str().unwrap().to_owned();
        wrong
            .map(|finding| {
                let (key, message) = (text(finding, "key"), text(finding, "message"));
                format!("{key}: {message} → {}", text(finding, "remedy"))
            })
            .collect()
    }
}

#[track_caller]
fn one(findings: &[String], start: &str, remedy: &str) {
    let found = findings.iter().filter(|found| found.starts_with(start));
    let found: Vec<&String> = found.collect();
    assert_eq!(found.len(), 1, "{start}: {findings:?}");
    assert!(found[0].contains(remedy), "{remedy}: {findings:?}");
}

#[tokio::test]
async fn the_doctor_finds_what_stops_payments_and_names_the_remedy() {
    let all = Installation::new().await;
    assert_eq!(all.findings(&[]).await, [""; 0]);
    let online = all.run(&["check-config", "--online"], &[]).await;
    assert_eq!(online.printed, IS_COMPLETE);

    let wrong = [("FLORIN_GATEWAY__API_SECRET", "canary-wrong-secret")];
    let online = all.run(&["check-config", "--online"], &wrong).await;
    let line = "gateway.api_secret: the gateway refuses the key or the signature";
    assert_ended(&online, 2, &[line]);
    let shop = all.world.shop_url();
    let nowhere = ("FLORIN_PUBLIC_URL", "http://127.0.0.1:9");
    let unreachable = [nowhere, ("FLORIN_LISTEN", "127.0.0.1:9")];
    let elsewhere = [("FLORIN_PUBLIC_URL", shop.as_str())];
    let no_gateway = [("FLORIN_GATEWAY__URL", "http://127.0.0.1:9/api")];
    let euro = [("FLORIN_STORE__0__CURRENCY", "EUR")];
    let priced = "store.demo.currency: the gateway's account prices orders in USD, not in EUR";
    let server = [(
        "FLORIN_DATABASE_URL",
        "postgres://florin@127.0.0.1:9/florin",
    )];
    let away = "gateway.url: the gateway cannot be reached";
    for (changes, start, remedy) in [
        (&wrong[..], line, "compare gateway.api_key and"),
        (&no_gateway, away, "firewall"),
        (&euro, priced, "write USD, or let the gateway"),
        (&unreachable, "public_url: ", "start the proxy"),
        (
            &elsewhere,
            "public_url: ",
            "the reverse proxy pass all paths",
        ),
        (&server, "database_url: ", " → "),
    ] {
        let found = all.findings(changes).await;
        one(&found, start, remedy);
        assert!(!found.concat().contains("canary"), "{found:?}");
    }
    all.world.sandbox().set_clock(60).await;
    let found = all.findings(&[]).await;
    let start = "clock: this machine's clock is ";
    one(&found, start, "timedatectl set-ntp true");
    all.world.sandbox().set_clock(0).await;

    all.world.end().await;
}

/// Answers every delivery with a status.
async fn endpoint(status: u16) -> String {
    let status = StatusCode::from_u16(status).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let routes = Router::new().route("/florin", post(async move || status));
    tokio::spawn(async move { axum::serve(listener, routes).await.unwrap() });
    format!("http://{address}/florin")
}

#[tokio::test]
async fn an_endpoint_must_answer_and_refuse_a_wrong_signature() {
    let all = Installation::new().await;
    let findings = async |url: &str| {
        let webhook = [("FLORIN_STORE__0__WEBHOOK__0__URL", url)];
        all.findings(&webhook).await
    };
    let key = "store.demo.webhook.default.url: ";
    let away = findings("http://127.0.0.1:9/florin").await;
    let message = format!("{key}the endpoint does not answer");
    one(&away, &message, "start the store's server");
    for (status, message, remedy) in [
        (204, "accepts a wrong signature", "verify each delivery"),
        (302, "redirects", "write the address that it redirects to"),
        (404, "takes no deliveries", "the address of the receiver"),
        (502, "fails on a wrong signature", "answer it with 400"),
    ] {
        let found = findings(&endpoint(status).await).await;
        one(&found, key, remedy);
        assert!(found.concat().contains(message), "{found:?}");
    }
    let right = endpoint(401).await;
    assert_eq!(findings(&right).await, [""; 0]);
    all.world.end().await;
}

#[tokio::test]
async fn the_doctor_warns_of_a_certificate_that_expires_within_two_weeks() {
    let all = Installation::new().await;
    for (days, left, is_short) in [(14, "13 days", true), (16, "15 days", false)] {
        let front = ReverseProxy::nginx_for(all.world.listen_address(), days).await;
        let (url, certificate) = (front.url(), front.certificate().display().to_string());
        let changes = [
            ("FLORIN_PUBLIC_URL", url.as_str()),
            ("SSL_CERT_FILE", certificate.as_str()),
        ];
        let ended = all.run(&["doctor", "--json"], &changes).await;
        let report = &ended.printed;
        let valid = format!("its certificate is valid for {left}\"");
        assert!(report.contains(&valid), "{report}");
        let expires = format!("the certificate of {url} expires in {left}, at ");
        assert_eq!(report.contains(&expires), is_short, "{report}");
        assert_eq!(ended.code, Some(0), "a warning is no failure");
    }
    // One that no authority has signed.
    let front = ReverseProxy::nginx(all.world.listen_address()).await;
    let url = front.url();
    let found = all.findings(&[("FLORIN_PUBLIC_URL", &url)]).await;
    one(&found, "public_url: ", "the certificate");
    all.world.end().await;
}
