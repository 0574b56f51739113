//! The tick of every second: countdowns, lapsed prices, and the sleep of the computer.

use leptos::prelude::*;

use super::Polling;
use crate::browser::clock::{drift_ms, now_ms};
use crate::browser::is_hidden;
use crate::state::Connection as _;
use crate::state::phase::Phase;

/// The two clocks apart by more than this: the computer was asleep.
const ASLEEP_MS: u64 = 3_000;

impl Polling {
    /// A second has passed, or many.
    pub(super) fn tick(&self) {
        let Some(checkout) = self.checkout() else {
            return;
        };
        let drift = drift_ms();
        let before = self.drift_ms.replace(drift);
        let was_asleep = drift.abs_diff(before) > ASLEEP_MS;
        if was_asleep {
            // The monotonic clock stood still, the invoice's did not. The next answer has the exact time.
            let slept = drift.saturating_sub(before);
            let deadline = self.deadline_ms.get();
            self.deadline_ms.set(deadline.saturating_sub(slept));
        }
        let now = now_ms();
        let left = self.deadline_ms.get().saturating_sub(now).div_ceil(1000);
        let left = u32::try_from(left).unwrap_or(u32::MAX);
        if left != checkout.seconds_left.get_untracked() {
            checkout.count_down(left);
            if left == 0 {
                self.poll_now();
            }
        }
        let checked = now.saturating_sub(self.checked_ms.get()) / 1000;
        let checked = u32::try_from(checked).unwrap_or(u32::MAX);
        checkout.checked_seconds_ago.set(checked);
        let retry = self.retry_ms.get();
        if retry > 0 && now >= retry {
            // A hidden page opens the order once it is visible again.
            self.poll_now();
        } else if retry > 0 {
            self.count_to_retry();
        }
        let until = self.quotes_until_ms.get();
        if until > 0
            && now >= until
            && checkout.phase.get_untracked() == Phase::Choosing
            && !is_hidden()
        {
            self.quotes_until_ms.set(0);
            checkout.load_quotes();
        }
        if was_asleep {
            self.poll_now();
        }
    }
}
