//! GET /metrics: reads what exists as state, and writes everything in the text format that
//! Prometheus reads.
//!
//! Source: `OpenMetrics` 1.0.0, "Text format", which Prometheus reads since version 2.5.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse as _, Response};
use florin_orders::{AttentionCause, PollPriority};
use florin_storage::{Commits, PollQueue, ServerState, StorageError, StoreScope, Totals};
use jiff::{SignedDuration, Timestamp};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::text::{encode_eof, encode_registry};
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric, NoLabelSet};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::{ConstCounter, Counter};
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::{ConstGauge, Gauge};
use prometheus_client::registry::Registry;
use strum::VariantArray as _;

use super::labels::priority_name;
use super::process::Process;
use super::{Labels, Metrics, StoreLabels};
use crate::state::AppState;

const TEXT: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
/// Polls that are counted.
const MOST_COUNTED: u32 = 1_000;
/// Orders that wait for a person, and events that were given up, that are counted. Each is read whole.
const MOST_WAITING: u32 = 100;
/// The causes beside those of orders.
const GIVEN_UP: &str = "event_given_up";
const DISABLED: &str = "webhook_disabled";
/// A database that does not answer by then is left out. Prometheus waits for 10 s.
const LONGEST_READ: Duration = Duration::from_secs(3);

/// Responses a scrape. What the database should say is missing while it fails.
pub(crate) async fn scrape(State(app): State<Arc<AppState>>) -> Response {
    let mut state = Registry::default();
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
    state.register_collector(Box::new(Process));
    match written(&app.metrics.registry, &state) {
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
    let storage = &app.deps.storage;
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

fn pools(registry: &mut Registry, app: &AppState) {
    let pools = app.deps.storage.pools();
    if pools.is_empty() {
        return;
    }
    let (in_use, limits) = (
        Family::<Labels<1>, Gauge>::default(),
        Family::<Labels<1>, Gauge>::default(),
    );
    let timeouts = Family::<Labels<1>, Counter>::default();
    let whole = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
    for pool in pools {
        let labels = [("pool", pool.name)];
        in_use.get_or_create(&labels).set(whole(pool.in_use));
        limits.get_or_create(&labels).set(whole(pool.limit));
        timeouts.get_or_create(&labels).inc_by(pool.timeouts);
    }
    let help = "Connections to the database server that are in use, by pool";
    registry.register("florin_database_connections", help, in_use);
    let help = "Connections to the database server that may be open, by pool";
    registry.register("florin_database_connections_limit", help, limits);
    let help = "Requests that waited in vain for a connection to the database server, by pool";
    registry.register("florin_database_connection_timeouts", help, timeouts);
}

/// The clock, the oldest transaction and the standbys of a database server.
fn database_server(registry: &mut Registry, server: Option<(ServerState, SignedDuration)>) {
    let Some((server, ahead)) = server else {
        return;
    };
    let help = "How far the database server's clock is ahead of this machine's, rounded";
    let millis = i64::try_from(ahead.as_millis()).unwrap_or(i64::MAX);
    // Rounded: cut off, 2.9 s would not be above the alert's bound.
    let ahead = ConstGauge::new((millis + 500 * millis.signum()) / 1000);
    registry.register("florin_database_clock_ahead_seconds", help, ahead);
    if let Some(seconds) = server.oldest_write_seconds {
        let help = "Age of the oldest open transaction that has written, of any program: GET /v1/events lists no later event; absent for a role that may not see it";
        let oldest = ConstGauge::new(seconds);
        registry.register("florin_database_oldest_write_seconds", help, oldest);
    }
    let Some(standbys) = server.standbys else {
        return;
    };
    let family = Family::<Labels<1>, Gauge>::default();
    for (kind, count) in [
        ("connected", standbys.connected),
        ("synchronous", standbys.synchronous),
    ] {
        family.get_or_create(&[("kind", kind)]).set(count);
    }
    let help = "Standbys of the database server: connected ones, and those that commits wait for; absent for a role that may not see them";
    registry.register("florin_database_standbys", help, family);
}

fn attention(registry: &mut Registry, totals: &Totals, waiting: &BTreeMap<&'static str, u64>) {
    let family = Family::<Labels<1>, Gauge>::default();
    let disabled = totals.outboxes.iter().filter(|outbox| outbox.is_disabled);
    let disabled = u64::try_from(disabled.count()).unwrap_or(u64::MAX);
    let causes = AttentionCause::VARIANTS.iter().map(<&'static str>::from);
    for cause in causes.chain([GIVEN_UP, DISABLED]) {
        let value = if cause == DISABLED {
            disabled
        } else {
            waiting.get(cause).copied().unwrap_or(0)
        };
        let value = i64::try_from(value).unwrap_or(i64::MAX);
        family.get_or_create(&[("cause", cause)]).set(value);
    }
    let help = "What waits for a person, by cause: of the 100 orders and the 100 events that wait longest, and webhooks";
    registry.register("florin_orders_needing_person", help, family);
}

fn gauge(registry: &mut Registry, name: &str, help: &str, value: u64) {
    registry.register(name, help, ConstGauge::new(value));
}

fn counter(registry: &mut Registry, name: &str, help: &str, value: u64) {
    registry.register(name, help, ConstCounter::new(value));
}

fn health(registry: &mut Registry, app: &AppState) {
    let is_failing = app.storage_health.reason().is_some();
    let health = app.deps.gateway.health();
    let is_ready = !is_failing && !health.is_pause_excessive && !app.shutdown.is_cancelled();
    let help = "1 while orders can be stored, the gateway asks for no excessive pause, and the process is not ending";
    gauge(registry, "florin_ready", help, u64::from(is_ready));
    let help = "1 while orders cannot be stored";
    gauge(
        registry,
        "florin_storage_failing",
        help,
        u64::from(is_failing),
    );
    let help = "1 after a reload of the configuration that was refused, until one is not";
    let refused = u64::from(app.refused_reload().is_some());
    gauge(registry, "florin_reload_refused", help, refused);
    let help = "Spans that did not reach the collector, because it was away or too many waited";
    counter(registry, "florin_spans_lost", help, app.spans.lost());
}

fn gateway(registry: &mut Registry, app: &AppState) {
    let health = app.deps.gateway.health();
    let up = u64::from(!app.gateway_unavailable());
    let help = "1 while the gateway answers: the last poll was answered, and the circuit is closed";
    gauge(registry, "florin_gateway_up", help, up);
    let help = "1 while the circuit is open";
    let is_open = u64::from(health.is_circuit_open);
    gauge(registry, "florin_gateway_circuit_open", help, is_open);
    let help = "Rest of the pause that the gateway asked for by Retry-After";
    let pause = health.pause.as_secs();
    gauge(registry, "florin_gateway_retry_after_seconds", help, pause);
    let help = "Calls a minute that the budget allows at present";
    let budget = health.requests_per_minute;
    gauge(
        registry,
        "florin_gateway_budget_calls_per_minute",
        help,
        budget,
    );
    let help = "1 while the gateway rejects the key: the last call whose key it checked was answered with 401";
    let rejected = u64::from(health.is_key_rejected);
    gauge(registry, "florin_gateway_key_rejected", help, rejected);
    let help =
        "How far the gateway's clock is ahead of this machine's; absent before its first response";
    if let Some(skew) = health.skew {
        let ahead = ConstGauge::new(skew.as_secs());
        registry.register("florin_gateway_clock_ahead_seconds", help, ahead);
    }
}

fn listeners(registry: &mut Registry, app: &AppState) {
    let streams = u64::try_from(app.subscriptions.total()).unwrap_or(u64::MAX);
    let help = "Open event streams of checkouts";
    gauge(registry, "florin_streams", help, streams);
    let Some(slots) = app.public_slots.get() else {
        return;
    };
    let counts = slots.counts();
    let help = "Open connections of the public listener";
    gauge(registry, "florin_connections", help, counts.open);
    let help = "Connections that the public listener may hold";
    gauge(registry, "florin_connections_limit", help, counts.limit);
    let help = "Connections that were refused because their address had too many";
    counter(
        registry,
        "florin_connections_rejected",
        help,
        counts.rejected,
    );
    let help = "Waiting connections that were closed to make room for another one";
    let closed = counts.closed_for_room;
    counter(registry, "florin_connections_closed", help, closed);
}

fn polling(registry: &mut Registry, app: &AppState, queue: &PollQueue, now: Timestamp) {
    let lags = Family::<Labels<1>, Gauge>::default();
    for priority in PollPriority::VARIANTS {
        let first = queue.first.get(priority);
        let lag = first.map_or(0, |first| seconds(now.duration_since(*first)));
        let labels = [("priority", priority_name(*priority))];
        let lag = i64::try_from(lag).unwrap_or(i64::MAX);
        lags.get_or_create(&labels).set(lag);
    }
    let help = "How late the longest waiting poll of the gateway is, by priority";
    registry.register("florin_poll_lag_seconds", help, lags);
    let help = "Polls that are due, 1000 of each priority at most";
    gauge(registry, "florin_polls_due", help, queue.due);
    let stretch = u64::from(app.polling_pace().stretch.percent());
    let help = "Factor of the poll intervals; 100 is as planned";
    gauge(registry, "florin_poll_stretch_percent", help, stretch);
    let watched = u64::from(app.polling_pace().watched_stretch.percent());
    let help = "Factor of the poll intervals of watched orders; 100 is as planned";
    gauge(
        registry,
        "florin_watched_poll_stretch_percent",
        help,
        watched,
    );
}

/// The outboxes of all stores; a store that never had an event has zeros.
fn outboxes(registry: &mut Registry, metrics: &Metrics, totals: &Totals, now: Timestamp) {
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
    let mut family = |name: &str, help: &str, value: fn(&Sum) -> u64| {
        let family = Family::<StoreLabels<1>, Gauge>::default();
        for (store, sum) in &sums {
            let value = i64::try_from(value(sum)).unwrap_or(i64::MAX);
            family.get_or_create(&[("store", store.clone())]).set(value);
        }
        registry.register(name, help, family);
    };
    let help = "Events that wait for the store to accept them";
    family("florin_events_waiting", help, |sum| sum.waiting);
    let help = "Age of the oldest event that waits";
    family("florin_events_oldest_seconds", help, |sum| sum.oldest);
    let help = "1 while the store's webhook is disabled, because it answered 410";
    family("florin_webhook_disabled", help, |sum| sum.disabled);
}

fn storage(registry: &mut Registry, totals: &Totals) {
    let help = "Payments that need review by a person: their latest response was not clear, and they are polled on";
    let reviews = totals.needing_review;
    gauge(registry, "florin_payments_needing_review", help, reviews);
    if let Some(bytes) = totals.free_bytes {
        let help = "Bytes that may still be written to the database's volume";
        gauge(registry, "florin_storage_free_bytes", help, bytes);
    }
    if let Some(bytes) = totals.wal_bytes {
        let help = "Size of the database file's write-ahead log";
        gauge(registry, "florin_storage_wal_bytes", help, bytes);
        let waited = ConstCounter::new(totals.commits.waited.as_secs_f64());
        let help = "Time that transactions waited for the one writer of a file";
        registry.register("florin_storage_writer_wait_seconds", help, waited);
    }
    registry.register_collector(Box::new(CountedCommits(totals.commits)));
}

/// Commits of the storage, which counts them itself.
#[derive(Debug)]
struct CountedCommits(Commits);

impl Collector for CountedCommits {
    fn encode(&self, mut encoder: DescriptorEncoder) -> Result<(), std::fmt::Error> {
        let Self(commits) = self;
        let bounds = Commits::BOUNDS.iter().map(std::time::Duration::as_secs_f64);
        let buckets: Vec<_> = bounds
            .chain([f64::INFINITY])
            .zip(commits.by_duration)
            .collect();
        let count = commits.by_duration.iter().sum();
        let help = "Time of commits to the disk";
        let name = "florin_storage_commit_seconds";
        let mut histogram = encoder.encode_descriptor(name, help, None, MetricType::Histogram)?;
        let sum = commits.total.as_secs_f64();
        histogram.encode_histogram::<NoLabelSet>(sum, count, &buckets, None)?;
        let transactions = ConstCounter::new(commits.transactions);
        let help =
            "Transactions that were committed; those that wait at the same time share a commit";
        let name = "florin_storage_transactions";
        let encoder = encoder.encode_descriptor(name, help, None, transactions.metric_type())?;
        transactions.encode(encoder)
    }
}

/// Whole seconds. A clock that was set back makes no time negative.
fn seconds(time: SignedDuration) -> u64 {
    u64::try_from(time.as_secs()).unwrap_or(0)
}
