use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};

use florin_orders::{EventId, EventType, OrderId, StoreId};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use super::*;
use crate::webhooks::{WebhookSecret, WebhookSecrets};

const NOW: Timestamp = Timestamp::UNIX_EPOCH;
/// Public and unreachable from here.
const FAR: &str = "192.0.1.1";

pub(crate) fn event() -> Event {
    let order_id = OrderId::from_random([1; 16]);
    Event {
        position: 1,
        id: EventId::of(&order_id, 1, "{}"),
        store_id: StoreId::parse("demo").unwrap(),
        order_id,
        sequence: 1,
        event_type: EventType::Created,
        kind: "order.created".into(),
        created_at: NOW,
        payload: "{}".into(),
    }
}

fn webhook(url: &str, anywhere: bool) -> Webhook {
    Webhook {
        url: Url::parse(url).unwrap(),
        secrets: WebhookSecrets::new(vec![WebhookSecret::new(vec![7; 32])]),
        dangerous_allow_private_targets: anywhere,
    }
}

/// An endpoint on this machine that sends `answer` on every connection, and then holds the connection.
async fn endpoint(response: &'static [u8]) -> (u16, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let visits = Arc::new(AtomicUsize::new(0));
    let count = visits.clone();
    tokio::spawn(async move {
        loop {
            let (mut visitor, _) = listener.accept().await.unwrap();
            count.fetch_add(1, Ordering::SeqCst);
            tokio::spawn(async move {
                let _ = visitor.read(&mut [0; 4096]).await;
                let _ = visitor.write_all(response).await;
                std::future::pending::<()>().await;
            });
        }
    });
    (port, visits)
}

/// A sender for which every name resolves to these addresses, to the next ones each time.
fn sender(responses: &'static [&'static [&'static str]]) -> WebhookSender {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let asked = AtomicUsize::new(0);
    let lookup: Lookup = Arc::new(move |_| {
        let turn = asked.fetch_add(1, Ordering::SeqCst);
        let found: Vec<SocketAddr> = responses[turn.min(responses.len() - 1)]
            .iter()
            .map(|address| SocketAddr::new(address.parse().unwrap(), 0))
            .collect();
        Box::pin(async move { Ok(found) })
    });
    WebhookSender::with_lookup(lookup).unwrap()
}

#[tokio::test]
async fn a_name_that_leads_into_the_operators_network_is_not_visited() {
    let (port, visits) = endpoint(b"HTTP/1.1 204 \r\n\r\n").await;
    let hook = webhook(&format!("http://shop.example:{port}/"), false);
    let sender = sender(&[&["127.0.0.1"], &["::ffff:127.0.0.1"], &["0.0.0.0"], &[]]);
    for _ in 0..4 {
        let sent = sender.send(&hook, &event(), NOW).await;
        let refused = SendOutcome::Failed("the name resolves to no public address".into());
        assert_eq!(sent, refused);
    }
    assert_eq!(visits.load(Ordering::SeqCst), 0);
}

/// Sends for a moment: an address far away neither answers nor refuses.
async fn sends_for_a_moment(sender: &WebhookSender, hook: &Webhook) {
    let moment = Duration::from_millis(200);
    let event = event();
    let sent = tokio::time::timeout(moment, sender.send(hook, &event, NOW)).await;
    assert!(!matches!(sent, Ok(SendOutcome::Response(_))), "{sent:?}");
}

#[tokio::test]
async fn of_a_name_that_leads_to_both_only_the_public_address_is_tried() {
    let (port, visits) = endpoint(b"HTTP/1.1 204 \r\n\r\n").await;
    let hook = webhook(&format!("http://shop.example:{port}/"), false);
    sends_for_a_moment(&sender(&[&["127.0.0.1", FAR]]), &hook).await;
    assert_eq!(visits.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn a_name_that_turns_private_after_it_was_checked_gets_nothing() {
    let (port, visits) = endpoint(b"HTTP/1.1 204 \r\n\r\n").await;
    let hook = webhook(&format!("http://shop.example:{port}/"), false);
    let sender = sender(&[&[FAR], &["127.0.0.1"]]);
    sends_for_a_moment(&sender, &hook).await;
    sends_for_a_moment(&sender, &hook).await;
    assert_eq!(visits.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn a_private_address_in_the_url_is_not_visited_however_it_is_written() {
    let (port, visits) = endpoint(b"HTTP/1.1 204 \r\n\r\n").await;
    let sender = sender(&[&["127.0.0.1"]]);
    let private = "127.0.0.1 127.1 0x7f.1 0x7f000001 0177.0.0.1 2130706433 0 [::1] [::ffff:127.0.0.1] \
                   [::ffff:7f00:1] [0:0:0:0:0:ffff:7f00:0001] 127\u{3002}0\u{3002}0\u{3002}1 localhost";
    for host in private.split_whitespace() {
        let hook = webhook(&format!("http://{host}:{port}/"), false);
        let sent = sender.send(&hook, &event(), NOW).await;
        assert!(matches!(sent, SendOutcome::Failed(_)), "{host}: {sent:?}");
    }
    assert_eq!(visits.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn an_endless_answer_costs_little_and_is_kept_in_short() {
    let response =
        b"HTTP/1.1 500 \r\nretry-after: 7\r\ncontent-length: 1000000000\r\n\r\n  disk\r\nfull\x07 ";
    let (port, _) = endpoint(response).await;
    let hook = webhook(&format!("http://127.0.0.1:{port}/"), true);
    let sent = sender(&[&[]]).send(&hook, &event(), NOW).await;
    let expected = StoreResponse {
        status: 500,
        retry_after: Some(SignedDuration::from_secs(7)),
        excerpt: "disk full".to_owned(),
    };
    assert_eq!(sent, SendOutcome::Response(expected));
}

#[test]
fn an_excerpt_is_one_short_line() {
    assert_eq!(excerpt(b"a\r\n\tb\x1b[31m \xff"), "a b [31m \u{fffd}");
    assert_eq!(excerpt(&[b'x'; 5000]).len(), EXCERPT_CHARS);
}
