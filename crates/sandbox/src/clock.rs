//! Time: where it comes from, and how far the sandbox is ahead of it.

use core::fmt;
use core::pin::Pin;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

/// The future of [`Clock::sleep`].
pub type Sleep = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Where the sandbox takes its time from.
pub trait Clock: fmt::Debug + Send + Sync {
    /// The current time.
    fn now(&self) -> Timestamp;

    /// Waits: before a slow response, and between two tries of a callback.
    fn sleep(&self, duration: Duration) -> Sleep;
}

/// The machine's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(
        clippy::disallowed_methods,
        reason = "the one place where the sandbox reads the time"
    )]
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "the one place where the sandbox waits"
    )]
    fn sleep(&self, duration: Duration) -> Sleep {
        Box::pin(tokio::time::sleep(duration))
    }
}

/// The time of invoices, prices and payments: that of the clock, plus every jump.
///
/// Nonces are compared with the clock itself, so that a caller still signs with the time of day after a jump.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct VirtualClock {
    ahead: SignedDuration,
}

/// Longest jump: a year.
pub(crate) const MAX_JUMP_SECONDS: u32 = 366 * 24 * 60 * 60;

impl VirtualClock {
    /// The sandbox's time when the clock shows `clock`.
    pub(crate) fn now(self, clock: Timestamp) -> Timestamp {
        clock.saturating_add(self.ahead).unwrap_or(clock)
    }

    pub(crate) fn jump(&mut self, seconds: u32) {
        let jump = SignedDuration::from_secs(i64::from(seconds));
        self.ahead = self.ahead.saturating_add(jump);
    }

    pub(crate) fn ahead_seconds(self) -> i64 {
        self.ahead.as_secs()
    }
}
