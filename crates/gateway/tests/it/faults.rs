//! Unreadable responses, and redirects and proxies that are not followed.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use florin_gateway::{
    AmbiguousOutcome, CallError, Client, ErrorCode, PaymentGateway as _, Priority, SettingsError,
};
use secrecy::SecretString;

use crate::calls::{invoice_id, invoice_request};
use crate::server::{HandClock, Largest, Server, Then, client, raw_server, settings};

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

#[tokio::test]
async fn a_response_beyond_the_limit_is_not_read() {
    let largest = format!("{{{}}}", " ".repeat(256 * 1024 - 2));
    let server = Server::json(200, &largest).await;
    assert!(
        client(&server.base)
            .0
            .prices()
            .await
            .unwrap()
            .entries
            .is_empty()
    );
    let server = Server::json(200, &format!("{largest} ")).await;
    assert_eq!(
        create(&server.base).await,
        CallError::Ambiguous(AmbiguousOutcome::TooLarge)
    );
}

#[tokio::test]
async fn an_endless_response_is_cut_at_the_limit_whatever_its_length_header() {
    let chunked = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n100000\r\n";
    let bytes: &'static [u8] = [&chunked[..], &vec![b' '; 0x10_0000]].concat().leak();
    let (address, _) = raw_server(bytes, Then::Hold);
    assert_eq!(
        create(&format!("http://{address}/api")).await,
        CallError::Ambiguous(AmbiguousOutcome::TooLarge)
    );
}

#[tokio::test]
async fn a_response_that_never_ends_times_out() {
    for bytes in [&b""[..], b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{"] {
        let (address, count) = raw_server(bytes, Then::Hold);
        let error = create(&format!("http://{address}/api")).await;
        assert_eq!(error, CallError::Ambiguous(AmbiguousOutcome::TimedOut));
        assert_eq!(count.load(Ordering::SeqCst), 1);
    }
}

#[tokio::test]
async fn a_broken_connection_is_an_ambiguous_outcome() {
    for bytes in [&b""[..], b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{"] {
        let (address, count) = raw_server(bytes, Then::Close);
        let error = create(&format!("http://{address}/api")).await;
        assert!(
            matches!(error, CallError::Ambiguous(AmbiguousOutcome::Truncated(_))),
            "{error}"
        );
        assert!(!error.definitely_not_executed());
        assert_eq!(count.load(Ordering::SeqCst), 1);
    }
}

#[tokio::test]
async fn without_a_connection_nothing_was_sent() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let error = create(&format!("http://{address}/api")).await;
    assert!(
        matches!(&error, CallError::NotSent(cause) if cause.contains("refused")),
        "{error}"
    );
}

#[tokio::test]
async fn a_handshake_that_never_ends_means_nothing_was_sent() {
    let (address, _) = raw_server(b"", Then::Hold);
    let error = create(&format!("https://{address}/api")).await;
    assert!(matches!(error, CallError::NotSent(_)), "{error}");
}

#[tokio::test]
async fn a_success_that_cannot_be_read_is_unclear() {
    for body in ["", "<html>", "[]", "{\"invoice_id\":\"inv_1\"}"] {
        let server = Server::json(200, body).await;
        let error = create(&server.base).await;
        assert!(
            matches!(
                error,
                CallError::Ambiguous(AmbiguousOutcome::InvalidJson(_))
            ),
            "{body}: {error}"
        );
        assert_eq!(server.count(), 1);
    }
    let server = Server::json(200, r#"{"data":"COMPLETED"}"#).await;
    let error = client(&server.base)
        .0
        .invoice(&invoice_id(), Priority::Watched)
        .await
        .unwrap_err();
    assert!(
        matches!(
            error,
            CallError::Ambiguous(AmbiguousOutcome::InvalidJson(_))
        ),
        "{error}"
    );
}

#[tokio::test]
async fn a_refusal_contains_the_gateways_error() {
    let body = r#"{"error":"too small","code":"AMOUNT_OUT_OF_RANGE","message":"at least 10"}"#;
    let server = Server::json(400, body).await;
    let CallError::Refused { status, error } = create(&server.base).await else {
        panic!("it must be a refusal");
    };
    assert_eq!(
        (status, error.code),
        (400, Some(ErrorCode::AmountOutOfRange))
    );
    // The explanation may be missing; the refusal stands.
    let cut = b"HTTP/1.1 404 Not Found\r\ncontent-length: 9\r\n\r\n{";
    let (address, _) = raw_server(cut, Then::Close);
    let error = create(&format!("http://{address}/api")).await;
    assert!(
        matches!(error, CallError::Refused { status: 404, .. }),
        "{error}"
    );
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
fn settings_that_would_leak_or_fail_are_refused() {
    let refused = |settings| {
        Client::new(settings, Arc::new(HandClock::new()), Arc::new(Largest)).unwrap_err()
    };
    assert!(matches!(
        refused(settings("http://pay.example/api")),
        SettingsError::NotHttps
    ));
    let mut odd_key = settings("http://127.0.0.1:1/api");
    odd_key.credentials.api_key = SecretString::from("a\nb");
    assert!(matches!(refused(odd_key), SettingsError::ApiKey));
}
