//! Key and secret are exchanged while the client runs, and it knows whether the gateway accepts them.

use std::sync::{Arc, Mutex};

use axum::http::StatusCode;
use axum::response::IntoResponse as _;
use florin_gateway::{
    CallError, Client, Credentials, Endpoint, PaymentGateway as _, Priority, RawRequest,
    SettingsError,
};
use secrecy::SecretString;

use crate::calls::invoice_id;
use crate::server::{API_KEY, Server, client};

fn credentials(key: &str) -> Credentials {
    Credentials {
        api_key: SecretString::from(key),
        api_secret: SecretString::from("secret"),
    }
}

/// A gateway that accepts one key, and answers every GET /prices with 404.
struct Gateway {
    server: Server,
    accepted: Arc<Mutex<&'static str>>,
}

impl Gateway {
    async fn start() -> (Self, Client) {
        let accepted = Arc::new(Mutex::new(API_KEY));
        let known = accepted.clone();
        let server = Server::with(move |request| {
            let key = *known.lock().expect("no test panics in here");
            let status = if request.uri.path().ends_with("/prices") {
                StatusCode::NOT_FOUND
            } else if request.headers["apikey"] == key {
                StatusCode::OK
            } else {
                StatusCode::UNAUTHORIZED
            };
            // The real date is years after the hand-moved clock: nonces would follow it.
            (status, [("date", "soon")], r#"{"data":{}}"#).into_response()
        });
        let server = server.await;
        let client = client(&server.base).0;
        (Self { server, accepted }, client)
    }

    fn exchange(&self, key: &'static str) {
        *self.accepted.lock().expect("no test panics in here") = key;
    }
}

async fn poll(client: &Client) -> Result<(), CallError> {
    let id = invoice_id();
    client.invoice(&id, Priority::Watched).await.map(drop)
}

#[track_caller]
fn assert_unauthorized(result: &Result<(), CallError>) {
    assert!(
        matches!(result, Err(CallError::Refused { status: 401, .. })),
        "{result:?}"
    );
}

#[tokio::test]
async fn later_calls_are_signed_with_new_credentials() {
    let (gateway, client) = Gateway::start().await;
    poll(&client).await.unwrap();
    gateway.exchange("new");
    assert_unauthorized(&poll(&client).await);
    assert_eq!(gateway.server.count(), 2, "a refusal is not repeated");
    assert!(client.health().is_key_rejected);
    let odd = client.set_credentials(&credentials("a\nb"));
    assert!(matches!(odd, Err(SettingsError::ApiKey)));
    assert_unauthorized(&poll(&client).await);
    client.set_credentials(&credentials("new")).unwrap();
    assert!(!client.health().is_key_rejected);
    poll(&client).await.unwrap();
}

#[tokio::test]
async fn a_key_is_rejected_until_a_call_proves_it() {
    let (gateway, client) = Gateway::start().await;
    gateway.exchange("new");
    // A store's own call may be one that its account must not make.
    let own = RawRequest::new(Endpoint::MerchantAccount, "", None).unwrap();
    assert_unauthorized(&client.forward(&own).await.map(drop));
    assert!(!client.health().is_key_rejected);
    assert_unauthorized(&poll(&client).await);
    assert!(client.health().is_key_rejected);
    // Source: payment-service.md: GET /prices shows no signature.
    client.prices().await.unwrap_err();
    assert!(client.health().is_key_rejected);
    gateway.exchange(API_KEY);
    poll(&client).await.unwrap();
    assert!(!client.health().is_key_rejected);
}
