//! Announcements of the live region: what a screen reader reads out, and when.
//!
//! Announced is what changes the customer's next step: a found payment, each quarter of its confirmations, every final
//! state, and three moments of the countdown. Nothing is announced twice.

use super::phase::Phase;

/// Remaining seconds at which the countdown is announced.
const MOMENTS: [u32; 3] = [180, 60, 30];

/// The announcements that were made of one order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Announcements {
    /// The last phase.
    phase: Option<Phase>,
    /// The last announced quarter, with the required number of confirmations.
    quarter: Option<(u32, u32)>,
}

impl Announcements {
    /// Notes a phase. Returns `true` if its screen is to be announced. Not on a page that was just opened, where everything
    /// is read, and not where the next step is on the screen; a stop is announced with its reason, as a problem.
    pub fn arrive(&mut self, phase: Phase) -> bool {
        // The next screen is announced instead.
        if phase == Phase::LoadingPayment {
            return false;
        }
        let before = self.phase.replace(phase);
        let is_new = before.is_some_and(|before| before != phase && before != Phase::Loading);
        is_new && !phase.is_first() && !matches!(phase, Phase::Hosted | Phase::Paying)
    }

    /// Notes `count` of `required` confirmations. Returns `true` if they are to be announced: at each quarter, not at each block.
    /// The first count is part of the screen, and the last one is announced as the final state.
    pub fn note_confirmations(&mut self, count: u32, required: u32) -> bool {
        let reached = count.saturating_mul(4) / required.max(1);
        let before = self.quarter.filter(|(_, whole)| *whole == required);
        let highest = before.map_or(reached, |(quarter, _)| quarter.max(reached));
        self.quarter = Some((highest, required));
        before.is_some_and(|(quarter, _)| quarter < reached) && count < required
    }
}

/// The time left to announce when the countdown goes from `before` to `now` seconds: a number and its unit as `Intl` names
/// it. A page that slept past a moment announces what is left, not what it missed.
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

    fn announced(phases: &[Phase]) -> Vec<Phase> {
        let mut announcements = Announcements::default();
        let phases = phases.iter().copied();
        phases
            .filter(|phase| announcements.arrive(*phase))
            .collect()
    }

    #[test]
    fn a_found_payment_and_the_final_state_are_announced() {
        use Phase as P;
        let whole = [P::Loading, P::Choosing, P::Paying, P::Processing, P::Paid];
        assert_eq!(announced(&whole), [P::Processing, P::Paid]);
    }

    #[test]
    fn every_failure_is_announced_once() {
        for end in [
            Phase::Underpaid,
            Phase::Failed,
            Phase::NotReceived,
            Phase::Cancelled,
            Phase::Expired,
            Phase::Blocked,
        ] {
            assert_eq!(announced(&[Phase::Paying, end, end]), [end]);
        }
    }

    #[test]
    fn a_final_state_of_a_new_page_is_not_announced() {
        assert_eq!(announced(&[Phase::Loading, Phase::Paid]), []);
        let loaded_late = [Phase::Loading, Phase::LoadingPayment, Phase::Paid];
        assert_eq!(announced(&loaded_late), []);
    }

    #[test]
    fn sixty_four_blocks_are_announced_three_times() {
        let mut announcements = Announcements::default();
        let announced: Vec<u32> = (0..=64)
            .filter(|count| announcements.note_confirmations(*count, 64))
            .collect();
        assert_eq!(announced, [16, 32, 48]);
    }

    #[test]
    fn few_blocks_are_announced_each_and_a_single_one_by_the_final_state() {
        let announced = |required| {
            let mut announcements = Announcements::default();
            let counts =
                (0..=required).filter(|count| announcements.note_confirmations(*count, required));
            counts.collect::<Vec<u32>>()
        };
        assert_eq!(announced(3), [1, 2]);
        assert_eq!(announced(1), [0; 0]);
    }

    #[test]
    fn blocks_lost_in_a_reorganisation_are_announced_once() {
        let mut announcements = Announcements::default();
        let counts = [0, 1, 2, 0, 1, 2];
        let announced = counts.map(|count| announcements.note_confirmations(count, 3));
        assert_eq!(announced, [false, true, true, false, false, false]);
    }

    #[test]
    fn a_page_that_opens_in_the_middle_announces_only_what_comes() {
        let mut announcements = Announcements::default();
        assert!(!announcements.note_confirmations(2, 6));
        assert!(announcements.note_confirmations(3, 6));
    }

    #[test]
    fn a_countdown_is_announced_at_three_minutes_one_minute_and_half_a_minute() {
        let announced: Vec<_> = (0..900)
            .rev()
            .filter_map(|now| countdown(now + 1, now))
            .collect();
        assert_eq!(announced, [(3, "minute"), (1, "minute"), (30, "second")]);
    }

    #[test]
    fn a_page_that_slept_announces_what_is_left() {
        assert_eq!(countdown(400, 45), Some((45, "second")));
        assert_eq!(countdown(400, 121), Some((3, "minute")));
        assert_eq!(countdown(400, 0), None);
        assert_eq!(countdown(45, 45), None);
    }
}
