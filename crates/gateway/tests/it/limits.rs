//! The client and its limits are joined: budget, retries, pauses and the gateway's clock.

use std::time::Duration;

use crate::server::{
    CannedResponse, HandClock, Server, client, invoice_id, invoice_request, invoice_response,
};
use florin_gateway::{CallError, Client, InvoiceId, PaymentGateway as _, Priority};

fn response(status: u16, body: &str) -> CannedResponse {
    (status, &[], body.to_owned())
}

async fn poll(client: &Client) -> Result<(), CallError> {
    let id = invoice_id();
    client.invoice(&id, Priority::Watched).await.map(drop)
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
async fn an_invoice_is_requested_once_whatever_happens() {
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

#[tokio::test]
async fn nothing_is_sent_within_a_pause() {
    let limited = |seconds| CallError::RateLimited {
        retry_after: Duration::from_secs(seconds),
    };
    let pause: CannedResponse = (429, &[("retry-after", "30")], String::new());
    let server = Server::start([pause, response(200, "{}")]).await;
    let (client, clock) = client(&server.base);
    assert_eq!(client.prices().await, Err(limited(30)));
    clock.pass(Duration::from_secs(29));
    assert_eq!(client.clone().prices().await, Err(limited(1)));
    assert_eq!(poll(&client).await, Err(limited(1)));
    assert_eq!(server.count(), 1);
    assert!(clock.slept_ms().is_empty());
    clock.pass(Duration::from_secs(1));
    client.prices().await.unwrap();
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
