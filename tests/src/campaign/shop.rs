//! The shop's endpoint: it writes down every delivery, and does not always feel like answering.

use std::fs::File;
use std::io::Write as _;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use proxy::clock::{Clock as _, SystemClock};
use serde_json::json;
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use super::counters::Tally;
use super::random::Dice;
use crate::wait::pause;

/// What it does with a delivery.
#[derive(Clone, Copy, Debug)]
enum Reply {
    Accept,
    TakesSlowly,
    Fails,
    IsBusy,
    Redirect,
    SaysNothing,
}

const REPLIES: [(u64, Reply); 6] = [
    (85, Reply::Accept),
    (5, Reply::TakesSlowly),
    (5, Reply::Fails),
    (2, Reply::IsBusy),
    (2, Reply::Redirect),
    (1, Reply::SaysNothing),
];
/// Longer than the proxy waits.
const SILENCE: Duration = Duration::from_secs(20);
const SLOW: Duration = Duration::from_millis(300);

/// The endpoint. Dropping it ends it.
#[derive(Debug)]
pub(super) struct Shop {
    pub(super) address: SocketAddr,
    state: Arc<Inner>,
    _serving: JoinSet<()>,
}

#[derive(Debug)]
struct Inner {
    log: Mutex<File>,
    dice: Mutex<Dice>,
    is_calm: AtomicBool,
    tally: Arc<Tally>,
}

impl Shop {
    pub(super) async fn open(log: &Path, dice: Dice, tally: Arc<Tally>) -> Self {
        let log = File::options().create(true).append(true).open(log);
        let state = Arc::new(Inner {
            log: Mutex::new(log.expect("the folder is writable")),
            dice: Mutex::new(dice),
            is_calm: AtomicBool::new(false),
            tally,
        });
        let listener = TcpListener::bind("127.0.0.1:0").await;
        let listener = listener.expect("a port is free");
        let address = listener.local_addr().expect("it is bound");
        let routes = Router::new()
            .route("/florin", post(receive))
            .with_state(state.clone());
        let mut serving = JoinSet::new();
        serving.spawn(async move {
            axum::serve(listener, routes)
                .await
                .expect("a bound listener serves");
        });
        Self {
            address,
            state,
            _serving: serving,
        }
    }

    /// From now on it takes everything.
    pub(super) fn calms_down(&self) {
        self.state.is_calm.store(true, Ordering::Relaxed);
    }
}

async fn receive(State(shop): State<Arc<Inner>>, headers: HeaderMap, body: String) -> StatusCode {
    let reply = shop.reply();
    let answer = match reply {
        Reply::Accept | Reply::TakesSlowly => Some(StatusCode::NO_CONTENT),
        Reply::Fails => Some(StatusCode::INTERNAL_SERVER_ERROR),
        Reply::IsBusy => Some(StatusCode::SERVICE_UNAVAILABLE),
        Reply::Redirect => Some(StatusCode::FOUND),
        Reply::SaysNothing => None,
    };
    if matches!(reply, Reply::TakesSlowly) {
        pause(SLOW).await;
    }
    shop.write_down(&headers, &body, answer);
    let Some(answer) = answer else {
        pause(SILENCE).await;
        return StatusCode::REQUEST_TIMEOUT;
    };
    answer
}

impl Inner {
    fn reply(&self) -> Reply {
        if self.is_calm.load(Ordering::Relaxed) {
            return Reply::Accept;
        }
        self.dice
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .pick(&REPLIES)
    }

    /// One line, before the answer is sent: what was taken is in the log, whatever becomes of the answer.
    fn write_down(&self, headers: &HeaderMap, body: &str, answer: Option<StatusCode>) {
        let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        let line = json!({
            "at": SystemClock.now().to_string(),
            "id": header("webhook-id").unwrap_or_default(),
            "timestamp": header("webhook-timestamp").unwrap_or_default(),
            "signature": header("webhook-signature").unwrap_or_default(),
            "body": body,
            "answer": answer.map(|status| status.as_u16()),
        });
        let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        writeln!(log, "{line}").expect("the shop's log can be written");
        self.tally.count(match answer {
            Some(status) if status.is_success() => "deliveries taken by the shop",
            Some(_) => "deliveries refused by the shop",
            None => "deliveries that the shop never answered",
        });
    }
}
