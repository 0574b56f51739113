//! The course of a world: a storm in which everybody acts and everything fails, and a calm in which all must come
//! right.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::customer::Customer;
use crate::stores::STORES;
use crate::timeline::Millis;
use crate::world::World;

const MINUTE: Millis = 60_000;
const HOUR: Millis = 60 * MINUTE;

/// How long the parts of a world last.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Course {
    /// How slow people and chains are.
    pub(crate) slowness: i64,
    pub(crate) longest_minutes: i64,
    storm: Millis,
    calm: Millis,
    audit_every: Millis,
    /// The most by which the wall clock is set.
    longest_jump: Millis,
}

/// Half an hour: most of what can happen to an order happens in it.
pub(crate) const SHORT: Course = Course {
    slowness: 1,
    longest_minutes: 4,
    storm: 10 * MINUTE,
    calm: 13 * MINUTE,
    audit_every: 3 * MINUTE,
    longest_jump: 2 * MINUTE,
};

/// More than a week: until nothing is looked at any more.
pub(crate) const LONG: Course = Course {
    slowness: 60,
    longest_minutes: 240,
    storm: 30 * HOUR,
    calm: 9 * 24 * HOUR,
    audit_every: 12 * HOUR,
    longest_jump: HOUR,
};

impl Course {
    pub(crate) async fn run(self, world: Arc<World>, lives: usize) {
        world.start_process();
        for number in 0..lives {
            tokio::spawn(Customer::live(world.clone(), self.slowness, number));
        }
        tokio::spawn(self.kills(world.clone()));
        tokio::spawn(self.freezes(world.clone()));
        tokio::spawn(self.sets_the_clock(world.clone()));
        self.goes_by(&world, self.storm).await;
        world.calm_down();
        self.goes_by(&world, self.calm).await;
        self.lets_the_stores_listen(&world).await;
        self.goes_by(&world, MINUTE).await;
        // Attempts that nobody pays are looked at for a week; what is left to do is to tell.
        world.is_watching.store(false, Ordering::Relaxed);
        for _ in 0..200 {
            let waiting = "SELECT 1 FROM outbox WHERE state = 'pending' LIMIT 1";
            if world.books.rows(waiting).is_empty() {
                break;
            }
            world.timeline.sleep(HOUR / 2).await;
        }
        // A world that broke was left at once: what should have come true in it may not have had its time.
        if world.complaints().is_empty() {
            world.audit_the_end();
        }
        world.count();
    }

    async fn goes_by(self, world: &World, time: Millis) {
        let until = world.timeline.now() + time;
        while world.timeline.now() < until && world.complaints().is_empty() {
            let left = until - world.timeline.now();
            world.timeline.sleep(self.audit_every.min(left)).await;
            world.audit();
        }
    }

    async fn kills(self, world: Arc<World>) {
        for _ in 0..world.chance.between(0, 4) {
            let pause = world.chance.between(0, self.storm / 3);
            world.timeline.sleep(pause).await;
            if let Some(life) = world.life().filter(|_| world.is_stormy()) {
                world.crash(&life, "at any moment");
            }
        }
    }

    /// A process stops for minutes while another takes its place, goes on where it stood, and is ended.
    async fn freezes(self, world: Arc<World>) {
        if world.chance.percent(50) {
            let pause = world.chance.between(0, self.storm);
            world.timeline.sleep(pause).await;
            let Some(life) = world.life().filter(|_| world.is_stormy()) else {
                return;
            };
            let lasts = world.chance.between(5_000, 150_000);
            world.log(|| format!("the proxy freezes for {lasts} ms"));
            world
                .tally
                .one("crashes", "a freeze, and two processes at once");
            life.freeze(lasts);
            world.start_process();
            world.timeline.sleep(lasts + 60_000).await;
            life.ended.cancel();
        }
    }

    async fn sets_the_clock(self, world: Arc<World>) {
        for _ in 0..world.chance.between(0, 2) {
            let pause = world.chance.between(0, self.storm / 2);
            world.timeline.sleep(pause).await;
            if world.is_stormy() {
                world.set_wall_clock(world.chance.between(-self.longest_jump, self.longest_jump));
            }
        }
    }

    /// A person looks after the endpoints that were taken for gone.
    async fn lets_the_stores_listen(self, world: &World) {
        for store in STORES {
            for _ in 0..20 {
                let key = store.secret_key();
                let answer = world
                    .call("POST", "/v1/webhook/enable", Some(&key), None)
                    .await;
                if answer.is_some_and(|(status, _)| status == 200) {
                    break;
                }
            }
        }
    }
}
