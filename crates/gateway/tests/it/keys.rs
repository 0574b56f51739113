//! Keys in pairs: an exchange of the key at the gateway costs no call.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::body::Bytes;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use florin_gateway::{
    CallError, Client, Credentials, Endpoint, InvoiceId, KeyInUse, NonceRule, PaymentGateway as _,
    Priority, RawRequest, Settings,
};
use hmac::{Hmac, KeyInit as _, Mac as _};
use secrecy::{ExposeSecret as _, SecretString};
use sha2::Sha384;

use crate::calls::{invoice_id, invoice_request, invoice_response};
use crate::server::{HandClock, Largest, RecordedRequest, Server, client_with, settings};
use crate::shared_limits::{HeldClock, Row};

/// The real date is years after the hand-moved clock: nonces would follow it.
const NO_DATE: [(&str, &str); 1] = [("date", "soon")];

fn pair(name: &str) -> Credentials {
    Credentials {
        api_key: SecretString::from(format!("{name}_key")),
        api_secret: SecretString::from(format!("{name}_secret")),
    }
}

/// A gateway that accepts the pairs which it knows, and makes an invoice for each POST that it accepts.
struct Gateway {
    server: Server,
    known: Arc<Mutex<Vec<Credentials>>>,
    /// Of each request that was accepted: its key and its body.
    accepted: Arc<Mutex<Vec<(String, Bytes)>>>,
}

impl Gateway {
    async fn start(known: &[&str]) -> Self {
        let known: Vec<_> = known.iter().map(|name| pair(name)).collect();
        let known = Arc::new(Mutex::new(known));
        let accepted = Arc::new(Mutex::new(Vec::new()));
        let (pairs, log) = (known.clone(), accepted.clone());
        let server = Server::with(move |request| respond(request, &pairs, &log)).await;
        Self {
            server,
            known,
            accepted,
        }
    }

    fn exchange(&self, known: &[&str]) {
        *self.known.lock().expect("no test panics in here") =
            known.iter().map(|name| pair(name)).collect();
    }

    /// The keys of all requests, the rejected ones included.
    fn keys(&self) -> Vec<String> {
        let seen = self.server.seen();
        seen.iter()
            .map(|request| request.headers["apikey"].to_str().expect("text").to_owned())
            .collect()
    }

    fn client(&self, set: impl FnOnce(&mut Settings)) -> (Client, HandClock) {
        client_with(&self.server.base, |settings| {
            settings.credentials = pair("new");
            settings.second_credentials = Some(pair("old"));
            set(settings);
        })
    }
}

fn respond(
    request: &RecordedRequest,
    known: &Mutex<Vec<Credentials>>,
    accepted: &Mutex<Vec<(String, Bytes)>>,
) -> Response {
    let header = |name: &str| request.headers[name].to_str().expect("text");
    let is_signed_with = |pair: &Credentials| {
        let path = request.uri.path_and_query().expect("a path").as_str();
        let path = path.strip_prefix("/api").expect("below the base address");
        let body: &[u8] = match request.method.as_str() {
            "POST" => &request.body,
            _ => b"",
        };
        let secret = pair.api_secret.expose_secret();
        let mac = Hmac::<Sha384>::new_from_slice(secret.as_bytes()).expect("any key");
        let mac = mac.chain_update(format!("/api/{}{path}", header("nonce")));
        let digest = hex::encode(mac.chain_update(body).finalize().into_bytes());
        pair.api_key.expose_secret() == header("apikey") && digest == header("signature")
    };
    if !known
        .lock()
        .expect("no test panics in here")
        .iter()
        .any(is_signed_with)
    {
        let error = r#"{"code":"INVALID_API_KEY"}"#;
        return (StatusCode::UNAUTHORIZED, NO_DATE, error).into_response();
    }
    let call = (header("apikey").to_owned(), request.body.clone());
    accepted.lock().expect("no test panics in here").push(call);
    let body = match request.method.as_str() {
        "POST" => invoice_response().to_string(),
        _ => r#"{"data":{}}"#.to_owned(),
    };
    (NO_DATE, body).into_response()
}

async fn poll(client: &Client) -> Result<(), CallError> {
    let id = invoice_id();
    client.invoice(&id, Priority::Watched).await.map(drop)
}

#[tokio::test]
async fn an_exchange_at_any_time_costs_no_call_and_makes_no_invoice_twice() {
    let gateway = Gateway::start(&["old"]).await;
    let (client, clock) = gateway.client(|_| {});
    // The gateway does not know the new pair yet.
    client.create_invoice(&invoice_request()).await.unwrap();
    client.create_invoice(&invoice_request()).await.unwrap();
    poll(&client).await.unwrap();
    assert_eq!(gateway.keys(), ["new_key", "old_key", "old_key", "old_key"]);
    assert_eq!(client.health().key, KeyInUse::Second);
    // It exchanges them.
    gateway.exchange(&["new"]);
    client.create_invoice(&invoice_request()).await.unwrap();
    client.create_invoice(&invoice_request()).await.unwrap();
    poll(&client).await.unwrap();
    assert_eq!(
        gateway.keys()[4..],
        ["old_key", "new_key", "new_key", "new_key"]
    );
    assert_eq!(client.health().key, KeyInUse::First);
    let invoices = gateway.accepted.lock().unwrap();
    assert_eq!(invoices.iter().filter(|call| !call.1.is_empty()).count(), 4);
    assert!(clock.slept_ms().is_empty());
}

#[tokio::test]
async fn calls_in_progress_during_an_exchange_are_answered() {
    let gateway = Gateway::start(&["old"]).await;
    let (client, _) = gateway.client(|settings| settings.requests_per_second = 1000);
    poll(&client).await.unwrap();
    let calls = (0..40).map(|n| {
        let client = client.clone();
        tokio::spawn(async move {
            let id = InvoiceId::parse(&format!("inv_{n}")).unwrap();
            client.invoice(&id, Priority::Watched).await.map(drop)
        })
    });
    let calls: Vec<_> = calls.collect();
    while gateway.keys().len() < 10 {
        tokio::task::yield_now().await;
    }
    gateway.exchange(&["new"]);
    for call in calls {
        call.await.unwrap().unwrap();
    }
    let keys = gateway.keys();
    assert!(keys.len() > 42, "some were sent twice: {keys:?}");
    assert_eq!(keys.last().unwrap(), "new_key");
}

#[tokio::test]
async fn the_first_pair_is_used_while_the_gateway_accepts_both() {
    let gateway = Gateway::start(&["new", "old"]).await;
    let (client, _) = gateway.client(|_| {});
    poll(&client).await.unwrap();
    assert_eq!(gateway.keys(), ["new_key"]);
}

#[tokio::test]
async fn each_pair_is_tried_once_and_all_rejected_is_reported() {
    let gateway = Gateway::start(&[]).await;
    let (client, _) = gateway.client(|_| {});
    let error = client.create_invoice(&invoice_request()).await.unwrap_err();
    assert!(
        matches!(error, CallError::Refused { status: 401, .. }),
        "{error}"
    );
    // The next call begins with the first one again.
    assert_eq!(gateway.keys(), ["new_key", "old_key"]);
    assert_eq!(client.health().key, KeyInUse::Rejected);
    gateway.exchange(&["new"]);
    poll(&client).await.unwrap();
    assert_eq!(gateway.keys()[2..], ["new_key"]);
    assert_eq!(client.health().key, KeyInUse::First);
}

#[tokio::test]
async fn a_rejected_pair_begins_no_call_again_when_the_budget_allows_one_request() {
    let gateway = Gateway::start(&["old"]).await;
    let (client, clock) = gateway.client(|settings| settings.nonces = NonceRule::MustIncrease);
    clock.pass(Duration::from_secs(3));
    // The second request waits for its second.
    poll(&client).await.unwrap();
    assert_eq!(gateway.keys(), ["new_key", "old_key"]);
    assert!(!clock.slept_ms().is_empty());
}

/// A store's own call may be one that its account must not make.
#[tokio::test]
async fn a_rejected_call_of_a_store_says_nothing_about_the_key() {
    let gateway = Gateway::start(&["old"]).await;
    let (client, _) = gateway.client(|_| {});
    poll(&client).await.unwrap();
    gateway.exchange(&[]);
    let read = RawRequest::new(Endpoint::MerchantAccount, "", None).unwrap();
    let error = client.forward(&read).await.unwrap_err();
    assert!(
        matches!(error, CallError::Refused { status: 401, .. }),
        "{error}"
    );
    assert_eq!(gateway.keys()[2..], ["old_key", "new_key"]);
    assert_eq!(client.health().key, KeyInUse::Second);
    gateway.exchange(&["old"]);
    poll(&client).await.unwrap();
    assert_eq!(gateway.keys()[4..], ["old_key"]);
}

/// Source: payment-service.md: GET /prices shows no signature.
#[tokio::test]
async fn prices_prove_no_key() {
    let server = Server::with(|request| {
        let status = if request.uri.path().ends_with("/prices") {
            StatusCode::NOT_FOUND
        } else {
            StatusCode::UNAUTHORIZED
        };
        (status, NO_DATE, "{}").into_response()
    });
    let server = server.await;
    let (client, _) = client_with(&server.base, |_| {});
    poll(&client).await.unwrap_err();
    client.prices().await.unwrap_err();
    assert_eq!(client.health().key, KeyInUse::Rejected);
}

#[tokio::test]
async fn a_reload_with_the_same_pairs_keeps_what_is_known_of_them() {
    let gateway = Gateway::start(&["old"]).await;
    let (client, _) = gateway.client(|_| {});
    poll(&client).await.unwrap();
    client
        .set_credentials(&pair("new"), Some(&pair("old")))
        .unwrap();
    poll(&client).await.unwrap();
    assert_eq!(gateway.keys(), ["new_key", "old_key", "old_key"]);
    assert_eq!(client.health().key, KeyInUse::Second);
}

#[tokio::test]
async fn a_reload_exchanges_the_pairs_and_begins_with_the_first() {
    let gateway = Gateway::start(&["old"]).await;
    let (client, _) = client_with(&gateway.server.base, |settings| {
        settings.credentials = pair("old");
    });
    poll(&client).await.unwrap();
    client
        .set_credentials(&pair("new"), Some(&pair("old")))
        .unwrap();
    poll(&client).await.unwrap();
    gateway.exchange(&["new"]);
    poll(&client).await.unwrap();
    client.set_credentials(&pair("new"), None).unwrap();
    poll(&client).await.unwrap();
    let expected = [
        "old_key", "new_key", "old_key", "old_key", "new_key", "new_key",
    ];
    assert_eq!(gateway.keys(), expected);
    assert_eq!(client.health().key, KeyInUse::First);
    let mut odd = pair("odd");
    odd.api_key = SecretString::from("a\nb");
    client.set_credentials(&odd, None).unwrap_err();
    poll(&client).await.unwrap();
}

#[tokio::test]
async fn processes_with_the_old_and_with_the_new_pair_share_the_limits() {
    let gateway = Gateway::start(&["old"]).await;
    let clock = HeldClock::new();
    let row = Row::new(&clock);
    let named = |first: &str, second: Option<&str>| {
        let mut settings = settings(&gateway.server.base);
        settings.credentials = pair(first);
        settings.second_credentials = second.map(pair);
        settings
    };
    let configured = [
        named("old", None),
        named("new", Some("old")),
        named("new", None),
    ];
    let accounts: Vec<_> = configured.iter().map(Settings::account).collect();
    assert!(
        accounts.iter().all(|account| *account == accounts[0]),
        "{accounts:?}"
    );
    let start = |settings: Settings| {
        let client = Client::new(settings, Arc::new(clock.clone()), Arc::new(Largest));
        client.unwrap().sharing(Arc::new(row.of_another()))
    };
    let clients: Vec<_> = configured.into_iter().take(2).map(start).collect();
    for client in &clients {
        client.create_invoice(&invoice_request()).await.unwrap();
    }
    clock.pass(1);
    clients[1]
        .set_credentials(&pair("new"), Some(&pair("old")))
        .unwrap();
    clients[0]
        .set_credentials(&pair("new"), Some(&pair("old")))
        .unwrap();
    gateway.exchange(&["new"]);
    for client in &clients {
        client.create_invoice(&invoice_request()).await.unwrap();
    }
    assert_eq!(gateway.accepted.lock().unwrap().len(), 4);
}
