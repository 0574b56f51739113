//! How a write is carried out: to its end, announced, and with a span of its trace.

use std::future::{Future, pending};
use std::sync::Arc;

use florin_storage::{Result, Storage};
use tracing::Instrument as _;

use super::TrackedStorage;
use super::failure::StorageFailure;
use crate::orders::changes::{OrderChanges, Scope, WriteGuard};

impl TrackedStorage {
    /// Records a span of what the storage does, queues and repetitions included: `storage open_order`. It fails with the
    /// database; a refusal by the state of an order is a result.
    pub(super) async fn recorded<T, E: StorageFailure>(
        &self,
        name: &'static str,
        work: impl Future<Output = Result<T, E>>,
    ) -> Result<T, E> {
        let span = self.spans.client(|| format!("storage {name}").into());
        let done = work.await;
        if let Some(mut span) = span {
            if let Some(kind) = done.as_ref().err().and_then(StorageFailure::kind) {
                span.set("error.type", kind);
                span.fail();
            }
            span.end();
        }
        done
    }

    /// Carries out a write that may change an order's view.
    pub(super) async fn write<T, E, F>(
        &self,
        name: &'static str,
        scope: Scope,
        work: impl FnOnce(Arc<dyn Storage>) -> F,
        changed_nothing: fn(&Result<T, E>) -> bool,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: StorageFailure + Send + 'static,
        F: Future<Output = Result<T, E>> + Send + 'static,
    {
        let mut writing = self.changes.begin(scope);
        let work = work(self.inner.clone());
        let written = completed(async move {
            let done = work.await;
            if changed_nothing(&done) {
                writing.changed_nothing();
            }
            done
        });
        self.recorded(name, written).await
    }

    /// The same of a write that finds the orders itself.
    pub(super) async fn write_found<T, F>(
        &self,
        work: impl FnOnce(Arc<dyn Storage>) -> F,
        found: fn(&WriteGuard, &T),
    ) -> Result<T>
    where
        T: Send + 'static,
        F: Future<Output = Result<T>> + Send + 'static,
    {
        let mut writing = self.changes.begin(Scope::All);
        let work = work(self.inner.clone());
        completed(async move {
            let done = work.await?;
            found(&writing, &done);
            writing.changed_nothing();
            Ok(done)
        })
        .await
    }

    /// Carries out a write of the poll schedule, which no view shows.
    pub(super) async fn schedule<T, E, F>(
        &self,
        name: &'static str,
        work: impl FnOnce(Arc<dyn Storage>) -> F,
        announce: impl FnOnce(&OrderChanges, &Result<T, E>) + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: StorageFailure + Send + 'static,
        F: Future<Output = Result<T, E>> + Send + 'static,
    {
        let (work, changes) = (work(self.inner.clone()), self.changes.clone());
        let written = completed(async move {
            let done = work.await;
            announce(&changes, &done);
            done
        });
        self.recorded(name, written).await
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
