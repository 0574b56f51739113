//! Announcements of the live region: what a screen reader reads out, and when.
//!
//! Every second and every block read aloud would leave no room for anything else. Announced is what changes what to do
//! or to expect: that a payment was found, each quarter of its confirmations, every end, three moments of the countdown;
//! and nothing twice.

use super::phase::Phase;

/// Seconds left at which the countdown is told.
const MOMENTS: [u32; 3] = [180, 60, 30];

/// What was told of one order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Announcements {
    /// The phase that was shown last.
    phase: Option<Phase>,
    /// The quarter of the way that was reached last, with the number of blocks that makes the whole.
    quarter: Option<(u32, u32)>,
}

impl Announcements {
    /// The keys of what to tell on arriving at a phase: its heading, unless the focus has moved there and it is read
    /// anyway, and what it means. Nothing on a page that has only just been opened, where everything is read.
    pub fn arrive(&mut self, phase: Phase, is_focused: bool) -> &'static [&'static str] {
        // What is announced is the screen that comes.
        if phase == Phase::NextStep {
            return &[];
        }
        let before = self.phase.replace(phase);
        if before.is_none_or(|before| before == phase || before == Phase::Loading) {
            return &[];
        }
        let keys: &[&str] = match phase {
            Phase::Checking => &["checking", "checking_hint"],
            Phase::Processing => &["processing", "processing_hint"],
            Phase::Paid | Phase::Overpaid => &["paid", "thanks"],
            Phase::Underpaid => &["underpaid", "underpaid_hint"],
            Phase::Failed => &["failed", "failed_network"],
            Phase::NotReceived => &["expired", "not_received"],
            Phase::Cancelled => &["cancelled", "cancelled_hint"],
            Phase::Expired => &["expired", "expired_hint"],
            Phase::Blocked => &["blocked", "blocked_hint"],
            // What there is to do is on the screen; a stop is told with its reason, as a problem.
            Phase::Loading
            | Phase::NextStep
            | Phase::Stopped
            | Phase::Giving
            | Phase::Hosted
            | Phase::Choosing
            | Phase::Paying => &[],
        };
        match keys.split_first() {
            Some((_, hints)) if is_focused => hints,
            _ => keys,
        }
    }

    /// Whether to tell that `count` of `required` blocks are there: at each quarter, not at each block. The first look
    /// is told by the screen it is on, and the last block by the end that it brings.
    pub fn confirm(&mut self, count: u32, required: u32) -> bool {
        let reached = count.saturating_mul(4) / required.max(1);
        let before = self.quarter.filter(|(_, whole)| *whole == required);
        let highest = before.map_or(reached, |(quarter, _)| quarter.max(reached));
        self.quarter = Some((highest, required));
        before.is_some_and(|(quarter, _)| quarter < reached) && count < required
    }
}

/// The time left to tell when the countdown goes from `before` to `now` seconds: a number and its unit as `Intl` names
/// it. A page that slept past a moment tells what is left, not what it missed.
pub fn countdown(before: u32, now: u32) -> Option<(u32, &'static str)> {
    let is_passed = |moment: &u32| before > *moment && *moment >= now;
    let passed = now > 0 && MOMENTS.iter().any(is_passed);
    passed.then_some(match now {
        60.. => (now.div_ceil(60), "minute"),
        _ => (now, "second"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(phases: &[Phase]) -> Vec<&'static str> {
        let mut announcements = Announcements::default();
        let keys = phases
            .iter()
            .map(|phase| announcements.arrive(*phase, true).to_vec());
        keys.collect::<Vec<_>>().concat()
    }

    #[test]
    fn a_purchase_is_told_by_what_was_found_and_its_end() {
        use Phase as P;
        let whole = [P::Loading, P::Choosing, P::Paying, P::Processing, P::Paid];
        assert_eq!(told(&whole), ["processing_hint", "thanks"]);
    }

    #[test]
    fn a_heading_that_has_the_focus_is_not_told_as_well() {
        let mut announcements = Announcements::default();
        announcements.arrive(Phase::Paying, true);
        let keys = announcements.arrive(Phase::Expired, false);
        assert_eq!(keys, ["expired", "expired_hint"]);
    }

    #[test]
    fn every_bad_end_is_told_once() {
        for end in [
            Phase::Underpaid,
            Phase::Failed,
            Phase::Cancelled,
            Phase::Expired,
            Phase::Blocked,
        ] {
            assert_eq!(told(&[Phase::Paying, end, end]).len(), 1, "{end:?}");
        }
    }

    #[test]
    fn an_end_that_was_there_already_is_not_told() {
        assert_eq!(told(&[Phase::Loading, Phase::Paid]), [""; 0]);
        let loaded_late = [Phase::Loading, Phase::NextStep, Phase::Paid];
        assert_eq!(told(&loaded_late), [""; 0]);
    }

    #[test]
    fn sixty_four_blocks_are_told_three_times() {
        let mut announcements = Announcements::default();
        let told: Vec<u32> = (0..=64)
            .filter(|count| announcements.confirm(*count, 64))
            .collect();
        assert_eq!(told, [16, 32, 48]);
    }

    #[test]
    fn few_blocks_are_told_each_and_one_by_its_end_alone() {
        let told = |required| {
            let mut announcements = Announcements::default();
            let counts = (0..=required).filter(|count| announcements.confirm(*count, required));
            counts.collect::<Vec<u32>>()
        };
        assert_eq!(told(3), [1, 2]);
        assert_eq!(told(1), [0; 0]);
    }

    #[test]
    fn blocks_that_are_taken_back_and_found_again_are_told_once() {
        let mut announcements = Announcements::default();
        let counts = [0, 1, 2, 0, 1, 2];
        let told = counts.map(|count| announcements.confirm(count, 3));
        assert_eq!(told, [false, true, true, false, false, false]);
    }

    #[test]
    fn a_page_that_opens_in_the_middle_tells_only_what_comes() {
        let mut announcements = Announcements::default();
        assert!(!announcements.confirm(2, 6));
        assert!(announcements.confirm(3, 6));
    }

    #[test]
    fn a_countdown_is_told_at_three_minutes_one_minute_and_half_a_minute() {
        let told: Vec<_> = (0..900)
            .rev()
            .filter_map(|now| countdown(now + 1, now))
            .collect();
        assert_eq!(told, [(3, "minute"), (1, "minute"), (30, "second")]);
    }

    #[test]
    fn a_page_that_slept_tells_what_is_left() {
        assert_eq!(countdown(400, 45), Some((45, "second")));
        assert_eq!(countdown(400, 121), Some((3, "minute")));
        assert_eq!(countdown(400, 0), None);
        assert_eq!(countdown(45, 45), None);
    }
}
