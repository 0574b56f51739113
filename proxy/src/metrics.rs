//! Metrics for Prometheus: their names, their types, and what counts them.
//!
//! Counters are counted where something happens, by one line. What exists as state is read when Prometheus asks
//! ([`scrape`]). The number of series is bounded: every label has a closed list of values, except the store's id, of which the
//! first [`MAX_NAMED_STORES`] of the configuration have separate series and all others one together. All series exist from
//! the start, so that `increase()` sees the first event too.
//!
//! These numbers are for dashboards and alerts. Totals of orders and money are those of the database.

mod labels;
pub(crate) mod scrape;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use async_trait::async_trait;
use florin_gateway_client::{
    CallError, CheckoutRequest, Clock, ConfirmRequest, Confirmed, Credentials, Health,
    HostedSession, Invoice, InvoiceId, InvoiceRequest, InvoiceResponse, PaymentGateway, Prices,
    Priority, RawRequest, SettingsError, with_traceparent,
};
use florin_orders::{EventType, Order, StoreId};
use florin_storage::DeliveryOutcome;
use jiff::SignedDuration;
use parking_lot::RwLock;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::{Metric, Registry};
use strum::VariantArray as _;

use crate::config::Store;
use crate::metrics::labels::{
    Call, CallOutcome, StatusClass, event_name, outcome_of_delivery, register,
};
use crate::spans::{Recording, Spans};
use crate::trace;

pub(crate) use self::labels::{Route, Rule};

/// Stores with separate series.
const MAX_NAMED_STORES: usize = 16;
/// The label of all other stores together.
const OTHER_STORES: &str = "(other)";

/// Bounds of the time to a response's head, in seconds. Status reads have 100 ms, an invoice has 3 s.
const HTTP_BOUNDS: [f64; 4] = [0.01, 0.1, 0.5, 3.0];
/// Bounds of calls of the gateway, in seconds. Its deadline is 10 s.
const CALL_BOUNDS: [f64; 4] = [0.1, 0.5, 2.0, 5.0];
/// Bounds of deliveries, in seconds. Their deadline is 15 s.
const DELIVERY_BOUNDS: [f64; 4] = [0.1, 0.5, 2.0, 10.0];

type Labels<const N: usize> = [(&'static str, &'static str); N];
/// A label whose value is a store's id, beside `N - 1` others.
type StoreLabels<const N: usize> = [(&'static str, String); N];
type Histograms = Family<Labels<1>, Histogram, fn() -> Histogram>;

/// The series of one route, so that a request needs no look-up by its labels.
#[derive(Debug)]
struct RouteSeries {
    requests: Vec<Counter>,
    seconds: Histogram,
}

#[derive(Debug, Default)]
struct NamedStores {
    named: BTreeSet<StoreId>,
    has_others: bool,
}

#[derive(Debug)]
pub(crate) struct Metrics {
    registry: Registry,
    stores: RwLock<NamedStores>,
    requests: Family<Labels<2>, Counter>,
    request_seconds: Histograms,
    routes: Vec<RouteSeries>,
    rate_limited: Family<Labels<1>, Counter>,
    order_events: Family<Labels<1>, Counter>,
    credits: Family<StoreLabels<2>, Counter>,
    reviews: Counter,
    calls: Family<Labels<2>, Counter>,
    call_seconds: Histograms,
    deliveries: Family<Labels<1>, Counter>,
    delivery_seconds: Histogram,
    storage_outages: Counter,
}

impl Metrics {
    pub(crate) fn new(stores: &[Store]) -> Self {
        let mut registry = Registry::default();
        let all = &mut registry;
        let version = Info::new([("version", env!("CARGO_PKG_VERSION"))]);
        register(all, "florin_build", version);
        let request: fn() -> Histogram = || Histogram::new(HTTP_BOUNDS);
        let call: fn() -> Histogram = || Histogram::new(CALL_BOUNDS);
        let [requests, calls] = [request, call].map(Family::new_with_constructor);
        let mut metrics = Self {
            stores: RwLock::default(),
            routes: Vec::new(),
            requests: registered(all, "florin_http_requests", Family::default()),
            request_seconds: registered(all, "florin_http_request_seconds", requests),
            rate_limited: registered(all, "florin_rate_limited_requests", Family::default()),
            order_events: registered(all, "florin_order_events", Family::default()),
            credits: registered(all, "florin_credits", Family::default()),
            reviews: registered(all, "florin_payment_reviews", Counter::default()),
            calls: registered(all, "florin_gateway_calls", Family::default()),
            call_seconds: registered(all, "florin_gateway_call_seconds", calls),
            deliveries: registered(all, "florin_webhook_deliveries", Family::default()),
            delivery_seconds: registered(
                all,
                "florin_webhook_delivery_seconds",
                Histogram::new(DELIVERY_BOUNDS),
            ),
            storage_outages: registered(all, "florin_storage_outages", Counter::default()),
            registry,
        };
        metrics.create_series();
        metrics.add_stores(stores);
        metrics
    }

    /// Creates the series of stores that are new in the configuration. Those of a store that is gone stay until the process
    /// ends: a counter that comes back at zero looks like a restart.
    pub(crate) fn add_stores(&self, stores: &[Store]) {
        {
            let mut known = self.stores.write();
            for store in stores {
                if known.named.contains(&store.id) {
                    continue;
                }
                if known.named.len() < MAX_NAMED_STORES {
                    known.named.insert(store.id.clone());
                } else {
                    known.has_others = true;
                }
            }
        }
        for store in stores {
            let labels = self.credit_labels(&store.id, store.currency.as_str());
            drop(self.credits.get_or_create(&labels));
        }
    }

    fn create_series(&mut self) {
        for route in Route::VARIANTS {
            let request = |status: &StatusClass| {
                let labels = [("route", route.into()), ("status", status.into())];
                self.requests.get_or_create_owned(&labels)
            };
            let seconds = &self.request_seconds;
            self.routes.push(RouteSeries {
                requests: StatusClass::VARIANTS.iter().map(request).collect(),
                seconds: seconds.get_or_create_owned(&[("route", route.into())]),
            });
        }
        for rule in Rule::VARIANTS {
            drop(self.rate_limited.get_or_create(&[("rule", rule.into())]));
        }
        for event in EventType::VARIANTS {
            let labels = [("event", event_name(*event))];
            drop(self.order_events.get_or_create(&labels));
        }
        for call in Call::VARIANTS {
            for outcome in CallOutcome::VARIANTS {
                let labels = [("call", call.into()), ("outcome", outcome.into())];
                drop(self.calls.get_or_create(&labels));
            }
            drop(self.call_seconds.get_or_create(&[("call", call.into())]));
        }
        for outcome in labels::DELIVERY_OUTCOMES {
            drop(self.deliveries.get_or_create(&[("outcome", outcome)]));
        }
    }

    pub(crate) fn request(&self, route: Route, status: u16, elapsed: SignedDuration) {
        let series = &self.routes[route as usize];
        series.requests[StatusClass::of(status) as usize].inc();
        series.seconds.observe(in_seconds(elapsed));
    }

    pub(crate) fn rate_limited(&self, rule: Rule) {
        self.rate_limited
            .get_or_create(&[("rule", rule.into())])
            .inc();
    }

    pub(crate) fn order_events(&self, events: &[EventType]) {
        for event in events {
            let labels = [("event", event_name(*event))];
            self.order_events.get_or_create(&labels).inc();
        }
    }

    pub(crate) fn credited(&self, order: &Order) {
        let labels = self.credit_labels(&order.terms.store_id, order.terms.currency.as_str());
        self.credits.get_or_create(&labels).inc();
    }

    pub(crate) fn needs_review(&self) {
        self.reviews.inc();
    }

    fn call<T>(
        &self,
        call: Call,
        result: &Result<T, CallError>,
        elapsed: SignedDuration,
    ) -> &'static str {
        let outcome = CallOutcome::of(result);
        let labels = [("call", call.into()), ("outcome", outcome.into())];
        self.calls.get_or_create(&labels).inc();
        if outcome != CallOutcome::HeldBack {
            let seconds = self.call_seconds.get_or_create(&[("call", call.into())]);
            seconds.observe(in_seconds(elapsed));
        }
        outcome.into()
    }

    /// Counts a delivery. Returns the name of its outcome.
    pub(crate) fn delivery(&self, outcome: &DeliveryOutcome, took: SignedDuration) -> &'static str {
        let outcome = outcome_of_delivery(outcome);
        self.deliveries.get_or_create(&[("outcome", outcome)]).inc();
        self.delivery_seconds.observe(in_seconds(took));
        outcome
    }

    pub(crate) fn storage_outage(&self) {
        self.storage_outages.inc();
    }

    fn store_label(&self, store: &StoreId) -> String {
        let is_named = self.stores.read().named.contains(store);
        if is_named {
            store.to_string()
        } else {
            OTHER_STORES.to_owned()
        }
    }

    fn store_labels<T: Default>(&self) -> BTreeMap<String, T> {
        let known = self.stores.read();
        let named = known.named.iter().map(StoreId::to_string);
        let other = known.has_others.then(|| OTHER_STORES.to_owned());
        named
            .chain(other)
            .map(|label| (label, T::default()))
            .collect()
    }

    /// A store has one currency. The other stores together have any number, and one series.
    fn credit_labels(&self, store: &StoreId, currency: &str) -> StoreLabels<2> {
        let store = self.store_label(store);
        let currency = if store == OTHER_STORES {
            OTHER_STORES
        } else {
            currency
        };
        [("store", store), ("currency", currency.to_owned())]
    }
}

fn registered<M: Metric + Clone>(registry: &mut Registry, name: &'static str, metric: M) -> M {
    register(registry, name, metric.clone());
    metric
}

/// A clock that was set back makes no time negative.
fn in_seconds(elapsed: SignedDuration) -> f64 {
    elapsed.max(SignedDuration::ZERO).as_secs_f64()
}

/// The gateway's client, measured: each call is counted by kind and outcome.
pub(crate) struct MeasuredGateway {
    pub inner: Arc<dyn PaymentGateway>,
    pub spans: Arc<Spans>,
    pub metrics: Arc<Metrics>,
    pub clock: Arc<dyn Clock>,
}

impl MeasuredGateway {
    async fn measured<T>(
        &self,
        call: Call,
        name: &'static str,
        response: impl Future<Output = Result<T, CallError>> + Send,
    ) -> Result<T, CallError> {
        let began = self.clock.now();
        let span = self.spans.client(|| name.into());
        let trace = span.as_ref().map(Recording::trace).or_else(trace::current);
        let result = with_traceparent(trace.map(trace::header), response).await;
        let elapsed = self.clock.now().duration_since(began);
        let outcome = self.metrics.call(call, &result, elapsed);
        if let Some(mut span) = span {
            span.set("florin.gateway.outcome", outcome);
            if let Err(error) = &result {
                span.fail();
                if let CallError::Refused { status, .. } | CallError::Broken { status } = error {
                    span.set_status(*status);
                }
            }
            span.end();
        }
        result
    }
}

#[async_trait]
impl PaymentGateway for MeasuredGateway {
    async fn prices(&self) -> Result<Prices, CallError> {
        self.measured(Call::Prices, "GET /prices", self.inner.prices())
            .await
    }

    async fn create_invoice(&self, request: &InvoiceRequest) -> Result<Invoice, CallError> {
        let response = self.inner.create_invoice(request);
        self.measured(Call::Create, "POST /invoice", response).await
    }

    async fn invoice(
        &self,
        invoice_id: &InvoiceId,
        priority: Priority,
    ) -> Result<InvoiceResponse, CallError> {
        let response = self.inner.invoice(invoice_id, priority);
        self.measured(Call::Poll, "GET /invoice", response).await
    }

    async fn confirm(&self, request: &ConfirmRequest) -> Result<Confirmed, CallError> {
        self.measured(Call::Other, "POST /confirm", self.inner.confirm(request))
            .await
    }

    async fn checkout(&self, request: &CheckoutRequest) -> Result<HostedSession, CallError> {
        self.measured(Call::Create, "POST /checkout", self.inner.checkout(request))
            .await
    }

    async fn forward(&self, request: &RawRequest) -> Result<String, CallError> {
        self.measured(Call::Other, "forwarded call", self.inner.forward(request))
            .await
    }

    fn available_after(&self, begun: &[Priority], priority: Priority) -> u32 {
        self.inner.available_after(begun, priority)
    }

    fn health(&self) -> Health {
        self.inner.health()
    }

    fn set_credentials(&self, credentials: &Credentials) -> Result<(), SettingsError> {
        self.inner.set_credentials(credentials)
    }
}
