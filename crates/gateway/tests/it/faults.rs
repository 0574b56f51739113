//! Unreadable responses, and redirects and proxies that are not followed.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use florin_gateway_client::{
    AmbiguousOutcome, CallError, Client, PaymentGateway as _, SettingsError,
};

use crate::server::{
    HandClock, Largest, Server, Then, client, invoice_request, raw_server, settings,
};

async fn create(base: &str) -> CallError {
    client(base)
        .0
        .create_invoice(&invoice_request())
        .await
        .expect_err("the server never answers well")
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let elsewhere = Server::json(200, "{}").await;
    let location: &'static str = elsewhere.base.clone().leak();
    let headers: &'static [_] = vec![("location", location)].leak();
    let server = Server::start([(307, headers, String::new())]).await;
    assert_eq!(
        create(&server.base).await,
        CallError::Ambiguous(AmbiguousOutcome::Status(307))
    );
    assert_eq!((server.count(), elsewhere.count()), (1, 0));
}

fn kind(error: &CallError) -> &'static str {
    match error {
        CallError::Ambiguous(AmbiguousOutcome::TooLarge) => "too large",
        CallError::Ambiguous(AmbiguousOutcome::TimedOut) => "timed out",
        CallError::Ambiguous(AmbiguousOutcome::Truncated(_)) => "truncated",
        CallError::Ambiguous(AmbiguousOutcome::InvalidJson(_)) => "invalid",
        CallError::Refused { status: 404, .. } => "refused",
        CallError::Broken { status: 503 } => "broken",
        CallError::RateLimited { .. } => "limited",
        _ => "another",
    }
}

#[tokio::test]
async fn an_unusable_response_is_asked_for_once_and_named() {
    let chunked = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n100000\r\n";
    let endless: &'static [u8] = [&chunked[..], &vec![b' '; 0x10_0000]].concat().leak();
    let reply = |status: &str, length: usize, body: &str| -> &'static [u8] {
        let reply = format!("HTTP/1.1 {status}\r\ncontent-length: {length}\r\n\r\n{body}");
        reply.into_bytes().leak()
    };
    let half = reply("200 OK", 2, "{");
    let cases: [(&'static [u8], Then, &str); 11] = [
        (endless, Then::Hold, "too large"),
        (b"", Then::Hold, "timed out"),
        (half, Then::Hold, "timed out"),
        (b"", Then::Close, "truncated"),
        (half, Then::Close, "truncated"),
        (reply("200 OK", 0, ""), Then::Close, "invalid"),
        (reply("200 OK", 6, "<html>"), Then::Close, "invalid"),
        (reply("200 OK", 2, "{}"), Then::Close, "invalid"),
        // The explanation may be missing; the refusal stands.
        (reply("404 Not Found", 9, "{"), Then::Close, "refused"),
        (reply("503 Busy", 0, ""), Then::Close, "broken"),
        (reply("429 Too Many", 0, ""), Then::Close, "limited"),
    ];
    for (bytes, then, expected) in cases {
        let (address, count) = raw_server(bytes, then);
        let error = create(&format!("http://{address}/api")).await;
        assert_eq!(kind(&error), expected, "{error}");
        assert_eq!(count.load(Ordering::SeqCst), 1);
    }
}

#[tokio::test]
async fn the_largest_response_is_read() {
    let largest = format!("{{{}}}", " ".repeat(256 * 1024 - 2));
    let server = Server::json(200, &largest).await;
    let prices = client(&server.base).0.prices().await.unwrap();
    assert!(prices.entries.is_empty());
    let server = Server::json(200, &format!("{largest} ")).await;
    assert_eq!(kind(&create(&server.base).await), "too large");
}

#[tokio::test]
async fn without_a_connection_or_a_handshake_nothing_was_sent() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let error = create(&format!("http://{address}/api")).await;
    let is_refused = matches!(&error, CallError::NotSent(cause) if cause.contains("refused"));
    assert!(is_refused, "{error}");
    let (address, _) = raw_server(b"", Then::Hold);
    let error = create(&format!("https://{address}/api")).await;
    assert!(matches!(error, CallError::NotSent(_)), "{error}");
}

/// Runs one test of this binary again with another environment, which cannot be changed within a process.
fn run_again(test: &str, environment: &[(&str, &str)]) {
    let binary = std::env::current_exe().expect("this binary");
    let mut again = std::process::Command::new(binary);
    again
        .args(["--exact", test])
        .env_remove("no_proxy")
        .env_remove("NO_PROXY");
    let output = again
        .envs(environment.iter().copied())
        .output()
        .expect("it runs");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stdout)
    );
}

#[tokio::test]
async fn proxies_of_the_environment_are_ignored() {
    if std::env::var_os("http_proxy").is_some() {
        let server = Server::json(200, "{}").await;
        client(&server.base).0.prices().await.unwrap();
        assert_eq!(server.count(), 1);
        return;
    }
    let proxy = "http://127.0.0.1:1";
    run_again(
        "faults::proxies_of_the_environment_are_ignored",
        &["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"].map(|name| (name, proxy)),
    );
}

#[tokio::test]
async fn without_certificates_only_a_sandbox_is_reachable() {
    if std::env::var_os("SSL_CERT_FILE").is_some_and(|file| file == "/dev/null") {
        let server = Server::json(200, "{}").await;
        client(&server.base).0.prices().await.unwrap();
        let settings = settings("https://127.0.0.1:1/api");
        let error = Client::new(settings, Arc::new(HandClock::new()), Arc::new(Largest));
        assert!(matches!(error.unwrap_err(), SettingsError::Tls(_)));
        return;
    }
    run_again(
        "faults::without_certificates_only_a_sandbox_is_reachable",
        &[
            ("SSL_CERT_FILE", "/dev/null"),
            ("SSL_CERT_DIR", "/dev/null"),
        ],
    );
}

#[test]
fn a_base_address_that_would_leak_is_refused() {
    let settings = settings("http://pay.example/api");
    let refused = Client::new(settings, Arc::new(HandClock::new()), Arc::new(Largest));
    assert!(matches!(refused.unwrap_err(), SettingsError::NotHttps));
}
