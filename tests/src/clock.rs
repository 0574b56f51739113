//! The machine's clock plus an offset that is moved by hand.

use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use florin_proxy::clock::{Clock, SystemClock};
use jiff::{SignedDuration, Timestamp};
use parking_lot::Mutex;
use tokio::sync::watch;

/// The longest that a message is on its way on the loopback of a loaded machine.
const IN_FLIGHT: Duration = Duration::from_secs(10);

/// A clock that runs like the machine's and can be moved forward. A sleep by it ends when its time has come, with or
/// without a skip.
#[derive(Clone, Debug)]
pub struct MovableClock(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    offset: watch::Sender<SignedDuration>,
    /// When the clock was moved, and its offset until then.
    skips: Mutex<Vec<(Instant, SignedDuration)>>,
}

impl Default for MovableClock {
    fn default() -> Self {
        Self(Arc::new(Inner {
            offset: watch::channel(SignedDuration::ZERO).0,
            skips: Mutex::default(),
        }))
    }
}

impl MovableClock {
    pub fn now(&self) -> Timestamp {
        SystemClock.now() + *self.0.offset.borrow()
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "the age of a change is real time, which this clock does not measure"
    )]
    pub fn skip(&self, time: Duration) {
        let time = SignedDuration::try_from(time).expect("tests skip days, not ages");
        let mut skips = self.0.skips.lock();
        skips.push((Instant::now(), *self.0.offset.borrow()));
        self.0.offset.send_modify(|offset| *offset += time);
    }

    /// The times that a message which arrives now may carry: now, and now by the clock as it ran before each skip that
    /// happened while the message was on its way.
    pub fn times_in_flight(&self) -> Vec<Timestamp> {
        let skips = self.0.skips.lock();
        let recent = skips.iter().filter(|(at, _)| at.elapsed() < IN_FLIGHT);
        let earlier = recent.map(|(_, offset)| SystemClock.now() + *offset);
        std::iter::once(self.now()).chain(earlier).collect()
    }

    async fn sleep_by_it(self, time: Duration) {
        let mut moved = self.0.offset.subscribe();
        let mut before = *moved.borrow_and_update();
        let mut until = self.now() + SignedDuration::try_from(time).unwrap_or(SignedDuration::MAX);
        while let Ok(left) = Duration::try_from(until.duration_since(self.now())) {
            if left.is_zero() {
                return;
            }
            tokio::select! {
                () = SystemClock.sleep(left) => {}
                _ = moved.changed() => {
                    let after = *moved.borrow_and_update();
                    until += (after - before).min(SignedDuration::ZERO);
                    before = after;
                }
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
