use core::future::pending;
use std::collections::HashMap;

use axum::Router;
use axum::extract::State;
use axum::http::Uri;
use axum::response::{IntoResponse as _, Redirect, Response};
use florin_money::Currency;
use jiff::SignedDuration;
use parking_lot::Mutex;
use serde::Deserialize;
use tokio::net::TcpListener;
use tokio::sync::mpsc;

use super::*;
use crate::clock::Sleep;
use crate::rates::RatesOptions;

#[derive(Clone, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Answer {
    Body(String),
    /// A good answer after that many blanks.
    Blanks(usize),
    Status(u16),
    Redirect,
    Never,
}

/// A server of prices: answers by path, and the requests that came.
#[derive(Clone, Default)]
struct Server {
    answers: Arc<Mutex<HashMap<&'static str, Answer>>>,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Server {
    fn says(&self, path: &'static str, answer: Answer) {
        self.answers.lock().insert(path, answer);
    }

    async fn answer(State(server): State<Self>, uri: Uri) -> Response {
        server.requests.lock().push(uri.to_string());
        let answer = server.answers.lock().get(uri.path()).cloned();
        match answer.unwrap_or_else(|| good("100")) {
            Answer::Body(body) => body.into_response(),
            Answer::Blanks(count) => format!("{}{GOOD}", " ".repeat(count)).into_response(),
            Answer::Status(code) => (StatusCode::from_u16(code).unwrap(), GOOD).into_response(),
            Answer::Redirect => Redirect::temporary("/a").into_response(),
            Answer::Never => pending().await,
        }
    }
}

const GOOD: &str = "{\"price\":100,\"at\":0}";

fn good(price: &str) -> Answer {
    Answer::Body(GOOD.replace("100", price))
}

#[derive(Debug)]
struct HandClock {
    now: Mutex<Timestamp>,
    slept: mpsc::UnboundedSender<Duration>,
}

impl Clock for HandClock {
    fn now(&self) -> Timestamp {
        *self.now.lock()
    }

    fn sleep(&self, duration: Duration) -> Sleep {
        self.slept.send(duration).unwrap();
        Box::pin(pending())
    }
}

struct World {
    server: Server,
    clock: Arc<HandClock>,
    slept: mpsc::UnboundedReceiver<Duration>,
    rates: Arc<Rates>,
    poller: Poller,
}

impl World {
    /// Sources by name and query, which are read at `/price` and whose answers are a minute old at most.
    async fn new(sources: &[(&str, &str)]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let server = Server::default();
        let router = Router::new()
            .fallback(Server::answer)
            .with_state(server.clone());
        tokio::spawn(async { axum::serve(listener, router).await.unwrap() });
        let source = |(name, rest): &(&str, &str)| {
            format!(
                "[[sources]]\nname = '{name}'\naddress = 'http://{address}/{name}{rest}\n\
                 path = '/price'\ntime = {{ path = '/at', max_age_seconds = 60 }}\n\
                 assets = {{ BTC = 'btc', ETH = 'eth' }}\n"
            )
        };
        let sources: Vec<_> = sources.iter().map(source).collect();
        let options = format!("timeout_seconds = 1\n{}", sources.concat());
        let options: RatesOptions = toml::from_str(&options).unwrap();
        let rates = Arc::new(Rates::new(options, ["BTC", "ETH"], Currency::USD).unwrap());
        let (sender, slept) = mpsc::unbounded_channel();
        let now = Mutex::new(Timestamp::UNIX_EPOCH);
        let clock = Arc::new(HandClock { now, slept: sender });
        let client = http_client().unwrap();
        let poller = Poller::new(
            client,
            Arc::clone(&rates),
            Arc::clone(&clock) as Arc<dyn Clock>,
        );
        Self {
            server,
            clock,
            slept,
            rates,
            poller,
        }
    }

    fn price(&self) -> Option<String> {
        let price = self.rates.accepted(&Pair::asset("BTC"), self.clock.now());
        price.ok().map(|price| price.to_string())
    }

    fn wait(&self, seconds: i64) {
        *self.clock.now.lock() += SignedDuration::from_secs(seconds);
    }
}

#[tokio::test]
async fn a_source_that_lies_or_fails_changes_no_price_and_is_named_once() {
    #[derive(Deserialize)]
    struct Table {
        cases: Vec<Case>,
    }
    #[derive(Deserialize)]
    struct Case {
        answer: Answer,
        reason: String,
    }
    let table: Table = toml::from_str(include_str!("tests/answers.toml")).unwrap();
    for Case {
        answer,
        reason: expected,
    } in table.cases
    {
        let mut world = World::new(&[("a", "'"), ("b", "'"), ("c", "'")]).await;
        world.server.says("/b", good("101"));
        world.server.says("/c", answer);
        let mut notices = world.poller.round().await;
        assert_eq!(world.price().as_deref(), Some("100.5"), "{notices:?}");
        assert_eq!(notices.pop().as_deref(), Some("priced: BTC, ETH"));
        if expected.is_empty() {
            assert!(notices.is_empty(), "{notices:?}");
            continue;
        }
        let notice = notices.concat();
        assert!(notice.starts_with("the source c fails: BTC: "), "{notice}");
        assert!(notice.contains(&expected), "{notice} without {expected}");
        assert!(!notice.contains("127.0.0.1"), "{notice} shows the address");
        assert!(world.poller.round().await.is_empty(), "it is named once");
        world.server.says("/c", good("101"));
        assert_eq!(world.poller.round().await, ["the source c works again"]);
        assert_eq!(world.price().as_deref(), Some("101"));
    }
}

#[tokio::test]
async fn a_change_of_the_offer_is_logged_with_its_reason() {
    let mut world = World::new(&[
        // It is recorded after the sources of what it quotes in.
        ("quoted", "'\nquoted_in = 'BTC'"),
        ("a", "/{symbol}'"),
        ("b", "/{symbol}'"),
    ])
    .await;
    world.server.says("/a/eth", good("150"));
    let refused = "priced: BTC; not ETH: the sources are too far apart: 100 to 150";
    assert_eq!(world.poller.round().await, [refused]);
    world.server.says("/a/eth", good("160"));
    assert!(
        world.poller.round().await.is_empty(),
        "the offer is the same"
    );
    world.server.says("/a/eth", good("100"));
    assert_eq!(world.poller.round().await, ["priced: BTC, ETH"]);
}

#[tokio::test]
async fn a_source_is_asked_for_each_pair_or_for_all_at_its_own_pace() {
    let mut world = World::new(&[
        ("each", "/{symbol}'"),
        ("all", "?{symbols}'"),
        ("hourly", "'\nevery_seconds = 3600"),
    ])
    .await;
    let often = ["/all?btc,eth", "/each/btc", "/each/eth"];
    let every = ["/all?btc,eth", "/each/btc", "/each/eth", "/hourly"];
    // A failure is tried again in the next round, and so is everything after the clock was set back.
    world.server.says("/hourly", Answer::Status(502));
    for (seconds, expected) in [
        (0, &every[..]),
        (20, &every),
        (20, &often),
        (3560, &often),
        (20, &every),
        (-60, &every),
    ] {
        world.wait(seconds);
        world.poller.round().await;
        let mut requests = core::mem::take(&mut *world.server.requests.lock());
        requests.sort_unstable();
        assert_eq!(requests, expected, "after {seconds} seconds");
        world.server.says(
            "/hourly",
            Answer::Body("{\"price\":100,\"at\":3600}".to_owned()),
        );
    }
}

#[tokio::test]
async fn polling_ends_at_shutdown() {
    let World {
        clock,
        mut slept,
        rates,
        ..
    } = World::new(&[("a", "'"), ("b", "'")]).await;
    *clock.now.lock() = Timestamp::new(0, 999_999_999).unwrap();
    let shutdown = CancellationToken::new();
    let (shared, ending) = (Arc::clone(&rates), shutdown.clone());
    let task = tokio::spawn(poll(http_client().unwrap(), shared, clock.clone(), ending));
    let pause = slept.recv().await.unwrap();
    assert_eq!(pause, Duration::from_millis(21_999));
    let offered = rates.verdicts(clock.now());
    assert!(
        offered.iter().all(|(_, price)| price.is_ok()),
        "{offered:?}"
    );
    shutdown.cancel();
    task.await.unwrap();
}
