//! What a database has beside orders changes no order: nothing is announced.

use async_trait::async_trait;
use florin_orders::OrderId;
use florin_storage::{
    ChangeListener, Changed, LimitKey, OrderVersion, PoolState, ServerState, SharedStorage,
    StaticFile, StorageError, Totals,
};
use jiff::{SignedDuration, Timestamp};

use super::TrackedStorage;

#[async_trait]
impl SharedStorage for TrackedStorage {
    fn has_other_writers(&self) -> bool {
        self.inner.has_other_writers()
    }

    async fn server_state(&self) -> Result<Option<ServerState>, StorageError> {
        self.inner.server_state().await
    }

    fn pools(&self) -> Vec<PoolState> {
        self.inner.pools()
    }

    async fn versions(
        &self,
        orders: &[OrderId],
    ) -> Result<Vec<(OrderId, OrderVersion)>, StorageError> {
        self.inner.versions(orders).await
    }

    async fn announce(&self, changed: &Changed) -> Result<(), StorageError> {
        self.inner.announce(changed).await
    }

    async fn listen(&self) -> Result<Option<Box<dyn ChangeListener>>, StorageError> {
        self.inner.listen().await
    }

    async fn count_request(
        &self,
        key: LimitKey,
        each: SignedDuration,
        now: Timestamp,
    ) -> Result<Option<SignedDuration>, StorageError> {
        self.inner.count_request(key, each, now).await
    }

    async fn delete_unused_counts(&self, now: Timestamp) -> Result<u64, StorageError> {
        self.inner.delete_unused_counts(now).await
    }

    async fn share_delay(&self, is_delayed: bool, now: Timestamp) -> Result<bool, StorageError> {
        self.inner.share_delay(is_delayed, now).await
    }

    async fn keep_static_files(
        &self,
        files: &[StaticFile],
        now: Timestamp,
    ) -> Result<(), StorageError> {
        self.inner.keep_static_files(files, now).await
    }

    async fn static_file(&self, name: &str) -> Result<Option<StaticFile>, StorageError> {
        self.inner.static_file(name).await
    }

    async fn totals(&self) -> Result<Totals, StorageError> {
        self.inner.totals().await
    }

    async fn check_database(&self) -> Result<(), StorageError> {
        self.inner.check_database().await
    }

    async fn check_writing(&self, now: Timestamp) -> Result<(), StorageError> {
        self.inner.check_writing(now).await
    }
}
