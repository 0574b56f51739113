//! Requests, byte for byte, and the responses that are read; secrets stay inside.

use std::io::Write;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use florin_gateway::{
    CheckoutRequest, ConfirmRequest, ConversionId, InvoiceId, InvoiceRequest, PaymentGateway as _,
    Priority, TransactionStatus,
};
use florin_money::{AmountText, CryptoCode};
use hmac::{Hmac, KeyInit as _, Mac as _};
use serde_json::{Value, json};
use sha2::Sha384;
use tracing_subscriber::filter::LevelFilter;

use crate::server::{
    API_KEY, API_SECRET, RecordedRequest, Server, Then, client, raw_server, settings,
};

pub(crate) fn invoice_request() -> InvoiceRequest {
    let amount = |text| AmountText::parse(text).expect("an amount");
    InvoiceRequest {
        conversion_id: ConversionId::parse("c1").expect("an id"),
        amount_in_usd: amount("19.90"),
        amount_in_local_currency: amount("19.90"),
        amount_in_crypto: amount("0.00030973"),
        crypto_code: CryptoCode::parse("BTC").expect("a code"),
    }
}

pub(crate) fn invoice_id() -> InvoiceId {
    InvoiceId::parse("inv_1").expect("an id")
}

pub(crate) fn invoice_response() -> Value {
    json!({
        "invoice_id": "inv_1", "invoice_expired_in": "15", "deposit_crypto": "BTC",
        "deposit_address": "tb1q", "qr_string": "bitcoin:tb1q", "invoice_amount_in_crypto": "0.00030973",
        "invoice_amount_in_usd": "19.90", "local_currency_amount": "19.90",
        "local_currency_code": "USD", "warning_messages": [],
    })
}

/// The gateway's side of the signature, over what arrived.
#[track_caller]
pub(crate) fn assert_signed(seen: &RecordedRequest, method: &str, path_and_query: &str) {
    assert_eq!(seen.method, method);
    let sent = seen.uri.path_and_query().expect("a path").as_str();
    assert_eq!(sent, format!("/api{path_and_query}"));
    let header = |name: &str| seen.headers[name].to_str().expect("text").to_owned();
    assert_eq!(header("apikey"), API_KEY);
    assert_eq!(header("content-type"), "application/json");
    let mut mac = Hmac::<Sha384>::new_from_slice(API_SECRET.as_bytes()).expect("any key");
    mac.update(format!("{}{}", "/api/", header("nonce")).as_bytes());
    mac.update(
        sent.strip_prefix("/api")
            .expect("below the base address")
            .as_bytes(),
    );
    mac.update(if method == "POST" { &seen.body } else { b"" });
    assert_eq!(
        header("signature"),
        hex::encode(mac.finalize().into_bytes())
    );
}

#[tokio::test]
async fn prices_are_asked_for_and_read() {
    let entry = json!({
        "rates": {"amount_in_local_currency": "1", "amount_in_crypto": "1", "amount_in_usd": "1",
            "local_currency_code": "USD"},
        "limits": {"min": "", "max": ""}, "conversion_id": "c1",
    });
    let server = Server::json(200, &json!({"BTC": entry, "ETH": 7}).to_string()).await;
    let prices = client(&server.base).0.prices().await.unwrap();
    assert_eq!(prices.entries.len(), 1);
    assert_eq!(prices.skipped[0].key, "ETH");
    assert_signed(&server.seen()[0], "GET", "/prices");
    assert!(server.seen()[0].body.is_empty());
}

#[tokio::test]
async fn an_invoice_is_asked_for_with_compact_json() {
    let server = Server::json(200, &invoice_response().to_string()).await;
    let invoice = client(&server.base)
        .0
        .create_invoice(&invoice_request())
        .await
        .unwrap();
    assert_eq!(invoice.invoice_id, invoice_id());
    let seen = &server.seen()[0];
    assert_signed(seen, "POST", "/invoice");
    assert_eq!(
        seen.body,
        r#"{"conversion_id":"c1","amount_in_usd":"19.90","amount_in_local_currency":"19.90","#
            .to_owned()
            + r#""amount_in_crypto":"0.00030973","crypto_code":"BTC"}"#
    );
}

#[tokio::test]
async fn a_status_comes_with_the_body_it_was_read_from() {
    let body = r#"{ "data": {"transaction_status": "PROCESSING", "x": 1} }"#;
    let server = Server::json(200, body).await;
    let response = client(&server.base)
        .0
        .invoice(&invoice_id(), Priority::Watched)
        .await
        .unwrap();
    assert_eq!(response.raw, body);
    assert_eq!(
        response.status.transaction_status,
        Some(TransactionStatus::Processing)
    );
    assert_eq!(response.status.invoice_id, None);
    assert_signed(&server.seen()[0], "GET", "/invoice?id=inv_1");
}

#[tokio::test]
async fn an_odd_identifier_is_signed_as_it_is_sent() {
    let server = Server::json(200, r#"{"data":{}}"#).await;
    let odd = InvoiceId::parse("a/b?c&d=%7e#\"'<>|+~[x]").unwrap();
    client(&server.base)
        .0
        .invoice(&odd, Priority::Watched)
        .await
        .unwrap();
    let path = "/invoice?id=a%2Fb%3Fc%26d%3D%257e%23%22%27%3C%3E%7C%2B%7E%5Bx%5D";
    assert_signed(&server.seen()[0], "GET", path);
}

#[tokio::test]
async fn a_confirmation_and_a_checkout_are_signed_posts() {
    let server = Server::json(
        200,
        r#"{"message":"OK","session_id":"s1","payment_process_url":"https://c.example/?id=s1"}"#,
    )
    .await;
    let (client, _) = client(&server.base);
    let confirmed = client
        .confirm(&ConfirmRequest::new(invoice_id(), None))
        .await
        .unwrap();
    assert_eq!(confirmed.message.as_deref(), Some("OK"));
    let request = CheckoutRequest {
        client_email_id: "a@b.example".into(),
        client_preferred_fiat_currency: florin_money::Currency::USD,
        amount: None,
        merchant_id: None,
        merchant_website: "https://shop.example/".into(),
        invoice_callback_url: "https://pay.shop.example/".into(),
    };
    let session = client.checkout(&request).await.unwrap();
    assert_eq!(session.session_id, InvoiceId::parse("s1").unwrap());
    assert_signed(&server.seen()[0], "POST", "/confirm");
    assert_signed(&server.seen()[1], "POST", "/checkout");
}

#[tokio::test]
async fn the_nonce_is_the_clocks_second_and_a_slash_at_the_end_of_the_base_is_nothing() {
    let server = Server::json(200, "{}").await;
    let (client, clock) = client(&format!("{}/", server.base));
    client.prices().await.unwrap();
    clock.pass(Duration::from_millis(2500));
    client.prices().await.unwrap();
    let nonces = server
        .seen()
        .iter()
        .map(|seen| seen.headers["nonce"].clone())
        .collect::<Vec<_>>();
    assert_eq!(nonces, ["1700000000", "1700000002"]);
    assert_signed(&server.seen()[1], "GET", "/prices");
}

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0
            .lock()
            .expect("no test panics in here")
            .extend_from_slice(bytes);
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
    let mut output = format!("{client:?} {:?}", settings(&server.base));
    let mut errors = Vec::new();
    let (address, _) = raw_server(b"", Then::Close);
    for base in [
        &server.base,
        &format!("http://{address}/api"),
        "http://127.0.0.1:1/api",
    ] {
        let (client, _) = crate::server::client(base);
        let error = client.create_invoice(&invoice_request()).await.unwrap_err();
        errors.push(format!("{error} {error:?}"));
        if let Err(error) = client.invoice(&id, Priority::Watched).await {
            errors.push(format!("{error} {error:?}"));
        }
    }
    output += &errors.concat();
    output += &String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    let ours: Vec<_> = output
        .lines()
        .filter(|line| line.contains("gateway called"))
        .collect();
    assert!(
        ours.iter()
            .any(|line| line.contains("path=\"/invoice\" status=200 elapsed_ms=")),
        "{ours:#?}"
    );
    assert!(
        ours.iter()
            .any(|line| line.contains("method=\"POST\" path=\"/invoice\" error=the gateway"))
    );
    assert!(!ours.iter().any(|line| line.contains("inv_canary_55")));
    let signature = server.seen()[0].headers["signature"]
        .to_str()
        .unwrap()
        .to_owned();
    for secret in [API_KEY, API_SECRET, &signature] {
        assert!(!output.contains(secret), "{secret}");
    }
}
