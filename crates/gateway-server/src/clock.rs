//! Where time comes from.

use core::fmt;
use core::pin::Pin;
use core::time::Duration;

use jiff::Timestamp;
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;

/// The future of [`Clock::sleep`].
pub type Sleep = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Where time comes from.
pub trait Clock: fmt::Debug + Send + Sync {
    /// The current time.
    fn now(&self) -> Timestamp;

    /// Waits.
    fn sleep(&self, duration: Duration) -> Sleep;
}

/// Acts now and after each interval of real time, until the shutdown.
pub async fn every<F: Future<Output = ()>>(
    interval: Duration,
    shutdown: &CancellationToken,
    mut act: impl FnMut() -> F,
) {
    let mut interval = tokio::time::interval(interval);
    interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            () = shutdown.cancelled() => return,
            _ = interval.tick() => {}
        }
        act().await;
    }
}

/// Bytes that cannot be guessed.
#[expect(
    clippy::disallowed_methods,
    reason = "the one place where the gateway draws randomness"
)]
pub(crate) fn random_bytes<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).expect("the operating system has randomness");
    bytes
}

/// The machine's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(
        clippy::disallowed_methods,
        reason = "the one place where the gateway reads the time"
    )]
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "the one place where the gateway waits"
    )]
    fn sleep(&self, duration: Duration) -> Sleep {
        Box::pin(tokio::time::sleep(duration))
    }
}
