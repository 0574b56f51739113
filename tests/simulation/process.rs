//! One process of the proxy. It ends by a crash: its pending futures never complete, so that it has no further
//! effect, while database, gateway and stores continue. It may also be suspended, and resume beside the process that
//! replaced it.

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use florin_proxy::clock::Clock;
use jiff::Timestamp;
use tokio_util::sync::CancellationToken;

use crate::disaster::Step;
use crate::timeline::Millis;
use crate::world::World;

#[derive(Clone)]
pub(crate) struct Process {
    pub(crate) world: Arc<World>,
    /// 1, 2, … in a world.
    pub(crate) number: u64,
    pub(crate) ended: CancellationToken,
    frozen_until: Arc<AtomicI64>,
}

impl Process {
    pub(crate) fn begin(world: Arc<World>, number: u64) -> Self {
        Self {
            number,
            world,
            ended: CancellationToken::new(),
            frozen_until: Arc::default(),
        }
    }

    /// Returns when the process runs; never after a crash.
    pub(crate) async fn wait_while_frozen(&self) {
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
        self.wait_while_frozen().await;
        self.world.timeline.sleep(millis).await;
        self.wait_while_frozen().await;
    }

    /// Returns `true` if the process was suspended before, or is.
    pub(crate) fn was_suspended(&self) -> bool {
        self.frozen_until.load(Ordering::Relaxed) > 0
    }

    pub(crate) fn freeze(&self, millis: Millis) {
        let until = self.world.timeline.now() + millis;
        self.frozen_until.store(until, Ordering::Relaxed);
    }

    pub(crate) fn end(&self, moment: &'static str) {
        self.world.log(|| format!("CRASH {moment}"));
        self.world.count("crashes", moment);
        self.ended.cancel();
    }

    pub(crate) async fn crash<T>(&self, moment: &'static str) -> T {
        if !self.ended.is_cancelled() {
            self.end(moment);
        }
        pending().await
    }
}

/// The machine's wall clock, which the schedule changes.
#[async_trait]
impl Clock for Process {
    fn now(&self) -> Timestamp {
        self.world.step(Step::Clock);
        Timestamp::from_millisecond(self.world.wall()).expect("a time of this century")
    }

    async fn sleep(&self, time: Duration) {
        let millis = Millis::try_from(time.as_millis()).unwrap_or(Millis::MAX / 2);
        Self::sleep(self, millis).await;
    }
}
