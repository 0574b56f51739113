//! The clock of leases: the server's, or a test's.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use super::rows::Time;

/// Whose clock ends a lease.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LeaseClock {
    /// The server's: a proxy whose clock is wrong takes no lease of another one.
    #[default]
    Server,
    /// The caller's `now`, for a test on a virtual clock.
    Caller,
}

impl LeaseClock {
    /// What `coalesce($n, clock_timestamp())` takes as the present.
    pub(super) fn now(self, now: Timestamp) -> Option<Time> {
        match self {
            Self::Server => None,
            Self::Caller => Some(Time(now)),
        }
    }
}

/// A lease that begins now.
#[derive(Clone, Debug)]
pub(super) struct Lease {
    /// The process that takes it.
    pub(super) holder: Arc<str>,
    pub(super) clock: LeaseClock,
    /// The caller's time.
    pub(super) now: Timestamp,
    /// When it ends by the caller's time.
    pub(super) until: Timestamp,
}

impl Lease {
    pub(super) fn length_ms(&self) -> i64 {
        milliseconds(self.until.duration_since(self.now))
    }

    pub(super) fn clock(&self) -> Option<Time> {
        self.clock.now(self.now)
    }
}

/// A duration in milliseconds, as a statement multiplies it with an interval; at most a year.
pub(super) fn milliseconds(duration: SignedDuration) -> i64 {
    const YEAR: i128 = 366 * 86_400_000;
    i64::try_from(duration.as_millis().clamp(0, YEAR)).expect("a year of milliseconds")
}
