//! Calls that are retried, and those that never are; a machine whose clock is off is refused once, and then goes by the gateway's clock.

use florin_gateway::{CallError, PaymentGateway as _, Priority};
use serde_json::json;

use crate::calls::{invoice_id, invoice_request, invoice_response};
use crate::server::{CannedResponse, Server, client};

fn response(status: u16, body: &str) -> CannedResponse {
    (status, &[], body.to_owned())
}

#[tokio::test]
async fn a_read_is_retried_until_it_is_answered() {
    let good = json!({"data": {}}).to_string();
    let server = Server::start([
        response(502, ""),
        response(200, "<html>"),
        response(200, &good),
    ])
    .await;
    let (client, clock) = client(&server.base);
    client
        .invoice(&invoice_id(), Priority::Watched)
        .await
        .unwrap();
    assert_eq!(server.count(), 3);
    assert_eq!(clock.slept_ms(), [200, 400]);
}

#[tokio::test]
async fn an_invoice_is_asked_for_once_whatever_happens() {
    let good = invoice_response().to_string();
    for first in [
        response(500, ""),
        response(503, ""),
        response(200, "<html>"),
        response(429, ""),
    ] {
        let server = Server::start([first, response(200, &good)]).await;
        let (client, clock) = client(&server.base);
        client.create_invoice(&invoice_request()).await.unwrap_err();
        assert_eq!(server.count(), 1);
        assert!(clock.slept_ms().is_empty());
    }
}

#[tokio::test]
async fn every_try_is_signed_for_its_own_time() {
    let server = Server::start([response(500, ""), response(500, ""), response(200, "{}")]).await;
    let clock_jumps = std::time::Duration::from_millis(900);
    let (client, clock) = client(&server.base);
    clock.pass(clock_jumps);
    client.prices().await.unwrap();
    let nonces: Vec<_> = server
        .seen()
        .iter()
        .map(|seen| seen.headers["nonce"].clone())
        .collect();
    assert_eq!(nonces, ["1700000000", "1700000001", "1700000001"]);
    let signatures: Vec<_> = server
        .seen()
        .iter()
        .map(|seen| seen.headers["signature"].clone())
        .collect();
    assert_ne!(signatures[0], signatures[1]);
}

/// The hand-moved clock begins at 22:13:20.
const AN_HOUR_LATER: &[(&str, &str)] = &[("date", "Tue, 14 Nov 2023 23:13:20 GMT")];
const AN_HOUR_EARLIER: &[(&str, &str)] = &[("date", "Tue, 14 Nov 2023 21:13:20 GMT")];

fn refused(headers: &'static [(&'static str, &'static str)]) -> CannedResponse {
    (
        401,
        headers,
        json!({"code": "INVALID_SIGNATURE"}).to_string(),
    )
}

fn good(headers: &'static [(&'static str, &'static str)]) -> CannedResponse {
    (200, headers, invoice_response().to_string())
}

fn nonces(server: &Server) -> Vec<String> {
    let seen = server.seen();
    let nonces = seen.iter().map(|seen| seen.headers["nonce"].to_str());
    nonces
        .map(|nonce| nonce.expect("digits").to_owned())
        .collect()
}

#[tokio::test]
async fn a_call_that_is_refused_for_its_time_is_made_again_by_the_services_clock() {
    for (date, corrected) in [
        (AN_HOUR_LATER, "1700003600"),
        (AN_HOUR_EARLIER, "1699996400"),
    ] {
        let server = Server::start([refused(date), good(date)]).await;
        let (client, clock) = client(&server.base);
        client.create_invoice(&invoice_request()).await.unwrap();
        client.create_invoice(&invoice_request()).await.unwrap();
        assert_eq!(nonces(&server), ["1700000000", corrected, corrected]);
        assert!(clock.slept_ms().is_empty());
        let skew = client.health().skew.unwrap().as_secs();
        assert_eq!(skew.abs(), 3600);
    }
}

#[tokio::test]
async fn a_service_that_refuses_every_time_is_asked_twice_and_no_more() {
    let server = Server::start([
        refused(AN_HOUR_LATER),
        refused(AN_HOUR_EARLIER),
        refused(AN_HOUR_LATER),
    ])
    .await;
    let (client, _) = client(&server.base);
    let error = client.create_invoice(&invoice_request()).await.unwrap_err();
    assert!(
        matches!(error, CallError::Refused { status: 401, .. }),
        "{error}"
    );
    assert_eq!(server.count(), 2);
}
