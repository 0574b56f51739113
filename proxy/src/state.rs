//! The state that requests and workers share.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use arc_swap::ArcSwap;
use florin_gateway_client::{CallError, Clock, PaymentGateway};
use florin_money::CryptoCode;
use florin_orders::{AttemptId, OrderId, Reference, StoreId, Stretch};
use florin_storage::Storage;
use futures_util::FutureExt as _;
use jiff::{SignedDuration, Timestamp};
use parking_lot::Mutex;
use quick_cache::sync::Cache;
use tokio::sync::{Notify, Semaphore, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::auth::operator::OperatorSessions;
use crate::clock::RandomBytes;
use crate::config::Config;
use crate::connection_slots::Slots;
use crate::log::RequestIds;
use crate::metrics::{MeasuredGateway, Metrics};
use crate::orders::changes::{Announcements, OrderChanges, OrderSubscriptions};
use crate::orders::tracked_storage::TrackedStorage;
use crate::orders::version_reads::VersionReads;
use crate::orders::view_cache::ViewCache;
use crate::payments::currencies::Currencies;
use crate::payments::fair_queue::FairQueue;
use crate::payments::price_cache::{PriceCache, PriceSnapshot};
use crate::payments::rendered_view::RenderedView;
use crate::payments::view::REQUIRED_CONFIRMATIONS;
use crate::rate_limit::RateLimit;
use crate::spans::Spans;
use crate::webhooks::send::Webhooks;
use crate::widget_files::File;

/// A customer who reloads the page uses the token of the order again.
const ORDER_TOKENS_PER_MINUTE: u32 = 30;

/// A page reads one, and another one when prices change: enough for an office behind one address.
const OFFERS_PER_MINUTE: u32 = 600;

/// A customer reads the list and chooses in this time at least.
const SHORTEST_QUOTE_SECONDS: u32 = 10;

/// A page for a store's staff is two requests.
const STAFF_REQUESTS_PER_MINUTE: u32 = 120;

/// Files of other versions that are kept in memory: as many as one page asks for.
const OTHER_ASSETS: usize = 32;

/// Checkout pages that are kept for seconds: 60 kB each.
const FIRST_PAGES: usize = 128;

/// What the caller of [`crate::run`] chooses: a real database and gateway, or those of a test.
#[derive(Clone)]
pub struct Dependencies {
    /// The database.
    pub storage: Arc<dyn Storage>,
    /// The gateway's client.
    pub gateway: Arc<dyn PaymentGateway>,
    /// Sends events to the stores.
    pub webhooks: Arc<dyn Webhooks>,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// Source of ids and tokens.
    pub random: Arc<dyn RandomBytes>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PollingPace {
    /// How far polls are put off, because the gateway's limits do not allow all of them.
    pub stretch: Stretch,
    /// How far polls of watched orders are put off, because the limits do not even allow all of those.
    pub watched_stretch: Stretch,
    pub lag: SignedDuration,
}

impl PollingPace {
    /// Above this factor an open page says that payments are found later: a young attempt is polled each 15 seconds.
    const DELAYED_PERCENT: u32 = 1000;

    fn is_delayed(self) -> bool {
        self.watched_stretch.percent() > Self::DELAYED_PERCENT
    }
}

#[derive(Debug, Default)]
pub(crate) struct AddressNotices {
    /// The missing entry of `trusted_proxies` is logged.
    pub has_unnamed_proxy: bool,
    /// A request behind `trusted_proxies` that named no client is logged.
    pub has_unnamed_client: bool,
    /// When the log last reported that an address has used up its limit.
    pub limit_logged_at: Option<Instant>,
}

pub(crate) struct AppState {
    config: ArcSwap<Config>,
    pub reloaded: watch::Sender<()>,
    pub storage: Arc<TrackedStorage>,
    pub gateway: Arc<dyn PaymentGateway>,
    pub webhooks: Arc<dyn Webhooks>,
    pub clock: Arc<dyn Clock>,
    pub random: Arc<dyn RandomBytes>,
    pub metrics: Arc<Metrics>,
    pub spans: Arc<Spans>,
    /// The connections of the public listener, once it listens.
    pub public_slots: OnceLock<Arc<Slots>>,
    /// The gateway's prices, one copy for all customers.
    pub prices: PriceCache,
    /// The confirmations that the gateway last asked for, by the asset.
    required_confirmations: Mutex<BTreeMap<CryptoCode, u32>>,
    pub subscriptions: OrderSubscriptions,
    /// When the last comparison of the versions of all orders with open event streams began, where other processes write.
    pub compared_at: Mutex<Option<Instant>>,
    /// Changes for the other proxies on the same database.
    pub announcements: Arc<Announcements>,
    /// Reads of orders' versions, where other processes write.
    pub versions: Arc<VersionReads>,
    pub views: ViewCache<RenderedView>,
    /// Limits the choices of an address: each opens an order, an attempt, or both.
    pub choice_limit: RateLimit<IpAddr>,
    /// Limits the offers that an address reads.
    pub offer_limit: RateLimit<IpAddr>,
    /// Limits the use of the order tokens of one reference.
    pub order_token_limit: RateLimit<(StoreId, Reference)>,
    /// Limits the requests of an address to the pages for stores' staff.
    pub staff_limit: RateLimit<IpAddr>,
    pub invoice_queue: Arc<FairQueue>,
    pub poller_wakeup: Notify,
    pub dispatcher_wakeup: watch::Sender<()>,
    pub shutdown: CancellationToken,
    /// The log lines about addresses of clients. Another `trusted_proxies` begins anew.
    pub address_notices: Mutex<AddressNotices>,
    /// The latest time since [`AppState::take_latest_reading`], in Unix microseconds.
    latest_reading: AtomicI64,
    pub request_ids: RequestIds,
    /// Files of other versions that were read last.
    pub other_assets: Cache<String, Arc<File>>,
    /// Checkout pages with their first screens, by what they show.
    pub first_pages: Cache<String, Arc<File>>,
    /// What admits style and script of the checkout page: its environment stays.
    pub inline_sources: OnceLock<[String; 2]>,
    pub openapi: OnceLock<File>,
    pub loader: OnceLock<File>,
    pub storage_health: StorageHealth,
    pub operator_sessions: OperatorSessions,
    /// One password is checked at a time.
    pub password_checks: Semaphore,
    /// Why the last reload of the configuration was refused; `None` after one that was not.
    pub refused_reload: Mutex<Option<String>>,
    is_gateway_unreachable: AtomicBool,
    /// Another proxy on the same database finds payments later than planned.
    is_delayed_elsewhere: AtomicBool,
    /// Wakes the change exchange: whether payments are found later than planned has changed.
    pub delay_changed: Notify,
    polling: Mutex<PollingPace>,
    /// The gateway's currencies compared with ours; `None` until they were compared.
    pub currencies: Mutex<Option<Currencies>>,
}

impl std::fmt::Debug for AppState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AppState")
            .field("config", &self.config())
            .finish_non_exhaustive()
    }
}

impl AppState {
    pub(crate) fn new(config: Config, deps: Dependencies, shutdown: CancellationToken) -> Self {
        let metrics = Arc::new(Metrics::new(&config.stores));
        let spans = Arc::new(Spans::new(&config));
        let Dependencies {
            storage,
            gateway,
            webhooks,
            clock,
            random,
        } = deps;
        let gateway = MeasuredGateway {
            inner: gateway,
            spans: spans.clone(),
            metrics: metrics.clone(),
            clock: clock.clone(),
        };
        let prices = PriceCache::new(config.gateway.quote_ttl);
        let per_minute = config.rate_limit.orders_per_minute_per_ip;
        let subscriptions = OrderSubscriptions::default();
        let has_other_writers = storage.has_other_writers();
        let announcements = Arc::new(Announcements::default());
        let announced = has_other_writers.then(|| announcements.clone());
        let changes = Arc::new(OrderChanges::new(subscriptions.clone(), announced));
        let views = ViewCache::new(changes.clone(), has_other_writers);
        let versioned = storage.clone();
        let versions = VersionReads::new(Box::new(move |orders| {
            let storage = versioned.clone();
            async move { storage.versions(&orders).await }.boxed()
        }));
        let storage = Arc::new(TrackedStorage::new(storage, changes, spans.clone()));
        let mut key = [0; 16];
        random.fill(&mut key);
        Self {
            config: ArcSwap::from_pointee(config),
            reloaded: watch::Sender::new(()),
            storage,
            gateway: Arc::new(gateway),
            webhooks,
            clock,
            random,
            metrics,
            spans,
            public_slots: OnceLock::new(),
            request_ids: RequestIds::new(key),
            prices,
            required_confirmations: Mutex::default(),
            choice_limit: RateLimit::new("choices", per_minute),
            offer_limit: RateLimit::new("offers", OFFERS_PER_MINUTE),
            order_token_limit: RateLimit::new("order tokens", ORDER_TOKENS_PER_MINUTE),
            staff_limit: RateLimit::new("staff", STAFF_REQUESTS_PER_MINUTE),
            invoice_queue: Arc::default(),
            operator_sessions: OperatorSessions::default(),
            password_checks: Semaphore::new(1),
            subscriptions,
            compared_at: Mutex::default(),
            announcements,
            versions,
            views,
            poller_wakeup: Notify::new(),
            dispatcher_wakeup: watch::Sender::new(()),
            shutdown,
            address_notices: Mutex::default(),
            latest_reading: AtomicI64::new(i64::MIN),
            other_assets: Cache::new(OTHER_ASSETS),
            first_pages: Cache::new(FIRST_PAGES),
            inline_sources: OnceLock::new(),
            openapi: OnceLock::new(),
            loader: OnceLock::new(),
            storage_health: StorageHealth::default(),
            refused_reload: Mutex::default(),
            is_gateway_unreachable: AtomicBool::new(false),
            is_delayed_elsewhere: AtomicBool::new(false),
            delay_changed: Notify::new(),
            polling: Mutex::default(),
            currencies: Mutex::default(),
        }
    }

    /// The configuration in force. A task that needs several values takes it once.
    pub(crate) fn config(&self) -> Arc<Config> {
        self.config.load_full()
    }

    pub(crate) fn apply_config(&self, config: Arc<Config>) {
        let before = self.config.swap(config);
        if before.trusted_proxies != self.config().trusted_proxies {
            *self.address_notices.lock() = AddressNotices::default();
        }
        self.reloaded.send_replace(());
    }

    pub(crate) fn now(&self) -> Timestamp {
        let now = self.clock.now();
        self.latest_reading
            .fetch_max(now.as_microsecond(), Ordering::Relaxed);
        now
    }

    /// The latest time that was read since the last call, by which something may be planned; `None` if none was read.
    pub(crate) fn take_latest_reading(&self) -> Option<Timestamp> {
        let latest = self.latest_reading.swap(i64::MIN, Ordering::Relaxed);
        Timestamp::from_microsecond(latest).ok()
    }

    /// Waits, but not beyond the end of the process.
    pub(crate) async fn pause(&self, duration: Duration) {
        tokio::select! {
            () = self.shutdown.cancelled() => {}
            () = self.clock.sleep(duration) => {}
        }
    }

    /// Prices with at least half of their lifetime left.
    pub(crate) async fn fresh_prices(&self) -> Result<Arc<PriceSnapshot>, CallError> {
        let (gateway, clock) = (&*self.gateway, &*self.clock);
        self.prices.fresh(gateway, &**self.storage, clock).await
    }

    /// Prices for a page that waits no longer than this for them: those at hand, while a customer has the time to choose by
    /// them. Fresh ones are on their way then.
    pub(crate) async fn prices_within(
        self: &Arc<Self>,
        longest_wait: Duration,
    ) -> Option<Arc<PriceSnapshot>> {
        let now = self.now();
        if let Some(fresh) = self.prices.newest(now) {
            return Some(fresh);
        }
        let usable = self.prices.newest_for(SHORTEST_QUOTE_SECONDS, now);
        if usable.is_some() && self.prices.is_fetching() {
            return usable;
        }
        let app = self.clone();
        let refreshing = tokio::spawn(async move { app.fresh_prices().await });
        if usable.is_some() {
            return usable;
        }
        tokio::time::timeout(longest_wait, refreshing)
            .await
            .ok()?
            .ok()?
            .ok()
    }

    pub(crate) fn random_order_id(&self) -> OrderId {
        OrderId::from_random(self.random_bits())
    }

    pub(crate) fn random_attempt_id(&self) -> AttemptId {
        AttemptId::from_random(self.random_bits())
    }

    pub(crate) fn random_bits(&self) -> [u8; 16] {
        let mut bits = [0; 16];
        self.random.fill(&mut bits);
        bits
    }

    /// Wakes the webhook dispatcher, after events may have been stored. The order's streams are notified by the write.
    pub(crate) fn wake_dispatcher(&self) {
        self.dispatcher_wakeup.send_replace(());
    }

    /// Records whether the gateway answered. Returns `true` if that changed, which changes every view.
    pub(crate) fn set_gateway_reachable(&self, answered: bool) -> bool {
        let before = self
            .is_gateway_unreachable
            .swap(!answered, Ordering::Relaxed);
        let is_news = before == answered;
        if is_news {
            self.subscriptions.notify_all();
            self.delay_changed.notify_one();
        }
        is_news
    }

    /// The confirmations that complete a payment of the asset.
    pub(crate) fn required_confirmations(&self, code: &CryptoCode) -> u32 {
        let known = self.required_confirmations.lock();
        known.get(code).copied().unwrap_or(REQUIRED_CONFIRMATIONS)
    }

    pub(crate) fn note_required_confirmations(&self, code: &CryptoCode, required: u32) {
        self.required_confirmations
            .lock()
            .insert(code.clone(), required);
    }

    pub(crate) fn polling_pace(&self) -> PollingPace {
        *self.polling.lock()
    }

    pub(crate) fn set_polling_pace(&self, pace: PollingPace) {
        let before = std::mem::replace(&mut *self.polling.lock(), pace);
        if before.is_delayed() != pace.is_delayed() {
            self.subscriptions.notify_all();
            self.delay_changed.notify_one();
        }
    }

    /// Returns `true` if payments are found later than planned: the gateway cannot be reached, or its limits do not allow the
    /// polls. All proxies on one database say the same.
    pub(crate) fn is_delayed(&self) -> bool {
        self.is_delayed_here() || self.is_delayed_elsewhere.load(Ordering::Relaxed)
    }

    pub(crate) fn is_delayed_here(&self) -> bool {
        self.gateway_unavailable() || self.polling_pace().is_delayed()
    }

    pub(crate) fn set_delayed_elsewhere(&self, is_delayed: bool) {
        if self
            .is_delayed_elsewhere
            .swap(is_delayed, Ordering::Relaxed)
            != is_delayed
        {
            self.subscriptions.notify_all();
        }
    }

    /// Returns `true` if the last poll did not reach the gateway, or the circuit is open.
    pub(crate) fn gateway_unavailable(&self) -> bool {
        self.is_gateway_unreachable.load(Ordering::Relaxed) || self.gateway.health().is_circuit_open
    }
}

// The latest finding of the storage monitor: can orders be stored?

#[derive(Debug, Default)]
pub(crate) struct StorageHealth(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    outage: Option<Outage>,
    written_at: Option<Timestamp>,
}

#[derive(Debug)]
struct Outage {
    since: Timestamp,
    reason: String,
}

/// Logs an error of the storage, with its fields and message, unless it is an outage: the storage monitor reports that, once.
macro_rules! error_unless_outage {
    ($error:expr, $($fields_and_message:tt)+) => {
        if $error.outage().is_none() {
            tracing::error!(error = %$error, $($fields_and_message)+);
        }
    };
}
pub(crate) use error_unless_outage;

impl StorageHealth {
    /// Why nothing can be stored, for the operator; `None` if orders can be stored.
    pub(crate) fn reason(&self) -> Option<String> {
        let state = self.0.lock();
        state.outage.as_ref().map(|outage| outage.reason.clone())
    }

    /// Returns `true` if a write succeeded less than `fresh` ago, and no check failed since.
    pub(crate) fn is_fresh(&self, now: Timestamp, fresh: SignedDuration) -> bool {
        let state = self.0.lock();
        let age = state.written_at.map(|at| now.duration_since(at));
        // A clock that was set back makes nothing fresh for longer.
        state.outage.is_none()
            && age.is_some_and(|age| (SignedDuration::ZERO..fresh).contains(&age))
    }

    /// Records a write that succeeded. Returns the length of the outage that it ends.
    pub(crate) fn record_success(&self, now: Timestamp) -> Option<SignedDuration> {
        let mut state = self.0.lock();
        state.written_at = Some(now);
        let ended = state.outage.take();
        ended.map(|outage| now.duration_since(outage.since))
    }

    /// Records a check that failed. Returns `true` if it begins an outage.
    pub(crate) fn record_failure(&self, now: Timestamp, reason: &str) -> bool {
        let mut state = self.0.lock();
        let is_news = state.outage.is_none();
        let since = state.outage.as_ref().map_or(now, |outage| outage.since);
        let reason = reason.to_owned();
        state.outage = Some(Outage { since, reason });
        is_news
    }
}
