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
use crate::orders::rate_limit::OpeningLimit;
use crate::orders::subscriptions::Watchers;
use crate::payments::currencies::Currencies;
use crate::payments::price_cache::PriceBoard;
use crate::webhooks::send::Webhooks;

/// The parts that the caller of [`crate::run`] chooses: a real database and service, or ones made for a test.
#[derive(Clone)]
pub struct Parts {
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
pub(crate) struct App {
    /// The configuration.
    pub config: Config,
    /// The chosen parts.
    pub parts: Parts,
    /// One fresh copy of the prices.
    pub prices: PriceBoard,
    /// Who watches which order.
    pub watchers: Watchers,
    /// How many orders each address has opened.
    pub openings: OpeningLimit,
    /// Rung when an attempt may be due earlier than was thought.
    pub attempts_due: Notify,
    /// Rung when an event may wait to be told.
    pub deliveries_due: watch::Sender<()>,
    /// Cancelled when the process should end.
    pub shutdown: CancellationToken,
    is_delayed: AtomicBool,
    currencies: Mutex<Currencies>,
}

impl std::fmt::Debug for App {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("App")
            .field("config", &self.config)
            .finish_non_exhaustive()
    }
}

impl App {
    /// Puts the parts together.
    pub(crate) fn new(config: Config, parts: Parts, shutdown: CancellationToken) -> Self {
        let prices = PriceBoard::new(config.service.quote_lifetime);
        let openings = OpeningLimit::new(config.opens_per_minute);
        Self {
            config,
            parts,
            prices,
            openings,
            watchers: Watchers::default(),
            attempts_due: Notify::new(),
            deliveries_due: watch::Sender::new(()),
            shutdown,
            is_delayed: AtomicBool::new(false),
            currencies: Mutex::default(),
        }
    }

    /// What time it is.
    pub(crate) fn now(&self) -> Timestamp {
        self.parts.clock.now()
    }

    /// A new order's id.
    pub(crate) fn draw_order_id(&self) -> OrderId {
        OrderId::from_random(self.draw())
    }

    /// A new attempt's id.
    pub(crate) fn draw_attempt_id(&self) -> AttemptId {
        AttemptId::from_random(self.draw())
    }

    /// 128 random bits.
    pub(crate) fn draw(&self) -> [u8; 16] {
        let mut bits = [0; 16];
        self.parts.random.fill(&mut bits);
        bits
    }

    /// An order changed: everybody who watches it looks again, and its events are told.
    pub(crate) fn order_changed(&self, order: &OrderId) {
        self.watchers.wake(order);
        self.deliveries_due.send_replace(());
    }

    /// Notes whether the service answered. When that is news, every view changes.
    pub(crate) fn service_answered(&self, answered: bool) -> bool {
        let news = self.is_delayed.swap(!answered, Ordering::Relaxed) == answered;
        if news {
            self.watchers.wake_all();
        }
        news
    }

    /// Notes how the service's list of currencies compares.
    pub(crate) fn note_currencies(&self, found: Currencies) {
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
    pub(crate) fn is_delayed(&self) -> bool {
        self.is_delayed.load(Ordering::Relaxed) || self.parts.service.condition().is_circuit_open
    }
}
