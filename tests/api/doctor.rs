//! What an installation needs, and the remedy of what is missing: `florin-proxy doctor` and `check-config --online`. Permissions of
//! files are in `proxy/src/config/source/tests.rs`.

use axum::Router;
use axum::http::StatusCode;
use axum::routing::post;
use serde_json::Value;
use support::{Language, Program, ProgramOutput, Receiver, ReverseProxy, World, secrets};
use tokio::net::TcpListener;

use crate::program::{IS_COMPLETE, assert_ended};

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
