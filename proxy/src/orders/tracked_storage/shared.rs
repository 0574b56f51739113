//! What a database has beside orders changes no order: nothing is announced.

use async_trait::async_trait;
use florin_orders::OrderId;
use florin_storage::{
    ChangeListener, Changed, LimitKey, OrderVersion, PoolState, Result, ServerState, SharedStorage,
    StaticFile, Totals,
};
use jiff::{SignedDuration, Timestamp};

use super::TrackedStorage;

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
