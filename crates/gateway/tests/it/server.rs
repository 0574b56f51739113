//! Servers that stand in for the gateway; time and chance by hand.

use std::collections::VecDeque;
use std::io::{Read as _, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use axum::Router;
use axum::body::Bytes;
use axum::http::{HeaderMap, HeaderName, StatusCode, Uri};
use axum::response::{IntoResponse as _, Response};
use florin_gateway_client::{
    Client, Clock, ConversionId, Credentials, Deadlines, InvoiceId, InvoiceRequest, Random,
    Settings,
};
use florin_money::{AmountText, CryptoCode};
use jiff::Timestamp;
use parking_lot::Mutex;
use secrecy::SecretString;
use serde_json::{Value, json};

pub(crate) const API_KEY: &str = "key_canary_8f2e";
pub(crate) const API_SECRET: &str = "secret_canary_77aa01";

#[derive(Clone)]
pub(crate) struct RecordedRequest {
    pub(crate) method: String,
    pub(crate) uri: Uri,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

pub(crate) type CannedResponse = (u16, &'static [(&'static str, &'static str)], String);

/// Serves a list of responses in turn, the last one for ever, and records the requests.
pub(crate) struct Server {
    pub(crate) base: String,
    seen: Arc<Mutex<Vec<RecordedRequest>>>,
    task: tokio::task::JoinHandle<()>,
}

impl Server {
    pub(crate) async fn start(responses: impl IntoIterator<Item = CannedResponse>) -> Self {
        let responses: Mutex<VecDeque<CannedResponse>> =
            Mutex::new(responses.into_iter().collect());
        Self::with(move |_| next(&mut responses.lock())).await
    }

    /// Serves what `respond` makes of each request.
    pub(crate) async fn with(
        respond: impl Fn(&RecordedRequest) -> Response + Send + Sync + 'static,
    ) -> Self {
        let respond = Arc::new(respond);
        let seen = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&seen);
        let handler =
            async move |method: axum::http::Method, uri: Uri, headers: HeaderMap, body: Bytes| {
                let method = method.to_string();
                let request = RecordedRequest {
                    method,
                    uri,
                    headers,
                    body,
                };
                let response = respond(&request);
                log.lock().push(request);
                response
            };
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0")
            .await
            .expect("a free port");
        let base = format!("http://{}/api", listener.local_addr().expect("it is bound"));
        let router = Router::new().fallback(handler);
        let task = tokio::spawn(async move {
            axum::serve(listener, router)
                .await
                .expect("it serves until it is aborted");
        });
        Self { base, seen, task }
    }

    pub(crate) async fn json(status: u16, body: &str) -> Self {
        Self::start([(status, &[][..], body.to_owned())]).await
    }

    pub(crate) fn seen(&self) -> Vec<RecordedRequest> {
        self.seen.lock().clone()
    }

    pub(crate) fn count(&self) -> usize {
        self.seen().len()
    }

    pub(crate) fn nonces(&self) -> Vec<String> {
        let nonce = |seen: &RecordedRequest| seen.headers["nonce"].to_str().map(str::to_owned);
        let nonces = self.seen().iter().map(nonce).collect::<Result<_, _>>();
        nonces.expect("nonces are digits")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

fn next(responses: &mut VecDeque<CannedResponse>) -> Response {
    let last = responses.len() == 1;
    let response = if last {
        responses.front().cloned()
    } else {
        responses.pop_front()
    };
    let (status, headers, body) = response.expect("a server has at least one response");
    let mut response = body.into_response();
    *response.status_mut() = StatusCode::from_u16(status).expect("a status");
    for (name, value) in headers {
        let value = value.parse().expect("a header's value");
        response
            .headers_mut()
            .insert(HeaderName::from_static(name), value);
    }
    response
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Then {
    Close,
    Hold,
}

/// Writes these bytes to every connection that has sent something. Returns its address, `host:port`, and the number of
/// connections so far.
pub(crate) fn raw_server(bytes: &'static [u8], then: Then) -> (String, Arc<AtomicUsize>) {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("it is bound").to_string();
    let count = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&count);
    // Ends with the process of the tests.
    std::thread::spawn(move || {
        let mut held = Vec::new();
        for stream in listener.incoming() {
            let mut stream = stream.expect("a connection of this machine");
            counter.fetch_add(1, Ordering::SeqCst);
            let _ = stream.read(&mut [0; 8192]);
            let _ = stream.write_all(bytes);
            if then == Then::Hold {
                held.push(stream);
            }
        }
    });
    (address, count)
}

pub(crate) fn settings(base: &str) -> Settings {
    let credentials = Credentials {
        api_key: SecretString::from(API_KEY),
        api_secret: SecretString::from(API_SECRET),
    };
    let mut settings = Settings::new(base.parse().expect("a base address"), credentials);
    settings.deadlines = Deadlines {
        connect: Duration::from_millis(300),
        total: Duration::from_millis(600),
    };
    settings
}

pub(crate) fn client(base: &str) -> (Client, HandClock) {
    let clock = HandClock::new();
    let settings = settings(base);
    let client = Client::new(settings, Arc::new(clock.clone()), Arc::new(Largest));
    (client.expect("good settings"), clock)
}

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

/// Begins at the second 1,700,000,000; sleeping moves it and takes no time.
#[derive(Clone)]
pub(crate) struct HandClock(Arc<Mutex<(Timestamp, Vec<Duration>)>>);

impl HandClock {
    pub(crate) fn new() -> Self {
        let start = Timestamp::from_second(1_700_000_000).expect("a time of 2023");
        Self(Arc::new(Mutex::new((start, Vec::new()))))
    }

    pub(crate) fn pass(&self, time: Duration) {
        self.0.lock().0 += time;
    }

    /// What was slept so far, in milliseconds.
    pub(crate) fn slept_ms(&self) -> Vec<u128> {
        let state = self.0.lock();
        state.1.iter().map(Duration::as_millis).collect()
    }
}

#[async_trait]
impl Clock for HandClock {
    fn now(&self) -> Timestamp {
        self.0.lock().0
    }

    async fn sleep(&self, time: Duration) {
        self.pass(time);
        self.0.lock().1.push(time);
    }
}

pub(crate) struct Largest;

impl Random for Largest {
    fn below(&self, bound: u64) -> u64 {
        bound - 1
    }
}
