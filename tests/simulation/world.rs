//! A world: one database, one service, some stores, one proxy that dies and comes back, and the orders of a few dozen
//! customers, on one virtual time from one seed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::Router;
use axum::body::Body;
use axum::http::Request;
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE, ORIGIN};
use florin_gateway::{Client, Credentials, Settings};
use florin_storage::SqliteStorage;
use proxy::config::load;
use proxy::{Core, Dependencies};
use serde_json::Value;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt as _;

use crate::counters::Tally;
use crate::faulty_storage::Shaky;
use crate::gateway::Service;
use crate::invoice::Price;
use crate::jobs;
use crate::process::Life;
use crate::queries::{Books, Database};
use crate::random::Chance;
use crate::shop::{Postman, Shop};
use crate::stores;
use crate::timeline::{Millis, Timeline};
use crate::transport::Line;

/// The wall clock when a world begins: 2026-09-21.
const FIRST_DAY: Millis = 1_790_000_000_000;
/// How long a customer or the service waits for the proxy's answer.
const PATIENCE: Millis = 45_000;

pub(crate) struct World {
    pub(crate) timeline: Timeline,
    /// What happens to everybody.
    pub(crate) chance: Chance,
    /// The proxy's own ids and tokens.
    dice: Arc<Chance>,
    pub(crate) tally: Tally,
    pub(crate) service: Service,
    pub(crate) shop: Shop,
    pub(crate) books: Books,
    pub(crate) database: Database,
    ledger: SqliteStorage,
    settings: PathBuf,
    process: Mutex<Option<Process>>,
    wall_offset: AtomicI64,
    is_stormy: AtomicBool,
    /// Whether attempts are still looked at; at the end of a world only events are told.
    pub(crate) is_watching: AtomicBool,
    /// Rung when something may be due.
    pub(crate) stirred: Notify,
    pub(crate) memory: Mutex<Memory>,
    complaints: Mutex<Vec<String>>,
    is_verbose: bool,
}

/// What the world remembers of what it saw.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    /// The prices that were agreed on, by order.
    pub(crate) prices: BTreeMap<String, Price>,
    /// Orders that were seen as paid.
    pub(crate) paid: BTreeSet<String>,
    /// The latest credit that was judged.
    pub(crate) last_credit: i64,
}

/// A running proxy.
#[derive(Clone)]
struct Process {
    life: Life,
    router: Router,
}

/// Status and body of an answer of the proxy.
pub(crate) type Answer = (u16, Value);

/// What a world is made with.
pub(crate) struct Making<'a> {
    pub(crate) seed: u64,
    pub(crate) timeline: Timeline,
    pub(crate) database: Database,
    pub(crate) ledger: SqliteStorage,
    pub(crate) file: &'a Path,
    pub(crate) settings: PathBuf,
    pub(crate) longest_minutes: i64,
    pub(crate) is_verbose: bool,
}

impl World {
    pub(crate) fn new(making: Making<'_>) -> Arc<Self> {
        let chance = Chance::new(making.seed);
        let books = Books::open(&making.database, making.file);
        books.set_traps();
        let service = Service::new(Chance::new(chance.draw()), making.longest_minutes);
        Arc::new(Self {
            timeline: making.timeline,
            dice: Arc::new(Chance::new(chance.draw())),
            chance,
            tally: Tally::default(),
            service,
            shop: Shop::default(),
            books,
            database: making.database,
            ledger: making.ledger,
            settings: making.settings,
            process: Mutex::default(),
            wall_offset: AtomicI64::new(FIRST_DAY),
            is_stormy: AtomicBool::new(true),
            is_watching: AtomicBool::new(true),
            stirred: Notify::new(),
            memory: Mutex::default(),
            complaints: Mutex::default(),
            is_verbose: making.is_verbose,
        })
    }

    /// What the proxy's machine takes for the time.
    pub(crate) fn wall(&self) -> Millis {
        self.timeline.now() + self.wall_offset.load(Ordering::Relaxed)
    }

    pub(crate) fn set_wall_clock(&self, by: Millis) {
        self.wall_offset.fetch_add(by, Ordering::Relaxed);
        self.log(|| format!("the wall clock is set by {by} ms"));
        let way = if by < 0 { "back" } else { "forward" };
        self.tally.one("clock", format!("set {way}"));
    }

    pub(crate) fn is_stormy(&self) -> bool {
        self.is_stormy.load(Ordering::Relaxed)
    }

    pub(crate) fn calm_down(&self) {
        self.is_stormy.store(false, Ordering::Relaxed);
        self.log(|| "the storm is over".into());
    }

    /// Starts a process, beside an older one if that still lives.
    pub(crate) fn start_process(self: &Arc<Self>) {
        let life = Life::begin(self.clone());
        let config = load(Some(&self.settings), &BTreeMap::new());
        let config = config.unwrap_or_else(|problems| panic!("our own settings: {problems}"));
        let credentials = Credentials {
            api_key: config.service.api_key.clone(),
            api_secret: config.service.api_secret.clone(),
        };
        let settings = Settings::new(config.service.url.clone(), credentials);
        let transport = Arc::new(Line::new(life.clone()));
        let clock = Arc::new(life.clone());
        let client = Client::with_transport(transport, settings, clock.clone(), self.dice.clone());
        let dependencies = Dependencies {
            ledger: Arc::new(Shaky {
                inner: self.ledger.clone(),
                life: life.clone(),
            }),
            service: Arc::new(client.expect("our own settings")),
            webhooks: Arc::new(Postman(life.clone())),
            clock,
            random: self.dice.clone(),
        };
        let core = Core::new(config, dependencies, CancellationToken::new());
        let router = core.router();
        tokio::spawn(jobs::run(life.clone(), core));
        self.log(|| "the proxy starts".into());
        *self.process() = Some(Process { life, router });
    }

    /// The process that answers now.
    pub(crate) fn life(&self) -> Option<Life> {
        self.process().as_ref().map(|process| process.life.clone())
    }

    /// A process dies. If it was the one that answers, another is started a little later.
    pub(crate) fn crash(self: &Arc<Self>, life: &Life, moment: &'static str) {
        self.log(|| format!("CRASH {moment}"));
        self.tally.one("crashes", moment);
        life.ended.cancel();
        let is_alone = self.process.lock().is_ok_and(|mut process| {
            process
                .take_if(|process| process.life.ended.is_cancelled())
                .is_some()
        });
        if is_alone {
            let longest = if self.chance.percent(10) {
                90_000
            } else {
                8_000
            };
            let pause = self.timeline.sleep(self.chance.between(0, longest));
            let world = self.clone();
            tokio::spawn(async move {
                pause.await;
                if world.life().is_none() {
                    world.start_process();
                }
            });
        }
    }

    /// Ends all, so that nothing holds on to anything.
    pub(crate) fn end(&self) {
        if let Some(process) = self.process().take() {
            process.life.ended.cancel();
        }
    }

    /// A request to the proxy; `None` when it gives no answer.
    pub(crate) async fn call(
        &self,
        method: &str,
        path: &str,
        bearer: Option<&str>,
        body: Option<&Value>,
    ) -> Option<Answer> {
        self.call_once(method, path, bearer, body, None).await
    }

    /// The same, with a key under which it is carried out once.
    pub(crate) async fn call_once(
        &self,
        method: &str,
        path: &str,
        bearer: Option<&str>,
        body: Option<&Value>,
        key: Option<&str>,
    ) -> Option<Answer> {
        self.timeline.sleep(self.chance.between(1, 200)).await;
        let Some(Process { life, router }) = self.process().clone() else {
            self.timeline.sleep(self.chance.between(500, 4000)).await;
            return None;
        };
        let mut request = Request::builder()
            .method(method)
            .uri(path)
            .header(ORIGIN, stores::ORIGIN);
        if let Some(bearer) = bearer {
            request = request.header(AUTHORIZATION, format!("Bearer {bearer}"));
        }
        if let Some(key) = key {
            request = request.header("idempotency-key", key);
        }
        let body = match body {
            Some(json) => {
                request = request.header(CONTENT_TYPE, "application/json");
                Body::from(json.to_string())
            }
            None => Body::empty(),
        };
        let request = request.body(body).expect("a method, a path and a header");
        let answer = async {
            let Ok(response) = router.oneshot(request).await;
            let status = response.status().as_u16();
            if response.headers().contains_key("idempotency-replayed") {
                self.tally.one("keys", "replayed");
            }
            let body = axum::body::to_bytes(response.into_body(), 1 << 20).await;
            let body = serde_json::from_slice(&body.unwrap_or_default());
            (status, body.unwrap_or(Value::Null))
        };
        let answer = tokio::select! {
            biased;
            () = life.ended.cancelled() => None,
            answer = answer => Some(answer),
            () = self.timeline.sleep(PATIENCE) => None,
        };
        self.log(|| format!("proxy: {method} {path} → {answer:?}"));
        if let Some((status, body)) = &answer {
            let code = body["error"]["code"].as_str().unwrap_or_default();
            let kind = format!("{status} {code}");
            self.tally.one("answers of the proxy", kind.trim_end());
        }
        answer
    }

    pub(crate) fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn process(&self) -> MutexGuard<'_, Option<Process>> {
        self.process.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// An invariant does not hold.
    pub(crate) fn complain(&self, invariant: &str, told: &str) {
        let at = self.timeline.now();
        self.log(|| format!("VIOLATED {invariant}: {told}"));
        let mut complaints = self
            .complaints
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if complaints.len() < 20 {
            complaints.push(format!("{invariant} (at {at} ms): {told}"));
        }
    }

    pub(crate) fn complaints(&self) -> Vec<String> {
        let complaints = self.complaints.lock();
        complaints.unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn log(&self, line: impl FnOnce() -> String) {
        if self.is_verbose {
            let now = self.timeline.now();
            let (seconds, millis) = (now / 1000, now % 1000);
            eprintln!(
                "{:>6}:{:02}.{millis:03} {}",
                seconds / 60,
                seconds % 60,
                line()
            );
        }
    }
}
