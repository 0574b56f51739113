//! The machine's clock plus an offset that is moved by hand.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};
use proxy::clock::{Clock, SystemClock};
use tokio::sync::watch;

/// A clock that runs like the machine's and can be moved forward. Whoever sleeps by it wakes when his time has come,
/// whichever way it came.
#[derive(Clone, Debug)]
pub struct MovableClock(Arc<watch::Sender<SignedDuration>>);

impl Default for MovableClock {
    fn default() -> Self {
        Self(Arc::new(watch::channel(SignedDuration::ZERO).0))
    }
}

impl MovableClock {
    /// What time it is by this clock.
    pub fn now(&self) -> Timestamp {
        SystemClock.now() + *self.0.borrow()
    }

    /// Moves it forward.
    pub fn skip(&self, time: Duration) {
        let time = SignedDuration::try_from(time).expect("tests skip days, not ages");
        self.0.send_modify(|offset| *offset += time);
    }

    /// Whether it was ever moved.
    pub fn was_moved(&self) -> bool {
        !self.0.borrow().is_zero()
    }

    async fn sleep_by_it(self, time: Duration) {
        let until = self.now() + SignedDuration::try_from(time).unwrap_or(SignedDuration::MAX);
        let mut moved = self.0.subscribe();
        while let Ok(left) = Duration::try_from(until.duration_since(self.now())) {
            if left.is_zero() {
                return;
            }
            tokio::select! {
                () = SystemClock.sleep(left) => {}
                _ = moved.changed() => {}
            }
        }
    }
}

#[async_trait]
impl Clock for MovableClock {
    fn now(&self) -> Timestamp {
        Self::now(self)
    }

    async fn sleep(&self, time: Duration) {
        self.clone().sleep_by_it(time).await;
    }
}

impl florin_sandbox::Clock for MovableClock {
    fn now(&self) -> Timestamp {
        Self::now(self)
    }

    fn sleep(&self, time: Duration) -> florin_sandbox::Sleep {
        Box::pin(self.clone().sleep_by_it(time))
    }
}
