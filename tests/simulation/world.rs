//! A world: one database, one gateway, some stores, one proxy that crashes and restarts, and a few dozen customers,
//! on one virtual clock from one seed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::Router;
use axum::body::Body;
use axum::http::Request;
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE, ORIGIN};
use florin_gateway::{Client, Credentials, Settings};
use florin_invariants::Price;
use florin_proxy::config::load;
use florin_proxy::{Core, Dependencies};
use florin_storage::SqliteStorage;
use serde_json::Value;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt as _;

use crate::counters::Counters;
use crate::faulty_storage::FaultyStorage;
use crate::gateway::Gateway;
use crate::jobs;
use crate::process::Process;
use crate::queries::{Database, Queries};
use crate::random::SeededRandom;
use crate::shop::{Shop, SimulatedSender};
use crate::stores;
use crate::timeline::{Millis, Timeline};
use crate::transport::SimulatedTransport;

/// The wall clock at the start of a world: 2026-09-21.
const FIRST_DAY: Millis = 1_790_000_000_000;
/// Timeout of customers and callbacks towards the proxy.
const TIMEOUT: Millis = 45_000;

pub(crate) struct World {
    pub(crate) timeline: Timeline,
    /// Random numbers of the model.
    pub(crate) random: SeededRandom,
    /// Random numbers of the proxy: ids and tokens.
    dice: Arc<SeededRandom>,
    pub(crate) counters: Counters,
    pub(crate) gateway: Gateway,
    pub(crate) shop: Shop,
    pub(crate) queries: Queries,
    pub(crate) database: Database,
    ledger: SqliteStorage,
    pub(crate) database_file: PathBuf,
    settings: PathBuf,
    processes: AtomicU64,
    running: Mutex<Option<RunningProcess>>,
    wall_offset: AtomicI64,
    injects_faults: AtomicBool,
    /// `false` at the end of a world, when only events are delivered.
    pub(crate) polls: AtomicBool,
    /// Wakes the jobs: something may be due.
    pub(crate) wakeup: Notify,
    pub(crate) expectations: Mutex<Expectations>,
    violations: Mutex<Vec<String>>,
    is_verbose: bool,
}

/// Observed facts that later checks use.
#[derive(Debug, Default)]
pub(crate) struct Expectations {
    /// Agreed prices by order.
    pub(crate) agreed: BTreeMap<String, Price>,
    /// Orders that were paid at the latest check.
    pub(crate) known_paid: BTreeSet<String>,
    /// The time of each order's credit, by the gateway's clock.
    pub(crate) credited: BTreeMap<String, Millis>,
}

/// A running proxy.
#[derive(Clone)]
struct RunningProcess {
    process: Process,
    router: Router,
}

/// Status and body of a response of the proxy.
pub(crate) type Answer = (u16, Value);

/// Options of a world.
pub(crate) struct WorldOptions<'a> {
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
    pub(crate) fn new(options: WorldOptions<'_>) -> Arc<Self> {
        let random = SeededRandom::new(options.seed);
        let queries = Queries::open(&options.database, options.file);
        queries.set_traps();
        let gateway = Gateway::new(SeededRandom::new(random.draw()), options.longest_minutes);
        Arc::new(Self {
            timeline: options.timeline,
            dice: Arc::new(SeededRandom::new(random.draw())),
            random,
            counters: Counters::default(),
            gateway,
            shop: Shop::default(),
            queries,
            database: options.database,
            ledger: options.ledger,
            database_file: options.file.to_owned(),
            processes: AtomicU64::new(0),
            settings: options.settings,
            running: Mutex::default(),
            wall_offset: AtomicI64::new(FIRST_DAY),
            injects_faults: AtomicBool::new(true),
            polls: AtomicBool::new(true),
            wakeup: Notify::new(),
            expectations: Mutex::default(),
            violations: Mutex::default(),
            is_verbose: options.is_verbose,
        })
    }

    /// The wall clock of the proxy's machine.
    pub(crate) fn wall(&self) -> Millis {
        self.timeline.now() + self.wall_offset.load(Ordering::Relaxed)
    }

    pub(crate) fn set_wall_clock(&self, by: Millis) {
        self.wall_offset.fetch_add(by, Ordering::Relaxed);
        self.log(|| format!("the wall clock is set by {by} ms"));
        let way = if by < 0 { "back" } else { "forward" };
        self.counters.one("clock", format!("set {way}"));
    }

    pub(crate) fn injects_faults(&self) -> bool {
        self.injects_faults.load(Ordering::Relaxed)
    }

    pub(crate) fn stop_faults(&self) {
        self.injects_faults.store(false, Ordering::Relaxed);
        self.log(|| "the faults end".into());
    }

    /// Starts a process, beside an older one if that still runs.
    pub(crate) fn start_process(self: &Arc<Self>) {
        let process = Process::begin(
            self.clone(),
            self.processes.fetch_add(1, Ordering::Relaxed) + 1,
        );
        let config = load(Some(&self.settings), &BTreeMap::new());
        let config = config.unwrap_or_else(|problems| panic!("our own settings: {problems}"));
        let credentials = Credentials {
            api_key: config.gateway.api_key.clone(),
            api_secret: config.gateway.api_secret.clone(),
        };
        let settings = Settings::new(config.gateway.url.clone(), credentials);
        let transport = Arc::new(SimulatedTransport::new(process.clone()));
        let clock = Arc::new(process.clone());
        let client = Client::with_transport(transport, settings, clock.clone(), self.dice.clone());
        let dependencies = Dependencies {
            ledger: Arc::new(FaultyStorage {
                inner: self.ledger.clone(),
                process: process.clone(),
            }),
            gateway: Arc::new(client.expect("our own settings")),
            webhooks: Arc::new(SimulatedSender(process.clone())),
            clock,
            random: self.dice.clone(),
        };
        let core = Core::new(config, dependencies, CancellationToken::new());
        let router = core.router();
        tokio::spawn(jobs::run(process.clone(), core));
        self.log(|| "the proxy starts".into());
        *self.running() = Some(RunningProcess { process, router });
    }

    /// Returns the process that serves requests.
    pub(crate) fn process(&self) -> Option<Process> {
        self.running()
            .as_ref()
            .map(|running| running.process.clone())
    }

    /// Crashes a process. If it served requests, another one is started a little later.
    pub(crate) fn crash(self: &Arc<Self>, process: &Process, moment: &'static str) {
        self.log(|| format!("CRASH {moment}"));
        self.counters.one("crashes", moment);
        process.ended.cancel();
        let is_alone = self.running.lock().is_ok_and(|mut running| {
            running
                .take_if(|running| running.process.ended.is_cancelled())
                .is_some()
        });
        if is_alone {
            let longest = if self.random.percent(10) {
                90_000
            } else {
                8_000
            };
            let pause = self.timeline.sleep(self.random.between(0, longest));
            let world = self.clone();
            tokio::spawn(async move {
                pause.await;
                if world.process().is_none() {
                    world.start_process();
                }
            });
        }
    }

    /// Ends all tasks, so that no reference cycle remains.
    pub(crate) fn end(&self) {
        if let Some(running) = self.running().take() {
            running.process.ended.cancel();
        }
    }

    /// Sends a request to the proxy; `None` without a response.
    pub(crate) async fn call(
        &self,
        method: &str,
        path: &str,
        bearer: Option<&str>,
        body: Option<&Value>,
    ) -> Option<Answer> {
        self.call_once(method, path, bearer, body, None).await
    }

    /// The same with an idempotency key.
    pub(crate) async fn call_once(
        &self,
        method: &str,
        path: &str,
        bearer: Option<&str>,
        body: Option<&Value>,
        key: Option<&str>,
    ) -> Option<Answer> {
        self.timeline.sleep(self.random.between(1, 200)).await;
        let Some(RunningProcess { process, router }) = self.running().clone() else {
            self.timeline.sleep(self.random.between(500, 4000)).await;
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
                self.counters.one("keys", "replayed");
            }
            let body = axum::body::to_bytes(response.into_body(), 1 << 20).await;
            let body = serde_json::from_slice(&body.unwrap_or_default());
            (status, body.unwrap_or(Value::Null))
        };
        let answer = tokio::select! {
            biased;
            () = process.ended.cancelled() => None,
            answer = answer => Some(answer),
            () = self.timeline.sleep(TIMEOUT) => None,
        };
        self.log(|| format!("proxy: {method} {path} → {answer:?}"));
        if let Some((status, body)) = &answer {
            let code = body["error"]["code"].as_str().unwrap_or_default();
            let kind = format!("{status} {code}");
            self.counters.one("responses of the proxy", kind.trim_end());
        }
        answer
    }

    pub(crate) fn expectations(&self) -> MutexGuard<'_, Expectations> {
        self.expectations
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn running(&self) -> MutexGuard<'_, Option<RunningProcess>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reports a violated invariant.
    pub(crate) fn violated(&self, invariant: &str, details: &str) {
        let at = self.timeline.now();
        self.log(|| format!("VIOLATED {invariant}: {details}"));
        let mut violations = self
            .violations
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if violations.len() < 20 {
            violations.push(format!("{invariant} (at {at} ms): {details}"));
        }
    }

    pub(crate) fn violations(&self) -> Vec<String> {
        let violations = self.violations.lock();
        violations.unwrap_or_else(PoisonError::into_inner).clone()
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
