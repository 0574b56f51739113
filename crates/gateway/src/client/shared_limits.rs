//! The limits that several processes share, in the row of their account.
//!
//! Each permit and each outcome is a change of the row, by the database's clock. While one change is under way, whatever
//! comes up waits, and is one change together: under load a lock of the row serves many requests. Within a change outcomes
//! are first, so that a Retry-After pause holds for the permits beside it; then permits by priority.
//!
//! ```text
//! queue: outcome, permit, permit, … ─→ lock row → outcomes → permits → store ─→ answers
//!        (next queue gathers meanwhile)
//! ```
//!
//! No permit is kept in store: one that another process could not take back would be used inside a pause.

use core::time::Duration;
use std::mem;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::{SignedDuration, Timestamp};
use tokio::runtime::Handle;
use tokio::sync::oneshot;

use super::account_row::{AccountRow, AccountRowError, NewAccountState};
use super::limits::{Grant, Limits, Outcome, Priority, Recorded, Rules};
use super::{CallError, Clock};

/// How old the view of the row is at most, and how late the outcome of a call that went well is stored.
const REFRESH: Duration = Duration::from_secs(1);
/// A permit that is older is not used: the account may have a pause since.
const LONGEST_USE: SignedDuration = SignedDuration::from_secs(2);
/// When to ask again for a permit instead of one that is too old.
const RETRY: Duration = Duration::from_millis(100);
/// Outcomes that wait for the database to return; more are dropped, the oldest first.
const MOST_WAITING: usize = 1_000;

/// The limits of an account as this process uses them.
pub(super) struct SharedLimits {
    row: Arc<dyn AccountRow>,
    clock: Arc<dyn Clock>,
    rules: Rules,
    runtime: Handle,
    /// The configuration of this process is in the row.
    is_configured: AtomicBool,
    state: Mutex<State>,
}

struct State {
    queue: Queue,
    is_changing: bool,
    view: View,
}

/// What waits for the next change.
#[derive(Default)]
struct Queue {
    outcomes: Vec<WaitingOutcome>,
    retries: Vec<oneshot::Sender<bool>>,
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

/// The row as it was last seen.
struct View {
    limits: Limits,
    version: i64,
    /// How far the database's clock is ahead of ours.
    ahead: SignedDuration,
}

/// What one change does, and what came of it.
struct Change {
    rules: Rules,
    configures: bool,
    outcomes: Vec<(Grant, Outcome, Duration)>,
    retries: usize,
    permits: Vec<Priority>,
    done: Mutex<Option<Done>>,
}

struct Done {
    limits: Limits,
    now: Timestamp,
    recorded: Vec<Recorded>,
    retries: Vec<bool>,
    permits: Vec<Result<Grant, CallError>>,
}

impl SharedLimits {
    /// Uses a row; nothing is read before the first turn of the runtime.
    pub(super) fn new(row: Arc<dyn AccountRow>, clock: Arc<dyn Clock>, rules: Rules) -> Arc<Self> {
        let runtime = Handle::current();
        let limits = Limits::new(&rules, clock.now());
        let shared = Arc::new(Self {
            row,
            clock: clock.clone(),
            rules,
            runtime: runtime.clone(),
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
        });
        let weak = Arc::downgrade(&shared);
        runtime.spawn(async move {
            while let Some(shared) = weak.upgrade() {
                shared.refresh().await;
                drop(shared);
                clock.sleep(REFRESH).await;
            }
        });
        shared
    }

    /// Permits one request of this priority.
    pub(super) async fn take(self: &Arc<Self>, priority: Priority) -> Result<Grant, CallError> {
        let began = self.clock.now();
        let (reply, response) = oneshot::channel();
        self.state().queue.permits.push((priority, reply));
        self.start_change();
        let response = response.await;
        let grant =
            response.map_err(|_| CallError::NoLimits("it gave no response".to_owned()))??;
        let age = self.clock.now().duration_since(began);
        if age > LONGEST_USE {
            self.add_outcome(grant, Outcome::UNSENT);
            return Err(CallError::OutOfBudget { retry_after: RETRY });
        }
        Ok(grant)
    }

    /// Returns `true` if a failed call may be retried.
    pub(super) async fn may_retry(self: &Arc<Self>) -> bool {
        let (reply, response) = oneshot::channel();
        self.state().queue.retries.push(reply);
        self.start_change();
        response.await.unwrap_or(false)
    }

    /// Records the outcome of a permitted request. That of a call that went well is stored with the next permit, or
    /// within a second.
    pub(super) async fn record(self: &Arc<Self>, grant: Grant, outcome: Outcome) -> Recorded {
        if !outcome.is_urgent() {
            self.add_outcome(grant, outcome);
            return Recorded::default();
        }
        let (reply, response) = oneshot::channel();
        self.push(grant, outcome, Some(reply));
        self.start_change();
        response.await.unwrap_or_default()
    }

    /// Records an outcome that its caller does not wait for.
    pub(super) fn add_outcome(self: &Arc<Self>, grant: Grant, outcome: Outcome) {
        let is_urgent = outcome.is_urgent();
        self.push(grant, outcome, None);
        if is_urgent || self.state().view.limits.is_waiting_for_outcomes() {
            self.start_change();
        }
    }

    /// Waits until everything that waits is stored, or could not be stored.
    pub(super) async fn flush(self: &Arc<Self>) {
        let (reply, response) = oneshot::channel();
        self.state().queue.flushes.push(reply);
        self.start_change();
        // Without a response nothing waits any more.
        let _ = response.await;
    }

    /// Reads from the last view, by the database's clock.
    pub(super) fn read<T>(&self, of: impl FnOnce(&Limits, Timestamp) -> T) -> T {
        let state = self.state();
        of(&state.view.limits, state.view.now(self.clock.now()))
    }

    fn push(&self, grant: Grant, outcome: Outcome, reply: Option<oneshot::Sender<Recorded>>) {
        let at = self.clock.now();
        self.state().queue.outcomes.push(WaitingOutcome {
            grant,
            outcome,
            at,
            reply,
        });
    }

    /// Stores what waits; else reads what the other processes have stored.
    async fn refresh(self: &Arc<Self>) {
        let is_idle = self.state().queue.outcomes.is_empty();
        if !is_idle || !self.is_configured.load(Ordering::Relaxed) {
            return self.flush().await;
        }
        let Ok(found) = self.row.read().await else {
            return;
        };
        let limits = found.state.as_deref().and_then(parsed);
        if let Some(limits) = limits {
            let ahead = found.now.duration_since(self.clock.now());
            self.state().view.see(limits, found.version, ahead);
        }
    }

    /// Starts the changes, unless they run already.
    fn start_change(self: &Arc<Self>) {
        if mem::replace(&mut self.state().is_changing, true) {
            return;
        }
        let running = Running(self.clone());
        self.runtime.spawn(async move {
            let shared = &running.0;
            let mut is_stored = true;
            while let Some(queue) = shared.next_queue(is_stored) {
                is_stored = shared.change(queue).await;
            }
        });
    }

    /// What waits, or `None` after the last change. After one that failed, outcomes wait for the next call or refresh.
    fn next_queue(&self, is_stored: bool) -> Option<Queue> {
        let mut state = self.state();
        state.is_changing =
            state.queue.is_awaited() || is_stored && !state.queue.outcomes.is_empty();
        state.is_changing.then(|| mem::take(&mut state.queue))
    }

    /// Makes one change of everything that waited, and gives the responses. Returns `false` if the database is away.
    async fn change(self: &Arc<Self>, mut queue: Queue) -> bool {
        // The order of arrival stays within a priority.
        queue.permits.sort_by_key(|(priority, _)| *priority);
        let change = Arc::new(self.prepare(&queue));
        let step = change.clone();
        let stored = self
            .row
            .change(Arc::new(move |state, now| step.apply(state, now)))
            .await;
        let done = change.take_done();
        match (stored, done) {
            (Ok(version), Some(done)) => {
                self.response(queue, done, version);
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
            retries: queue.retries.len(),
            permits: queue
                .permits
                .iter()
                .map(|(priority, _)| *priority)
                .collect(),
            done: Mutex::new(None),
        }
    }

    fn response(self: &Arc<Self>, queue: Queue, done: Done, version: i64) {
        self.is_configured.store(true, Ordering::Relaxed);
        let ahead = done.now.duration_since(self.clock.now());
        self.state().view.see(done.limits, version, ahead);
        for (waiting, recorded) in queue.outcomes.into_iter().zip(done.recorded) {
            for news in &recorded.news {
                news.log();
            }
            if let Some(reply) = waiting.reply {
                // Without a receiver the caller went away.
                let _ = reply.send(recorded);
            }
        }
        for (reply, may_retry) in queue.retries.into_iter().zip(done.retries) {
            let _ = reply.send(may_retry);
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
        let mut state = self.state();
        let now = state.view.now(self.clock.now());
        let mut kept = queue.outcomes;
        for waiting in &mut kept {
            if let Some(reply) = waiting.reply.take() {
                let (grant, outcome) = (&waiting.grant, &waiting.outcome);
                let limits = &mut state.view.limits;
                // Without a receiver the caller went away.
                let _ = reply.send(limits.record(now, Duration::ZERO, grant, outcome));
            }
        }
        kept.append(&mut state.queue.outcomes);
        let too_many = kept.len().saturating_sub(MOST_WAITING);
        kept.drain(..too_many);
        state.queue.outcomes = kept;
        drop(state);
        for reply in queue.retries {
            let _ = reply.send(false);
        }
        for (_, reply) in queue.permits {
            let _ = reply.send(Err(CallError::NoLimits(error.to_string())));
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Every change of the state is a whole one, so a panic elsewhere leaves nothing half done.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The task that makes the changes. After a panic the next call starts another one.
struct Running(Arc<SharedLimits>);

impl Drop for Running {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.state().is_changing = false;
        }
    }
}

impl Queue {
    /// Returns `true` if a caller waits for the next change.
    fn is_awaited(&self) -> bool {
        let asked = self.retries.len() + self.permits.len() + self.flushes.len();
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

impl Change {
    fn apply(&self, state: Option<&str>, now: Timestamp) -> Option<NewAccountState> {
        let rules = &self.rules;
        let stored = state.and_then(parsed);
        let mut limits = match &stored {
            Some(limits) => limits.clone(),
            // What was sent before is not known.
            None if state.is_some() => Limits::new(rules, now).drained(),
            None => Limits::new(rules, now),
        };
        let before = limits.clone();
        if self.configures {
            limits.configure(rules, now);
        }
        let recorded = self.outcomes.iter();
        let recorded = recorded
            .map(|(grant, outcome, age)| limits.record(now, *age, grant, outcome))
            .collect::<Vec<_>>();
        let retries = (0..self.retries).map(|_| limits.may_retry());
        let retries = retries.collect::<Vec<_>>();
        let permits = self.permits.iter();
        let permits = permits
            .map(|priority| limits.take(now, *priority, rules))
            .collect::<Vec<_>>();
        // A refused permit moves the time up to which the bucket is filled, and nothing else.
        let is_changed = self.configures
            || stored.is_none()
            || !recorded.is_empty()
            || !retries.is_empty()
            || permits.iter().any(Result::is_ok);
        let is_durable = stored.is_none() || limits.is_durable_step(&before, rules);
        let new = is_changed.then(|| NewAccountState {
            state: serde_json::to_string(&limits).expect("limits are maps with text keys"),
            is_durable,
        });
        let done = Done {
            limits,
            now,
            recorded,
            retries,
            permits,
        };
        *self.done.lock().unwrap_or_else(PoisonError::into_inner) = Some(done);
        new
    }

    fn take_done(&self) -> Option<Done> {
        self.done
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
    }
}

fn parsed(state: &str) -> Option<Limits> {
    match serde_json::from_str(state) {
        Ok(limits) => Some(limits),
        Err(error) => {
            tracing::error!(%error, "the limits of the gateway account cannot be read: they begin anew, with an empty budget");
            None
        }
    }
}
