//! The views that were rendered last, and what client tokens open: a status read asks the database only after a change.
//!
//! A read that begins after a commit never gets what was there before. Where all writes pass this process, a view is kept
//! with the [`VersionStamp`] from before the order was read, and is served while that is the order's stamp. Where other processes
//! write to the same database ([`florin_storage::Storage::has_other_writers`]), a view is kept with the order's
//! [`OrderVersion`] from before it was read, and each read compares the version: one row of each of three tables, by their
//! keys, in place of loading and rendering the order.

use std::future::Future;
use std::sync::Arc;

use florin_orders::{OrderId, TokenHash};
use florin_storage::{OrderVersion, TokenGrant};
use jiff::Timestamp;
use quick_cache::Weighter;
use quick_cache::sync::Cache;
use tokio::sync::Mutex;

use crate::orders::changes::{OrderChanges, VersionStamp};

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

pub(crate) trait View {
    fn size(&self) -> usize;
}

pub(crate) struct ViewCache<V> {
    changes: Arc<OrderChanges>,
    grants: Cache<TokenHash, Arc<TokenGrant>>,
    views: Cache<OrderId, Entry<V>, Size>,
    loads: Box<[Mutex<()>]>,
    has_other_writers: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Basis {
    Stamp(VersionStamp),
    Version(OrderVersion),
}

struct Entry<V> {
    basis: Basis,
    view: Arc<V>,
}

impl<V> Clone for Entry<V> {
    fn clone(&self) -> Self {
        Self {
            basis: self.basis,
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
    /// An empty cache; one that compares versions if other processes write.
    pub(crate) fn new(changes: Arc<OrderChanges>, has_other_writers: bool) -> Self {
        Self {
            changes,
            grants: Cache::new(MAX_GRANTS),
            views: Cache::with_weighter(EXPECTED_VIEWS, MAX_BYTES, Size),
            loads: std::iter::repeat_with(Mutex::default).take(LOADS).collect(),
            has_other_writers,
        }
    }

    /// What a client token opens at a time; `None` for an unknown or expired token.
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

    /// The view of an order: the kept one if it is current and valid, or what `load` makes. `version` is asked for where
    /// other processes write; without one nothing is kept.
    pub(crate) async fn view<E>(
        &self,
        order: &OrderId,
        is_valid: impl Fn(&V) -> bool,
        version: impl Future<Output = Result<Option<OrderVersion>, E>>,
        load: impl Future<Output = Result<V, E>>,
    ) -> Result<Arc<V>, E> {
        if self.has_other_writers {
            let Some(version) = version.await? else {
                return load.await.map(Arc::new);
            };
            let basis = || Some(Basis::Version(version));
            return self.kept_or_loaded(order, basis, is_valid, load).await;
        }
        let basis = || self.changes.stamp(order).map(Basis::Stamp);
        self.kept_or_loaded(order, basis, is_valid, load).await
    }

    async fn kept_or_loaded<E>(
        &self,
        order: &OrderId,
        basis: impl Fn() -> Option<Basis>,
        is_valid: impl Fn(&V) -> bool,
        load: impl Future<Output = Result<V, E>>,
    ) -> Result<Arc<V>, E> {
        if let Some(view) = self.kept(order, basis(), &is_valid) {
            return Ok(view);
        }
        let _turn = self.loads[self.changes.bucket(order, LOADS)].lock().await;
        let basis = basis();
        if let Some(view) = self.kept(order, basis, &is_valid) {
            return Ok(view);
        }
        let view = Arc::new(load.await?);
        if let Some(basis) = basis {
            let view = view.clone();
            self.views.insert(order.clone(), Entry { basis, view });
        }
        Ok(view)
    }

    /// The kept view of an order, if it is current and valid; `None` where only the database knows.
    pub(crate) fn current(&self, order: &OrderId, is_valid: impl Fn(&V) -> bool) -> Option<Arc<V>> {
        if self.has_other_writers {
            return None;
        }
        let basis = self.changes.stamp(order).map(Basis::Stamp);
        self.kept(order, basis, is_valid)
    }

    fn kept(
        &self,
        order: &OrderId,
        basis: Option<Basis>,
        is_valid: impl Fn(&V) -> bool,
    ) -> Option<Arc<V>> {
        let entry = self.views.get(order)?;
        (basis == Some(entry.basis) && is_valid(&entry.view)).then_some(entry.view)
    }
}

#[cfg(test)]
mod tests;
