//! The connections of one listener: how many there are, and which of them wait for a request.
//!
//! A semaphore would not do: when all places are taken, the connection that has waited longest for a request is closed, so
//! that idle clients keep no customer out, and each client address has a limit of its connections.
//!
//! A request marks its connection by two atomic writes. What needs all connections (a place for a new one, the time limits,
//! the end of the process) reads the marks of all, so that requests share no lock.

use std::collections::HashMap;
use std::future::poll_fn;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::task::Poll;
use std::time::Duration;

use futures_util::task::AtomicWaker;
use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::time::Instant;

const LOG_EVERY: Duration = Duration::from_mins(1);

#[derive(Clone, Copy, Debug)]
pub(crate) struct ConnectionLimits {
    pub all: usize,
    pub per_address: usize,
}

#[derive(Debug)]
pub(crate) struct Slots {
    all: usize,
    per_address: usize,
    began: Instant,
    state: Mutex<State>,
    /// A connection has ended, or one may wait for a request.
    freed: Notify,
}

#[derive(Debug, Default)]
struct State {
    open: HashMap<u64, Arc<Activity>>,
    next_number: u64,
    per_address: HashMap<IpAddr, usize>,
    /// The connections that waited for a request when they were last sorted, the longest waiting last: since when, and their
    /// numbers.
    waiting: Vec<(u64, u64)>,
    closed_for_room: u64,
    rejected: u64,
    logged_at: Option<Instant>,
}

#[derive(Debug)]
struct Activity {
    /// Since when it waits for a request, in nanoseconds of its listener; [`BUSY`] while one is in progress.
    waiting_since: AtomicU64,
    has_served: AtomicBool,
    /// An [`End`], or 0. A higher one stays.
    end: AtomicU8,
    waker: AtomicWaker,
}

const BUSY: u64 = 0;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// Another one needs its place, or it has waited too long.
    Evicted = 1,
    Shutdown,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct ConnectionCounts {
    pub open: u64,
    pub limit: u64,
    /// Refused, because their address had too many.
    pub rejected: u64,
    /// Closed while they waited, because another one needed the place.
    pub closed_for_room: u64,
}

#[derive(Debug)]
pub(crate) struct Slot {
    slots: Arc<Slots>,
    number: u64,
    /// The client's address, if it counts.
    address: Option<IpAddr>,
    activity: Arc<Activity>,
}

/// A request in progress. Dropping it means that the connection waits for the next request.
#[derive(Debug)]
pub(crate) struct InProgress {
    began: Instant,
    activity: Arc<Activity>,
}

impl Slots {
    pub(crate) fn new(limits: ConnectionLimits) -> Arc<Self> {
        Arc::new(Self {
            all: limits.all,
            per_address: limits.per_address,
            began: Instant::now(),
            state: Mutex::default(),
            freed: Notify::new(),
        })
    }

    pub(crate) fn counts(&self) -> ConnectionCounts {
        let count = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
        let state = self.state.lock();
        ConnectionCounts {
            open: count(state.open.len()),
            limit: count(self.all),
            rejected: state.rejected,
            closed_for_room: state.closed_for_room,
        }
    }

    /// Takes a place for a new connection. If none is free, the connection that has waited longest for a request is
    /// closed; if all have a request in progress, this waits until one ends.
    ///
    /// Returns `None` if the client's address has as many connections as it may.
    pub(crate) async fn take(self: &Arc<Self>, address: Option<IpAddr>) -> Option<Slot> {
        loop {
            let freed = self.freed.notified();
            {
                let mut state = self.state.lock();
                let of_address = address.map_or(0, |address| {
                    state.per_address.get(&address).copied().unwrap_or(0)
                });
                if of_address >= self.per_address {
                    state.rejected += 1;
                    self.log_overload(&mut state);
                    return None;
                }
                if state.open.len() < self.all {
                    return Some(self.open(&mut state, address));
                }
                if let Some(longest_waiting) = state.longest_waiting() {
                    longest_waiting.end(End::Evicted);
                    state.closed_for_room += 1;
                    self.log_overload(&mut state);
                }
            }
            freed.await;
        }
    }

    fn open(self: &Arc<Self>, state: &mut State, address: Option<IpAddr>) -> Slot {
        let number = state.next_number;
        state.next_number += 1;
        let activity = Arc::new(Activity {
            waiting_since: AtomicU64::new(since(self.began)),
            has_served: AtomicBool::new(false),
            end: AtomicU8::new(0),
            waker: AtomicWaker::new(),
        });
        state.open.insert(number, activity.clone());
        if let Some(address) = address {
            *state.per_address.entry(address).or_default() += 1;
        }
        Slot {
            slots: self.clone(),
            number,
            address,
            activity,
        }
    }

    /// Closes the connections that have waited longer for a request than they may: `first` until the head of their first
    /// request, `next` until that of another one.
    pub(crate) fn close_overdue(&self, first: Duration, next: Duration) {
        let now = since(self.began);
        let state = self.state.lock();
        for activity in state.open.values() {
            let limit = if activity.has_served.load(Ordering::Relaxed) {
                next
            } else {
                first
            };
            if let Some(since) = activity.waiting_since()
                && u128::from(now.saturating_sub(since)) >= limit.as_nanos()
            {
                activity.end(End::Evicted);
            }
        }
        if state.open.len() >= self.all {
            // All had a request in progress; one of them may wait by this time.
            self.freed.notify_one();
        }
    }

    pub(crate) fn shut_down(&self) {
        for activity in self.state.lock().open.values() {
            activity.end(End::Shutdown);
        }
    }

    fn log_overload(&self, state: &mut State) {
        if state.logged_at.is_some_and(|at| at.elapsed() < LOG_EVERY) {
            return;
        }
        state.logged_at = Some(Instant::now());
        tracing::warn!(
            open = state.open.len(),
            limit = self.all,
            limit_per_ip = self.per_address,
            closed = state.closed_for_room,
            rejected = state.rejected,
            "too many connections: those that wait for a request are closed, and an address with too many gets no more. \
             Customers are served. Raise the limit of open files (LimitNOFILE) or limit connections in the reverse proxy"
        );
    }
}

impl State {
    /// The connection that has waited longest for a request and is not ending, if one waits.
    ///
    /// The connections are sorted once for all that have waited since then: what has begun to wait later has waited shorter
    /// than each of them.
    fn longest_waiting(&mut self) -> Option<&Activity> {
        let number = if let Some(number) = self.next_waiting() {
            number
        } else {
            self.sort_waiting();
            self.next_waiting()?
        };
        self.open.get(&number).map(|activity| &**activity)
    }

    fn next_waiting(&mut self) -> Option<u64> {
        while let Some((since, number)) = self.waiting.pop() {
            let still_waits = self.open.get(&number).is_some_and(|activity| {
                activity.waiting_since() == Some(since) && activity.ending().is_none()
            });
            if still_waits {
                return Some(number);
            }
        }
        None
    }

    fn sort_waiting(&mut self) {
        let waiting = self.open.iter().filter_map(|(number, activity)| {
            let since = activity.waiting_since()?;
            activity.ending().is_none().then_some((since, *number))
        });
        self.waiting = waiting.collect();
        self.waiting.sort_unstable_by(|one, other| other.cmp(one));
    }
}

impl Activity {
    fn waiting_since(&self) -> Option<u64> {
        let since = self.waiting_since.load(Ordering::Acquire);
        (since != BUSY).then_some(since)
    }

    fn ending(&self) -> Option<End> {
        match self.end.load(Ordering::Acquire) {
            0 => None,
            1 => Some(End::Evicted),
            _ => Some(End::Shutdown),
        }
    }

    fn end(&self, end: End) {
        if self.end.fetch_max(end as u8, Ordering::AcqRel) < end as u8 {
            self.waker.wake();
        }
    }
}

impl Slot {
    pub(crate) fn begin(&self) -> InProgress {
        self.activity.waiting_since.store(BUSY, Ordering::Release);
        if !self.activity.has_served.load(Ordering::Relaxed) {
            self.activity.has_served.store(true, Ordering::Relaxed);
        }
        InProgress {
            began: self.slots.began,
            activity: self.activity.clone(),
        }
    }

    pub(crate) fn is_in_progress(&self) -> bool {
        self.activity.waiting_since().is_none()
    }

    pub(crate) async fn end(&self) -> End {
        poll_fn(|context| {
            self.activity.waker.register(context.waker());
            self.activity.ending().map_or(Poll::Pending, Poll::Ready)
        })
        .await
    }
}

impl Drop for InProgress {
    fn drop(&mut self) {
        let now = since(self.began);
        self.activity.waiting_since.store(now, Ordering::Release);
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let mut state = self.slots.state.lock();
        state.open.remove(&self.number);
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

/// Nanoseconds since a time, and never [`BUSY`].
fn since(began: Instant) -> u64 {
    u64::try_from(began.elapsed().as_nanos())
        .unwrap_or(u64::MAX)
        .max(BUSY + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slots(all: usize) -> Arc<Slots> {
        Slots::new(ConnectionLimits {
            all,
            per_address: all,
        })
    }

    async fn taken(slots: &Arc<Slots>) -> Slot {
        slots.take(None).await.unwrap()
    }

    fn closed(taken: &[Slot]) -> Vec<usize> {
        let numbers = taken.iter().enumerate();
        let closed = numbers.filter(|(_, slot)| slot.activity.ending() == Some(End::Evicted));
        closed.map(|(number, _)| number).collect()
    }

    async fn try_take(slots: &Arc<Slots>) -> Option<Slot> {
        let taken = tokio::time::timeout(Duration::from_millis(1), slots.take(None)).await;
        taken.ok().flatten()
    }

    #[tokio::test]
    async fn connections_are_closed_in_the_order_in_which_they_began_to_wait() {
        let slots = slots(4);
        let mut open = Vec::new();
        for _ in 0..4 {
            open.push(taken(&slots).await);
        }
        let busy = open[0].begin();
        drop(open[1].begin());
        for closed_then in [vec![2], vec![2, 3]] {
            assert!(try_take(&slots).await.is_none());
            assert_eq!(closed(&open), closed_then);
        }
        // Two began to wait since the connections were sorted.
        drop(open[1].begin());
        drop(busy);
        assert!(try_take(&slots).await.is_none());
        assert_eq!(closed(&open), [1, 2, 3]);
        assert!(try_take(&slots).await.is_none());
        assert_eq!(closed(&open), [0, 1, 2, 3]);
        assert_eq!(slots.counts().closed_for_room, 4);
        open.pop();
        assert!(try_take(&slots).await.is_some());
    }

    #[tokio::test]
    async fn a_connection_waits_while_all_have_a_request_in_progress() {
        let slots = slots(1);
        let busy = taken(&slots).await;
        let in_progress = busy.begin();
        assert!(try_take(&slots).await.is_none());
        assert_eq!(busy.activity.ending(), None);
        drop((in_progress, busy));
        assert!(try_take(&slots).await.is_some());
    }

    #[tokio::test]
    async fn time_limits_are_of_waiting_connections() {
        let slots = slots(4);
        let open = [
            taken(&slots).await,
            taken(&slots).await,
            taken(&slots).await,
        ];
        drop(open[1].begin());
        let _busy = open[2].begin();
        let (never, at_once) = (Duration::from_hours(1), Duration::ZERO);
        slots.close_overdue(never, never);
        assert_eq!(closed(&open), [0; 0]);
        slots.close_overdue(at_once, never);
        assert_eq!(closed(&open), [0]);
        slots.close_overdue(at_once, at_once);
        assert_eq!(closed(&open), [0, 1]);
        assert!(open[2].is_in_progress());
        slots.shut_down();
        assert!(
            open.iter()
                .all(|slot| slot.activity.ending() == Some(End::Shutdown))
        );
    }

    #[tokio::test]
    async fn an_address_has_a_limited_number_of_connections() {
        let slots = Slots::new(ConnectionLimits {
            all: 4,
            per_address: 2,
        });
        let address = |last| Some(IpAddr::from([192, 0, 2, last]));
        let (_first, second) = (slots.take(address(1)).await, slots.take(address(1)).await);
        assert!(second.is_some());
        assert!(slots.take(address(1)).await.is_none());
        assert!(slots.take(address(2)).await.is_some());
        assert_eq!(slots.counts().rejected, 1);
        drop(second);
        assert!(slots.take(address(1)).await.is_some());
    }
}
