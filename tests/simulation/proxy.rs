//! The proxies of a world, one or several on one database: each is started, crashes and is started again, and answers requests
//! while it runs.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use axum::Router;
use axum::body::Body;
use axum::http::Request;
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE, ORIGIN};
use florin_gateway_client::{Client, Settings};
use florin_invariants::Restore;
use florin_proxy::config::load;
use florin_proxy::{Core, Dependencies};
use florin_storage::SqliteStorage;
use parking_lot::Mutex;
use serde_json::Value;
use support::SeededRandom;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt as _;

use crate::faulty_storage::FaultyStorage;
use crate::process::{Process, run_workers};
use crate::stores;
use crate::timeline::Millis;
use crate::transport::{SimulatedSender, SimulatedTransport};
use crate::world::{Backup, World};

const TIMEOUT: Millis = 45_000;

#[derive(Clone)]
pub(crate) struct Proxy(Arc<Machine>);

struct Machine {
    world: Arc<World>,
    random: Arc<SeededRandom>,
    storage: Mutex<SqliteStorage>,
    config: PathBuf,
    running: Mutex<Vec<Option<RunningProcess>>>,
    processes: AtomicU64,
    /// Processes that may still run: the last one of each proxy, and suspended ones.
    begun: Mutex<Vec<Process>>,
    is_stopped: AtomicBool,
}

#[derive(Clone)]
struct RunningProcess {
    process: Process,
    router: Router,
}

pub(crate) type Response = (u16, Value);

impl Proxy {
    pub(crate) fn new(world: Arc<World>, storage: SqliteStorage, config: PathBuf) -> Self {
        let random = Arc::new(SeededRandom::new(world.random.draw()));
        let proxies = world.proxies;
        Self(Arc::new(Machine {
            world,
            random,
            storage: Mutex::new(storage),
            config,
            running: Mutex::new(vec![None; proxies]),
            processes: AtomicU64::new(0),
            begun: Mutex::default(),
            is_stopped: AtomicBool::new(false),
        }))
    }

    pub(crate) fn world(&self) -> &Arc<World> {
        &self.0.world
    }

    pub(crate) fn start(&self) {
        for proxy in 0..self.world().proxies {
            self.start_one(proxy);
        }
    }

    /// Starts a process of one proxy, beside an older one if that still runs.
    pub(crate) fn start_one(&self, proxy: usize) {
        let machine = &self.0;
        if machine.is_stopped.load(Ordering::Relaxed) {
            return;
        }
        let number = machine.processes.fetch_add(1, Ordering::Relaxed) + 1;
        let process = Process::begin(machine.world.clone(), number);
        self.0.begun.lock().push(process.clone());
        let config = load(Some(&machine.config), &BTreeMap::new());
        let config = config.unwrap_or_else(|problems| panic!("our own settings: {problems}"));
        let client = &config.gateway.client;
        let settings = Settings::new(client.base_url.clone(), client.credentials.clone());
        let transport = Arc::new(SimulatedTransport::new(process.clone()));
        let (clock, random) = (Arc::new(process.clone()), machine.random.clone());
        let client = Client::with_transport(transport, settings, clock.clone(), random.clone());
        let client = client.expect("our own settings");
        let dependencies = Dependencies {
            storage: Arc::new(FaultyStorage {
                inner: self.storage(),
                process: process.clone(),
            }),
            gateway: Arc::new(client),
            webhooks: Arc::new(SimulatedSender(process.clone())),
            clock,
            random,
        };
        let core = Core::new(config, dependencies, CancellationToken::new());
        let router = core.router();
        tokio::spawn(run_workers(process.clone(), core));
        tokio::spawn(self.clone().restart_after(proxy, process.clone()));
        machine.world.log(|| format!("proxy {proxy} starts"));
        self.0.running.lock()[proxy] = Some(RunningProcess { process, router });
    }

    /// Waits until a process has ended. If it served requests, another one is started a little later.
    async fn restart_after(self, proxy: usize, process: Process) {
        process.ended.cancelled().await;
        let was_serving = self.0.running.lock()[proxy]
            .take_if(|running| running.process.ended.is_cancelled())
            .is_some();
        if was_serving {
            let world = self.world();
            let is_slow = world.random.percent(10);
            let longest = if is_slow { 90_000 } else { 8_000 };
            let pause = world.random.between(0, longest);
            world.timeline.sleep(pause).await;
            let is_down = self.0.running.lock()[proxy].is_none();
            if is_down {
                self.start_one(proxy);
            }
        }
    }

    /// Draws a proxy. Returns its number and the process that serves its requests.
    pub(crate) fn process(&self) -> (usize, Option<Process>) {
        let proxy = self.draw();
        let running = self.0.running.lock();
        let process = running[proxy].as_ref();
        (proxy, process.map(|running| running.process.clone()))
    }

    fn draw(&self) -> usize {
        let world = self.world();
        if world.proxies == 1 {
            return 0;
        }
        let proxy = world.random.below(world.proxies as u64);
        usize::try_from(proxy).expect("below their number")
    }

    /// Crashes every process; none starts until [`Self::start_on`].
    pub(crate) fn stop_all(&self, moment: &'static str) {
        self.0.is_stopped.store(true, Ordering::Relaxed);
        self.0.running.lock().fill(None);
        for process in self.0.begun.lock().drain(..) {
            if !process.ended.is_cancelled() {
                process.end(moment);
            }
        }
    }

    pub(crate) fn start_on(&self, storage: SqliteStorage) {
        *self.0.storage.lock() = storage;
        self.0.is_stopped.store(false, Ordering::Relaxed);
        self.start();
    }

    pub(crate) fn storage(&self) -> SqliteStorage {
        self.0.storage.lock().clone()
    }

    pub(crate) fn end(&self) {
        for running in self.0.running.lock().iter_mut().filter_map(Option::take) {
            running.process.ended.cancel();
        }
    }

    pub(crate) async fn call(
        &self,
        method: &str,
        path: &str,
        bearer: Option<&str>,
        body: Option<&Value>,
    ) -> Option<Response> {
        self.call_once(method, path, bearer, body, None).await
    }

    /// [`Self::call`] with an idempotency key.
    pub(crate) async fn call_once(
        &self,
        method: &str,
        path: &str,
        bearer: Option<&str>,
        body: Option<&Value>,
        key: Option<&str>,
    ) -> Option<Response> {
        let world = self.world();
        world.timeline.sleep(world.random.between(1, 200)).await;
        let proxy = self.draw();
        let running = self.0.running.lock()[proxy].clone();
        let Some(RunningProcess { process, router }) = running else {
            world.timeline.sleep(world.random.between(500, 4000)).await;
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
        if body.is_some() {
            request = request.header(CONTENT_TYPE, "application/json");
        }
        let body = body.map_or_else(Body::empty, |json| Body::from(json.to_string()));
        let request = request.body(body).expect("a method, a path and a header");
        let response = async {
            let Ok(response) = router.oneshot(request).await;
            let status = response.status().as_u16();
            if response.headers().contains_key("idempotency-replayed") {
                world.count("keys", "replayed");
            }
            let body = axum::body::to_bytes(response.into_body(), 1 << 20).await;
            let body = serde_json::from_slice(&body.unwrap_or_default());
            (status, body.unwrap_or(Value::Null))
        };
        let response = tokio::select! {
            biased;
            () = process.ended.cancelled() => None,
            response = response => Some(response),
            () = world.timeline.sleep(TIMEOUT) => None,
        };
        world.log(|| format!("proxy: {method} {path} → {response:?}"));
        if let Some((status, body)) = &response {
            let code = body["error"]["code"].as_str().unwrap_or_default();
            let kind = format!("{status} {code}");
            world.count("responses of the proxy", kind.trim_end());
        }
        response
    }
}

/// Longest time between the last process and the copy in its place.
const LONGEST_STOP: Millis = 20_000;

impl Proxy {
    pub(crate) async fn restore_backups(self) {
        loop {
            self.world().restore_wanted.notified().await;
            self.restore().await;
        }
    }

    async fn restore(&self) {
        let world = self.world().clone();
        let backup = world.backup.lock().take();
        let Backup { made_at, file } = backup.expect("a restore begins with a backup");
        self.stop_all("before a restore");
        let pause = world.random.between(1, LONGEST_STOP);
        world.timeline.sleep(pause).await;
        let replaced = world.read_tables(true);
        world.database.run(self.storage().close());
        let url = format!("sqlite://{}", file.display());
        let storage = world.database.run(SqliteStorage::open(&url, "test"));
        world.queries.switch_to(&file);
        let backup = world.read_tables(true);
        world.forget_what_was_lost(&backup);
        let lost = replaced.orders.len() - backup.orders.len();
        world.log(|| format!("a backup is restored, without {lost} orders"));
        for (what, lost) in [
            ("lost orders", lost),
            (
                "lost credits",
                replaced.credits.len() - backup.credits.len(),
            ),
            ("lost events", replaced.events.len() - backup.events.len()),
        ] {
            world.counters.add("restores", what, lost as u64);
        }
        world.restores.lock().push(Restore {
            made_at,
            at: world.timeline.now(),
            backup,
            replaced,
        });
        world.use_file(file);
        self.start_on(storage.expect("a backup of a good database"));
    }
}
