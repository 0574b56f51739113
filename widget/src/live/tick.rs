//! Every second: what counts down, what has lapsed, and whether the computer was asleep.

use std::rc::Rc;

use reactive_graph::prelude::*;

use super::Live;
use super::clock::{drift_ms, now_ms};
use super::wake::is_hidden;

/// The two clocks apart by more than this: the computer was asleep.
const ASLEEP_MS: u64 = 3_000;

impl Live {
    /// A second has passed, or many.
    pub(super) fn tick(self: &Rc<Self>) {
        let Some(checkout) = self.checkout.get() else {
            return;
        };
        let drift = drift_ms();
        let before = self.drift_ms.replace(drift);
        let was_asleep = drift.abs_diff(before) > ASLEEP_MS;
        if was_asleep {
            // The monotonic clock stood still, the invoice's did not. The answer will say it exactly, once there is one.
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
                self.ask();
            }
        }
        let checked = now.saturating_sub(self.checked_ms.get()) / 1000;
        let checked = u32::try_from(checked).unwrap_or(u32::MAX);
        checkout.checked_for.set(checked);
        let retry = self.retry_ms.get();
        if retry > 0 && now >= retry {
            // Nobody looks at a hidden page: it asks as soon as somebody does.
            self.ask();
        } else if retry > 0 {
            self.count_to_retry();
        }
        let until = self.quotes_until_ms.get();
        if until > 0 && now >= until && checkout.is_choosing() && !is_hidden() {
            self.quotes_until_ms.set(0);
            checkout.load_quotes();
        }
        if was_asleep {
            self.ask();
        }
    }
}
