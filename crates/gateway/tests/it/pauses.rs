//! While the gateway asks for a pause nothing is sent.

use std::time::Duration;

use florin_gateway::{CallError, PaymentGateway as _, Priority};

use crate::calls::{invoice_id, invoice_request};
use crate::server::{Answer, Server, client};

fn limited(seconds: u64) -> CallError {
    CallError::RateLimited {
        retry_after: Duration::from_secs(seconds),
    }
}

fn too_many(headers: &'static [(&'static str, &'static str)]) -> Answer {
    (429, headers, String::new())
}

#[tokio::test]
async fn nothing_is_sent_within_a_pause() {
    let good = (200, &[][..], "{}".to_owned());
    let server = Server::start([too_many(&[("retry-after", "30")]), good]).await;
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
async fn a_pause_may_be_given_as_a_date() {
    let date = "Tue, 14 Nov 2023 22:14:20 GMT";
    let server = Server::start([too_many(vec![("retry-after", date)].leak())]).await;
    let (client, _) = client(&server.base);
    assert_eq!(client.prices().await, Err(limited(60)));
    assert_eq!(client.prices().await, Err(limited(60)));
    assert_eq!(server.count(), 1);
}

#[tokio::test]
async fn without_a_time_the_pause_doubles() {
    let server = Server::start([too_many(&[])]).await;
    let (client, clock) = client(&server.base);
    for seconds in [1, 2, 4, 8] {
        assert_eq!(client.prices().await, Err(limited(seconds)));
        clock.pass(Duration::from_secs(seconds));
    }
    assert_eq!(server.count(), 4);
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

#[tokio::test]
async fn after_an_absurd_pause_one_call_tries_each_five_minutes() {
    let absurd = || too_many(&[("retry-after", "99999999999")]);
    let good = (200, &[][..], "{}".to_owned());
    let server = Server::start([absurd(), absurd(), good]).await;
    let (client, clock) = client(&server.base);
    for count in 1..=2 {
        assert_eq!(client.prices().await, Err(limited(300)));
        assert!(client.health().is_pause_excessive);
        assert_eq!(client.available(Priority::Create), 0);
        clock.pass(Duration::from_secs(299));
        assert_eq!(client.prices().await, Err(limited(1)));
        assert_eq!(server.count(), count);
        clock.pass(Duration::from_secs(1));
        assert_eq!(client.available(Priority::Create), 1);
    }
    client.prices().await.unwrap();
    assert!(!client.health().is_pause_excessive);
    assert!(client.available(Priority::Create) > 1);
    assert_eq!(server.count(), 3);
}
