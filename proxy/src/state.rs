//! What every request and every job works with.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use jiff::Timestamp;
use ledger::{AttemptId, Ledger, OrderId};
use service_api::{Clock, PaymentService};
use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;

use crate::clock::RandomBytes;
use crate::config::Config;
use crate::orders::rate_limit::OrderRateLimit;
use crate::orders::subscriptions::OrderSubscriptions;
use crate::payments::currencies::Currencies;
use crate::payments::price_cache::PriceCache;
use crate::webhooks::send::Webhooks;

/// The parts that the caller of [`crate::run`] chooses: a real database and service, or ones made for a test.
#[derive(Clone)]
pub struct Dependencies {
    /// Where orders are kept.
    pub ledger: Arc<dyn Ledger>,
    /// Who makes invoices.
    pub service: Arc<dyn PaymentService>,
    /// Who carries events to the stores.
    pub webhooks: Arc<dyn Webhooks>,
    /// What time it is.
    pub clock: Arc<dyn Clock>,
    /// Where ids and tokens come from.
    pub random: Arc<dyn RandomBytes>,
}

/// The running proxy.
pub(crate) struct AppState {
    /// The configuration.
    pub config: Config,
    /// The chosen parts.
    pub deps: Dependencies,
    /// One fresh copy of the prices.
    pub prices: PriceCache,
    /// Who watches which order.
    pub subscriptions: OrderSubscriptions,
    /// How many orders each address has opened.
    pub order_rate_limit: OrderRateLimit,
    /// Rung when an attempt may be due earlier than was thought.
    pub poller_wakeup: Notify,
    /// Rung when an event may wait to be told.
    pub dispatcher_wakeup: watch::Sender<()>,
    /// Cancelled when the process should end.
    pub shutdown: CancellationToken,
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
    /// Puts the parts together.
    pub(crate) fn new(config: Config, deps: Dependencies, shutdown: CancellationToken) -> Self {
        let prices = PriceCache::new(config.service.quote_lifetime);
        let order_rate_limit = OrderRateLimit::new(config.opens_per_minute);
        Self {
            config,
            deps,
            prices,
            order_rate_limit,
            subscriptions: OrderSubscriptions::default(),
            poller_wakeup: Notify::new(),
            dispatcher_wakeup: watch::Sender::new(()),
            shutdown,
            is_gateway_unreachable: AtomicBool::new(false),
            currencies: Mutex::default(),
        }
    }

    /// What time it is.
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

    /// An order changed: everybody who watches it looks again, and its events are told.
    pub(crate) fn order_changed(&self, order: &OrderId) {
        self.subscriptions.notify(order);
        self.dispatcher_wakeup.send_replace(());
    }

    /// Notes whether the service answered. When that is news, every view changes.
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

    /// Notes how the service's list of currencies compares.
    pub(crate) fn set_currencies(&self, found: Currencies) {
        *self
            .currencies
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = found;
    }

    /// How the service's list of currencies compared when it was last had.
    pub(crate) fn currencies(&self) -> Currencies {
        let noted = self
            .currencies
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        noted.clone()
    }

    /// Whether the service could not be reached when it was last asked about an attempt, or is known to be down.
    pub(crate) fn gateway_unavailable(&self) -> bool {
        self.is_gateway_unreachable.load(Ordering::Relaxed)
            || self.deps.service.condition().is_circuit_open
    }
}
