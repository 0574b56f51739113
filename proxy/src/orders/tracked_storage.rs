//! The storage as the proxy uses it: every write announces which orders it may change ([`OrderChanges`]).
//!
//! A write runs in a separate task and always ends: a caller that gives up, like the handler of a request whose browser
//! disconnects, cannot leave behind a commit that comes after the announcement.

mod beside_orders;
mod writes;

use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use florin_orders::{
    Abandoned, Attempt, AttemptId, Event, EventId, Invoice, InvoiceId, NewAttempt, NewOrder,
    Observation, OrderId, PollPriority, Snapshot, StoreId, TokenHash,
};
use florin_storage::{
    Claim, Credit, Delivery, DeliveryFilter, DeliveryOutcome, DueAttempt, DueDelivery,
    EndpointStatus, Fingerprint, KeptEmail, MarkedAsPaid, NamedTransaction, OpenAttemptError,
    OpenError, Opened, OrderFilter, OrderOperationError, PollQueue, PriceList, RecordedDelivery,
    RecordedObservation, RequestId, Result, Storage, StoredResponse, TokenGrant,
};
use jiff::{SignedDuration, Timestamp};
use parking_lot::Mutex;

use crate::orders::changes::{OrderChanges, Scope};
use crate::spans::Spans;

/// Attempts whose order is known. Each waits for one call of the gateway; above this number some are forgotten, and their
/// writes count for all orders.
const MAX_BEGUN: usize = 1_024;

/// A storage whose writes are announced.
#[derive(Debug)]
pub(crate) struct TrackedStorage {
    inner: Arc<dyn Storage>,
    changes: Arc<OrderChanges>,
    spans: Arc<Spans>,
    /// The orders of the attempts that are being opened.
    begun: Mutex<HashMap<AttemptId, OrderId>>,
}

impl TrackedStorage {
    pub(crate) fn new(
        inner: Arc<dyn Storage>,
        changes: Arc<OrderChanges>,
        spans: Arc<Spans>,
    ) -> Self {
        Self {
            inner,
            changes,
            spans,
            begun: Mutex::default(),
        }
    }

    /// The order of an attempt that is being opened.
    fn scope_of(&self, attempt: &AttemptId) -> Scope {
        let begun = self.begun.lock();
        begun.get(attempt).cloned().map_or(Scope::All, Scope::Order)
    }
}

fn of(order: &OrderId) -> Scope {
    Scope::Order(order.clone())
}

#[async_trait]
impl Storage for TrackedStorage {
    async fn keep_prices(&self, prices: &PriceList) -> Result<()> {
        self.inner.keep_prices(prices).await
    }

    async fn prices(&self, fetched_after: Timestamp) -> Result<Vec<PriceList>> {
        self.inner.prices(fetched_after).await
    }

    async fn invalidate_prices(&self) -> Result<()> {
        self.inner.invalidate_prices().await
    }

    async fn delete_expired_prices(&self, fetched_until: Timestamp) -> Result<u64> {
        self.inner.delete_expired_prices(fetched_until).await
    }

    async fn open_order(
        &self,
        id: &OrderId,
        terms: &NewOrder,
        token: TokenHash,
        token_expires_at: Timestamp,
        now: Timestamp,
    ) -> Result<Opened, OpenError> {
        let (id, terms) = (id.clone(), terms.clone());
        // An order that is known stays as it is.
        let storage = self.inner.clone();
        let work = async move {
            let opened = storage.open_order(&id, &terms, token, token_expires_at, now);
            opened.await
        };
        self.schedule("open_order", work, |_, _| {}).await
    }

    async fn add_token(
        &self,
        order: &OrderId,
        token: TokenHash,
        token_expires_at: Timestamp,
    ) -> Result<()> {
        self.inner.add_token(order, token, token_expires_at).await
    }

    async fn claim_request(
        &self,
        request: RequestId,
        fingerprint: Fingerprint,
        now: Timestamp,
        lease_until: Timestamp,
    ) -> Result<Claim> {
        let claimed = self
            .inner
            .claim_request(request, fingerprint, now, lease_until);
        self.recorded("claim_request", claimed).await
    }

    async fn store_response(
        &self,
        request: RequestId,
        lease_until: Timestamp,
        response: &StoredResponse,
        kept_until: Timestamp,
    ) -> Result<bool> {
        let stored = self
            .inner
            .store_response(request, lease_until, response, kept_until);
        self.recorded("store_response", stored).await
    }

    async fn release_request(&self, request: RequestId, lease_until: Timestamp) -> Result<()> {
        self.inner.release_request(request, lease_until).await
    }

    async fn delete_expired_requests(&self, now: Timestamp) -> Result<u64> {
        self.inner.delete_expired_requests(now).await
    }

    async fn order_of_token(&self, token: TokenHash, now: Timestamp) -> Result<Option<Snapshot>> {
        let found = self.inner.order_of_token(token, now);
        self.recorded("order_of_token", found).await
    }

    async fn token_grant(&self, token: TokenHash) -> Result<Option<TokenGrant>> {
        self.inner.token_grant(token).await
    }

    async fn snapshot(&self, id: &OrderId) -> Result<Option<Snapshot>> {
        self.recorded("snapshot", self.inner.snapshot(id)).await
    }

    async fn orders(&self, store: &StoreId, filter: &OrderFilter) -> Result<Vec<Snapshot>> {
        self.inner.orders(store, filter).await
    }

    async fn cancel_order(
        &self,
        id: &OrderId,
        now: Timestamp,
    ) -> Result<Snapshot, OrderOperationError> {
        let order = id.clone();
        let storage = self.inner.clone();
        let work = async move { storage.cancel_order(&order, now).await };
        self.write("cancel_order", of(id), work, |_| false).await
    }

    async fn delete_expired_tokens(&self, now: Timestamp) -> Result<u64> {
        self.inner.delete_expired_tokens(now).await
    }

    async fn expire_orders(&self, now: Timestamp) -> Result<Vec<OrderId>> {
        let storage = self.inner.clone();
        let work = async move { storage.expire_orders(now).await };
        self.write_found(work, |writing, expired| {
            for order in expired {
                writing.mark_changed(order);
            }
        })
        .await
    }

    async fn begin_attempt(
        &self,
        order: &OrderId,
        terms: &NewAttempt,
        now: Timestamp,
    ) -> Result<Attempt, OrderOperationError> {
        {
            let mut begun = self.begun.lock();
            if begun.len() >= MAX_BEGUN {
                begun.clear();
            }
            begun.insert(terms.id.clone(), order.clone());
        }
        let (storage, id, terms) = (self.inner.clone(), order.clone(), terms.clone());
        let work = async move { storage.begin_attempt(&id, &terms, now).await };
        self.write("begin_attempt", of(order), work, |_| false)
            .await
    }

    async fn open_attempt(
        &self,
        attempt: &AttemptId,
        invoice: &Invoice,
        now: Timestamp,
    ) -> Result<(), OpenAttemptError> {
        let scope = self.scope_of(attempt);
        let (storage, id, invoice) = (self.inner.clone(), attempt.clone(), invoice.clone());
        let work = async move { storage.open_attempt(&id, &invoice, now).await };
        let opened = self.write("open_attempt", scope, work, |_| false).await;
        if opened.is_ok() {
            self.begun.lock().remove(attempt);
        }
        opened
    }

    async fn abandon_attempt(
        &self,
        attempt: &AttemptId,
        reason: Abandoned,
        now: Timestamp,
    ) -> Result<()> {
        let (storage, scope, id) = (self.inner.clone(), self.scope_of(attempt), attempt.clone());
        let work = async move { storage.abandon_attempt(&id, reason, now).await };
        let abandoned = self.write("abandon_attempt", scope, work, |_| false).await;
        if abandoned.is_ok() {
            self.begun.lock().remove(attempt);
        }
        abandoned
    }

    async fn abandon_stale_attempts(&self, begun_before: Timestamp, now: Timestamp) -> Result<u64> {
        let storage = self.inner.clone();
        let work = async move { storage.abandon_stale_attempts(begun_before, now).await };
        self.write("abandon_stale_attempts", Scope::All, work, |done| {
            matches!(done, Ok(0))
        })
        .await
    }

    async fn mark_as_paid(
        &self,
        order: &OrderId,
        named: Option<&NamedTransaction>,
        now: Timestamp,
    ) -> Result<MarkedAsPaid, OrderOperationError> {
        let (storage, id, named) = (self.inner.clone(), order.clone(), named.cloned());
        let work = async move { storage.mark_as_paid(&id, named.as_ref(), now).await };
        self.write("mark_as_paid", of(order), work, |_| false).await
    }

    async fn keep_receipt_email(
        &self,
        order: &OrderId,
        email: Option<&str>,
        now: Timestamp,
    ) -> Result<Option<KeptEmail>> {
        let (storage, id, email) = (
            self.inner.clone(),
            order.clone(),
            email.map(ToOwned::to_owned),
        );
        let work = async move { storage.keep_receipt_email(&id, email.as_deref(), now).await };
        self.write("keep_receipt_email", of(order), work, |_| false)
            .await
    }

    async fn due_attempts(
        &self,
        priority: PollPriority,
        now: Timestamp,
        lease_until: Timestamp,
        limit: u32,
    ) -> Result<Vec<DueAttempt>> {
        let storage = self.inner.clone();
        let work = async move {
            let due = storage.due_attempts(priority, now, lease_until, limit);
            due.await
        };
        self.schedule("due_attempts", work, |changes, leased| match leased {
            Ok(leased) => {
                for due in leased {
                    changes.invalidate(&of(&due.order_id));
                }
            }
            Err(_) => changes.invalidate(&Scope::All),
        })
        .await
    }

    async fn schedule_poll(&self, order: &OrderId, at: Timestamp) -> Result<bool> {
        let (storage, id, scope) = (self.inner.clone(), order.clone(), of(order));
        let work = async move { storage.schedule_poll(&id, at).await };
        self.schedule("schedule_poll", work, move |changes, _| {
            changes.invalidate(&scope);
        })
        .await
    }

    async fn schedule_polls_of_order(
        &self,
        order: &OrderId,
        pause: SignedDuration,
        now: Timestamp,
    ) -> Result<bool> {
        let (storage, id, scope) = (self.inner.clone(), order.clone(), of(order));
        let work = async move { storage.schedule_polls_of_order(&id, pause, now).await };
        self.schedule("schedule_polls_of_order", work, move |changes, _| {
            changes.invalidate(&scope);
        })
        .await
    }

    async fn replan_future(&self, now: Timestamp) -> Result<u64> {
        let storage = self.inner.clone();
        let work = async move { storage.replan_future(now).await };
        self.write("replan_future", Scope::All, work, |done| {
            matches!(done, Ok(0))
        })
        .await
    }

    async fn poll_queue(&self, until: Timestamp, most: u32) -> Result<PollQueue> {
        self.inner.poll_queue(until, most).await
    }

    // A callback brings a poll forward. A view that was read before asks for the poll again at most, which changes nothing.
    async fn schedule_poll_of_invoice(&self, invoice: &InvoiceId, at: Timestamp) -> Result<bool> {
        self.inner.schedule_poll_of_invoice(invoice, at).await
    }

    async fn schedule_recheck(&self, invoice: &InvoiceId, at: Timestamp) -> Result<bool> {
        self.inner.schedule_recheck(invoice, at).await
    }

    async fn store_of_invoice(&self, invoice: &InvoiceId) -> Result<Option<StoreId>> {
        self.inner.store_of_invoice(invoice).await
    }

    async fn reschedule_poll(
        &self,
        due: &DueAttempt,
        until: Timestamp,
        now: Timestamp,
    ) -> Result<()> {
        let (storage, due, scope) = (self.inner.clone(), due.clone(), of(&due.order_id));
        let work = async move { storage.reschedule_poll(&due, until, now).await };
        self.schedule("reschedule_poll", work, move |changes, _| {
            changes.invalidate(&scope);
        })
        .await
    }

    async fn record_observation(
        &self,
        due: &DueAttempt,
        observation: &Observation,
    ) -> Result<Option<RecordedObservation>> {
        let scope = of(&due.order_id);
        let (storage, due, observation) = (self.inner.clone(), due.clone(), observation.clone());
        let work = async move { storage.record_observation(&due, &observation).await };
        self.write("record_observation", scope, work, |done| {
            matches!(done, Ok(None))
        })
        .await
    }

    async fn credit_of(&self, order: &OrderId) -> Result<Option<Credit>> {
        self.inner.credit_of(order).await
    }

    async fn events(
        &self,
        store: &StoreId,
        after: Option<&EventId>,
        limit: u32,
    ) -> Result<Option<Vec<Event>>> {
        self.inner.events(store, after, limit).await
    }

    async fn due_deliveries(
        &self,
        store: &StoreId,
        now: Timestamp,
        lease_until: Timestamp,
        limit: u32,
    ) -> Result<Vec<DueDelivery>> {
        let due = self.inner.due_deliveries(store, now, lease_until, limit);
        due.await
    }

    async fn record_delivery(&self, delivery: &Delivery, outcome: DeliveryOutcome) -> Result<()> {
        let recorded = self.inner.record_delivery(delivery, outcome);
        self.recorded("record_delivery", recorded).await
    }

    async fn deliveries(
        &self,
        store: &StoreId,
        filter: &DeliveryFilter,
    ) -> Result<Option<Vec<RecordedDelivery>>> {
        self.inner.deliveries(store, filter).await
    }

    async fn redeliver(&self, store: &StoreId, event: &EventId, now: Timestamp) -> Result<bool> {
        self.inner.redeliver(store, event, now).await
    }

    async fn endpoint_status(&self, store: &StoreId) -> Result<EndpointStatus> {
        self.inner.endpoint_status(store).await
    }

    async fn enable_endpoint(&self, store: &StoreId, now: Timestamp) -> Result<bool> {
        self.inner.enable_endpoint(store, now).await
    }

    async fn backlog(&self) -> Result<u64> {
        self.inner.backlog().await
    }
}
