//! The limits of an account as this process uses them: permits and outcomes.
//!
//! The limits are in the account's row: of a database, where several processes share them, or in
//! memory. Each permit and each outcome is a change of the row, by the row's clock. While one change
//! is under way, further requests wait and become one change together, so that under load one lock
//! of the row serves many requests. Within a change outcomes come first, so that a Retry-After pause
//! holds for the permits beside it; then permits by priority.
//!
//! ```text
//! queue: outcome, permit, permit, … ─→ lock row → outcomes → permits → store ─→ answers
//!        (next queue gathers meanwhile)
//! ```
//!
//! No permit is kept in store: another process could not take it back during a pause.

use core::time::Duration;
use std::mem;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures_util::FutureExt as _;
use jiff::{SignedDuration, Timestamp};
use parking_lot::Mutex;
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::sync::oneshot::error::TryRecvError;

use super::account_row::{AccountRow, AccountRowError, Change, Done, MemoryRow, parsed, to_state};
use super::error::Outcome;
use super::limits::{Grant, Limits, Priority, Recorded, Rules};
use super::{CallError, Clock, Health};
use crate::Nonce;

/// Maximum age of the view of a shared row, and of an unstored outcome of a call that went well.
const REFRESH: Duration = Duration::from_secs(1);
/// An older permit is not used: the account may have a pause since.
const MAX_PERMIT_AGE: SignedDuration = SignedDuration::from_secs(2);
/// When to ask again instead of using a permit that is too old.
const RETRY: Duration = Duration::from_millis(100);
/// Outcomes that wait for the database to return; more are dropped, the oldest first.
const MAX_WAITING: usize = 1_000;

pub(super) struct Limiter {
    row: Arc<dyn AccountRow>,
    clock: Arc<dyn Clock>,
    rules: Rules,
    /// Runs the changes of a shared row. `None`: the row is in memory, and a change takes no time.
    runtime: Option<Handle>,
    /// The configuration of this process is in the row.
    is_configured: AtomicBool,
    state: Mutex<State>,
}

struct State {
    queue: Queue,
    is_changing: bool,
    view: View,
}

#[derive(Default)]
struct Queue {
    outcomes: Vec<WaitingOutcome>,
    permits: Vec<(Priority, oneshot::Sender<Result<Grant, CallError>>)>,
    flushes: Vec<oneshot::Sender<()>>,
}

struct WaitingOutcome {
    grant: Grant,
    outcome: Outcome,
    /// When it was known, by the clock of this process.
    at: Timestamp,
    reply: Option<oneshot::Sender<Recorded>>,
}

struct View {
    limits: Limits,
    version: i64,
    /// How far the row's clock is ahead of ours.
    ahead: SignedDuration,
}

/// Permission to send one request. Dropped without `complete`, the caller was cancelled: it says nothing about the gateway.
pub(super) struct Permit {
    limiter: Arc<Limiter>,
    grant: Grant,
    is_completed: bool,
}

impl Permit {
    pub(super) fn nonce(&self) -> Nonce {
        self.grant.nonce
    }

    pub(super) async fn complete(mut self, outcome: Outcome) -> Recorded {
        self.is_completed = true;
        self.limiter.record(self.grant.clone(), outcome).await
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        if !self.is_completed {
            self.limiter
                .add_outcome(self.grant.clone(), Outcome::ABANDONED);
        }
    }
}

impl Limiter {
    pub(super) fn in_memory(rules: Rules, clock: Arc<dyn Clock>) -> Arc<Self> {
        let limits = Limits::new(&rules, clock.now());
        let row = MemoryRow::new(to_state(&limits), clock.clone());
        Arc::new(Self::new(Arc::new(row), clock, rules, limits))
    }

    /// Limits in a row that several processes use. Nothing is read before the first turn of the
    /// runtime.
    pub(super) fn shared(
        row: Arc<dyn AccountRow>,
        rules: Rules,
        clock: Arc<dyn Clock>,
    ) -> Arc<Self> {
        let limits = Limits::new(&rules, clock.now());
        let runtime = Handle::current();
        let limiter = Arc::new(Self {
            runtime: Some(runtime.clone()),
            ..Self::new(row, clock.clone(), rules, limits)
        });
        let weak = Arc::downgrade(&limiter);
        runtime.spawn(async move {
            while let Some(limiter) = weak.upgrade() {
                limiter.refresh().await;
                drop(limiter);
                clock.sleep(REFRESH).await;
            }
        });
        limiter
    }

    fn new(row: Arc<dyn AccountRow>, clock: Arc<dyn Clock>, rules: Rules, limits: Limits) -> Self {
        Self {
            row,
            clock,
            rules,
            runtime: None,
            is_configured: AtomicBool::new(false),
            state: Mutex::new(State {
                queue: Queue::default(),
                is_changing: false,
                view: View {
                    limits,
                    version: -1,
                    ahead: SignedDuration::ZERO,
                },
            }),
        }
    }

    pub(super) fn rules(&self) -> Rules {
        self.rules
    }

    /// Permits one request of this priority, or returns why not and when to try again.
    pub(super) async fn acquire(self: &Arc<Self>, priority: Priority) -> Result<Permit, CallError> {
        let began = self.clock.now();
        let (reply, response) = oneshot::channel();
        self.state.lock().queue.permits.push((priority, reply));
        self.start_change();
        let grant = answer(response)
            .await
            .ok_or_else(|| CallError::NoLimits("it gave no response".to_owned()))??;
        let age = self.clock.now().duration_since(began);
        if age > MAX_PERMIT_AGE {
            self.add_outcome(grant, Outcome::UNSENT);
            return Err(CallError::OutOfBudget { retry_after: RETRY });
        }
        Ok(Permit {
            limiter: self.clone(),
            grant,
            is_completed: false,
        })
    }

    /// The number of requests of a priority that would be permitted now, once the `begun` ones are sent.
    pub(super) fn available(&self, begun: &[Priority], priority: Priority) -> u32 {
        self.read(|limits, now| limits.available(now, begun, priority, &self.rules))
    }

    pub(super) fn health(&self) -> Health {
        self.read(Limits::health)
    }

    /// Waits until every outcome of this process is stored, or could not be stored.
    pub(super) async fn flush(self: &Arc<Self>) {
        let (reply, response) = oneshot::channel();
        self.state.lock().queue.flushes.push(reply);
        self.start_change();
        // Without a response nothing waits any more.
        answer(response).await;
    }

    /// Records the outcome of a permitted request. A shared row stores the outcome of a call that
    /// went well with the next permit, or within a second.
    async fn record(self: &Arc<Self>, grant: Grant, outcome: Outcome) -> Recorded {
        if !outcome.is_urgent() {
            self.add_outcome(grant, outcome);
            return Recorded::default();
        }
        let (reply, response) = oneshot::channel();
        self.push(grant, outcome, Some(reply));
        self.start_change();
        answer(response).await.unwrap_or_default()
    }

    fn add_outcome(self: &Arc<Self>, grant: Grant, outcome: Outcome) {
        let is_urgent = outcome.is_urgent() || self.runtime.is_none();
        self.push(grant, outcome, None);
        if is_urgent || self.state.lock().view.limits.is_waiting_for_outcomes() {
            self.start_change();
        }
    }

    fn read<T>(&self, of: impl FnOnce(&Limits, Timestamp) -> T) -> T {
        let state = self.state.lock();
        of(&state.view.limits, state.view.now(self.clock.now()))
    }

    fn push(&self, grant: Grant, outcome: Outcome, reply: Option<oneshot::Sender<Recorded>>) {
        let at = self.clock.now();
        self.state.lock().queue.outcomes.push(WaitingOutcome {
            grant,
            outcome,
            at,
            reply,
        });
    }

    /// Stores what waits; else reads what the other processes have stored.
    async fn refresh(self: &Arc<Self>) {
        let is_idle = self.state.lock().queue.outcomes.is_empty();
        if !is_idle || !self.is_configured.load(Ordering::Relaxed) {
            return self.flush().await;
        }
        let Ok(found) = self.row.read().await else {
            return;
        };
        let limits = found.state.as_deref().and_then(parsed);
        if let Some(limits) = limits {
            let ahead = found.now.duration_since(self.clock.now());
            self.state.lock().view.see(limits, found.version, ahead);
        }
    }

    fn start_change(self: &Arc<Self>) {
        if mem::replace(&mut self.state.lock().is_changing, true) {
            return;
        }
        let running = Running(self.clone());
        let changes = async move {
            let limiter = &running.0;
            let mut is_stored = true;
            while let Some(queue) = limiter.next_queue(is_stored) {
                is_stored = limiter.change(queue).await;
            }
        };
        match &self.runtime {
            Some(runtime) => drop(runtime.spawn(changes)),
            None => changes.now_or_never().expect("a row in memory is there"),
        }
    }

    /// What waits, or `None` after the last change. After one that failed, outcomes wait for the next call or refresh.
    fn next_queue(&self, is_stored: bool) -> Option<Queue> {
        let mut state = self.state.lock();
        state.is_changing =
            state.queue.is_awaited() || is_stored && !state.queue.outcomes.is_empty();
        state.is_changing.then(|| mem::take(&mut state.queue))
    }

    /// Makes one change of everything that waited, and gives the responses. Returns `false` if the database is away.
    async fn change(&self, mut queue: Queue) -> bool {
        // The order of arrival stays within a priority.
        queue.permits.sort_by_key(|(priority, _)| *priority);
        let change = Arc::new(self.prepare(&queue));
        let step = change.clone();
        let stored = self
            .row
            .change(Arc::new(move |state, now| step.apply(state, now)))
            .await;
        let done = change.done.lock().take();
        match (stored, done) {
            (Ok(version), Some(done)) => {
                self.respond(queue, done, version);
                true
            }
            (Ok(_), None) => {
                self.refuse(queue, &AccountRowError("it changed nothing".to_owned()));
                false
            }
            (Err(error), _) => {
                self.refuse(queue, &error);
                false
            }
        }
    }

    fn prepare(&self, queue: &Queue) -> Change {
        let now = self.clock.now();
        let outcomes = queue.outcomes.iter().map(|waiting| {
            let age = now.duration_since(waiting.at);
            let age = Duration::try_from(age).unwrap_or_default();
            (waiting.grant.clone(), waiting.outcome.clone(), age)
        });
        Change {
            rules: self.rules,
            configures: !self.is_configured.load(Ordering::Relaxed),
            outcomes: outcomes.collect(),
            permits: queue
                .permits
                .iter()
                .map(|(priority, _)| *priority)
                .collect(),
            done: Mutex::new(None),
        }
    }

    fn respond(&self, queue: Queue, done: Done, version: i64) {
        self.is_configured.store(true, Ordering::Relaxed);
        let ahead = done.now.duration_since(self.clock.now());
        self.state.lock().view.see(done.limits, version, ahead);
        for (waiting, recorded) in queue.outcomes.into_iter().zip(done.recorded) {
            for event in &recorded.events {
                event.log();
            }
            if let Some(reply) = waiting.reply {
                // Without a receiver the caller went away.
                let _ = reply.send(recorded);
            }
        }
        for ((_, reply), permit) in queue.permits.into_iter().zip(done.permits) {
            if let Err(Ok(unused)) = reply.send(permit) {
                self.push(unused, Outcome::UNSENT, None);
            }
        }
        for reply in queue.flushes {
            let _ = reply.send(());
        }
    }

    /// The database is away: no permits; this process keeps the outcomes until it returns, and observes them meanwhile.
    fn refuse(&self, queue: Queue, error: &AccountRowError) {
        let mut state = self.state.lock();
        let now = state.view.now(self.clock.now());
        let mut kept = queue.outcomes;
        for waiting in &mut kept {
            waiting.outcome.wants_retry = false;
            if let Some(reply) = waiting.reply.take() {
                let (grant, outcome) = (&waiting.grant, &waiting.outcome);
                let limits = &mut state.view.limits;
                // Without a receiver the caller went away.
                let _ = reply.send(limits.record(now, Duration::ZERO, grant, outcome));
            }
        }
        kept.append(&mut state.queue.outcomes);
        let too_many = kept.len().saturating_sub(MAX_WAITING);
        kept.drain(..too_many);
        state.queue.outcomes = kept;
        drop(state);
        for (_, reply) in queue.permits {
            let _ = reply.send(Err(CallError::NoLimits(error.to_string())));
        }
    }
}

/// Waits for the answer of a change. That of a row in memory is there already, and taking it never
/// yields to another task: no pause begins between a permit and its request.
async fn answer<T>(mut response: oneshot::Receiver<T>) -> Option<T> {
    match response.try_recv() {
        Err(TryRecvError::Empty) => response.await.ok(),
        answer => answer.ok(),
    }
}

/// The task that makes the changes. After a panic the next call starts another one.
struct Running(Arc<Limiter>);

impl Drop for Running {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.state.lock().is_changing = false;
        }
    }
}

impl Queue {
    fn is_awaited(&self) -> bool {
        let asked = self.permits.len() + self.flushes.len();
        asked > 0 || self.outcomes.iter().any(|waiting| waiting.reply.is_some())
    }
}

impl View {
    /// An older one is of a read that was overtaken by a change.
    fn see(&mut self, limits: Limits, version: i64, ahead: SignedDuration) {
        if version >= self.version {
            *self = Self {
                limits,
                version,
                ahead,
            };
        }
    }

    fn now(&self, ours: Timestamp) -> Timestamp {
        ours.saturating_add(self.ahead).unwrap_or(ours)
    }
}
