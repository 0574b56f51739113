//! Limits and decisions that both databases share, and leases with the clock that ends them.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use crate::rows::Time;

/// Every attempt costs a call to the gateway and leaves an invoice there.
pub(crate) const MAX_ATTEMPTS_PER_MINUTE: usize = 6;

/// Rows that one transaction of the cleanup changes: customers wait for none longer than for these.
pub(crate) const BATCH: u32 = 100;
/// The same for events that are delivered anew, one statement for all.
pub(crate) const RESTART_BATCH: u32 = 1000;

/// Deliveries to one webhook at once, over all processes that share a database.
pub const MAX_DELIVERIES_PER_WEBHOOK: u32 = 4;
/// How many of them are kept free for events of orders with money, so that a slow store that is sent others learns of a
/// payment at once.
pub(crate) const RESERVED_FOR_MONEY: u32 = 1;

/// Pause between tries ahead of the schedule at an endpoint that is away: an event with money arrives within 10 seconds of its
/// return, the dispatcher's sleep included.
pub const PROBE_INTERVAL: SignedDuration = SignedDuration::from_secs(8);

/// What is planned for less time ahead of a reading of the clock is no error of an earlier reading: other processes and tasks
/// write while the one that read it waits for its turn.
pub(crate) const AT_THIS_MOMENT: SignedDuration = SignedDuration::from_secs(5);

/// How long a report of a process that payments are found late counts: the process may have ended since.
pub const DELAY_REPORT: SignedDuration = SignedDuration::from_secs(15);

/// The priorities of the outbox: events of an order with money, and all others.
pub(crate) const MONEY: i64 = 0;
pub(crate) const OTHER: i64 = 1;

/// Whose clock ends a lease.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LeaseClock {
    /// The server's: a proxy whose clock is wrong takes no lease of another one.
    #[default]
    Server,
    /// The caller's `now`: of the one process on a file, or of a test on a virtual clock.
    Caller,
}

/// A process that takes leases, and the clock that ends them.
#[derive(Clone, Debug)]
pub(crate) struct LeaseHolder {
    pub(crate) name: Arc<str>,
    pub(crate) clock: LeaseClock,
}

impl LeaseHolder {
    /// The present, for statements that say `coalesce($n, clock_timestamp())`; `None` for the server's.
    pub(crate) fn clock(&self, now: Timestamp) -> Option<Time> {
        match self.clock {
            LeaseClock::Server => None,
            LeaseClock::Caller => Some(Time(now)),
        }
    }

    pub(crate) fn lease(&self, now: Timestamp, until: Timestamp) -> Lease {
        Lease {
            holder: self.name.clone(),
            clock: self.clock(now),
            now,
            until,
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Lease {
    pub(crate) holder: Arc<str>,
    pub(crate) clock: Option<Time>,
    pub(crate) now: Timestamp,
    /// When it ends by the caller's time.
    pub(crate) until: Timestamp,
}

impl Lease {
    pub(crate) fn length_ms(&self) -> i64 {
        milliseconds(self.until.duration_since(self.now))
    }
}

/// A duration in milliseconds, as a statement multiplies it with an interval; at most a year.
pub(crate) fn milliseconds(duration: SignedDuration) -> i64 {
    const YEAR: i128 = 366 * 86_400_000;
    i64::try_from(duration.as_millis().clamp(0, YEAR)).expect("a year of milliseconds")
}
