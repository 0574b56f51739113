//! The retry schedule of deliveries.

use std::time::Duration;

use florin_storage::PROBE_INTERVAL;
use jiff::SignedDuration;

/// Pauses before the tries after the first: ten tries over 75 h 35 min.
///
/// Source: Standard Webhooks 1.0.0, "Deliverability and reliability".
const PAUSES: [SignedDuration; 9] = [
    SignedDuration::from_secs(5),
    SignedDuration::from_mins(5),
    SignedDuration::from_mins(30),
    SignedDuration::from_hours(2),
    SignedDuration::from_hours(5),
    SignedDuration::from_hours(10),
    SignedDuration::from_hours(14),
    SignedDuration::from_hours(20),
    SignedDuration::from_hours(24),
];

/// Each pause is up to a fifth shorter or longer: stores that were down together do not get all
/// deliveries at once.
pub(crate) const JITTER_PERCENT: u64 = 20;

/// How long a delivery may take. Source: Standard Webhooks 1.0.0, "Deliverability and reliability": 15 to 30 s.
pub(crate) const LONGEST_DELIVERY: Duration = Duration::from_secs(15);

/// The pause after a failed try that followed `tries` earlier ones; `None` when that was the last. `draw` is a number from
/// 0 to twice [`JITTER_PERCENT`]. A store that asks for a longer pause gets up to twice the planned one: it can slow the
/// schedule down, but not lose its events by a mistake in a header.
pub(crate) fn pause(
    tries: u32,
    draw: u64,
    retry_after: Option<SignedDuration>,
) -> Option<SignedDuration> {
    let planned = usize::try_from(tries).ok().and_then(|n| PAUSES.get(n))?;
    let percent = i64::try_from(100 - JITTER_PERCENT + draw).unwrap_or(100);
    let planned = SignedDuration::from_millis(planned.as_secs() * 10 * percent);
    let asked = retry_after.unwrap_or(planned);
    Some(asked.clamp(planned, planned * 2))
}

/// How long after a failed try an acceptance of another event brings the next one forward. An event that its endpoint rejects
/// while it accepts others is brought forward ever less often: after 0 s, 8 s, 16 s, 32 s and so on, up to 36 h.
pub(crate) fn early_pause(wakes: u32) -> SignedDuration {
    match wakes {
        0 => SignedDuration::ZERO,
        some => PROBE_INTERVAL * (1 << (some - 1).min(14)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AVERAGE: u64 = JITTER_PERCENT;

    #[test]
    fn ten_tries_reach_over_seventy_five_hours_and_thirty_five_minutes() {
        let pauses = (0..9).map(|tries| pause(tries, AVERAGE, None).unwrap());
        let total: SignedDuration = pauses.fold(SignedDuration::ZERO, |sum, pause| sum + pause);
        let expected = SignedDuration::from_mins(75 * 60 + 35) + SignedDuration::from_secs(5);
        assert_eq!(total, expected);
        assert_eq!(pause(9, AVERAGE, None), None);
    }

    #[test]
    fn a_rejected_event_is_brought_forward_ever_less_often() {
        let seconds = [0, 1, 2, 3, 15, 99].map(|wakes| early_pause(wakes).as_secs());
        assert_eq!(seconds, [0, 8, 16, 32, 131_072, 131_072]);
    }

    #[test]
    fn jitter_makes_a_pause_at_most_a_fifth_shorter_or_longer() {
        assert_eq!(pause(0, 0, None), Some(SignedDuration::from_secs(4)));
        let longest = pause(0, 2 * JITTER_PERCENT, None);
        assert_eq!(longest, Some(SignedDuration::from_secs(6)));
    }

    #[test]
    fn a_store_may_ask_for_a_pause_of_up_to_twice_the_planned_one() {
        for (asked, got) in [(0, 300), (299, 300), (301, 301), (600, 600), (86_400, 600)] {
            let asked = SignedDuration::from_secs(asked);
            let got = SignedDuration::from_secs(got);
            assert_eq!(pause(1, AVERAGE, Some(asked)), Some(got), "{asked}");
        }
        // The last attempt stays the last, with any Retry-After.
        assert_eq!(pause(9, AVERAGE, Some(SignedDuration::from_secs(1))), None);
    }
}
