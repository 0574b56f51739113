//! A running sandbox with a clock that is moved by hand.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use florin_sandbox::{Clock, Settings, Sleep};
use jiff::Timestamp;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::merchant::Merchant;

/// The moment at which every world begins.
pub(crate) const START: i64 = 1_700_000_000;
pub(crate) const KEY: &str = "test_key";
pub(crate) const SECRET: &str = "test_secret";

pub(crate) struct World {
    pub(crate) address: String,
    /// Where callbacks go; empty when nobody is told.
    pub(crate) callback_url: String,
    pub(crate) clock: TestClock,
    pub(crate) http: reqwest::Client,
    pub(crate) shutdown: CancellationToken,
    pub(crate) server: JoinHandle<anyhow::Result<()>>,
}

impl World {
    pub(crate) async fn start() -> Self {
        Self::start_with(Settings::default()).await
    }

    pub(crate) async fn start_with(settings: Settings) -> Self {
        // Fails when another test was first.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let clock = TestClock::new(START);
        let settings = Settings {
            seed: 7,
            api_key: KEY.to_owned(),
            api_secret: SECRET.into(),
            clock: Arc::new(clock.clone()),
            ..settings
        };
        let callback_url = settings.callback_url.clone().unwrap_or_default();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let shutdown = CancellationToken::new();
        let server = tokio::spawn(florin_sandbox::run(listener, settings, shutdown.clone()));
        let http = reqwest::Client::builder().no_proxy().build().unwrap();
        Self {
            address,
            callback_url,
            clock,
            http,
            shutdown,
            server,
        }
    }

    pub(crate) fn merchant(&self) -> Merchant<'_> {
        Merchant::of(self)
    }

    /// Asks the control API, which must agree.
    pub(crate) async fn control(&self, path: &str, body: &str) -> Value {
        let (status, answer) = self.post(path, body).await;
        assert_eq!(status, 200, "{answer}");
        answer
    }

    /// Posts to the control API.
    pub(crate) async fn post(&self, path: &str, body: &str) -> (u16, Value) {
        let url = format!("{}/sandbox/{path}", self.address);
        let response = self
            .http
            .post(url)
            .body(body.to_owned())
            .send()
            .await
            .unwrap();
        (response.status().as_u16(), response.json().await.unwrap())
    }

    /// Reads from the control API.
    pub(crate) async fn get(&self, path: &str) -> Value {
        let url = format!("{}/sandbox/{path}", self.address);
        self.http
            .get(url)
            .send()
            .await
            .unwrap()
            .json()
            .await
            .unwrap()
    }
}

/// Time that stands still until it is moved; sleeping is noted and takes none.
#[derive(Clone, Debug)]
pub(crate) struct TestClock(Arc<Mutex<(i64, Vec<Duration>)>>);

impl TestClock {
    fn new(second: i64) -> Self {
        Self(Arc::new(Mutex::new((second, Vec::new()))))
    }

    pub(crate) fn advance(&self, seconds: i64) {
        self.0.lock().unwrap().0 += seconds;
    }

    pub(crate) fn slept(&self) -> Vec<Duration> {
        self.0.lock().unwrap().1.clone()
    }
}

impl Clock for TestClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_second(self.0.lock().unwrap().0).unwrap()
    }

    fn sleep(&self, duration: Duration) -> Sleep {
        self.0.lock().unwrap().1.push(duration);
        Box::pin(tokio::task::yield_now())
    }
}
