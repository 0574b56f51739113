//! Time as a parameter, so that tests let an invoice run out without waiting for it.

use core::fmt;
use core::pin::Pin;
use std::time::Duration;

use jiff::Timestamp;

/// A pause that is over some day.
pub type Sleep = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Where the sandbox takes its time from.
pub trait Clock: fmt::Debug + Send + Sync {
    /// This moment.
    fn now(&self) -> Timestamp;

    /// Waits: before a slow answer, and between two tries of a callback.
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
