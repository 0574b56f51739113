//! One process of the proxy. It ends by a crash: its pending futures never complete, so that it has no further
//! effect, while database, gateway and stores continue. It may also be suspended, and resume beside the process that
//! replaced it. Its workers make one step whenever work is due; the due times are read from the database, so that an idle week
//! passes quickly.

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use florin_proxy::Core;
use florin_proxy::clock::Clock;
use jiff::Timestamp;
use sqlx::Row as _;
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

const MAX_STEPS: i64 = 3;
const CLEANUP_EVERY: Millis = 90_000;
/// Doublings of the pause: some 90 seconds at most, so that what an outage put off is done soon after it.
const MAX_IDLE_ROUNDS: u32 = 5;
const MAX_SLEEP: Millis = 3_600_000;

const NEXT: &str = "SELECT
    (SELECT min(max(next_poll_at, coalesce(leased_until, 0))) FROM polls WHERE next_poll_at IS NOT NULL),
    (SELECT min(next_at) FROM outbox AS mine WHERE state = 'pending'
        AND (store_id, webhook) NOT IN (SELECT store_id, webhook FROM disabled_endpoints)
        AND position = (SELECT min(position) FROM outbox WHERE order_id = mine.order_id AND state = 'pending'))";

pub(crate) async fn run_workers(process: Process, core: Core) {
    let world = process.world.clone();
    let [polls, dispatches] = [(); 2].map(|()| Arc::new(AtomicI64::new(0)));
    let (mut cleaned_at, mut idle_rounds, mut before) = (Millis::MIN / 2, 0, None);
    let mut replanning = core.replanning();
    loop {
        let replanned_by = replanning.step().await;
        let pace = world.random.between(300, 3000) << idle_rounds;
        process.sleep(pace).await;
        let now = world.timeline.now();
        if now - cleaned_at >= CLEANUP_EVERY {
            cleaned_at = now;
            core.clean_up().await;
        }
        let next = world.queries.rows(NEXT);
        let next_poll: Option<i64> = next[0].get(0);
        let next_poll = next_poll.filter(|_| world.polls.load(Ordering::Relaxed));
        let next_dispatch: Option<i64> = next[0].get(1);
        let is_due = |at: Option<i64>| at.is_some_and(|at| at <= world.wall());
        if is_due(next_poll) {
            let core = core.clone();
            step(&polls, async move { core.poll().await });
        }
        if is_due(next_dispatch) {
            let core = core.clone();
            step(&dispatches, async move { core.dispatch().await });
        }
        if is_due(next_poll) || is_due(next_dispatch) {
            // Work that stays due is retried less and less often.
            let is_unchanged = before == Some((next_poll, next_dispatch));
            idle_rounds = if is_unchanged {
                (idle_rounds + 1).min(MAX_IDLE_ROUNDS)
            } else {
                0
            };
            before = Some((next_poll, next_dispatch));
            continue;
        }
        idle_rounds = 0;
        let replanned_by = replanned_by.map(Timestamp::as_millisecond);
        let next = [next_poll, next_dispatch, replanned_by];
        let next = next.into_iter().flatten().min();
        let pause = next.map_or(MAX_SLEEP, |at| at - world.wall());
        tokio::select! {
            biased;
            () = world.wakeup.notified() => {}
            () = process.sleep(pause.clamp(1, MAX_SLEEP)) => {}
        }
    }
}

/// Begins a step unless too many are under way.
fn step(under_way: &Arc<AtomicI64>, work: impl Future<Output = ()> + Send + 'static) {
    if under_way.load(Ordering::Relaxed) >= MAX_STEPS {
        return;
    }
    under_way.fetch_add(1, Ordering::Relaxed);
    let under_way = under_way.clone();
    tokio::spawn(async move {
        work.await;
        under_way.fetch_sub(1, Ordering::Relaxed);
    });
}
