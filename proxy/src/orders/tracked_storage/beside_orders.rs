//! What a storage has beside the orders of customers: reads and decisions of operators and stores' staff, and what the
//! processes on one database share. A decision is announced like every write; the rest changes no order.

use async_trait::async_trait;
use florin_orders::{Aggregate, Event, EventId, OrderId, Snapshot, TokenHash};
use florin_storage::{
    AuditEntry, ChangeListener, Changed, DecideError, GivenUpEvent, LimitKey, NewAuditEntry,
    NewDecision, OperatorStorage, OrderHistory, OrderSearch, OrderVersion, PoolState, Result,
    ServerState, SettledOrder, SharedStorage, StaffAccess, StaffStorage, StaticFile, StoreScope,
    Totals,
};
use jiff::{SignedDuration, Timestamp};

use super::{TrackedStorage, of};

#[async_trait]
impl OperatorStorage for TrackedStorage {
    async fn decide(
        &self,
        order: &OrderId,
        decision: &NewDecision,
        now: Timestamp,
    ) -> Result<Snapshot, DecideError> {
        let (storage, id, decision) = (self.inner.clone(), order.clone(), decision.clone());
        let work = async move { storage.decide(&id, &decision, now).await };
        self.write("decide", of(order), work, |_| false).await
    }

    async fn find_orders(&self, search: &OrderSearch) -> Result<Vec<Aggregate>> {
        self.inner.find_orders(search).await
    }

    async fn orders_for_attention(&self, scope: &StoreScope, limit: u32) -> Result<Vec<Aggregate>> {
        self.inner.orders_for_attention(scope, limit).await
    }

    async fn order_history(
        &self,
        scope: &StoreScope,
        order: &OrderId,
    ) -> Result<Option<OrderHistory>> {
        self.inner.order_history(scope, order).await
    }

    async fn given_up_events(&self, scope: &StoreScope, limit: u32) -> Result<Vec<GivenUpEvent>> {
        self.inner.given_up_events(scope, limit).await
    }

    async fn event(&self, scope: &StoreScope, event: &EventId) -> Result<Option<Event>> {
        self.inner.event(scope, event).await
    }

    async fn record_audit(&self, entry: &NewAuditEntry) -> Result<()> {
        self.inner.record_audit(entry).await
    }

    async fn audit_log(&self, after: Option<i64>, limit: u32) -> Result<Vec<AuditEntry>> {
        self.inner.audit_log(after, limit).await
    }

    async fn settled_orders(
        &self,
        scope: &StoreScope,
        from: Timestamp,
        until: Timestamp,
        after: Option<&SettledOrder>,
        limit: u32,
    ) -> Result<Vec<SettledOrder>> {
        self.inner
            .settled_orders(scope, from, until, after, limit)
            .await
    }
}

#[async_trait]
impl StaffStorage for TrackedStorage {
    async fn add_staff_link(
        &self,
        token: TokenHash,
        access: &StaffAccess,
        expires_at: Timestamp,
    ) -> Result<()> {
        self.inner.add_staff_link(token, access, expires_at).await
    }

    async fn staff_link(&self, token: TokenHash, now: Timestamp) -> Result<Option<StaffAccess>> {
        self.inner.staff_link(token, now).await
    }

    async fn open_staff_session(
        &self,
        link: TokenHash,
        session: TokenHash,
        now: Timestamp,
    ) -> Result<Option<StaffAccess>> {
        self.inner.open_staff_session(link, session, now).await
    }

    async fn staff_session(
        &self,
        session: TokenHash,
        now: Timestamp,
    ) -> Result<Option<StaffAccess>> {
        self.inner.staff_session(session, now).await
    }

    async fn end_staff_session(&self, session: TokenHash) -> Result<()> {
        self.inner.end_staff_session(session).await
    }

    async fn delete_expired_staff_access(&self, now: Timestamp) -> Result<u64> {
        self.inner.delete_expired_staff_access(now).await
    }
}

#[async_trait]
impl SharedStorage for TrackedStorage {
    fn has_other_writers(&self) -> bool {
        self.inner.has_other_writers()
    }

    async fn server_state(&self) -> Result<Option<ServerState>> {
        self.inner.server_state().await
    }

    fn pools(&self) -> Vec<PoolState> {
        self.inner.pools()
    }

    async fn versions(&self, orders: &[OrderId]) -> Result<Vec<(OrderId, OrderVersion)>> {
        self.inner.versions(orders).await
    }

    async fn announce(&self, changed: &Changed) -> Result<()> {
        self.inner.announce(changed).await
    }

    async fn listen(&self) -> Result<Option<Box<dyn ChangeListener>>> {
        self.inner.listen().await
    }

    async fn count_request(
        &self,
        key: LimitKey,
        each: SignedDuration,
        now: Timestamp,
    ) -> Result<Option<SignedDuration>> {
        self.inner.count_request(key, each, now).await
    }

    async fn delete_unused_counts(&self, now: Timestamp) -> Result<u64> {
        self.inner.delete_unused_counts(now).await
    }

    async fn share_delay(&self, is_delayed: bool, now: Timestamp) -> Result<bool> {
        self.inner.share_delay(is_delayed, now).await
    }

    async fn keep_static_files(&self, files: &[StaticFile], now: Timestamp) -> Result<()> {
        self.inner.keep_static_files(files, now).await
    }

    async fn static_file(&self, name: &str) -> Result<Option<StaticFile>> {
        self.inner.static_file(name).await
    }

    async fn totals(&self) -> Result<Totals> {
        self.inner.totals().await
    }

    async fn check_database(&self) -> Result<()> {
        self.inner.check_database().await
    }

    async fn check_writing(&self, now: Timestamp) -> Result<()> {
        self.inner.check_writing(now).await
    }
}
