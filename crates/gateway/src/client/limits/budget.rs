//! The budget: a token bucket whose rate adapts to the gateway (additive increase, multiplicative
//! decrease).
//!
//! The gateway does not publish its limit (payment-service.md, "Limits"): a 429 halves the rate,
//! and every minute in which calls are answered gives a tenth of the full rate back.
//!
//! Creates have the whole of the bucket but the [`Reserve`], so that no flood of them keeps payments from being found.
//!
//! It is written here and not with `governor`: its rate is fixed, it knows no priorities and no reserve, and its state cannot
//! be stored in the database row that several proxies share.
//!
//! All counts are in millionths of a request, so that nothing is lost to rounding.

use core::iter;
use core::time::Duration;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use super::LimitEvent;

/// What a call is worth, the most first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Priority {
    /// A customer waits for it to go on: prices, POST /invoice, POST /checkout. Guaranteed: a fifth of
    /// the bucket. Maximum: four fifths of the rate while polls wait, so that new orders cannot starve
    /// payment detection.
    Create,
    /// A poll that a callback asked for. Maximum: half of the budget, because callbacks are unsigned.
    Callback,
    Watched,
    /// A poll of an order that is not watched. Guaranteed: a fifth of what polling gets, so that a
    /// payment is found after the customer has closed the page.
    Unwatched,
}

const ONE: u64 = 1_000_000;
/// The rate is never below one request in 30 s: payments are found, if late.
const SLOWEST: u64 = ONE / 30;
/// Seconds for which what was not used is kept: a burst of customers is served at once.
const BURST: u64 = 2;
/// Minimum of a bucket: in a smaller one the lower priorities would never get through.
const SMALLEST_BUCKET: u64 = 3 * ONE;
/// How much of the full rate a minute of responses gives back, in percent.
const RAISE_PERCENT: u64 = 10;
const MINUTE: SignedDuration = SignedDuration::from_mins(1);

/// What is left in the bucket for those above, in percent of it.
const KEPT_FOR_CREATE: u64 = 20;
const KEPT_FROM_WATCHED: u64 = 30;
const KEPT_FROM_UNWATCHED: u64 = 50;
/// The most that callbacks get of the rate and of the reserve, and the least that is for the unwatched, in percent.
const CALLBACKS: u64 = 50;
const UNWATCHED: u64 = 20;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Budget {
    /// The rate that is never exceeded, per second.
    full: u64,
    rate: u64,
    bucket: u64,
    /// The part of the bucket reserved for polling.
    reserve: Reserve,
    callbacks: u64,
    unwatched: u64,
    filled_at: Timestamp,
    raised_at: Timestamp,
    epoch: Epoch,
}

/// Counts the halvings: a 429 to a request from before the last one changes nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Epoch(u32);

impl Budget {
    pub(super) fn new(requests_per_second: u32, now: Timestamp) -> Self {
        let rate = u64::from(requests_per_second.max(1)) * ONE;
        let bucket = bucket(rate);
        Self {
            full: rate,
            rate,
            bucket,
            reserve: Reserve::of(bucket),
            callbacks: percent(bucket, CALLBACKS).max(ONE),
            unwatched: percent(bucket, UNWATCHED).max(ONE),
            filled_at: now,
            raised_at: now,
            epoch: Epoch(0),
        }
    }

    pub(super) fn drained(self) -> Self {
        Self {
            bucket: 0,
            reserve: Reserve::default(),
            callbacks: 0,
            unwatched: 0,
            ..self
        }
    }

    /// Another full rate, per second. A rate that the gateway has lowered stays.
    pub(super) fn set_full(&mut self, now: Timestamp, requests_per_second: u32) {
        self.fill(now);
        let full = u64::from(requests_per_second.max(1)) * ONE;
        let is_lowered = self.rate < self.full;
        self.rate = if is_lowered {
            self.rate.min(full)
        } else {
            full
        };
        self.full = full;
        self.bucket = self.bucket.min(bucket(self.rate));
    }

    /// Takes one request out of the bucket, or returns when there will be one.
    pub(super) fn take(&mut self, now: Timestamp, priority: Priority) -> Result<Epoch, Duration> {
        self.fill(now);
        let missing = self.missing(priority);
        if missing > 0 {
            return Err(self.time_for(missing));
        }
        self.bucket -= ONE;
        self.reserve.take(priority);
        match priority {
            Priority::Create | Priority::Watched => {}
            Priority::Callback => self.callbacks -= ONE,
            Priority::Unwatched => self.unwatched = self.unwatched.saturating_sub(ONE),
        }
        Ok(self.epoch)
    }

    /// How many requests of a priority the bucket would give now, once the `begun` ones are sent.
    pub(super) fn available(&self, now: Timestamp, begun: &[Priority], priority: Priority) -> u32 {
        let mut then = self.clone();
        for begun in begun {
            // The bucket gives nothing to those that come too late.
            let _ = then.take(now, *begun);
        }
        let taken = iter::repeat_with(|| then.take(now, priority)).take_while(Result::is_ok);
        u32::try_from(taken.count()).unwrap_or(u32::MAX)
    }

    /// Records a 429 to a request of this epoch: concurrent requests halve the rate once.
    pub(super) fn limited(&mut self, now: Timestamp, epoch: Epoch) -> Option<LimitEvent> {
        if epoch != self.epoch {
            return None;
        }
        self.fill(now);
        self.rate = (self.rate / 2).max(SLOWEST);
        self.bucket = self.bucket.min(bucket(self.rate));
        self.raised_at = now;
        self.epoch = Epoch(self.epoch.0.wrapping_add(1));
        let requests_per_minute = self.requests_per_minute();
        Some(LimitEvent::RateLowered {
            requests_per_minute,
        })
    }

    /// A request was answered: the rate grows by the time since it last grew, a minute at most.
    pub(super) fn answered(&mut self, now: Timestamp) {
        let since = now
            .duration_since(self.raised_at)
            .clamp(SignedDuration::ZERO, MINUTE);
        self.raised_at = now;
        if self.rate < self.full {
            let minute = percent(self.full, RAISE_PERCENT);
            let raise = scaled(minute, since) / 60;
            self.rate = (self.rate + raise).min(self.full);
        }
    }

    pub(super) fn requests_per_minute(&self) -> u64 {
        self.rate * 60 / ONE
    }

    fn fill(&mut self, now: Timestamp) {
        // A clock that was set back fills nothing, and counts from there.
        let passed = now.duration_since(self.filled_at).max(SignedDuration::ZERO);
        self.filled_at = now;
        let (new, most) = (scaled(self.rate, passed), bucket(self.rate));
        self.bucket = (self.bucket + new).min(most);
        self.reserve.fill(new, most);
        let share = |old: u64, part| {
            let most = percent(most, part).max(ONE);
            (old + percent(new, part)).min(most)
        };
        self.callbacks = share(self.callbacks, CALLBACKS);
        self.unwatched = share(self.unwatched, UNWATCHED);
    }

    /// What is missing for one request of a priority, as if all of it came at the full rate.
    fn missing(&self, priority: Priority) -> u64 {
        let shared = (ONE + self.reserve.left).saturating_sub(self.bucket);
        let below = |kept: u64| (kept + ONE).saturating_sub(self.bucket).max(shared);
        let shared = match priority {
            Priority::Create => self.reserve.leaves(shared, bucket(self.rate)),
            Priority::Callback => below(self.kept(KEPT_FOR_CREATE)),
            Priority::Watched => below(self.kept(KEPT_FROM_WATCHED) + self.unwatched),
            Priority::Unwatched if self.unwatched >= ONE => below(self.kept(KEPT_FROM_WATCHED)),
            Priority::Unwatched => below(self.kept(KEPT_FROM_UNWATCHED)),
        };
        let reserved = self.reserve.missing(priority);
        let missing = reserved.map_or(shared, |reserved| reserved.min(shared));
        if priority == Priority::Callback {
            return missing.max(ONE.saturating_sub(self.callbacks) * 100 / CALLBACKS);
        }
        missing
    }

    fn kept(&self, part: u64) -> u64 {
        percent(bucket(self.rate), part)
    }

    fn time_for(&self, missing: u64) -> Duration {
        Duration::from_millis((missing * 1000).div_ceil(self.rate))
    }
}

/// The reserve's share of the rate and of the bucket, in percent.
const RESERVE_PART: u64 = 20;
/// Minimum: one request each for watched and unwatched polls.
const SMALLEST_RESERVE: u64 = 2 * ONE;

/// Capacity reserved for polling, so that new orders cannot starve payment detection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Reserve {
    left: u64,
    callbacks: u64,
    unwatched: u64,
}

impl Reserve {
    fn of(bucket: u64) -> Self {
        let left = reserve_of(bucket);
        Self {
            left,
            callbacks: percent(left, CALLBACKS),
            unwatched: ONE,
        }
    }

    /// Takes its part of what is `new` in a bucket of this capacity.
    fn fill(&mut self, new: u64, bucket: u64) {
        let (new, most) = (percent(new, RESERVE_PART), reserve_of(bucket));
        self.left = (self.left + new).min(most);
        self.callbacks = (self.callbacks + percent(new, CALLBACKS)).min(percent(most, CALLBACKS));
        self.unwatched = (self.unwatched + percent(new, UNWATCHED)).min(ONE);
    }

    /// The refill needed until a poll of this priority may go; `None` for other calls.
    fn missing(&self, priority: Priority) -> Option<u64> {
        let below = |needed: u64| needed.saturating_sub(self.left);
        let missing = match priority {
            Priority::Create => return None,
            Priority::Callback => {
                below(ONE).max(ONE.saturating_sub(self.callbacks) * 100 / CALLBACKS)
            }
            Priority::Watched => below(ONE + self.unwatched),
            Priority::Unwatched if self.unwatched >= ONE => below(ONE),
            Priority::Unwatched => below(2 * ONE),
        };
        Some(missing * 100 / RESERVE_PART)
    }

    /// The refill needed until `rest` is left for creates, in a bucket of this capacity.
    fn leaves(&self, rest: u64, bucket: u64) -> u64 {
        if self.left < reserve_of(bucket) {
            rest * 100 / (100 - RESERVE_PART)
        } else {
            rest
        }
    }

    fn take(&mut self, priority: Priority) {
        if self.missing(priority) != Some(0) {
            return;
        }
        self.left -= ONE;
        match priority {
            Priority::Create | Priority::Watched => {}
            Priority::Callback => self.callbacks -= ONE,
            Priority::Unwatched => self.unwatched = self.unwatched.saturating_sub(ONE),
        }
    }
}

fn reserve_of(bucket: u64) -> u64 {
    percent(bucket, RESERVE_PART).max(SMALLEST_RESERVE)
}

fn bucket(rate: u64) -> u64 {
    (rate * BURST).max(SMALLEST_BUCKET)
}

fn percent(of: u64, part: u64) -> u64 {
    of * part / 100
}

/// The amount that a rate per second adds in some time.
fn scaled(rate: u64, time: SignedDuration) -> u64 {
    let nanos = u128::try_from(time.as_nanos()).unwrap_or(0);
    u64::try_from(u128::from(rate) * nanos / 1_000_000_000).unwrap_or(u64::MAX / 4)
}

#[cfg(test)]
mod tests;
