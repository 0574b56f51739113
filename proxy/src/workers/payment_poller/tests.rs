//! More polls than the gateway's limits allow, on virtual time. Client, limits, poller and database are real.

use std::collections::BTreeMap;

use async_trait::async_trait;
use axum::Router;
use axum::body::Body;
use axum::http::header::AUTHORIZATION;
use axum::http::{Request, StatusCode};
use florin_gateway_client::{Client, Clock, RawResponse, Settings, SignedRequest, Transport};
use florin_orders::fixtures::{invoice, new_attempt, observed, terms};
use florin_orders::{AttemptId, Invoice, NewAttempt, NewOrder, OrderId};
use florin_storage::SqliteStorage;
use parking_lot::Mutex;
use serde_json::json;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt as _;

use super::*;
use crate::auth::token::Token;
use crate::clock::SystemRandom;
use crate::config::parse;
use crate::config::tests::EXAMPLE;
use crate::webhooks::WebhookSender;
use crate::{Core, Dependencies};

const START: i64 = 1_790_000_000;
const REQUESTS_PER_SECOND: i64 = 2;
/// Attempts that ended just now are polled each minute: five polls a second.
const ENDED: u32 = 300;
const WATCHED: u32 = 3;
/// Orders are polled each five seconds for so long.
const RUN_S: i64 = 400;
const TICKS_PER_S: i64 = 2;

struct VirtualClock(Mutex<Timestamp>);

#[async_trait]
impl Clock for VirtualClock {
    fn now(&self) -> Timestamp {
        *self.0.lock()
    }

    async fn sleep(&self, _: Duration) {
        unreachable!("the gateway answers every call, and a poll does not wait for the limits");
    }
}

/// A gateway that answers at once, and when it was asked about each invoice.
struct Gateway {
    clock: Arc<VirtualClock>,
    polls: Mutex<BTreeMap<String, Vec<i64>>>,
}

#[async_trait]
impl Transport for Gateway {
    async fn send(&self, request: SignedRequest) -> Result<RawResponse, CallError> {
        let id = request.url.query_pairs().next().unwrap().1.into_owned();
        let now = self.clock.now().as_second() - START;
        self.polls.lock().entry(id.clone()).or_default().push(now);
        let (status, received) = match id.split('_').nth(1) {
            Some("ended") => ("FAILED", ["0", "0"]),
            Some("paid") => ("COMPLETED", ["0.00030973", "19.90"]),
            _ => ("CHECKING", ["0", "0"]),
        };
        let was = observed(status);
        let body = json!({ "data": {
            "invoice_id": id,
            "transaction_status": status,
            "invoice_crypto_amount": was.requested.crypto,
            "invoice_amount_in_usd": was.requested.usd,
            "invoice_amount_in_local_currency": was.requested.local,
            "received_crypto_amount": received[0],
            "received_amount_in_usd": received[1],
            "received_amount_in_local_currency": received[1],
            "local_currency_code": was.local_currency,
            "transaction_crypto": was.crypto_code,
            "wallet_address": was.address,
        }});
        Ok(RawResponse {
            status: 200,
            headers: axum::http::HeaderMap::new(),
            body: Ok(body.to_string().into_bytes()),
        })
    }
}

struct Overload {
    core: Core,
    router: Router,
    clock: Arc<VirtualClock>,
    gateway: Arc<Gateway>,
    _folder: TempDir,
}

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(START + second).unwrap()
}

impl Overload {
    async fn start() -> Self {
        // In memory, if the machine can: thousands of commits need no disk.
        let in_memory = tempfile::tempdir_in("/dev/shm");
        let folder = in_memory.or_else(|_| tempfile::tempdir()).unwrap();
        let url = format!("sqlite://{}", folder.path().join("florin.db").display());
        let storage = SqliteStorage::open(&url, "test").await.unwrap();
        let clock = Arc::new(VirtualClock(Mutex::new(at(0))));
        let gateway = Arc::new(Gateway {
            clock: clock.clone(),
            polls: Mutex::default(),
        });
        let config = parse(EXAMPLE).unwrap();
        let settings = Settings {
            requests_per_second: u32::try_from(REQUESTS_PER_SECOND).unwrap(),
            ..config.gateway.client.clone()
        };
        let random = Arc::new(SystemRandom);
        let client =
            Client::with_transport(gateway.clone(), settings, clock.clone(), random.clone());
        let _ = rustls::crypto::ring::default_provider().install_default();
        let dependencies = Dependencies {
            storage: Arc::new(storage),
            gateway: Arc::new(client.unwrap()),
            // No event is delivered here.
            webhooks: Arc::new(WebhookSender::new().unwrap()),
            clock: clock.clone(),
            random,
        };
        let core = Core::new(config, dependencies, CancellationToken::new());
        Self {
            router: core.router(),
            core,
            clock,
            gateway,
            _folder: folder,
        }
    }

    async fn open(&self, number: u32, invoice_id: &str, expires_at: Timestamp) -> Token {
        let storage = &self.core.app.storage;
        let mut bits = [0; 16];
        bits[..4].copy_from_slice(&number.to_be_bytes());
        let (order, token) = (OrderId::from_random(bits), Token::draw(&SystemRandom));
        let terms = NewOrder {
            expires_at: at(86_400),
            ..terms(&format!("r{number}"))
        };
        let opened = storage.open_order(&order, &terms, token.client_hash(), at(86_400), at(0));
        opened.await.unwrap();
        let attempt = NewAttempt {
            id: AttemptId::from_random(bits),
            ..new_attempt(1)
        };
        let begun = storage.begin_attempt(&order, &attempt, at(0)).await;
        begun.unwrap();
        let id = florin_orders::InvoiceId::parse(invoice_id).unwrap();
        let opened_at = expires_at - SignedDuration::from_mins(15);
        let invoice = Invoice::opened(id, invoice(1).destination, opened_at, expires_at);
        let opened = storage.open_attempt(&attempt.id, &invoice, at(0)).await;
        opened.unwrap();
        token
    }

    async fn view(&self, token: &Token) {
        let request = Request::get("/v1/checkout")
            .header("origin", "http://127.0.0.1:8081")
            .header(AUTHORIZATION, format!("Bearer {}", token.expose()));
        let request = request.body(Body::empty()).unwrap();
        let Ok(response) = self.router.clone().oneshot(request).await;
        assert_eq!(response.status(), StatusCode::OK);
    }

    async fn metrics(&self) -> String {
        let request = Request::get("/metrics").body(Body::empty()).unwrap();
        let Ok(response) = self.core.admin_router().oneshot(request).await;
        let body = axum::body::to_bytes(response.into_body(), 1 << 20).await;
        String::from_utf8(body.unwrap().to_vec()).unwrap()
    }

    fn polls(&self, id: &str) -> Vec<i64> {
        let polls = self.gateway.polls.lock();
        polls.get(id).cloned().unwrap_or_default()
    }

    /// The longest time without a poll of an invoice, from the start to the end of the run.
    fn longest_gap(&self, id: &str) -> i64 {
        let polls = self.polls(id);
        let times: Vec<i64> = [0].into_iter().chain(polls).chain([RUN_S]).collect();
        let gaps = times.windows(2).map(|pair| pair[1] - pair[0]);
        gaps.max().unwrap()
    }
}

#[tokio::test]
async fn watched_and_paid_orders_keep_their_interval_while_others_are_polled_more_rarely() {
    let overload = Overload::start().await;
    for number in 0..ENDED {
        let id = format!("inv_ended_{number}");
        overload.open(number, &id, at(-1)).await;
    }
    let mut pages = Vec::new();
    for number in 0..WATCHED {
        let id = format!("inv_watched_{number}");
        pages.push(overload.open(1000 + number, &id, at(900)).await);
    }
    pages.push(overload.open(2000, "inv_paid", at(900)).await);
    let (mut longest_lag, mut metrics, mut stretches) = (0, String::new(), Vec::new());
    let mut watched_stretches = Vec::new();
    for tick in 0..RUN_S * TICKS_PER_S {
        *overload.clock.0.lock() = at(0) + SignedDuration::from_millis(tick * 1000 / TICKS_PER_S);
        if tick % TICKS_PER_S == 0 {
            for page in &pages {
                overload.view(page).await;
            }
        }
        if tick % (10 * TICKS_PER_S) == 0 {
            measure(&overload.core.app).await;
            let pace = overload.core.app.polling_pace();
            if pace.lag.as_secs() > longest_lag {
                longest_lag = pace.lag.as_secs();
                metrics = overload.metrics().await;
            }
            stretches.push(pace.stretch.percent());
            // Three of them, each in 1.5 s, are more than the limits allow.
            watched_stretches.push(pace.watched_stretch.percent());
        }
        overload.core.poll().await;
    }
    for number in 0..WATCHED {
        let id = format!("inv_watched_{number}");
        let gap = overload.longest_gap(&id);
        assert!(gap <= 6, "{id}: {gap} s, {:?}", overload.polls(&id));
    }
    let gap = overload.longest_gap("inv_paid");
    assert!(gap <= 60, "{gap} s, {:?}", overload.polls("inv_paid"));
    let ended = (0..ENDED).map(|number| format!("inv_ended_{number}"));
    let never: Vec<String> = ended.filter(|id| overload.polls(id).is_empty()).collect();
    assert_eq!(never, [""; 0], "every attempt is polled");
    let calls: usize = overload.gateway.polls.lock().values().map(Vec::len).sum();
    let most = REQUESTS_PER_SECOND * (RUN_S + 2);
    assert!(i64::try_from(calls).unwrap() <= most, "{calls} of {most}");
    assert!(
        stretches.iter().any(|stretch| *stretch >= 200),
        "{stretches:?}"
    );
    let most = watched_stretches.iter().max();
    assert!((120..=400).contains(most.unwrap()), "{watched_stretches:?}");
    assert!((60..RUN_S).contains(&longest_lag), "{longest_lag}");
    let metric = |name: &str| {
        let lines = metrics.lines().filter(|line| line.starts_with(name));
        let values = lines.filter_map(|line| line.rsplit(' ').next()?.parse::<f64>().ok());
        values.fold(0.0, f64::max)
    };
    // While the gateway is away, late polls wake the poller no earlier.
    *overload.clock.0.lock() = at(2 * RUN_S);
    overload.core.app.set_gateway_reachable(false);
    assert_eq!(until_next(&overload.core.app).await, MAX_SLEEP);
    assert!(metric("florin_poll_lag_seconds") >= 60.0, "{metrics}");
    assert!(metric("florin_poll_stretch_percent") >= 200.0, "{metrics}");
}

#[test]
fn a_refusal_is_kept_in_the_gateways_words() {
    let refused = |body: &str| refusal(&GatewayError::from_body(body.as_bytes()));
    for row in [
        r#"{"code": "INVALID_INVOICE_ID", "message": "Unknown."} -> INVALID_INVOICE_ID: Unknown."#,
        r#"{"code": "GONE"} -> GONE"#,
        r#"{"message": "Unknown."} -> Unknown."#,
        "<html> -> The gateway knows no such invoice, and says nothing more.",
    ] {
        let (body, text) = row.split_once(" -> ").unwrap();
        assert_eq!(refused(body), text);
    }
}
