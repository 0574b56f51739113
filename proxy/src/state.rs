//! The state that requests and workers share.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use florin_gateway::{Clock, PaymentGateway};
use florin_orders::{AttemptId, OrderId};
use florin_storage::Storage;
use jiff::Timestamp;
use parking_lot::Mutex;
use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;

use crate::clock::RandomBytes;
use crate::config::Config;
use crate::orders::rate_limit::OrderRateLimit;
use crate::orders::subscriptions::OrderSubscriptions;
use crate::payments::currencies::Currencies;
use crate::payments::price_cache::PriceCache;
use crate::storage_health::StorageHealth;
use crate::webhooks::send::Webhooks;

/// What the caller of [`crate::run`] chooses: a real database and gateway, or those of a test.
#[derive(Clone)]
pub struct Dependencies {
    /// The database.
    pub ledger: Arc<dyn Storage>,
    /// The gateway's client.
    pub gateway: Arc<dyn PaymentGateway>,
    /// Sends events to the stores.
    pub webhooks: Arc<dyn Webhooks>,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// Source of ids and tokens.
    pub random: Arc<dyn RandomBytes>,
}

/// The running proxy.
pub(crate) struct AppState {
    /// The configuration.
    pub config: Config,
    /// Database, gateway, clock and randomness.
    pub deps: Dependencies,
    /// The gateway's prices, cached for everybody.
    pub prices: PriceCache,
    /// The open event streams.
    pub subscriptions: OrderSubscriptions,
    /// Limits the orders that an address opens.
    pub order_rate_limit: OrderRateLimit,
    /// Wakes the payment poller: a poll may be due sooner.
    pub poller_wakeup: Notify,
    /// Wakes the webhook dispatcher: an event may be due.
    pub dispatcher_wakeup: watch::Sender<()>,
    /// Cancelled when the process should end.
    pub shutdown: CancellationToken,
    /// Whether orders can be stored.
    pub storage_health: StorageHealth,
    is_gateway_unreachable: AtomicBool,
    currencies: Mutex<Currencies>,
}

impl std::fmt::Debug for AppState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AppState")
            .field("config", &self.config)
            .finish_non_exhaustive()
    }
}

impl AppState {
    /// Builds the state.
    pub(crate) fn new(config: Config, deps: Dependencies, shutdown: CancellationToken) -> Self {
        let prices = PriceCache::new(config.gateway.quote_ttl);
        let order_rate_limit = OrderRateLimit::new(config.rate_limit.orders_per_minute_per_ip);
        Self {
            config,
            deps,
            prices,
            order_rate_limit,
            subscriptions: OrderSubscriptions::default(),
            poller_wakeup: Notify::new(),
            dispatcher_wakeup: watch::Sender::new(()),
            shutdown,
            storage_health: StorageHealth::default(),
            is_gateway_unreachable: AtomicBool::new(false),
            currencies: Mutex::default(),
        }
    }

    /// The current time.
    pub(crate) fn now(&self) -> Timestamp {
        self.deps.clock.now()
    }

    /// A new order's id.
    pub(crate) fn random_order_id(&self) -> OrderId {
        OrderId::from_random(self.random_bits())
    }

    /// A new attempt's id.
    pub(crate) fn random_attempt_id(&self) -> AttemptId {
        AttemptId::from_random(self.random_bits())
    }

    /// 128 random bits.
    pub(crate) fn random_bits(&self) -> [u8; 16] {
        let mut bits = [0; 16];
        self.deps.random.fill(&mut bits);
        bits
    }

    /// Notifies the order's streams and wakes the webhook dispatcher, after a change was committed.
    pub(crate) fn order_changed(&self, order: &OrderId) {
        self.subscriptions.notify(order);
        self.dispatcher_wakeup.send_replace(());
    }

    /// Records whether the gateway answered. Returns `true` if that changed, which changes every view.
    pub(crate) fn set_gateway_reachable(&self, answered: bool) -> bool {
        let news = self
            .is_gateway_unreachable
            .swap(!answered, Ordering::Relaxed)
            == answered;
        if news {
            self.subscriptions.notify_all();
        }
        news
    }

    /// Stores the comparison of the gateway's currencies with ours.
    pub(crate) fn set_currencies(&self, found: Currencies) {
        *self.currencies.lock() = found;
    }

    /// The last comparison of the gateway's currencies with ours.
    pub(crate) fn currencies(&self) -> Currencies {
        let noted = self.currencies.lock();
        noted.clone()
    }

    /// Returns `true` if the last poll did not reach the gateway, or the circuit is open.
    pub(crate) fn gateway_unavailable(&self) -> bool {
        self.is_gateway_unreachable.load(Ordering::Relaxed)
            || self.deps.gateway.health().is_circuit_open
    }
}
