//! The HTTP side of a delivery.
//!
//! Redirects are failures, at most 64 KiB of a response are read, and the address that a name resolves to is checked
//! before anything is sent, except to a store that may have a private address (`dangerous_allow_private_targets`).

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use florin_gateway_client::retry_after;
use florin_orders::Event;
use jiff::{SignedDuration, Timestamp};
use reqwest::Response;
use reqwest::header::{HeaderMap, RETRY_AFTER};
use reqwest::redirect::Policy;

use crate::config::Webhook;
use crate::trace;
use crate::webhooks::LONGEST_DELIVERY;
use crate::webhooks::address_filter::{Lookup, PublicOnly, names_a_private_address, system};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// How much of a response is read, and for how long, after its status is known: enough to keep the connection for the
/// next delivery. A huge, slow or endless response costs no more.
const MAX_ANSWER_BYTES: usize = 64 * 1024;
const LONGEST_ANSWER: Duration = Duration::from_secs(1);
const EXCERPT_CHARS: usize = 200;

/// Sends events to stores: over HTTPS, or to a store in a test.
#[async_trait]
pub trait Webhooks: Send + Sync {
    /// Delivers an event once, in bounded time.
    async fn send(&self, webhook: &Webhook, event: &Event, now: Timestamp) -> SendOutcome;
}

/// Sends deliveries over HTTPS.
#[derive(Clone, Debug)]
pub struct WebhookSender {
    public_only: reqwest::Client,
    unrestricted: reqwest::Client,
}

/// The outcome of a delivery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SendOutcome {
    Response(StoreResponse),
    Failed(String),
}

impl SendOutcome {
    pub(crate) fn http_status(&self) -> Option<u16> {
        match self {
            Self::Response(response) => Some(response.status),
            Self::Failed(_) => None,
        }
    }

    /// What happened, in words; for a rejection with the beginning of the response's body.
    pub(crate) fn note(&self) -> String {
        let response = match self {
            Self::Failed(reason) => return reason.clone(),
            Self::Response(response) => response,
        };
        let gap = if response.excerpt.is_empty() {
            ""
        } else {
            ": "
        };
        format!("answered {}{gap}{}", response.status, response.excerpt)
    }

    /// A response with a status and nothing else.
    pub fn status(status: u16) -> Self {
        Self::Response(StoreResponse {
            status,
            ..StoreResponse::default()
        })
    }
}

/// The store's response.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoreResponse {
    /// The HTTP status.
    pub status: u16,
    /// The pause that the store asks for with the header `Retry-After`.
    pub retry_after: Option<SignedDuration>,
    /// The beginning of the body of a rejection; empty for a success.
    pub excerpt: String,
}

impl WebhookSender {
    /// Prepares the two clients: one that reaches public addresses alone, one for tests on one machine.
    ///
    /// # Errors
    /// When the machine's TLS roots cannot be read.
    pub fn new() -> Result<Self, reqwest::Error> {
        Self::with_lookup(system())
    }

    fn with_lookup(lookup: Lookup) -> Result<Self, reqwest::Error> {
        let builder = || {
            reqwest::Client::builder()
                .redirect(Policy::none())
                .no_proxy()
                .connect_timeout(CONNECT_TIMEOUT)
                .timeout(LONGEST_DELIVERY)
                .user_agent(concat!("Florin/", env!("CARGO_PKG_VERSION")))
        };
        let public_only = Arc::new(PublicOnly(lookup));
        Ok(Self {
            public_only: builder().dns_resolver(public_only).build()?,
            unrestricted: builder().build()?,
        })
    }
}

#[async_trait]
impl Webhooks for WebhookSender {
    async fn send(&self, webhook: &Webhook, event: &Event, now: Timestamp) -> SendOutcome {
        let client = if webhook.dangerous_allow_private_targets {
            &self.unrestricted
        } else if names_a_private_address(&webhook.url) {
            return SendOutcome::Failed("the address is not of the public internet".into());
        } else {
            &self.public_only
        };
        let id = event.id.as_str();
        let traceparent = trace::current().map(|it| (trace::TRACEPARENT, trace::header(it)));
        let request = client
            .post(webhook.url.clone())
            .headers(HeaderMap::from_iter(traceparent))
            .header("content-type", "application/json")
            .header("webhook-id", id)
            .header("webhook-timestamp", now.as_second().to_string())
            .header(
                "webhook-signature",
                webhook.secrets.sign(id, now, &event.payload),
            )
            .body(event.payload.clone());
        match request.send().await {
            Ok(response) => SendOutcome::Response(read(response, now).await),
            Err(error) => SendOutcome::Failed(reason(&error)),
        }
    }
}

async fn read(mut response: Response, now: Timestamp) -> StoreResponse {
    let status = response.status();
    let header = response.headers().get(RETRY_AFTER);
    let asked = header.and_then(|text| retry_after(text.to_str().ok()?, now));
    let asked = asked.and_then(|time| SignedDuration::try_from(time).ok());
    let mut body = Vec::new();
    let reading = async {
        // A response that is cut off has a status all the same.
        while let Ok(Some(chunk)) = response.chunk().await {
            body.extend_from_slice(&chunk[..chunk.len().min(MAX_ANSWER_BYTES - body.len())]);
            if body.len() == MAX_ANSWER_BYTES {
                break;
            }
        }
    };
    let _ = tokio::time::timeout(LONGEST_ANSWER, reading).await;
    let excerpt = if status.is_success() {
        String::new()
    } else {
        excerpt(&body)
    };
    StoreResponse {
        status: status.as_u16(),
        retry_after: asked,
        excerpt,
    }
}

fn excerpt(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(&body[..body.len().min(4 * EXCERPT_CHARS)]);
    let words: Vec<&str> = text
        .split(|c: char| c.is_whitespace() || c.is_control())
        .filter(|word| !word.is_empty())
        .collect();
    words.join(" ").chars().take(EXCERPT_CHARS).collect()
}

/// The innermost reason, without the address, which is the store's own, and without the system's number of it.
fn reason(error: &reqwest::Error) -> String {
    if error.is_timeout() {
        return "no response in time".into();
    }
    let mut source: &dyn std::error::Error = error;
    while let Some(inner) = source.source() {
        source = inner;
    }
    let mut reason = source.to_string();
    reason.truncate(reason.find(" (os error").unwrap_or(reason.len()));
    if let Some(first) = reason.get_mut(..1) {
        first.make_ascii_lowercase();
    }
    reason
}

#[cfg(test)]
pub(crate) mod tests {
    use std::net::SocketAddr;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use florin_orders::{OrderId, StoreId};
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpListener;
    use url::Url;

    use super::*;
    use crate::webhooks::{WebhookSecrets, test_event};

    const NOW: Timestamp = Timestamp::UNIX_EPOCH;

    pub(crate) fn event() -> Event {
        let store = StoreId::parse("demo").unwrap();
        test_event(&store, OrderId::from_random([1; 16]), NOW)
    }

    fn webhook(url: &str, anywhere: bool) -> Webhook {
        Webhook {
            key: StoreId::parse("demo").unwrap().into(),
            events: None,
            url: Url::parse(url).unwrap(),
            secrets: WebhookSecrets::new([vec![7; 32]]),
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
    async fn a_refused_connection_is_named_without_the_systems_number() {
        let hook = webhook("http://127.0.0.1:1/", true);
        let sent = sender(&[&[]]).send(&hook, &event(), NOW).await;
        assert_eq!(sent, SendOutcome::Failed("connection refused".into()));
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
        assert_eq!(sent.note(), "answered 500: disk full");
        assert_eq!(SendOutcome::status(500).note(), "answered 500");
    }

    #[test]
    fn an_excerpt_is_one_short_line() {
        assert_eq!(excerpt(b"a\r\n\tb\x1b[31m \xff"), "a b [31m \u{fffd}");
        assert_eq!(excerpt(&[b'x'; 5000]).len(), EXCERPT_CHARS);
    }
}
