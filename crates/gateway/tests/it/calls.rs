//! Requests, byte for byte, and who may read them: secrets stay inside, and keys are exchanged. And the client joined with its
//! limits: budget, retries and the gateway's clock.

use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

use axum::http::StatusCode;
use axum::response::IntoResponse as _;
use florin_gateway_client::{
    CallError, CheckoutRequest, Client, ConfirmRequest, Credentials, Endpoint, InvoiceId, Nonce,
    PaymentGateway as _, Priority, RawRequest, SettingsError, sign,
};
use parking_lot::Mutex;
use secrecy::{ExposeSecret as _, SecretString};
use tracing_subscriber::filter::LevelFilter;

use crate::server::{
    API_KEY, API_SECRET, CannedResponse, HandClock, Server, Then, client, invoice_id,
    invoice_request, invoice_response, raw_server, settings,
};

#[tokio::test]
async fn every_call_is_signed_over_the_bytes_that_are_sent() {
    let status = r#"{ "data": {"transaction_status": "PROCESSING", "x": 1} }"#;
    let odd = "{ \"b\":1.10,\n\"a\":[1e5 ], \"b\":2 }";
    let session = r#"{"session_id":"s1","payment_process_url":"https://c.example/?id=s1"}"#;
    let invoice = invoice_response().to_string();
    let responses = ["{}", &invoice, status, "{}", session, odd, odd, odd];
    let responses = responses.map(|body| (200, &[][..], body.to_owned()));
    let server = Server::start(responses).await;
    // A slash at the end of the base address is nothing.
    let (client, _) = client(&format!("{}/", server.base));
    client.prices().await.unwrap();
    let created = client.create_invoice(&invoice_request()).await.unwrap();
    assert_eq!(created.invoice_id, invoice_id());
    let id = InvoiceId::parse("a/b?c&d=%7e#\"'<>|+~[x]").unwrap();
    let read = client.invoice(&id, Priority::Watched).await.unwrap();
    assert_eq!(read.raw, status);
    let confirm = ConfirmRequest::new(invoice_id(), None);
    client.confirm(&confirm).await.unwrap();
    let checkout = CheckoutRequest {
        client_email_id: "a@b.example".into(),
        client_preferred_fiat_currency: florin_money::Currency::USD,
        amount: None,
        merchant_id: None,
        merchant_website: "https://shop.example/".into(),
        invoice_callback_url: "https://pay.shop.example/".into(),
    };
    client.checkout(&checkout).await.unwrap();
    let body = r#"{"z":1.10,"a":1e5,"z":2}"#;
    for (endpoint, query, body) in [
        (Endpoint::AddPreferences, "", Some(body)),
        (Endpoint::UpdatePreferences, "", Some(body)),
        (Endpoint::MerchantAccount, "a=%20b", None),
    ] {
        let request = RawRequest::new(endpoint, query, body).unwrap();
        assert_eq!(client.forward(&request).await.unwrap(), odd);
    }
    let create = concat!(
        r#"{"conversion_id":"c1","amount_in_usd":"19.90","amount_in_local_currency":"19.90","#,
        r#""amount_in_crypto":"0.00030973","crypto_code":"BTC"}"#
    );
    let encoded = "/invoice?id=a%2Fb%3Fc%26d%3D%257e%23%22%27%3C%3E%7C%2B%7E%5Bx%5D";
    let confirm = serde_json::to_string(&confirm).unwrap();
    let checkout = serde_json::to_string(&checkout).unwrap();
    let expected = [
        ("GET", "/prices", ""),
        ("POST", "/invoice", create),
        ("GET", encoded, ""),
        ("POST", "/confirm", &confirm),
        ("POST", "/checkout", &checkout),
        ("POST", "/preferences", body),
        ("PUT", "/preferences", body),
        ("GET", "/merchant/account?a=%20b", ""),
    ];
    let seen = server.seen();
    assert_eq!(seen.len(), expected.len());
    for (seen, (method, path, body)) in seen.iter().zip(expected) {
        assert_eq!(
            (seen.method.as_str(), &seen.body[..]),
            (method, body.as_bytes())
        );
        let sent = seen.uri.path_and_query().unwrap().as_str();
        assert_eq!(sent, format!("/api{path}"));
        let header = |name: &str| seen.headers[name].to_str().unwrap();
        assert_eq!(header("apikey"), API_KEY);
        assert_eq!(header("content-type"), "application/json");
        assert_eq!(header("nonce"), "1700000000");
        let signed = (method == "POST").then_some(body.as_bytes());
        let secret = SecretString::from(API_SECRET);
        let nonce = Nonce::from_second(1_700_000_000);
        let signature = sign(&secret, nonce, path, signed);
        assert_eq!(
            header("signature"),
            signature.expose_secret(),
            "{method} {path}"
        );
    }
}

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let mut log = self.0.lock();
        log.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn the_most_talkative_log_and_every_error_keep_the_secrets() {
    let log = Log::default();
    let writer = log.clone();
    // For the whole process: the connection's own tasks talk as well.
    tracing_subscriber::fmt()
        .with_max_level(LevelFilter::TRACE)
        .with_writer(move || writer.clone())
        .with_ansi(false)
        .init();
    let server = Server::json(200, r#"{"data":{}}"#).await;
    let (client, _) = client(&server.base);
    let id = InvoiceId::parse("inv_canary_55").unwrap();
    client.invoice(&id, Priority::Watched).await.unwrap();
    let mut output = vec![format!("{client:?} {:?}", settings(&server.base))];
    let (address, _) = raw_server(b"", Then::Close);
    let closing = format!("http://{address}/api");
    for base in [&server.base, &closing, "http://127.0.0.1:1/api"] {
        let (client, _) = crate::server::client(base);
        let error = client.create_invoice(&invoice_request()).await.unwrap_err();
        output.push(format!("{error} {error:?}"));
        if let Err(error) = client.invoice(&id, Priority::Watched).await {
            output.push(format!("{error} {error:?}"));
        }
    }
    output.push(String::from_utf8(log.0.lock().clone()).unwrap());
    let output = output.concat();
    let lines = output.lines();
    let ours: Vec<_> = lines
        .filter(|line| line.contains("gateway called"))
        .collect();
    for part in [
        "path=\"/invoice\" status=200 elapsed_ms=",
        "method=\"POST\" path=\"/invoice\" error=the gateway",
    ] {
        assert!(ours.iter().any(|line| line.contains(part)), "{ours:#?}");
    }
    assert!(!ours.iter().any(|line| line.contains("inv_canary_55")));
    let seen = server.seen();
    let signature = seen[0].headers["signature"].to_str().unwrap();
    for secret in [API_KEY, API_SECRET, signature] {
        assert!(!output.contains(secret), "{secret}");
    }
}

async fn poll(client: &Client) -> Result<(), CallError> {
    let id = invoice_id();
    client.invoice(&id, Priority::Watched).await.map(drop)
}

#[track_caller]
fn assert_unauthorized(result: &Result<(), CallError>) {
    let is_unauthorized = matches!(result, Err(CallError::Refused { status: 401, .. }));
    assert!(is_unauthorized, "{result:?}");
}

/// The gateway accepts one key, and answers every GET /prices with 404.
#[tokio::test]
async fn a_key_is_rejected_until_a_call_proves_it_or_another_is_set() {
    let accepted = Arc::new(Mutex::new(API_KEY));
    let known = accepted.clone();
    let server = Server::with(move |request| {
        let is_known = request.headers["apikey"] == *known.lock();
        let status = if request.uri.path().ends_with("/prices") {
            StatusCode::NOT_FOUND
        } else if is_known {
            StatusCode::OK
        } else {
            StatusCode::UNAUTHORIZED
        };
        // The real date is years after the hand-moved clock: nonces would follow it.
        (status, [("date", "soon")], r#"{"data":{}}"#).into_response()
    })
    .await;
    let (client, _) = client(&server.base);
    *accepted.lock() = "new";
    // A store's own call may be one that its account must not make.
    let own = RawRequest::new(Endpoint::MerchantAccount, "", None).unwrap();
    assert_unauthorized(&client.forward(&own).await.map(drop));
    assert!(!client.health().is_key_rejected);
    assert_unauthorized(&poll(&client).await);
    assert_eq!(server.count(), 2, "a refusal is not repeated");
    assert!(client.health().is_key_rejected);
    // Source: payment-service.md: GET /prices shows no signature.
    client.prices().await.unwrap_err();
    assert!(client.health().is_key_rejected);
    *accepted.lock() = API_KEY;
    poll(&client).await.unwrap();
    assert!(!client.health().is_key_rejected);
    *accepted.lock() = "new";
    let credentials = |key: &str| Credentials {
        api_key: SecretString::from(key),
        api_secret: SecretString::from("secret"),
    };
    let odd = client.set_credentials(&credentials("a\nb"));
    assert!(matches!(odd, Err(SettingsError::ApiKey)));
    assert_unauthorized(&poll(&client).await);
    client.set_credentials(&credentials("new")).unwrap();
    assert!(!client.health().is_key_rejected);
    poll(&client).await.unwrap();
}

fn response(status: u16, body: &str) -> CannedResponse {
    (status, &[], body.to_owned())
}

async fn good() -> (Server, Client, HandClock) {
    let server = Server::json(200, r#"{"data":{}}"#).await;
    let (client, clock) = client(&server.base);
    (server, client, clock)
}

#[tokio::test]
async fn a_poll_over_budget_is_refused_at_once_and_a_create_waits() {
    let (server, client, clock) = good().await;
    assert_eq!(client.available(Priority::Watched), 10);
    for _ in 0..10 {
        poll(&client).await.unwrap();
    }
    let error = poll(&client).await.unwrap_err();
    assert!(matches!(error, CallError::OutOfBudget { .. }), "{error}");
    assert_eq!(client.available(Priority::Watched), 0);
    assert!(clock.slept_ms().is_empty());
    for _ in 0..11 {
        client.prices().await.unwrap();
    }
    assert_eq!(server.count(), 21);
    // Nine were left beside the one for polls, and two waited.
    assert_eq!(clock.slept_ms(), [125, 125]);
}

#[tokio::test]
async fn a_read_is_retried_until_it_is_answered_or_the_circuit_opens() {
    let failures = [502, 200, 200, 500, 500, 500, 500, 500];
    let bodies = ["", "<html>", r#"{"data":{}}"#, "", "", "", "", ""];
    let responses = failures.into_iter().zip(bodies);
    let server = Server::start(responses.map(|(status, body)| response(status, body))).await;
    let (client, clock) = client(&server.base);
    poll(&client).await.unwrap();
    assert_eq!((server.count(), clock.slept_ms()), (3, vec![200, 400]));
    let broken = poll(&client).await;
    assert_eq!(broken, Err(CallError::Broken { status: 500 }));
    let error = poll(&client).await.unwrap_err();
    assert!(matches!(error, CallError::CircuitOpen { .. }), "{error}");
    assert!(client.health().is_circuit_open);
    assert_eq!((server.count(), client.available(Priority::Create)), (8, 0));
}

#[tokio::test]
async fn retries_come_out_of_a_budget() {
    // Every other request fails: the circuit stays closed, and every poll needs a retry.
    let pair = [response(500, ""), response(200, r#"{"data":{}}"#)];
    let server = Server::start(pair.into_iter().cycle().take(60)).await;
    let (client, clock) = client(&server.base);
    let mut repeated = 0;
    while poll(&client).await.is_ok() {
        repeated += 1;
        clock.pass(Duration::from_secs(1));
    }
    // A hundred, less five and plus one for each.
    assert_eq!((repeated, server.count()), (24, 49));
}

#[tokio::test]
async fn concurrent_lookups_of_one_invoice_share_the_response_also_without_the_first_caller() {
    let (server, client, _) = good().await;
    let polls = (0..50).map(|_| poll(&client));
    for polled in futures_util::future::join_all(polls).await {
        polled.unwrap();
    }
    assert_eq!(server.count(), 1);
    let other = InvoiceId::parse("inv_2").unwrap();
    let (one, another) = tokio::join!(poll(&client), client.invoice(&other, Priority::Watched));
    one.unwrap();
    another.unwrap();
    // No response is kept.
    assert_eq!(server.count(), 3);
    let (mut first, mut second) = (Box::pin(poll(&client)), Box::pin(poll(&client)));
    assert!(futures_util::poll!(first.as_mut()).is_pending());
    assert!(futures_util::poll!(second.as_mut()).is_pending());
    drop(first);
    second.await.unwrap();
    assert_eq!(server.count(), 4);
}

/// The hand-moved clock begins at 22:13:20.
const AN_HOUR_LATER: &[(&str, &str)] = &[("date", "Tue, 14 Nov 2023 23:13:20 GMT")];
const AN_HOUR_EARLIER: &[(&str, &str)] = &[("date", "Tue, 14 Nov 2023 21:13:20 GMT")];

#[tokio::test]
async fn a_call_that_is_refused_for_its_time_is_made_once_more_by_the_gateways_clock() {
    let refused = |date| (401, date, r#"{"code":"INVALID_SIGNATURE"}"#.to_owned());
    for (date, corrected) in [
        (AN_HOUR_LATER, "1700003600"),
        (AN_HOUR_EARLIER, "1699996400"),
    ] {
        let good = (200, date, invoice_response().to_string());
        let server = Server::start([refused(date), good]).await;
        let (client, clock) = client(&server.base);
        client.create_invoice(&invoice_request()).await.unwrap();
        assert_eq!(server.nonces(), ["1700000000", corrected]);
        assert!(clock.slept_ms().is_empty());
        let skew = client.health().skew.unwrap().as_secs();
        assert_eq!(skew.abs(), 3600);
    }
    let dates = [AN_HOUR_LATER, AN_HOUR_EARLIER, AN_HOUR_LATER];
    let server = Server::start(dates.map(refused)).await;
    let (client, _) = client(&server.base);
    let error = client.create_invoice(&invoice_request()).await.unwrap_err();
    assert!(
        matches!(error, CallError::Refused { status: 401, .. }),
        "{error}"
    );
    assert_eq!(server.count(), 2);
}
