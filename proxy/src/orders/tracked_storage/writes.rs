//! How a write is carried out: to its end, announced, and with a span of its trace.

use std::future::{Future, pending};

use florin_storage::{Failure, Result};
use tracing::Instrument as _;

use super::TrackedStorage;
use crate::orders::changes::{OrderChanges, Scope, WriteGuard};

impl TrackedStorage {
    /// Records a span of what the storage does, queues and repetitions included: `storage open_order`. It fails with the
    /// database; a refusal by the state of an order is a result.
    pub(super) async fn recorded<T, E: Failure>(
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
    pub(super) async fn write<T, E>(
        &self,
        name: &'static str,
        scope: Scope,
        work: impl Future<Output = Result<T, E>> + Send + 'static,
        changed_nothing: fn(&Result<T, E>) -> bool,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: Failure,
    {
        let mut writing = self.changes.begin(scope);
        let written = completed(async move {
            let done = work.await;
            if changed_nothing(&done) {
                writing.changed_nothing();
            }
            done
        });
        self.recorded(name, written).await
    }

    /// Carries out a write that finds the orders itself.
    pub(super) async fn write_found<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T>> + Send + 'static,
        found: fn(&WriteGuard, &T),
    ) -> Result<T> {
        let mut writing = self.changes.begin(Scope::All);
        completed(async move {
            let done = work.await?;
            found(&writing, &done);
            writing.changed_nothing();
            Ok(done)
        })
        .await
    }

    /// Carries out a write of the poll schedule, which no view shows.
    pub(super) async fn schedule<T, E>(
        &self,
        name: &'static str,
        work: impl Future<Output = Result<T, E>> + Send + 'static,
        announce: impl FnOnce(&OrderChanges, &Result<T, E>) + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: Failure,
    {
        let changes = self.changes.clone();
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

/// The kind of a failure of the database, as a span has it; `None` for a refusal by the state of an order. Source: semantic
/// conventions of OpenTelemetry, `error.type`, which is `_OTHER` for failures without a name.
fn kind(error: &impl Failure) -> Option<&'static str> {
    let error = error.storage_error()?;
    Some(error.outage().map_or("_OTHER", Into::into))
}

#[cfg(test)]
mod tests {
    use florin_storage::{
        DecideError, FileFault, OpenAttemptError, OpenError, OrderOperationError, StorageError,
    };

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
