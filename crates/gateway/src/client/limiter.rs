//! Permits: one for each request, from the limits of this process or from those that several processes share.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;

use super::limits::{Grant, Limits, Outcome, Priority, Recorded, Rules};
use super::shared_limits::SharedLimits;
use super::{CallError, Clock, Health};
use crate::Nonce;

/// The limits of a client.
pub(super) struct Limiter {
    rules: Rules,
    clock: Arc<dyn Clock>,
    limits: LimitStore,
}

/// Where the limits are kept.
enum LimitStore {
    Process(Box<Mutex<Limits>>),
    Database(Arc<SharedLimits>),
}

/// Permission to send one request. Dropped without `complete`, the caller was cancelled: it says nothing about the gateway.
pub(super) struct Permit<'a> {
    limiter: &'a Limiter,
    grant: Grant,
    is_completed: bool,
}

impl Limiter {
    pub(super) fn of_process(rules: Rules, clock: Arc<dyn Clock>) -> Self {
        let limits = Mutex::new(Limits::new(&rules, clock.now()));
        Self {
            rules,
            clock,
            limits: LimitStore::Process(Box::new(limits)),
        }
    }

    pub(super) fn shared(rules: Rules, clock: Arc<dyn Clock>, limits: Arc<SharedLimits>) -> Self {
        Self {
            rules,
            clock,
            limits: LimitStore::Database(limits),
        }
    }

    pub(super) fn rules(&self) -> Rules {
        self.rules
    }

    /// Permits one request of this priority, or returns why not and when to try again.
    pub(super) async fn acquire(&self, priority: Priority) -> Result<Permit<'_>, CallError> {
        let grant = match &self.limits {
            LimitStore::Process(limits) => {
                lock(limits).take(self.clock.now(), priority, &self.rules)?
            }
            LimitStore::Database(limits) => limits.take(priority).await?,
        };
        Ok(Permit {
            limiter: self,
            grant,
            is_completed: false,
        })
    }

    /// Returns `true` if a failed call may be retried.
    pub(super) async fn may_retry(&self) -> bool {
        match &self.limits {
            LimitStore::Process(limits) => lock(limits).may_retry(),
            LimitStore::Database(limits) => limits.may_retry().await,
        }
    }

    /// The number of requests of a priority that would be permitted now, once the `begun` ones are sent.
    pub(super) fn available(&self, begun: &[Priority], priority: Priority) -> u32 {
        self.read(|limits, now| limits.available(now, begun, priority, &self.rules))
    }

    /// The state of the connection to the gateway.
    pub(super) fn health(&self) -> Health {
        self.read(Limits::health)
    }

    /// Waits until the shared limits have every outcome of this process.
    pub(super) async fn flush(&self) {
        if let LimitStore::Database(limits) = &self.limits {
            limits.flush().await;
        }
    }

    fn read<T>(&self, of: impl FnOnce(&Limits, Timestamp) -> T) -> T {
        match &self.limits {
            LimitStore::Process(limits) => of(&lock(limits), self.clock.now()),
            LimitStore::Database(limits) => limits.read(of),
        }
    }
}

impl Permit<'_> {
    /// The nonce of the request.
    pub(super) fn nonce(&self) -> Nonce {
        self.grant.nonce
    }

    /// Records the outcome of the request.
    pub(super) async fn complete(mut self, outcome: Outcome) -> Recorded {
        self.is_completed = true;
        let limiter = self.limiter;
        match &limiter.limits {
            LimitStore::Process(limits) => {
                record(limits, limiter.clock.now(), &self.grant, &outcome)
            }
            LimitStore::Database(limits) => limits.record(self.grant.clone(), outcome).await,
        }
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        if self.is_completed {
            return;
        }
        let (limiter, outcome) = (self.limiter, Outcome::ABANDONED);
        match &limiter.limits {
            LimitStore::Process(limits) => {
                record(limits, limiter.clock.now(), &self.grant, &outcome);
            }
            LimitStore::Database(limits) => limits.add_outcome(self.grant.clone(), outcome),
        }
    }
}

fn record(limits: &Mutex<Limits>, now: Timestamp, grant: &Grant, outcome: &Outcome) -> Recorded {
    let recorded = lock(limits).record(now, core::time::Duration::ZERO, grant, outcome);
    for news in &recorded.news {
        news.log();
    }
    recorded
}

fn lock(limits: &Mutex<Limits>) -> MutexGuard<'_, Limits> {
    // Every change of the limits is a whole one, so a panic elsewhere leaves nothing half done.
    limits.lock().unwrap_or_else(PoisonError::into_inner)
}
