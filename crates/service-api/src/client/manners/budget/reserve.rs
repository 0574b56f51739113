//! What is in the bucket for looks alone: customers who create, however many, leave it. Each order is opened by whom
//! nobody knows; a payment that nobody looks for is credited to nobody.

use super::{ONE, Priority, percent};

/// The reserve's part of the rate and of the bucket, in percent.
const PART: u64 = 20;
/// It holds this at least: one for the watched beside the one that is kept for the unwatched.
const SMALLEST: u64 = 2 * ONE;
/// The most that callbacks get of it, and the least that is for the unwatched, in percent.
const CALLBACKS: u64 = 50;
const UNWATCHED: u64 = 20;

#[derive(Clone, Copy, Debug)]
pub(super) struct Reserve {
    left: u64,
    /// What callbacks may still take of it.
    callbacks: u64,
    /// What is in it for the unwatched alone.
    unwatched: u64,
}

impl Reserve {
    pub(super) const EMPTY: Self = Self {
        left: 0,
        callbacks: 0,
        unwatched: 0,
    };

    /// The full one of a bucket that holds so much.
    pub(super) fn of(bucket: u64) -> Self {
        let left = most(bucket);
        Self {
            left,
            callbacks: percent(left, CALLBACKS),
            unwatched: ONE,
        }
    }

    pub(super) fn left(&self) -> u64 {
        self.left
    }

    /// Takes its part of what is `new` in a bucket that holds so much.
    pub(super) fn fill(&mut self, new: u64, bucket: u64) {
        let (new, most) = (percent(new, PART), most(bucket));
        self.left = (self.left + new).min(most);
        self.callbacks = (self.callbacks + percent(new, CALLBACKS)).min(percent(most, CALLBACKS));
        self.unwatched = (self.unwatched + percent(new, UNWATCHED)).min(ONE);
    }

    /// What has to come into the bucket until a look of this priority has its turn; None for what is no look.
    pub(super) fn missing(&self, priority: Priority) -> Option<u64> {
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
        Some(missing * 100 / PART)
    }

    /// What has to come into a bucket that holds so much until this is left for those who create.
    pub(super) fn leaves(&self, rest: u64, bucket: u64) -> u64 {
        if self.left < most(bucket) {
            rest * 100 / (100 - PART)
        } else {
            rest
        }
    }

    /// Lets a look go, if it is its turn.
    pub(super) fn take(&mut self, priority: Priority) {
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

fn most(bucket: u64) -> u64 {
    percent(bucket, PART).max(SMALLEST)
}
