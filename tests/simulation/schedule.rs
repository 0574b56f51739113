//! Phase 1 of a world injects faults while customers act; phase 2 must converge.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::customer::Customer;
use crate::proxy::Proxy;
use crate::stores::STORES;
use crate::timeline::Millis;
use crate::world::World;

const MINUTE: Millis = 60_000;
const HOUR: Millis = 60 * MINUTE;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Schedule {
    pub(crate) slowness: i64,
    pub(crate) longest_minutes: i64,
    fault_time: Millis,
    recovery_time: Millis,
    audit_every: Millis,
    longest_jump: Millis,
    pub(crate) lasts_weeks: bool,
}

/// Half an hour: covers most of an order's states.
pub(crate) const SHORT: Schedule = Schedule {
    slowness: 1,
    longest_minutes: 4,
    fault_time: 10 * MINUTE,
    recovery_time: 13 * MINUTE,
    audit_every: 3 * MINUTE,
    longest_jump: 2 * MINUTE,
    lasts_weeks: false,
};

/// More than a week: until unpaid attempts are polled once a day.
pub(crate) const LONG: Schedule = Schedule {
    slowness: 60,
    longest_minutes: 240,
    fault_time: 30 * HOUR,
    recovery_time: 9 * 24 * HOUR,
    audit_every: 12 * HOUR,
    longest_jump: HOUR,
    lasts_weeks: false,
};

/// Until a payment that failed at first completes on day 50.
pub(crate) const LONGEST: Schedule = Schedule {
    recovery_time: 54 * 24 * HOUR,
    audit_every: 2 * 24 * HOUR,
    lasts_weeks: true,
    ..LONG
};
/// After the proxy's clock was an hour off, polls of its attempts are rarer: it takes them for older.
const AFTER_WRONG_CLOCK: Millis = HOUR;

impl Schedule {
    pub(crate) fn is_short(self) -> bool {
        self.slowness == SHORT.slowness
    }

    pub(crate) async fn run(self, proxy: Proxy, orders: usize) {
        let world = proxy.world().clone();
        proxy.start();
        for number in 0..orders {
            let proxy = proxy.clone();
            tokio::spawn(Customer::run(
                proxy,
                self.slowness,
                self.lasts_weeks,
                number,
            ));
        }
        tokio::spawn(proxy.clone().restore_backups());
        tokio::spawn(self.crash_at_random(proxy.clone()));
        tokio::spawn(self.freeze_once(proxy.clone()));
        tokio::spawn(self.change_clock(world.clone()));
        self.audit_for(&world, self.fault_time).await;
        world.stop_faults();
        let was_off = world.clock_was_off.load(Ordering::Relaxed);
        let longer = if was_off { AFTER_WRONG_CLOCK } else { 0 };
        self.audit_for(&world, self.recovery_time + longer).await;
        self.enable_endpoints(&proxy).await;
        self.audit_for(&world, MINUTE).await;
        // Unpaid attempts are polled for two months; only deliveries remain.
        world.polls.store(false, Ordering::Relaxed);
        for _ in 0..200 {
            let waiting = "SELECT 1 FROM outbox WHERE state = 'pending' LIMIT 1";
            if world.queries.rows(waiting).is_empty() {
                break;
            }
            world.timeline.sleep(HOUR / 2).await;
        }
        // A world with a violation ends early, so that its final invariants may not hold yet.
        if world.violations().is_empty() {
            world.audit_end();
        }
        world.count_rows();
    }

    async fn audit_for(self, world: &World, time: Millis) {
        let until = world.timeline.now() + time;
        while world.timeline.now() < until && world.violations().is_empty() {
            let left = until - world.timeline.now();
            world.timeline.sleep(self.audit_every.min(left)).await;
            world.audit();
        }
    }

    async fn crash_at_random(self, proxy: Proxy) {
        let world = proxy.world();
        for _ in 0..world.random.between(0, 4) {
            let pause = world.random.between(0, self.fault_time / 3);
            world.timeline.sleep(pause).await;
            let (_, process) = proxy.process();
            if let Some(process) = process.filter(|_| world.injects_faults()) {
                process.end("at any time");
            }
        }
    }

    /// Suspends a process for minutes while another one runs; it resumes and is ended.
    async fn freeze_once(self, proxy: Proxy) {
        let world = proxy.world();
        if world.random.percent(50) {
            let pause = world.random.between(0, self.fault_time);
            world.timeline.sleep(pause).await;
            let (number, process) = proxy.process();
            let Some(process) = process.filter(|_| world.injects_faults()) else {
                return;
            };
            let lasts = world.random.between(5_000, 150_000);
            world.log(|| format!("proxy {number} is suspended for {lasts} ms"));
            world.count("crashes", "a suspended process beside a new one");
            process.freeze(lasts);
            proxy.start_one(number);
            world.timeline.sleep(lasts + 60_000).await;
            process.ended.cancel();
        }
    }

    async fn change_clock(self, world: Arc<World>) {
        for _ in 0..world.random.between(0, 2) {
            let pause = world.random.between(0, self.fault_time / 2);
            world.timeline.sleep(pause).await;
            if world.injects_faults() {
                world.set_wall_clock(world.random.between(-self.longest_jump, self.longest_jump));
            }
        }
    }

    /// Enables the endpoints that a 410 has disabled.
    async fn enable_endpoints(self, proxy: &Proxy) {
        for store in STORES {
            for _ in 0..20 {
                let key = store.secret_key();
                let response = proxy
                    .call("POST", "/v1/webhooks/enable", Some(&key), None)
                    .await;
                if response.is_some_and(|(status, _)| status == 200) {
                    break;
                }
            }
        }
    }
}
