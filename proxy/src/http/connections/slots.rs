//! The connections of one listener: how many there are, and which of them wait for a request.

use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// Between two log lines about connections that were closed.
const LOG_EVERY: Duration = Duration::from_mins(1);

/// The limits of a listener.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ConnectionLimits {
    /// Connections at once.
    pub all: usize,
    /// Connections of one client address at once.
    pub per_address: usize,
}

/// The connections of one listener.
#[derive(Debug)]
pub(crate) struct Slots {
    all: usize,
    per_address: AtomicUsize,
    state: Mutex<State>,
    /// A connection has ended.
    freed: Notify,
}

#[derive(Debug, Default)]
struct State {
    open: usize,
    per_address: HashMap<IpAddr, usize>,
    /// The connections that wait for a request, the longest waiting first.
    waiting: BTreeMap<u64, CancellationToken>,
    next_turn: u64,
    closed_for_room: u64,
    rejected: u64,
    logged_at: Option<Instant>,
}

/// How many connections a listener has and had.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ConnectionCounts {
    /// Open now.
    pub open: u64,
    /// That may be open.
    pub limit: u64,
    /// Refused, because their address had too many.
    pub rejected: u64,
    /// Closed while they waited, because another one needed the place.
    pub closed_for_room: u64,
}

/// The place of one connection. Dropping it frees the place.
#[derive(Debug)]
pub(crate) struct Slot {
    slots: Arc<Slots>,
    /// The client's address, if it counts.
    address: Option<IpAddr>,
    turn: Mutex<Option<u64>>,
    /// Cancelled when another connection needs the place.
    pub evicted: CancellationToken,
}

/// A request in progress. Dropping it means that the connection waits for the next request.
#[derive(Debug)]
pub(crate) struct InProgress(Arc<Slot>);

impl Slots {
    pub(crate) fn new(limits: ConnectionLimits) -> Arc<Self> {
        Arc::new(Self {
            all: limits.all,
            per_address: AtomicUsize::new(limits.per_address),
            state: Mutex::default(),
            freed: Notify::new(),
        })
    }

    /// Changes how many connections an address may have. Those that it has stay open.
    pub(crate) fn set_per_address(&self, per_address: usize) {
        self.per_address.store(per_address, Ordering::Relaxed);
    }

    /// How many connections there are and were.
    pub(crate) fn counts(&self) -> ConnectionCounts {
        let count = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
        let state = self.state.lock();
        ConnectionCounts {
            open: count(state.open),
            limit: count(self.all),
            rejected: state.rejected,
            closed_for_room: state.closed_for_room,
        }
    }

    /// Takes a place for a new connection. If none is free, the connection that has waited longest for a request is
    /// closed; if all have a request in progress, this waits until one ends.
    ///
    /// Returns `None` if the client's address has as many connections as it may.
    pub(crate) async fn take(self: &Arc<Self>, address: Option<IpAddr>) -> Option<Arc<Slot>> {
        loop {
            let freed = self.freed.notified();
            {
                let mut state = self.state.lock();
                let of_address = address.map_or(0, |address| {
                    state.per_address.get(&address).copied().unwrap_or(0)
                });
                if of_address >= self.per_address.load(Ordering::Relaxed) {
                    state.rejected += 1;
                    self.log_overload(&mut state);
                    return None;
                }
                if state.open < self.all {
                    state.open += 1;
                    if let Some(address) = address {
                        *state.per_address.entry(address).or_default() += 1;
                    }
                    drop(state);
                    let slot = Arc::new(Slot {
                        slots: self.clone(),
                        address,
                        turn: Mutex::default(),
                        evicted: CancellationToken::new(),
                    });
                    slot.wait_for_request();
                    return Some(slot);
                }
                if let Some((_, longest_waiting)) = state.waiting.pop_first() {
                    longest_waiting.cancel();
                    state.closed_for_room += 1;
                    self.log_overload(&mut state);
                }
            }
            freed.await;
        }
    }

    fn log_overload(&self, state: &mut State) {
        if state.logged_at.is_some_and(|at| at.elapsed() < LOG_EVERY) {
            return;
        }
        state.logged_at = Some(Instant::now());
        tracing::warn!(
            open = state.open,
            limit = self.all,
            limit_per_ip = self.per_address.load(Ordering::Relaxed),
            closed = state.closed_for_room,
            rejected = state.rejected,
            "too many connections: those that wait for a request are closed, and an address with too many gets no more. \
             Customers are served. Raise the limit of open files (LimitNOFILE) or limit connections in the reverse proxy"
        );
    }
}

impl Slot {
    /// Marks the connection as busy with a request.
    pub(crate) fn begin(self: &Arc<Self>) -> InProgress {
        let mut state = self.slots.state.lock();
        if let Some(turn) = self.turn.lock().take() {
            state.waiting.remove(&turn);
        }
        drop(state);
        InProgress(self.clone())
    }

    /// Returns `true` if a request is in progress.
    pub(crate) fn is_in_progress(&self) -> bool {
        self.turn.lock().is_none()
    }

    fn wait_for_request(&self) {
        let mut state = self.slots.state.lock();
        let turn = state.next_turn;
        state.next_turn += 1;
        state.waiting.insert(turn, self.evicted.clone());
        *self.turn.lock() = Some(turn);
    }
}

impl Drop for InProgress {
    fn drop(&mut self) {
        self.0.wait_for_request();
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let mut state = self.slots.state.lock();
        state.open -= 1;
        if let Some(turn) = self.turn.get_mut() {
            state.waiting.remove(turn);
        }
        if let Some(address) = self.address
            && let Some(count) = state.per_address.get_mut(&address)
        {
            *count -= 1;
            if *count == 0 {
                state.per_address.remove(&address);
            }
        }
        drop(state);
        self.slots.freed.notify_one();
    }
}
