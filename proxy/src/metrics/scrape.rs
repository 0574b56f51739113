//! GET /metrics: reads what exists as state, and writes everything in the text format that
//! Prometheus reads.
//!
//! Source: `OpenMetrics` 1.0.0, "Text format", which Prometheus reads since version 2.5.

use std::collections::BTreeMap;
use std::fs;
use std::sync::Arc;
use std::time::Duration;

use axum::extract;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse as _, Response};
use florin_orders::{AttentionCause, PollPriority};
use florin_storage::{Commits, PollQueue, ServerState, StorageError, StoreScope, Totals};
use jiff::{SignedDuration, Timestamp};
use prometheus_client::encoding::text::{encode_eof, encode_registry};
use prometheus_client::encoding::{EncodeMetric, MetricEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::{ConstCounter, Counter};
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::{ConstGauge, Gauge};
use prometheus_client::registry::{Metric, Registry};
use strum::VariantArray as _;

use super::labels::priority_name;
use super::{Labels, Metrics, StoreLabels};
use crate::metrics::labels::register;
use crate::state::AppState;

const TEXT: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
const MOST_COUNTED: u32 = 1_000;
/// Orders that wait for a person, and events that were given up, that are counted. Each is read whole.
const MOST_WAITING: u32 = 100;
const GIVEN_UP: &str = "event_given_up";
const DISABLED: &str = "webhook_disabled";
/// A database that does not answer by then is left out. Prometheus waits for 10 s.
const LONGEST_READ: Duration = Duration::from_secs(3);

#[derive(Default)]
struct State(Registry);

impl State {
    fn add(&mut self, name: &'static str, metric: impl Metric) {
        register(&mut self.0, name, metric);
    }

    fn gauge(&mut self, name: &'static str, value: u64) {
        self.add(name, ConstGauge::new(value));
    }

    fn counter(&mut self, name: &'static str, value: u64) {
        self.add(name, ConstCounter::new(value));
    }

    fn gauges<V: Into<String>>(
        &mut self,
        name: &'static str,
        label: &'static str,
        values: impl IntoIterator<Item = (V, u64)>,
    ) {
        let family = Family::<StoreLabels<1>, Gauge>::default();
        for (of, value) in values {
            let value = i64::try_from(value).unwrap_or(i64::MAX);
            family.get_or_create(&[(label, of.into())]).set(value);
        }
        self.add(name, family);
    }
}

/// Answers a scrape. What the database should say is missing while it fails.
pub(crate) async fn scrape(extract::State(app): extract::State<Arc<AppState>>) -> Response {
    let mut state = State::default();
    let now = app.now();
    health(&mut state, &app);
    gateway(&mut state, &app);
    listeners(&mut state, &app);
    pools(&mut state, &app);
    let read = tokio::time::timeout(LONGEST_READ, read(&app, now)).await;
    // The storage monitor reports an outage.
    if let Ok(Ok(Read {
        totals,
        queue,
        waiting,
        server,
    })) = read
    {
        database_server(&mut state, server);
        polling(&mut state, &app, &queue, now);
        attention(&mut state, &totals, &waiting);
        outboxes(&mut state, &app.metrics, &totals, now);
        storage(&mut state, &totals);
    }
    process(&mut state);
    match written(&app.metrics.registry, &state.0) {
        Ok(text) => ([(CONTENT_TYPE, TEXT)], text).into_response(),
        Err(std::fmt::Error) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

fn written(counted: &Registry, state: &Registry) -> Result<String, std::fmt::Error> {
    let mut text = String::new();
    encode_registry(&mut text, counted)?;
    encode_registry(&mut text, state)?;
    encode_eof(&mut text)?;
    Ok(text)
}

struct Read {
    totals: Totals,
    queue: PollQueue,
    waiting: BTreeMap<&'static str, u64>,
    /// `None` of a file.
    server: Option<(ServerState, SignedDuration)>,
}

async fn read(app: &AppState, now: Timestamp) -> Result<Read, StorageError> {
    let storage = &app.storage;
    let mut waiting: BTreeMap<&str, u64> = BTreeMap::new();
    for order in storage
        .orders_for_attention(&StoreScope::All, MOST_WAITING)
        .await?
    {
        for cause in order.attention_causes() {
            *waiting.entry(cause.into()).or_default() += 1;
        }
    }
    let given_up = storage
        .given_up_events(&StoreScope::All, MOST_WAITING)
        .await?
        .len();
    waiting.insert(GIVEN_UP, u64::try_from(given_up).unwrap_or(u64::MAX));
    Ok(Read {
        totals: storage.totals().await?,
        queue: storage.poll_queue(now, MOST_COUNTED).await?,
        waiting,
        // Compared at once: the other reads take time.
        server: storage.server_state().await?.map(|server| {
            let ahead = server.now.duration_since(app.now());
            (server, ahead)
        }),
    })
}

fn pools(state: &mut State, app: &AppState) {
    let pools = app.storage.pools();
    if pools.is_empty() {
        return;
    }
    let in_use = pools.iter().map(|pool| (pool.name, pool.in_use));
    state.gauges("florin_database_connections", "pool", in_use);
    let limits = pools.iter().map(|pool| (pool.name, pool.limit));
    state.gauges("florin_database_connections_limit", "pool", limits);
    let timeouts = Family::<Labels<1>, Counter>::default();
    for pool in pools {
        let timeouts = timeouts.get_or_create(&[("pool", pool.name)]);
        timeouts.inc_by(pool.timeouts);
    }
    state.add("florin_database_connection_timeouts", timeouts);
}

fn database_server(state: &mut State, server: Option<(ServerState, SignedDuration)>) {
    let Some((server, ahead)) = server else {
        return;
    };
    let millis = i64::try_from(ahead.as_millis()).unwrap_or(i64::MAX);
    // Rounded: cut off, 2.9 s would not be above the alert's bound.
    let ahead = ConstGauge::new((millis + 500 * millis.signum()) / 1000);
    state.add("florin_database_clock_ahead_seconds", ahead);
    if let Some(seconds) = server.oldest_write_seconds {
        let oldest = ConstGauge::new(seconds);
        state.add("florin_database_oldest_write_seconds", oldest);
    }
    if let Some(standbys) = server.standbys {
        let counts = [
            ("connected", standbys.connected.unsigned_abs()),
            ("synchronous", standbys.synchronous.unsigned_abs()),
        ];
        state.gauges("florin_database_standbys", "kind", counts);
    }
}

fn attention(state: &mut State, totals: &Totals, waiting: &BTreeMap<&'static str, u64>) {
    let disabled = totals.outboxes.iter().filter(|outbox| outbox.is_disabled);
    let disabled = u64::try_from(disabled.count()).unwrap_or(u64::MAX);
    let causes = AttentionCause::VARIANTS.iter().map(<&'static str>::from);
    let counts = causes
        .chain([GIVEN_UP])
        .map(|cause| (cause, waiting.get(cause).copied().unwrap_or(0)))
        .chain([(DISABLED, disabled)]);
    state.gauges("florin_orders_needing_person", "cause", counts);
}

fn health(state: &mut State, app: &AppState) {
    let is_failing = app.storage_health.reason().is_some();
    let health = app.gateway.health();
    let is_ready = !is_failing && !health.is_pause_excessive && !app.shutdown.is_cancelled();
    state.gauge("florin_ready", u64::from(is_ready));
    state.gauge("florin_storage_failing", u64::from(is_failing));
    let refused = u64::from(app.refused_reload.lock().is_some());
    state.gauge("florin_reload_refused", refused);
    state.counter("florin_spans_lost", app.spans.lost());
}

fn gateway(state: &mut State, app: &AppState) {
    let health = app.gateway.health();
    let up = u64::from(!app.gateway_unavailable());
    let (is_open, rejected) = (health.is_circuit_open, health.is_key_rejected);
    let budget = health.requests_per_minute;
    state.gauge("florin_gateway_up", up);
    state.gauge("florin_gateway_circuit_open", u64::from(is_open));
    state.gauge("florin_gateway_retry_after_seconds", health.pause.as_secs());
    state.gauge("florin_gateway_budget_calls_per_minute", budget);
    state.gauge("florin_gateway_key_rejected", u64::from(rejected));
    if let Some(skew) = health.skew {
        let ahead = ConstGauge::new(skew.as_secs());
        state.add("florin_gateway_clock_ahead_seconds", ahead);
    }
}

fn listeners(state: &mut State, app: &AppState) {
    let streams = u64::try_from(app.subscriptions.total()).unwrap_or(u64::MAX);
    state.gauge("florin_streams", streams);
    let Some(slots) = app.public_slots.get() else {
        return;
    };
    let counts = slots.counts();
    state.gauge("florin_connections", counts.open);
    state.gauge("florin_connections_limit", counts.limit);
    state.counter("florin_connections_rejected", counts.rejected);
    state.counter("florin_connections_closed", counts.closed_for_room);
}

fn polling(state: &mut State, app: &AppState, queue: &PollQueue, now: Timestamp) {
    let lags = PollPriority::VARIANTS.iter().map(|priority| {
        let first = queue.first.get(priority);
        let lag = first.map_or(0, |first| seconds(now.duration_since(*first)));
        (priority_name(*priority), lag)
    });
    state.gauges("florin_poll_lag_seconds", "priority", lags);
    state.gauge("florin_polls_due", queue.due);
    let pace = app.polling_pace();
    let (all, watched) = (pace.stretch.percent(), pace.watched_stretch.percent());
    state.gauge("florin_poll_stretch_percent", u64::from(all));
    state.gauge("florin_watched_poll_stretch_percent", u64::from(watched));
}

/// The outboxes of all stores; a store that never had an event has zeros.
fn outboxes(state: &mut State, metrics: &Metrics, totals: &Totals, now: Timestamp) {
    #[derive(Default)]
    struct Sum {
        waiting: u64,
        oldest: u64,
        disabled: u64,
    }
    let mut sums: BTreeMap<String, Sum> = metrics.store_labels();
    for outbox in &totals.outboxes {
        let sum = sums
            .entry(metrics.store_label(&outbox.store_id))
            .or_default();
        let age = outbox.oldest_at.map(|at| seconds(now.duration_since(at)));
        sum.waiting += outbox.waiting;
        sum.oldest = sum.oldest.max(age.unwrap_or(0));
        sum.disabled += u64::from(outbox.is_disabled);
    }
    let mut add = |name: &'static str, value: fn(&Sum) -> u64| {
        let values = sums.iter().map(|(store, sum)| (store, value(sum)));
        state.gauges(name, "store", values);
    };
    add("florin_events_waiting", |sum| sum.waiting);
    add("florin_events_oldest_seconds", |sum| sum.oldest);
    add("florin_webhook_disabled", |sum| sum.disabled);
}

fn storage(state: &mut State, totals: &Totals) {
    state.gauge("florin_payments_needing_review", totals.needing_review);
    if let Some(bytes) = totals.free_bytes {
        state.gauge("florin_storage_free_bytes", bytes);
    }
    if let Some(bytes) = totals.wal_bytes {
        state.gauge("florin_storage_wal_bytes", bytes);
        let waited = ConstCounter::new(totals.commits.waited.as_secs_f64());
        state.add("florin_storage_writer_wait_seconds", waited);
    }
    let commits = CommitSeconds(totals.commits);
    state.add("florin_storage_commit_seconds", commits);
    let transactions = totals.commits.transactions;
    state.counter("florin_storage_transactions", transactions);
}

#[derive(Debug)]
struct CommitSeconds(Commits);

impl EncodeMetric for CommitSeconds {
    fn encode(&self, mut encoder: MetricEncoder<'_>) -> Result<(), std::fmt::Error> {
        let Self(commits) = self;
        let bounds = Commits::BOUNDS.iter().map(Duration::as_secs_f64);
        let buckets: Vec<_> = bounds
            .chain([f64::INFINITY])
            .zip(commits.by_duration)
            .collect();
        let (sum, count) = (
            commits.total.as_secs_f64(),
            commits.by_duration.iter().sum(),
        );
        encoder.encode_histogram::<NoLabelSet>(sum, count, &buckets, None)
    }

    fn metric_type(&self) -> MetricType {
        MetricType::Histogram
    }
}

/// Whole seconds. A clock that was set back makes no time negative.
fn seconds(time: SignedDuration) -> u64 {
    u64::try_from(time.as_secs()).unwrap_or(0)
}

/// The process, as its kernel sees it. Where there is no `/proc`, there are no such series.
///
/// Source: proc(5); names are those of the Prometheus client libraries' guidelines, "Process metrics".
fn process(state: &mut State) -> Option<()> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    // Behind the name, which may hold anything. Its field is the second, so the first one here is the third.
    let (_, stat) = stat.rsplit_once(')')?;
    let fields: Vec<&str> = stat.split_whitespace().collect();
    let field = |number: usize| fields.get(number - 3)?.parse::<u64>().ok();
    let ticks_a_second = rustix::param::clock_ticks_per_second().max(1);
    let boot = fs::read_to_string("/proc/stat").ok()?;
    let boot = boot.lines().find_map(|line| line.strip_prefix("btime "))?;
    let started_at = boot.trim().parse::<u64>().ok()? + field(22)? / ticks_a_second;
    let page = u64::try_from(rustix::param::page_size()).ok()?;
    let open_files = fs::read_dir("/proc/self/fd").ok()?.count();
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile);
    let cpu = Duration::from_millis((field(14)? + field(15)?) * 1000 / ticks_a_second);
    let resident = field(24)?.saturating_mul(page);
    state.gauge("process_resident_memory_bytes", resident);
    state.gauge("process_open_fds", open_files.try_into().ok()?);
    state.gauge("process_max_fds", limit.current.unwrap_or(u64::MAX));
    state.gauge("process_start_time_seconds", started_at);
    let cpu = ConstCounter::new(cpu.as_secs_f64());
    state.add("process_cpu_seconds", cpu);
    Some(())
}
