//! What an installation needs, and the remedy of what is missing: `florin-proxy doctor`, `check-config --online`, and the
//! permissions of the configuration and of files with secrets.

use std::fs::{Permissions, set_permissions, write};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use axum::Router;
use axum::http::StatusCode;
use axum::routing::post;
use serde_json::Value;
use support::{Folder, Language, Program, ProgramOutput, Receiver, ReverseProxy, World, secrets};
use tokio::net::TcpListener;

use crate::program::{
    IS_COMPLETE, assert_ended, check, complete_environment, database_in, run, run_with,
};

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
        let webhook = [("FLORIN_STORE__0__WEBHOOK__URL", url)];
        all.findings(&webhook).await
    };
    let key = "store.demo.webhook.url: ";
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

fn set_mode(file: &Path, mode: u32) {
    set_permissions(file, Permissions::from_mode(mode)).unwrap();
}

#[test]
fn secrets_that_others_can_read_are_refused_unless_the_operator_accepts_it() {
    let folder = Folder::new();
    let good = folder.file("florin.db").display().to_string();
    let (config, secret) = (folder.file("florin.toml"), folder.file("secret"));
    write(&secret, "from-a-file").unwrap();
    let in_file = format!("api_secret_file = {:?}", secret.display().to_string());
    let read = "can be read by group or others (mode 0644)";
    let written = "can be written by group or others (mode 0666)";
    let with_file = [("api_secret = \"secret\"", in_file.as_str())];
    for (changes, config_mode, secret_mode, refused) in [
        (&[][..], 0o600, 0o600, None),
        (&[], 0o644, 0o600, Some((&config, read))),
        (&[], 0o666, 0o600, Some((&config, written))),
        (&with_file, 0o600, 0o400, None),
        (&with_file, 0o600, 0o644, Some((&secret, read))),
    ] {
        check(&folder, &good, changes, &[]);
        set_mode(&config, config_mode);
        set_mode(&secret, secret_mode);
        let words = ["--config", &config.display().to_string(), "check-config"];
        let accepted = Program::run(&words, &[("FLORIN_DANGEROUS_ALLOW_SHARED_FILES", "true")]);
        assert_ended(&accepted, 0, &[]);
        let ended = Program::run(&words, &[]);
        if let Some((file, sentence)) = refused {
            let sentence = format!("{}: {sentence}: run chmod 600", file.display());
            assert_ended(&ended, 2, &[&sentence]);
        } else {
            assert_ended(&ended, 0, &[]);
        }
        set_mode(&secret, 0o600);
    }
    // Without a secret it may be read, not written.
    for (mode, code) in [(0o644, 0), (0o664, 2)] {
        write(&config, "[[store]]\nid = \"demo\"\n").unwrap();
        set_mode(&config, mode);
        assert_ended(&run(&folder, &["check-config"], &[]), code, &[]);
    }
}

#[test]
fn the_credentials_of_systemd_may_be_readable_by_the_group_and_no_other_file() {
    let folder = Folder::new();
    let credentials = folder.file("credentials");
    std::fs::create_dir(&credentials).unwrap();
    let (inside, outside) = (credentials.join("api_secret"), folder.file("api_secret"));
    for file in [&inside, &outside] {
        write(file, "from-a-file").unwrap();
    }
    let link = credentials.join("link");
    symlink(&outside, &link).unwrap();
    let around = credentials.join("../api_secret");
    let is_accepted = |file: &Path, mode, is_service: bool| {
        set_mode(&inside, mode);
        set_mode(&outside, mode);
        let mut variables = complete_environment(&database_in(&folder));
        variables.retain(|(name, _)| *name != "FLORIN_GATEWAY__API_SECRET");
        variables.extend([
            (
                "FLORIN_GATEWAY__API_SECRET_FILE",
                file.display().to_string(),
            ),
            ("FLORIN_STORE__0__ID", "demo".to_owned()),
        ]);
        if is_service {
            variables.push(("CREDENTIALS_DIRECTORY", credentials.display().to_string()));
        }
        let ended = run_with(&["check-config"], &variables);
        if ended.code != Some(0) {
            assert_ended(&ended, 2, &["by group or others"]);
        }
        ended.code == Some(0)
    };
    // Source: systemd.exec(5): since version 254 the mode is 0440.
    assert!(is_accepted(&inside, 0o440, true));
    assert!(!is_accepted(&inside, 0o440, false));
    for file in [&outside, &link, &around] {
        assert!(!is_accepted(file, 0o440, true), "{}", file.display());
    }
    for mode in [0o444, 0o460, 0o404] {
        assert!(!is_accepted(&inside, mode, true), "{mode:o}");
    }
}

#[test]
fn the_address_of_the_database_may_come_from_a_file_that_is_checked_like_a_secret() {
    let folder = Folder::new();
    let (config, file) = (folder.file("florin.toml"), folder.file("database_url"));
    let good = database_in(&folder);
    let path = file.display().to_string();
    let named = format!("database_url_file = {path:?}");
    let both = format!("{named}\ndatabase_url = {good:?}");
    let server = "database_url = \"postgres://florin:canary@127.0.0.1:9/florin\"";
    let is_shared = format!("{path}: can be read by group or others");
    let bare = format!("database_url = {good:?}");
    let twice = "database_url: is given as value and as file";
    let other = "database_url: write sqlite://";
    let shared = "can be read by group or others (mode 0644)";
    for (content, mode, line, config_mode, sentence) in [
        (&*good, 0o600, &*named, 0o644, IS_COMPLETE),
        (&good, 0o644, &named, 0o644, &is_shared),
        (&good, 0o600, &both, 0o600, twice),
        ("mysql://canary", 0o600, &named, 0o644, other),
        // A database's address can have a password, which the configuration file must hide. A path has none.
        ("", 0o600, &bare, 0o644, IS_COMPLETE),
        ("", 0o600, server, 0o644, shared),
    ] {
        write(&file, format!("{content}\n")).unwrap();
        set_mode(&file, mode);
        write(&config, format!("{line}\n[[store]]\nid = \"demo\"\n")).unwrap();
        set_mode(&config, config_mode);
        let mut variables = complete_environment("");
        variables.retain(|(_, value)| !value.is_empty());
        let config = config.display().to_string();
        let ended = run_with(&["--config", &config, "check-config"], &variables);
        let code = if sentence == IS_COMPLETE { 0 } else { 2 };
        assert_ended(&ended, code, &[sentence]);
        assert!(!ended.printed.contains("canary"), "{}", ended.printed);
    }
}
