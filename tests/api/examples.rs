//! The receivers of `examples/receivers`: each accepts what the proxy signs, and refuses what is signed by
//! another secret, altered or old.

use florin_orders::{Event, EventId, EventType, OrderId, StoreId};
use florin_proxy::config::{Config, parse};
use florin_proxy::webhooks::{SendOutcome, WebhookSender, Webhooks as _};
use jiff::{SignedDuration, Timestamp};
use support::{Language, Receiver, eventually};

use crate::program::COMPLETE;

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const OTHER: &str = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";

/// A proxy's configuration whose store has its webhook there.
fn config(url: &str, secret: &str) -> Config {
    let webhook = format!(
        "[store.webhook]\nurl = \"{url}/florin\"\nsecret = \"{secret}\"\n\
         dangerous_allow_private_targets = true\n[[store.product]]"
    );
    parse(&COMPLETE.replace("[[store.product]]", &webhook)).unwrap()
}

fn paid(number: u8) -> (Event, String) {
    let order_id = OrderId::from_random([number; 16]);
    let order = order_id.to_string();
    let payload = format!(
        r#"{{"type":"order.paid","timestamp":"2026-01-01T00:00:00Z","data":{{"sequence":1,"order":{{"id":"{order}"}}}}}}"#
    );
    let event = Event {
        position: 1,
        id: EventId::of(&order_id, 1, &payload),
        store_id: StoreId::parse("demo").unwrap(),
        order_id,
        sequence: 1,
        event_type: EventType::Paid,
        kind: "order.paid".into(),
        created_at: Timestamp::UNIX_EPOCH,
        payload,
    };
    (event, order)
}

/// Delivers an event as the proxy does, and returns the status of the response.
async fn deliver(url: &str, secret: &str, event: &Event, sent_at: Timestamp) -> u16 {
    let config = config(url, secret);
    let sender = WebhookSender::new().unwrap();
    let webhook = config.stores[0].webhook.as_ref().unwrap();
    match sender.send(webhook, event, sent_at).await {
        SendOutcome::Response(response) => response.status,
        SendOutcome::Failed(reason) => panic!("{reason}"),
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the receivers compare with this machine's clock"
)]
fn now() -> Timestamp {
    Timestamp::now()
}

#[tokio::test]
async fn each_receiver_accepts_what_the_proxy_signs_and_nothing_else() {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut ran = Vec::new();
    for language in Language::ALL {
        let receiver = match Receiver::start(language, SECRET).await {
            Ok(receiver) => receiver,
            Err(reason) => {
                println!("{language:?} is skipped: {reason}");
                continue;
            }
        };
        let url = receiver.url();
        let (event, order) = paid(1);
        let (forged, forged_order) = paid(2);
        let old = now() - SignedDuration::from_mins(6);
        for (secret, event, sent_at, status) in [
            (SECRET, &event, now(), 204),
            (OTHER, &forged, now(), 400),
            (SECRET, &forged, old, 400),
            // Delivered again, as after a lost response.
            (SECRET, &event, now(), 204),
        ] {
            let sent = deliver(&url, secret, event, sent_at).await;
            assert_eq!(sent, status, "{language:?}: {}", receiver.printed());
        }
        let line = format!("{order} is paid");
        eventually("the order is printed", async || {
            receiver.printed().contains(&line).then_some(())
        })
        .await;
        let printed = receiver.printed();
        let count = printed.matches("is paid").count();
        assert_eq!(count, 1, "{language:?}: {printed}");
        assert!(!printed.contains(&forged_order), "{language:?}");
        let page = reqwest::get(&url).await.unwrap().text().await.unwrap();
        assert_eq!(page, "<h1>A mug</h1>", "{language:?}");
        ran.push(language);
    }
    for language in [Language::Node, Language::Python, Language::Rust] {
        assert!(ran.contains(&language), "{language:?} did not run");
    }
}
