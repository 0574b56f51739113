//! The views that were rendered last, and what client tokens open: a status read asks the database only after a change.
//!
//! A view is kept with the [`Stamp`] from before the order was read, and is served while that is the order's stamp: a read
//! that begins after a commit never gets what was there before. This needs every write to pass this process. Where other
//! processes write to the same database ([`florin_storage::Storage::has_other_writers`]) no view is kept; a store for
//! several proxies can bring a version of each order to compare with.

use std::future::Future;
use std::sync::Arc;

use florin_orders::{OrderId, TokenHash};
use florin_storage::TokenGrant;
use jiff::Timestamp;
use quick_cache::Weighter;
use quick_cache::sync::Cache;
use tokio::sync::Mutex;

use crate::orders::changes::{OrderChanges, Stamp};

/// Client tokens that are kept; one takes about 200 bytes.
const MAX_GRANTS: usize = 32_768;
/// The bytes of all views that are kept.
const MAX_BYTES: u64 = 32 * 1024 * 1024;
/// What the room is laid out for: views of 4 KiB.
const EXPECTED_VIEWS: usize = 8_192;
/// What an entry takes besides its view.
const ENTRY_BYTES: u64 = 256;
/// Orders whose views are loaded at once. Readers of one order wait for one load.
const LOADS: usize = 256;

/// What is kept.
pub(crate) trait View {
    /// Its bytes, about.
    fn size(&self) -> usize;
}

/// The cache of views of one kind.
pub(crate) struct ViewCache<V> {
    changes: Arc<OrderChanges>,
    grants: Cache<TokenHash, Arc<TokenGrant>>,
    views: Cache<OrderId, Entry<V>, Size>,
    loads: Box<[Mutex<()>]>,
    is_off: bool,
}

struct Entry<V> {
    stamp: Stamp,
    view: Arc<V>,
}

impl<V> Clone for Entry<V> {
    fn clone(&self) -> Self {
        Self {
            stamp: self.stamp,
            view: self.view.clone(),
        }
    }
}

#[derive(Clone)]
struct Size;

impl<V: View> Weighter<OrderId, Entry<V>> for Size {
    fn weight(&self, _: &OrderId, entry: &Entry<V>) -> u64 {
        ENTRY_BYTES + entry.view.size() as u64
    }
}

impl<V: View> ViewCache<V> {
    /// An empty cache; one that keeps no view if other processes write.
    pub(crate) fn new(changes: Arc<OrderChanges>, has_other_writers: bool) -> Self {
        Self {
            changes,
            grants: Cache::new(MAX_GRANTS),
            views: Cache::with_weighter(EXPECTED_VIEWS, MAX_BYTES, Size),
            loads: std::iter::repeat_with(Mutex::default).take(LOADS).collect(),
            is_off: has_other_writers,
        }
    }

    /// Returns `true` if a change is always noticed by a notification.
    pub(crate) fn notices_every_change(&self) -> bool {
        !self.is_off
    }

    /// What a client token opens at a time; `None` for an unknown or expired token.
    ///
    /// # Errors
    /// Those of `load`.
    pub(crate) async fn grant<E>(
        &self,
        token: TokenHash,
        now: Timestamp,
        load: impl Future<Output = Result<Option<TokenGrant>, E>>,
    ) -> Result<Option<Arc<TokenGrant>>, E> {
        let grant = match self.grants.get(&token) {
            Some(grant) => grant,
            None => match load.await? {
                Some(grant) => {
                    let grant = Arc::new(grant);
                    self.grants.insert(token, grant.clone());
                    grant
                }
                None => return Ok(None),
            },
        };
        Ok((now < grant.expires_at).then_some(grant))
    }

    /// The view of an order: the kept one if it is current and valid, or what `load` makes.
    ///
    /// # Errors
    /// Those of `load`.
    pub(crate) async fn view<E>(
        &self,
        order: &OrderId,
        is_valid: impl Fn(&V) -> bool,
        load: impl Future<Output = Result<V, E>>,
    ) -> Result<Arc<V>, E> {
        if let Some(view) = self.current(order, &is_valid) {
            return Ok(view);
        }
        if self.is_off {
            return load.await.map(Arc::new);
        }
        let _turn = self.loads[self.changes.share(order, LOADS)].lock().await;
        if let Some(view) = self.current(order, &is_valid) {
            return Ok(view);
        }
        let stamp = self.changes.stamp(order);
        let view = Arc::new(load.await?);
        if let Some(stamp) = stamp {
            let view = view.clone();
            self.views.insert(order.clone(), Entry { stamp, view });
        }
        Ok(view)
    }

    /// The kept view of an order, if it is current and valid.
    pub(crate) fn current(&self, order: &OrderId, is_valid: impl Fn(&V) -> bool) -> Option<Arc<V>> {
        let Entry { stamp, view } = self.views.get(order)?;
        (self.changes.stamp(order) == Some(stamp) && is_valid(&view)).then_some(view)
    }
}

#[cfg(test)]
mod tests;
