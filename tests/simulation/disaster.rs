//! Disasters of a world: an outage of the storage, a wrong clock of the proxy's machine or of the gateway, an excessive pause,
//! a restored backup.
//! Each step of the proxy may draw one: a call of the storage, of the gateway, of a store, or of the clock. For a restore a
//! process makes a copy, every process ends later, and the next one starts on the copy.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use florin_invariants::Database;

use crate::timeline::Millis;
use crate::world::{Backup, Expectations, Outage, World};

const HOUR: Millis = 3_600_000;

#[derive(Clone, Copy, Debug)]
pub(crate) enum Step {
    Storage,
    Gateway,
    Webhook,
    Clock,
}

impl Step {
    fn rarity(self) -> u64 {
        match self {
            Self::Storage => 6000,
            Self::Gateway | Self::Webhook => 1500,
            Self::Clock => 40_000,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Disaster {
    Storage(Outage),
    ClockAhead,
    ClockBehind,
    GatewayClockSetBack,
    ExcessiveRetryAfter,
    Restore,
}

pub(crate) const DISASTERS: [(u64, Disaster); 10] = [
    (10, Disaster::Storage(Outage::Unreadable)),
    (2, Disaster::Storage(Outage::Gone)),
    (2, Disaster::Storage(Outage::Replaced)),
    (3, Disaster::Storage(Outage::Damaged)),
    (2, Disaster::Storage(Outage::Locked)),
    (5, Disaster::ClockAhead),
    (5, Disaster::ClockBehind),
    (5, Disaster::GatewayClockSetBack),
    (4, Disaster::ExcessiveRetryAfter),
    (6, Disaster::Restore),
];

impl Disaster {
    pub(crate) fn name(self) -> String {
        match self {
            Self::Storage(outage) => format!("storage: {outage:?}"),
            other => format!("{other:?}"),
        }
    }
}

impl World {
    pub(crate) fn step(self: &Arc<Self>, step: Step) {
        let happens = self.injects_faults() && self.random.draw().is_multiple_of(step.rarity());
        if !happens || self.has_disaster.swap(true, Ordering::Relaxed) {
            return;
        }
        let disaster = self.random.weigh(&DISASTERS);
        let lasts = self.random.between(500, 90_000);
        self.log(|| format!("DISASTER at {step:?}: {} for {lasts} ms", disaster.name()));
        self.count("disasters", disaster.name());
        self.counters
            .one("steps with a disaster", format!("{step:?}"));
        self.begin(disaster);
        let world = self.clone();
        tokio::spawn(async move {
            world.timeline.sleep(lasts).await;
            world.end(disaster);
            world.log(|| format!("the disaster is over: {}", disaster.name()));
            world.has_disaster.store(false, Ordering::Relaxed);
            world.wakeup.notify_one();
        });
    }

    fn begin(&self, disaster: Disaster) {
        match disaster {
            Disaster::Storage(outage) => *self.outage() = Some(outage),
            Disaster::ClockAhead => self.set_wall_clock(HOUR),
            Disaster::ClockBehind => self.set_wall_clock(-HOUR),
            Disaster::GatewayClockSetBack => self.gateway.ahead.store(HOUR, Ordering::Relaxed),
            Disaster::ExcessiveRetryAfter => {
                self.gateway.is_excessive.store(true, Ordering::Relaxed);
            }
            Disaster::Restore => self.make_backup(),
        }
    }

    fn end(&self, disaster: Disaster) {
        match disaster {
            Disaster::Storage(_) => *self.outage() = None,
            Disaster::ClockAhead => self.set_wall_clock(-HOUR),
            Disaster::ClockBehind => self.set_wall_clock(HOUR),
            Disaster::GatewayClockSetBack => self.gateway.ahead.store(0, Ordering::Relaxed),
            Disaster::ExcessiveRetryAfter => {}
            Disaster::Restore => self.restore_wanted.notify_one(),
        }
        if matches!(disaster, Disaster::ClockAhead | Disaster::ClockBehind) {
            self.clock_was_off.store(true, Ordering::Relaxed);
        }
    }
}

impl World {
    /// Copies the database by the function of `florin-proxy store backup`.
    pub(crate) fn make_backup(&self) {
        let from = self.database_file();
        let number = self.restores.lock().len() + 1;
        let file = from.with_extension(format!("r{number}.db"));
        let url = format!("sqlite://{}", from.display());
        let backup = florin_storage::backup(&url, "test", &file);
        let made = self.database.run(backup);
        made.unwrap_or_else(|error| panic!("no backup: {error}"));
        let made_at = self.timeline.now();
        *self.backup.lock() = Some(Backup { made_at, file });
    }

    pub(crate) fn has_lost(&self, order: &str) -> bool {
        let has = |database: &Database| database.orders.iter().any(|it| it.id == order);
        let restores = self.restores.lock();
        let mut restores = restores.iter();
        restores.any(|restore| has(&restore.replaced) && !has(&restore.backup))
    }

    /// What was known of the replaced database holds for the rows of the backup alone.
    pub(crate) fn forget_what_was_lost(&self, backup: &Database) {
        let is_credited = |order: &String| backup.credits.iter().any(|it| it.order_id == *order);
        let mut expectations = self.expectations.lock();
        let Expectations {
            credited,
            known_paid,
            ..
        } = &mut *expectations;
        credited.retain(|order, _| is_credited(order));
        known_paid.retain(is_credited);
    }
}
