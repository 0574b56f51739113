//! Faults between the proxy and the gateway, with their weights; and disasters of a world: an outage of the storage, a wrong clock of the proxy's machine or of the gateway, an excessive pause,
//! a restored backup.
//! Each step of the proxy may draw one: a call of the storage, of the gateway, of a store, or of the clock. For a restore a
//! process makes a copy, every process ends later, and the next one starts on the copy.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use florin_invariants::Database;
use support::SeededRandom;

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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Endpoint {
    Prices,
    Create,
    Session,
    Lookup,
    Confirm,
    Other,
}

impl Endpoint {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Prices => "GET /prices",
            Self::Create => "POST /invoice",
            Self::Session => "POST /checkout",
            Self::Lookup => "GET /invoice",
            Self::Confirm => "POST /confirm",
            Self::Other => "another endpoint",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    NotSent,
    /// Sent, and lost before it arrived.
    LostBefore,
    /// Done; the response is lost.
    LostAfter,
    /// 429 with this `Retry-After`.
    Limited(Option<i64>),
    /// A 5xx before anything is done.
    Broken(u16),
    /// A 500 after it is done.
    BrokenAfter,
    Unauthorized,
    /// Done; the body of the response is not JSON.
    Garbled,
    Truncated,
    Redirect,
    /// Done, slowly but in time.
    Slow,
    CrashBefore,
    CrashAfter,
    /// A response that arrives minutes later, after newer ones.
    Delayed,
    Stale,
    /// A response about another invoice.
    Foreign,
    /// 404 for an invoice that exists.
    Denied,
    Wrong(Member),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Member {
    OtherAddress,
    Missing,
    Junk,
    UnknownStatus,
    OtherAmount,
    OtherCurrency,
    OtherAsset,
    BadChecksum,
    OtherQr,
    OtherPage,
    OtherSession,
}

impl Fault {
    pub(crate) fn name(self) -> String {
        match self {
            Self::Limited(Some(_)) => "429 with Retry-After".into(),
            Self::Limited(None) => "429 without Retry-After".into(),
            Self::Broken(_) => "5xx".into(),
            Self::Wrong(member) => format!("wrong: {member:?}"),
            other => format!("{other:?}"),
        }
    }

    pub(crate) fn all(endpoint: Endpoint, random: &SeededRandom) -> Vec<(u64, Self)> {
        use Fault as T;
        use Member as M;
        let on_the_way = [
            (12, T::NotSent),
            (8, T::LostBefore),
            (8, T::LostAfter),
            (6, T::Limited(Some(random.between(1, 40)))),
            (6, T::Limited(None)),
            (8, T::Broken(random.pick(&[500, 502, 503, 504]))),
            (5, T::BrokenAfter),
            (3, T::Unauthorized),
            (6, T::Garbled),
            (6, T::Truncated),
            (3, T::Redirect),
            (8, T::Slow),
            (2, T::CrashBefore),
            (2, T::CrashAfter),
        ];
        let lookup = [
            (10, T::Delayed),
            (12, T::Stale),
            (8, T::Foreign),
            (4, T::Denied),
            (2, T::Wrong(M::OtherAddress)),
            (6, T::Wrong(M::Missing)),
            (5, T::Wrong(M::Junk)),
            (4, T::Wrong(M::UnknownStatus)),
            (5, T::Wrong(M::OtherAmount)),
            (4, T::Wrong(M::OtherCurrency)),
            (4, T::Wrong(M::OtherAsset)),
        ];
        let create = [
            (3, T::Wrong(M::BadChecksum)),
            (3, T::Wrong(M::OtherQr)),
            (3, T::Wrong(M::OtherAmount)),
            (3, T::Wrong(M::OtherCurrency)),
            (3, T::Wrong(M::OtherAsset)),
            (3, T::Wrong(M::Missing)),
        ];
        let session = [
            (4, T::Wrong(M::OtherPage)),
            (4, T::Wrong(M::OtherSession)),
            (4, T::Wrong(M::Missing)),
        ];
        match endpoint {
            Endpoint::Session => [&on_the_way[..], &session].concat(),
            Endpoint::Lookup => [&on_the_way[..], &lookup].concat(),
            Endpoint::Create => [&on_the_way[..], &create].concat(),
            Endpoint::Prices | Endpoint::Confirm | Endpoint::Other => on_the_way.to_vec(),
        }
    }
}
