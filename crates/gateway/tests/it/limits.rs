//! All calls of a client share one budget; none is sent while the circuit is open or while the gateway asks for a pause.

use std::time::Duration;

use crate::calls::{invoice_id, invoice_request};
use crate::server::{CannedResponse, HandClock, Server, client, client_with};
use florin_gateway::{
    CallError, Client, Endpoint, NonceRule, PaymentGateway as _, Priority, RawRequest,
};

fn response(status: u16, body: &str) -> CannedResponse {
    (status, &[], body.to_owned())
}

async fn looks(client: &Client) -> Result<(), CallError> {
    client
        .invoice(&invoice_id(), Priority::Watched)
        .await
        .map(|_| ())
}

/// Looks until the budget refuses; answers how many were answered.
async fn concurrent_polls(client: &Client) -> usize {
    for looked in 0..1000 {
        if let Err(error) = looks(client).await {
            assert!(matches!(error, CallError::OutOfBudget { .. }), "{error}");
            return looked;
        }
    }
    panic!("there is no end");
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
    assert_eq!(concurrent_polls(&client).await, 10);
    assert_eq!(client.available(Priority::Watched), 0);
    assert!(clock.slept_ms().is_empty());
    for _ in 0..11 {
        client.prices().await.unwrap();
    }
    assert_eq!(server.count(), 21);
    assert_eq!(
        clock.slept_ms(),
        [125, 125],
        "nine were left beside the one for looks, and two waited"
    );
}

#[tokio::test]
async fn retries_end_when_the_circuit_opens_and_a_probe_is_not_repeated() {
    let failures = (0..6).map(|_| response(500, ""));
    let server = Server::start(failures.chain([response(200, r#"{"data":{}}"#)])).await;
    let (client, clock) = client(&server.base);
    assert_eq!(looks(&client).await, Err(CallError::Broken { status: 500 }));
    let error = looks(&client).await.unwrap_err();
    assert!(matches!(error, CallError::CircuitOpen { .. }), "{error}");
    assert!(client.health().is_circuit_open);
    assert_eq!((server.count(), client.available(Priority::Create)), (5, 0));
    clock.pass(Duration::from_secs(5));
    assert_eq!(client.available(Priority::Unwatched), 1, "a probe");
    let error = looks(&client).await.unwrap_err();
    assert!(matches!(error, CallError::CircuitOpen { .. }), "{error}");
    assert_eq!(server.count(), 6);
    clock.pass(Duration::from_secs(10));
    looks(&client).await.unwrap();
    assert!(!client.health().is_circuit_open);
}

#[tokio::test]
async fn repetitions_come_out_of_a_quota() {
    // Every other request fails: the circuit stays closed, and every poll needs a retry.
    let pair = [response(500, ""), response(200, r#"{"data":{}}"#)];
    let server = Server::start(pair.into_iter().cycle().take(60)).await;
    let (client, clock) = client(&server.base);
    let mut repeated = 0;
    while looks(&client).await.is_ok() {
        repeated += 1;
        clock.pass(Duration::from_secs(1));
    }
    // A hundred, less five and plus one for each.
    assert_eq!((repeated, server.count()), (24, 49));
}

#[tokio::test]
async fn concurrent_lookups_of_one_invoice_share_the_response() {
    let (server, client, _) = good().await;
    let looks = (0..50).map(|_| looks(&client));
    for look in futures_util::future::join_all(looks).await {
        look.unwrap();
    }
    assert_eq!(server.count(), 1);
    let other = florin_gateway::InvoiceId::parse("inv_2").unwrap();
    let id = invoice_id();
    let (one, another) = tokio::join!(
        client.invoice(&id, Priority::Watched),
        client.invoice(&other, Priority::Watched),
    );
    one.unwrap();
    another.unwrap();
    assert_eq!(
        server.count(),
        3,
        "a response is not kept, and another invoice is another"
    );
}

#[tokio::test]
async fn a_shared_lookup_survives_its_first_caller() {
    let (server, client, _) = good().await;
    let id = invoice_id();
    let mut first = Box::pin(client.invoice(&id, Priority::Watched));
    assert!(futures_util::poll!(first.as_mut()).is_pending());
    let second = client.invoice(&id, Priority::Watched);
    let ((), response) = tokio::join!(async { drop(first) }, second);
    response.unwrap();
    assert_eq!(server.count(), 1);
}

#[tokio::test]
async fn where_a_nonce_is_taken_once_each_request_has_its_own_second() {
    let server = Server::json(200, "{}").await;
    let (client, clock) = client_with(&server.base, |settings| {
        settings.nonces = NonceRule::MustIncrease;
    });
    for _ in 0..5 {
        client.prices().await.unwrap();
    }
    let seen = server.seen();
    let nonces: Vec<_> = seen
        .iter()
        .map(|seen| seen.headers["nonce"].clone())
        .collect();
    assert_eq!(
        nonces,
        [
            "1700000001",
            "1700000002",
            "1700000003",
            "1700000005",
            "1700000006"
        ]
    );
    // A fifth of the rate is reserved for polling.
    assert_eq!(clock.slept_ms(), [1250; 5]);
}

#[tokio::test]
async fn what_passes_through_is_untouched_both_ways() {
    let odd = "{ \"b\":1.10,\n\"a\":[1e5 ], \"b\":2 }";
    let server = Server::json(200, odd).await;
    let (client, _) = client(&server.base);
    let body = r#"{"z":1.10,"a":1e5,"z":2}"#;
    for endpoint in [Endpoint::AddPreferences, Endpoint::UpdatePreferences] {
        let request = RawRequest::new(endpoint, "", Some(body)).unwrap();
        assert_eq!(client.forward(&request).await.unwrap(), odd);
    }
    let request = RawRequest::new(Endpoint::MerchantAccount, "a=%20b", None).unwrap();
    client.forward(&request).await.unwrap();
    let seen = server.seen();
    assert_eq!(
        (seen[0].body.as_ref(), seen[1].body.as_ref()),
        (body.as_bytes(), body.as_bytes())
    );
    crate::calls::assert_signed(&seen[0], "POST", "/preferences");
    crate::calls::assert_signed(&seen[1], "PUT", "/preferences");
    crate::calls::assert_signed(&seen[2], "GET", "/merchant/account?a=%20b");
}

#[tokio::test]
async fn a_success_that_is_no_json_is_not_passed_on() {
    let server = Server::json(200, "<html>").await;
    let add = RawRequest::new(Endpoint::AddPreferences, "", Some("{}")).unwrap();
    let error = client(&server.base).0.forward(&add).await.unwrap_err();
    assert!(matches!(error, CallError::Ambiguous(_)), "{error}");
}

fn limited(seconds: u64) -> CallError {
    CallError::RateLimited {
        retry_after: Duration::from_secs(seconds),
    }
}

#[tokio::test]
async fn nothing_is_sent_within_a_pause() {
    let pause: CannedResponse = (429, &[("retry-after", "30")], String::new());
    let server = Server::start([pause, response(200, "{}")]).await;
    let (client, clock) = client(&server.base);
    assert_eq!(client.prices().await, Err(limited(30)));
    clock.pass(Duration::from_secs(29));
    assert_eq!(client.clone().prices().await, Err(limited(1)));
    assert_eq!(
        client.invoice(&invoice_id(), Priority::Watched).await,
        Err(limited(1))
    );
    assert_eq!(
        client.create_invoice(&invoice_request()).await,
        Err(limited(1))
    );
    assert_eq!(server.count(), 1);
    assert!(clock.slept_ms().is_empty());
    clock.pass(Duration::from_secs(1));
    client.prices().await.unwrap();
    assert_eq!(server.count(), 2);
}

#[tokio::test]
async fn a_retry_waits_for_no_pause_but_gives_up() {
    let server = Server::start([(503, &[("retry-after", "7")][..], String::new())]).await;
    let (client, _) = client(&server.base);
    // The first try fails, 200 ms pass, and the second is not made.
    let left = CallError::RateLimited {
        retry_after: Duration::from_millis(6800),
    };
    assert_eq!(client.prices().await, Err(left));
    assert_eq!(server.count(), 1);
}
