//! The storage as the proxy uses it: every write announces which orders it may change ([`OrderChanges`]), and what takes part
//! in a trace has a span. What changes no order's view is the storage's own, which this leads to.
//!
//! A write runs in a separate task and always ends: a caller that gives up, like the handler of a request whose browser
//! disconnects, cannot leave behind a commit that comes after the announcement.

use std::collections::HashMap;
use std::future::pending;
use std::ops::Deref;
use std::sync::Arc;

use florin_orders::{
    Abandoned, Attempt, AttemptId, Invoice, NewAttempt, NewOrder, NewRefund, Observation, OrderId,
    PollPriority, Snapshot, TokenHash,
};
use florin_storage::{
    Actor, Claim, DecideError, Delivery, DeliveryOutcome, DueAttempt, Failure, Fingerprint,
    KeptEmail, MarkedAsPaid, NamedTransaction, NewDecision, OpenAttemptError, OpenError, Opened,
    OrderOperationError, RecordedObservation, RequestId, Result, Storage, StoredResponse,
};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use jiff::{SignedDuration, Timestamp};
use parking_lot::Mutex;
use tracing::Instrument as _;

use crate::orders::changes::{OrderChanges, Scope};
use crate::spans::Spans;

/// Attempts whose order is known. Each waits for one call of the gateway; above this number some are forgotten, and their
/// writes count for all orders.
const MAX_BEGUN: usize = 1_024;

/// A storage whose writes are announced. A new write of orders needs a method here that takes the place of the storage's.
#[derive(Debug)]
pub(crate) struct TrackedStorage {
    inner: Arc<dyn Storage>,
    changes: Arc<OrderChanges>,
    spans: Arc<Spans>,
    begun: Mutex<HashMap<AttemptId, OrderId>>,
}

impl Deref for TrackedStorage {
    type Target = dyn Storage;

    fn deref(&self) -> &Self::Target {
        &*self.inner
    }
}

fn of(order: &OrderId) -> Scope {
    Scope::Order(order.clone())
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

    fn scope_of(&self, attempt: &AttemptId) -> Scope {
        let begun = self.begun.lock();
        begun.get(attempt).cloned().map_or(Scope::All, Scope::Order)
    }

    pub(crate) async fn open_order(
        &self,
        id: &OrderId,
        terms: &NewOrder,
        token: TokenHash,
        token_expires_at: Timestamp,
        now: Timestamp,
    ) -> Result<Opened, OpenError> {
        let (storage, id, terms) = (self.inner.clone(), id.clone(), terms.clone());
        let work = async move {
            let opened = storage.open_order(&id, &terms, token, token_expires_at, now);
            opened.await
        };
        // An order that is known stays as it is.
        self.schedule("open_order", work, |_, _| {}).await
    }

    pub(crate) async fn claim_request(
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

    pub(crate) async fn store_response(
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

    pub(crate) async fn order_of_token(
        &self,
        token: TokenHash,
        now: Timestamp,
    ) -> Result<Option<Snapshot>> {
        let found = self.inner.order_of_token(token, now);
        self.recorded("order_of_token", found).await
    }

    pub(crate) async fn snapshot(&self, id: &OrderId) -> Result<Option<Snapshot>> {
        self.recorded("snapshot", self.inner.snapshot(id)).await
    }

    pub(crate) async fn cancel_order(
        &self,
        id: &OrderId,
        now: Timestamp,
    ) -> Result<Snapshot, OrderOperationError> {
        let (storage, order) = (self.inner.clone(), id.clone());
        let work = async move { storage.cancel_order(&order, now).await };
        self.write("cancel_order", of(id), work).await
    }

    pub(crate) async fn expire_orders(&self, now: Timestamp) -> Result<Vec<OrderId>> {
        let storage = self.inner.clone();
        let mut writing = self.changes.begin(Scope::All);
        completed(async move {
            let expired = storage.expire_orders(now).await?;
            for order in &expired {
                writing.mark_changed(order);
            }
            writing.changed_nothing();
            Ok(expired)
        })
        .await
    }

    pub(crate) async fn begin_attempt(
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
        self.write("begin_attempt", of(order), work).await
    }

    pub(crate) async fn open_attempt(
        &self,
        attempt: &AttemptId,
        invoice: &Invoice,
        now: Timestamp,
    ) -> Result<(), OpenAttemptError> {
        let (storage, id, invoice) = (self.inner.clone(), attempt.clone(), invoice.clone());
        let work = async move { storage.open_attempt(&id, &invoice, now).await };
        let opened = self.write("open_attempt", self.scope_of(attempt), work);
        opened.await?;
        self.begun.lock().remove(attempt);
        Ok(())
    }

    pub(crate) async fn abandon_attempt(
        &self,
        attempt: &AttemptId,
        reason: Abandoned,
        now: Timestamp,
    ) -> Result<()> {
        let (storage, id) = (self.inner.clone(), attempt.clone());
        let work = async move { storage.abandon_attempt(&id, reason, now).await };
        let abandoned = self.write("abandon_attempt", self.scope_of(attempt), work);
        abandoned.await?;
        self.begun.lock().remove(attempt);
        Ok(())
    }

    pub(crate) async fn abandon_stale_attempts(
        &self,
        begun_before: Timestamp,
        now: Timestamp,
    ) -> Result<u64> {
        let storage = self.inner.clone();
        let work = async move { storage.abandon_stale_attempts(begun_before, now).await };
        let is_none = |done: &Result<u64>| matches!(done, Ok(0));
        self.write_unless("abandon_stale_attempts", Scope::All, work, is_none)
            .await
    }

    pub(crate) async fn mark_as_paid(
        &self,
        order: &OrderId,
        named: Option<&NamedTransaction>,
        now: Timestamp,
    ) -> Result<MarkedAsPaid, OrderOperationError> {
        let (storage, id, named) = (self.inner.clone(), order.clone(), named.cloned());
        let work = async move { storage.mark_as_paid(&id, named.as_ref(), now).await };
        self.write("mark_as_paid", of(order), work).await
    }

    pub(crate) async fn keep_receipt_email(
        &self,
        order: &OrderId,
        email: Option<&str>,
        now: Timestamp,
    ) -> Result<Option<KeptEmail>> {
        let (storage, id) = (self.inner.clone(), order.clone());
        let email = email.map(ToOwned::to_owned);
        let work = async move { storage.keep_receipt_email(&id, email.as_deref(), now).await };
        self.write("keep_receipt_email", of(order), work).await
    }

    pub(crate) async fn keep_refund_address(
        &self,
        order: &OrderId,
        address: &str,
        now: Timestamp,
    ) -> Result<Option<Snapshot>> {
        let (storage, id, address) = (self.inner.clone(), order.clone(), address.to_owned());
        let work = async move { storage.keep_refund_address(&id, &address, now).await };
        self.write("keep_refund_address", of(order), work).await
    }

    pub(crate) async fn due_attempts(
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

    pub(crate) async fn schedule_poll(
        &self,
        order: &OrderId,
        pause: SignedDuration,
        now: Timestamp,
    ) -> Result<bool> {
        let (storage, id) = (self.inner.clone(), order.clone());
        let work = async move { storage.schedule_poll(&id, pause, now).await };
        self.schedule_of(order, "schedule_poll", work).await
    }

    pub(crate) async fn schedule_polls_of_order(
        &self,
        order: &OrderId,
        pause: SignedDuration,
        now: Timestamp,
    ) -> Result<bool> {
        let (storage, id) = (self.inner.clone(), order.clone());
        let work = async move { storage.schedule_polls_of_order(&id, pause, now).await };
        self.schedule_of(order, "schedule_polls_of_order", work)
            .await
    }

    pub(crate) async fn replan_future(&self, now: Timestamp) -> Result<u64> {
        let storage = self.inner.clone();
        let work = async move { storage.replan_future(now).await };
        let is_none = |done: &Result<u64>| matches!(done, Ok(0));
        self.write_unless("replan_future", Scope::All, work, is_none)
            .await
    }

    pub(crate) async fn reschedule_poll(
        &self,
        due: &DueAttempt,
        until: Timestamp,
        now: Timestamp,
    ) -> Result<()> {
        let (storage, leased) = (self.inner.clone(), due.clone());
        let work = async move { storage.reschedule_poll(&leased, until, now).await };
        self.schedule_of(&due.order_id, "reschedule_poll", work)
            .await
    }

    pub(crate) async fn record_observation(
        &self,
        due: &DueAttempt,
        observation: &Observation,
    ) -> Result<Option<RecordedObservation>> {
        let scope = of(&due.order_id);
        let (storage, due, observation) = (self.inner.clone(), due.clone(), observation.clone());
        let work = async move { storage.record_observation(&due, &observation).await };
        let is_older = |done: &Result<Option<RecordedObservation>>| matches!(done, Ok(None));
        self.write_unless("record_observation", scope, work, is_older)
            .await
    }

    pub(crate) async fn record_delivery(
        &self,
        delivery: &Delivery,
        outcome: DeliveryOutcome,
    ) -> Result<()> {
        let recorded = self.inner.record_delivery(delivery, outcome);
        self.recorded("record_delivery", recorded).await
    }

    pub(crate) async fn decide(
        &self,
        order: &OrderId,
        decision: &NewDecision,
        now: Timestamp,
    ) -> Result<Snapshot, DecideError> {
        let (storage, id, decision) = (self.inner.clone(), order.clone(), decision.clone());
        let work = async move { storage.decide(&id, &decision, now).await };
        self.write("decide", of(order), work).await
    }

    pub(crate) async fn refund(
        &self,
        order: &OrderId,
        refund: &NewRefund,
        actor: &Actor,
        now: Timestamp,
    ) -> Result<Snapshot, DecideError> {
        let (storage, id) = (self.inner.clone(), order.clone());
        let (refund, actor) = (refund.clone(), actor.clone());
        let work = async move { storage.refund(&id, &refund, &actor, now).await };
        self.write("refund", of(order), work).await
    }

    /// Records a span of what the storage does, queues and repetitions included: `storage open_order`. It fails with the
    /// database; a refusal by the state of an order is a result.
    async fn recorded<T, E: Failure>(
        &self,
        name: &'static str,
        work: impl Future<Output = Result<T, E>>,
    ) -> Result<T, E> {
        let span = self.spans.client(|| format!("storage {name}").into());
        let done = work.await;
        if let Some(mut span) = span {
            if let Some(kind) = done.as_ref().err().and_then(kind) {
                span.set("error.type", kind);
                span.fail();
            }
            span.end();
        }
        done
    }

    /// Carries out a write that may change an order's view.
    fn write<T: Send + 'static, E: Failure>(
        &self,
        name: &'static str,
        scope: Scope,
        work: impl Future<Output = Result<T, E>> + Send + 'static,
    ) -> BoxFuture<'_, Result<T, E>> {
        self.write_unless(name, scope, work, |_| false)
    }

    /// Carries out a write of which the outcome says whether it changed anything.
    fn write_unless<T: Send + 'static, E: Failure>(
        &self,
        name: &'static str,
        scope: Scope,
        work: impl Future<Output = Result<T, E>> + Send + 'static,
        changed_nothing: fn(&Result<T, E>) -> bool,
    ) -> BoxFuture<'_, Result<T, E>> {
        let mut writing = self.changes.begin(scope);
        let written = async move {
            let done = work.await;
            if changed_nothing(&done) {
                writing.changed_nothing();
            }
            done
        };
        self.recorded(name, completed(written.boxed())).boxed()
    }

    /// Carries out a write of the poll schedule of one order, which no view shows.
    fn schedule_of<T: Send + 'static>(
        &self,
        order: &OrderId,
        name: &'static str,
        work: impl Future<Output = Result<T>> + Send + 'static,
    ) -> BoxFuture<'_, Result<T>> {
        let scope = of(order);
        self.schedule(name, work, move |changes, _| changes.invalidate(&scope))
    }

    /// Carries out a write of which no view shows anything.
    fn schedule<T: Send + 'static, E: Failure>(
        &self,
        name: &'static str,
        work: impl Future<Output = Result<T, E>> + Send + 'static,
        announce: impl FnOnce(&OrderChanges, &Result<T, E>) + Send + 'static,
    ) -> BoxFuture<'_, Result<T, E>> {
        let changes = self.changes.clone();
        let written = async move {
            let done = work.await;
            announce(&changes, &done);
            done
        };
        self.recorded(name, completed(written.boxed())).boxed()
    }
}

/// Completes a write also if the caller gives up.
async fn completed<T: Send + 'static>(work: impl Future<Output = T> + Send + 'static) -> T {
    match tokio::spawn(work.in_current_span()).await {
        Ok(done) => done,
        Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
        // The runtime ends.
        Err(_) => pending().await,
    }
}

/// The kind of a failure of the database, as a span has it; `None` for a refusal by the state of an order. Source: semantic
/// conventions of OpenTelemetry, `error.type`, which is `_OTHER` for failures without a name.
fn kind(error: &impl Failure) -> Option<&'static str> {
    let error = error.storage_error()?;
    Some(error.outage().map_or("_OTHER", Into::into))
}

#[cfg(test)]
mod tests {
    use florin_storage::{FileFault, StorageError};

    use super::*;

    #[test]
    fn a_failure_has_the_kind_of_the_outage_and_a_refusal_has_none() {
        let gone = || StorageError::File(FileFault::Gone("florin.db".into()));
        assert_eq!(kind(&gone()), Some("gone"));
        assert_eq!(kind(&OpenError::from(gone())), Some("gone"));
        assert_eq!(kind(&OpenAttemptError::from(gone())), Some("gone"));
        assert_eq!(kind(&DecideError::from(gone())), Some("gone"));
        let corrupt = StorageError::Corrupt("an order".into());
        assert_eq!(kind(&OrderOperationError::from(corrupt)), Some("_OTHER"));
        assert_eq!(kind(&OrderOperationError::InProgress), None);
        assert_eq!(kind(&OrderOperationError::TooMany), None);
    }
}
