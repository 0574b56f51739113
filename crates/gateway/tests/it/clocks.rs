//! A machine whose clock is off is refused once, and then goes by the gateway's clock.

use florin_gateway::{CallError, ErrorCode, PaymentGateway as _};
use serde_json::json;

use crate::calls::{invoice_answer, invoice_request};
use crate::server::{Answer, Server, client};

/// The hand-moved clock begins at 22:13:20.
const AN_HOUR_LATER: &[(&str, &str)] = &[("date", "Tue, 14 Nov 2023 23:13:20 GMT")];
const AN_HOUR_EARLIER: &[(&str, &str)] = &[("date", "Tue, 14 Nov 2023 21:13:20 GMT")];
const THREE_SECONDS_LATER: &[(&str, &str)] = &[("date", "Tue, 14 Nov 2023 22:13:23 GMT")];

fn refused(headers: &'static [(&'static str, &'static str)]) -> Answer {
    (
        401,
        headers,
        json!({"code": "INVALID_SIGNATURE"}).to_string(),
    )
}

fn good(headers: &'static [(&'static str, &'static str)]) -> Answer {
    (200, headers, invoice_answer().to_string())
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
async fn a_refusal_of_another_reason_is_not_repeated() {
    for headers in [THREE_SECONDS_LATER, &[("date", "soon")]] {
        let server = Server::start([refused(headers), good(headers)]).await;
        let (client, _) = client(&server.base);
        let error = client.create_invoice(&invoice_request()).await.unwrap_err();
        let CallError::Refused { status: 401, error } = error else {
            panic!("{error}");
        };
        assert_eq!(error.code, Some(ErrorCode::InvalidSignature));
        assert_eq!(server.count(), 1);
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
