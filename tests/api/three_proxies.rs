//! Three built proxies on one PostgreSQL share the limits of their gateway account. The gateway's log is the judge.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use support::{
    Program, World, WorldConfig, eventually, free_port, postgres_database, secrets, write_private,
};
use tokio::task::JoinHandle;

/// The pause that the gateway asks for.
const PAUSE: SignedDuration = SignedDuration::from_secs(4);
/// A request that was permitted before the 429 was recorded is on its way for so long at most, on a loaded machine.
const ON_ITS_WAY: SignedDuration = SignedDuration::from_millis(500);

/// Three programs with the configuration of a world, each on its ports.
struct Proxies {
    world: World,
    programs: Vec<Program>,
    urls: Vec<String>,
    configs: Vec<String>,
    /// Calls of the world's own proxy, before these were started.
    calls_before: usize,
}

/// A call as the gateway has received it.
#[derive(Debug)]
struct Call {
    at: Timestamp,
    nonce: i64,
    status: u16,
}

impl Proxies {
    /// Starts them; `gateway` is added to that section.
    async fn start(requests_per_second: u32, gateway: &str) -> Self {
        let mut world = World::start_with(WorldConfig {
            database_url: Some(postgres_database().await),
            requests_per_second,
            callbacks: false,
            ..WorldConfig::default()
        })
        .await;
        world.stop_proxy().await;
        let text = std::fs::read_to_string(world.config_file()).unwrap();
        let (_, text) = text.split_once("public_url").unwrap();
        let text = text.replace("[gateway]\n", &format!("[gateway]\n{gateway}\n"));
        let mut proxies = Self {
            calls_before: world.sandbox().calls().await.len(),
            world,
            programs: Vec::new(),
            urls: Vec::new(),
            configs: Vec::new(),
        };
        for number in 1..=3 {
            let listeners = [free_port(), free_port()];
            let [public, admin] = listeners.map(|port| format!("127.0.0.1:{port}"));
            let listen = format!("listen = \"{public}\"\nadmin_listen = \"{admin}\"\npublic_url");
            let config = proxies.world.file(&format!("proxy-{number}.toml"));
            write_private(&config, &[listen.as_str(), text.as_str()].concat());
            let log = proxies.world.file(&format!("proxy-{number}.log"));
            let program = Program::start(&config, &log, &[]);
            proxies.programs.push(program);
            proxies.urls.push(format!("http://{public}"));
            proxies.configs.push(config.display().to_string());
        }
        for url in &proxies.urls {
            eventually("the proxy listens", async || {
                let loader = proxies.world.http().get(format!("{url}/florin.js"));
                loader.send().await.ok()
            })
            .await;
        }
        proxies
    }

    /// Every proxy sends as many requests as it may, `at_once`, until `is_over`.
    fn load(&self, at_once: usize, is_over: &Arc<AtomicBool>) -> Vec<JoinHandle<()>> {
        let each = self.urls.iter().cycle().take(self.urls.len() * at_once);
        let each = each.map(|url| {
            let request = self
                .world
                .http()
                .get(format!("{url}/v1/gateway/currencies"));
            let request = request.bearer_auth(secrets::STORE_KEY);
            let is_over = is_over.clone();
            tokio::spawn(async move {
                while !is_over.load(Ordering::Relaxed) {
                    // What the budget does not allow is refused after three seconds.
                    request.try_clone().unwrap().send().await.unwrap();
                }
            })
        });
        each.collect()
    }

    /// The gateway's log, oldest first.
    async fn calls(&self) -> Vec<Call> {
        let mut calls = self.world.sandbox().calls().await;
        calls.reverse();
        let calls = calls.iter().skip(self.calls_before);
        calls.map(Call::read).collect()
    }

    async fn wait_for_calls(&self, what: &str, count: impl Fn(&[Call]) -> bool) {
        eventually(what, async || {
            let calls = self.calls().await;
            count(&calls).then_some(())
        })
        .await;
    }

    /// The next call is answered with a pause.
    async fn limit_once(&self) {
        let seconds = PAUSE.as_secs();
        let limit = json!({"kind": "status", "status": 429, "retry_after": seconds, "times": 1});
        self.world.sandbox().inject_fault(limit).await;
    }

    async fn end(mut self) {
        for program in &mut self.programs {
            assert_eq!(program.stop().await, Some(0), "{}", program.printed());
        }
        self.world.end().await;
    }
}

impl Call {
    fn read(entry: &Value) -> Self {
        let text = |name: &str| entry[name].as_str().unwrap().to_owned();
        Self {
            at: text("at").parse().unwrap(),
            nonce: text("nonce").parse().unwrap(),
            status: entry["status"].as_u64().unwrap().try_into().unwrap(),
        }
    }
}

/// The calls later than `from` and earlier than `until`.
fn between(calls: &[Call], from: Timestamp, until: Timestamp) -> usize {
    let is_between = |call: &&Call| call.at > from && call.at < until;
    calls.iter().filter(is_between).count()
}

/// When the one 429 was answered. Every other call is answered as it should.
fn limited_at(calls: &[Call]) -> Option<Timestamp> {
    let mut refused = calls.iter().filter(|call| call.status != 200);
    let limited = refused.next()?;
    assert_eq!((limited.status, refused.count()), (429, 0), "{calls:?}");
    Some(limited.at)
}

/// Returns `true` once calls were sent for as long after the pause as it lasted.
fn is_past_the_pause(calls: &[Call]) -> bool {
    let limited = limited_at(calls);
    limited.is_some_and(|limited| {
        calls
            .last()
            .is_some_and(|last| last.at > limited + PAUSE * 2)
    })
}

#[tokio::test]
async fn three_proxies_send_what_one_may_send_and_nothing_inside_a_pause() {
    const RATE: i128 = 5;
    const BURST: i128 = 2 * RATE;
    // A call may arrive later than it was permitted.
    const LATE: SignedDuration = ON_ITS_WAY;
    let proxies = Proxies::start(5, "").await;
    let is_over = Arc::default();
    let load = proxies.load(4, &is_over);
    proxies
        .wait_for_calls("the burst is over", |calls| calls.len() >= 25)
        .await;
    proxies.limit_once().await;
    proxies
        .wait_for_calls("calls after the pause", is_past_the_pause)
        .await;
    is_over.store(true, Ordering::Relaxed);
    for load in load {
        load.await.unwrap();
    }
    let calls = proxies.calls().await;
    let limited = limited_at(&calls).unwrap();
    let inside = between(&calls, limited + ON_ITS_WAY, limited + PAUSE);
    assert_eq!(inside, 0, "inside the pause: {calls:?}");
    let steady = calls[0].at + SignedDuration::from_secs(3);
    for (place, first) in calls.iter().enumerate() {
        // In any interval: the rate, and at its beginning what idle seconds have left. The 429 halves both.
        let burst = match first.at {
            at if at < steady => BURST,
            at if at < limited => 0,
            _ => BURST / 2,
        };
        for (sent, last) in (1..).zip(&calls[place..]) {
            let took = last.at.duration_since(first.at) + LATE;
            let most = burst + 1 + RATE * took.as_millis() / 1000;
            assert!(sent <= most, "{sent} calls in {took:#}: {calls:?}");
        }
    }
    proxies.end().await;
}

#[tokio::test]
async fn three_proxies_and_the_command_line_send_increasing_nonces_one_after_another() {
    let proxies = Proxies::start(5, "nonces = \"must_increase\"").await;
    let is_over = Arc::default();
    let load = proxies.load(1, &is_over);
    proxies
        .wait_for_calls("some calls", |calls| calls.len() >= 3)
        .await;
    let config = proxies.configs[0].clone();
    // Four share one request a second. One that does not get it within three seconds says so.
    let command = tokio::task::spawn_blocking(move || {
        let run = || Program::run(&["--config", &config, "gateway", "currencies"], &[]);
        let printed = (0..20).map(|_| run());
        printed
            .take_while(|output| output.code != Some(0))
            .map(|output| output.printed)
            .collect::<Vec<_>>()
    });
    let refusals = command.await.unwrap();
    assert!(refusals.len() < 20, "{refusals:?}");
    for refusal in refusals {
        assert!(
            refusal.contains("too many calls of the gateway"),
            "{refusal}"
        );
    }
    proxies.limit_once().await;
    proxies
        .wait_for_calls("calls after the pause", is_past_the_pause)
        .await;
    is_over.store(true, Ordering::Relaxed);
    for load in load {
        load.await.unwrap();
    }
    let calls = proxies.calls().await;
    let nonces: Vec<_> = calls.iter().map(|call| call.nonce).collect();
    assert!(nonces.is_sorted_by(|one, next| one < next), "{nonces:?}");
    let limited = limited_at(&calls).unwrap();
    // One call is under way at a time, so that none was on its way.
    assert_eq!(between(&calls, limited, limited + PAUSE), 0, "{calls:?}");
    let took = calls.last().unwrap().at.duration_since(calls[0].at);
    let most = took.as_secs() + 4;
    assert!(i64::try_from(calls.len()).unwrap() <= most, "{calls:?}");
    proxies.end().await;
}
