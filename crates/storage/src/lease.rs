//! Leases, and the clock that ends them.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use crate::rows::Time;

/// Whose clock ends a lease.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LeaseClock {
    /// The server's: a proxy whose clock is wrong takes no lease of another one.
    #[default]
    Server,
    /// The caller's `now`: of the one process on a file, or of a test on a virtual clock.
    Caller,
}

impl LeaseClock {
    /// The present, for statements that say `coalesce($n, clock_timestamp())`; `None` for the server's.
    pub(crate) fn now(self, now: Timestamp) -> Option<Time> {
        match self {
            Self::Server => None,
            Self::Caller => Some(Time(now)),
        }
    }
}

/// A lease that begins now.
#[derive(Clone, Debug)]
pub(crate) struct Lease {
    /// The process that takes it.
    pub(crate) holder: Arc<str>,
    pub(crate) clock: LeaseClock,
    /// The caller's time.
    pub(crate) now: Timestamp,
    /// When it ends by the caller's time.
    pub(crate) until: Timestamp,
}

impl Lease {
    pub(crate) fn length_ms(&self) -> i64 {
        milliseconds(self.until.duration_since(self.now))
    }

    pub(crate) fn clock(&self) -> Option<Time> {
        self.clock.now(self.now)
    }
}

/// A duration in milliseconds, as a statement multiplies it with an interval; at most a year.
pub(crate) fn milliseconds(duration: SignedDuration) -> i64 {
    const YEAR: i128 = 366 * 86_400_000;
    i64::try_from(duration.as_millis().clamp(0, YEAR)).expect("a year of milliseconds")
}
