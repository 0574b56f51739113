//! One life of the proxy's process. Its end is a crash: whatever it was waiting for never comes, so that nothing of it
//! has an effect any more, while the database, the service and the store go on. A process may also be frozen, and go on
//! beside the one that took its place.

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;
use proxy::clock::Clock;
use tokio_util::sync::CancellationToken;

use crate::timeline::Millis;
use crate::world::World;

#[derive(Clone)]
pub(crate) struct Life {
    pub(crate) world: Arc<World>,
    pub(crate) ended: CancellationToken,
    frozen_until: Arc<AtomicI64>,
}

impl Life {
    pub(crate) fn begin(world: Arc<World>) -> Self {
        Self {
            world,
            ended: CancellationToken::new(),
            frozen_until: Arc::default(),
        }
    }

    /// Returns while the process lives and moves.
    pub(crate) async fn goes_on(&self) {
        loop {
            if self.ended.is_cancelled() {
                pending::<()>().await;
            }
            let left = self.frozen_until.load(Ordering::Relaxed) - self.world.timeline.now();
            if left <= 0 {
                return;
            }
            self.world.timeline.sleep(left).await;
        }
    }

    pub(crate) async fn sleep(&self, millis: Millis) {
        self.goes_on().await;
        self.world.timeline.sleep(millis).await;
        self.goes_on().await;
    }

    /// The process stops, and goes on later.
    pub(crate) fn freeze(&self, millis: Millis) {
        let until = self.world.timeline.now() + millis;
        self.frozen_until.store(until, Ordering::Relaxed);
    }

    /// The process dies here.
    pub(crate) async fn crash<T>(&self, moment: &'static str) -> T {
        if !self.ended.is_cancelled() {
            self.world.crash(self, moment);
        }
        pending().await
    }
}

/// The clock on the machine's wall, which somebody sets now and then.
#[async_trait]
impl Clock for Life {
    fn now(&self) -> Timestamp {
        Timestamp::from_millisecond(self.world.wall()).expect("a time of this century")
    }

    async fn sleep(&self, time: Duration) {
        let millis = Millis::try_from(time.as_millis()).unwrap_or(Millis::MAX / 2);
        Self::sleep(self, millis).await;
    }
}
