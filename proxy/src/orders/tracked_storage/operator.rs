//! Reads and decisions of operators: a decision is announced like every write.

use std::sync::Arc;

use async_trait::async_trait;
use florin_orders::{Aggregate, Event, EventId, OrderId, Snapshot};
use florin_storage::{
    AuditEntry, DecideError, GivenUpEvent, NewAuditEntry, NewDecision, OperatorStorage,
    OrderHistory, OrderSearch, SettledOrder, Storage, StorageError,
};
use jiff::Timestamp;

use super::{TrackedStorage, of};

#[async_trait]
impl OperatorStorage for TrackedStorage {
    async fn decide(
        &self,
        order: &OrderId,
        decision: &NewDecision,
        now: Timestamp,
    ) -> Result<Snapshot, DecideError> {
        let (id, decision) = (order.clone(), decision.clone());
        let work =
            |storage: Arc<dyn Storage>| async move { storage.decide(&id, &decision, now).await };
        self.write(of(order), work, |_| false).await
    }

    async fn find_orders(&self, search: &OrderSearch) -> Result<Vec<Aggregate>, StorageError> {
        self.inner.find_orders(search).await
    }

    async fn orders_for_attention(&self, limit: u32) -> Result<Vec<Aggregate>, StorageError> {
        self.inner.orders_for_attention(limit).await
    }

    async fn order_history(&self, order: &OrderId) -> Result<Option<OrderHistory>, StorageError> {
        self.inner.order_history(order).await
    }

    async fn given_up_events(&self, limit: u32) -> Result<Vec<GivenUpEvent>, StorageError> {
        self.inner.given_up_events(limit).await
    }

    async fn event(&self, event: &EventId) -> Result<Option<Event>, StorageError> {
        self.inner.event(event).await
    }

    async fn record_audit(&self, entry: &NewAuditEntry) -> Result<(), StorageError> {
        self.inner.record_audit(entry).await
    }

    async fn audit_log(
        &self,
        after: Option<i64>,
        limit: u32,
    ) -> Result<Vec<AuditEntry>, StorageError> {
        self.inner.audit_log(after, limit).await
    }

    async fn settled_orders(
        &self,
        from: Timestamp,
        until: Timestamp,
        after: Option<&SettledOrder>,
        limit: u32,
    ) -> Result<Vec<SettledOrder>, StorageError> {
        self.inner.settled_orders(from, until, after, limit).await
    }
}
