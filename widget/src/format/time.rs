//! The time left to pay, whole minutes while there is plenty, then seconds; and how long confirmations usually take.

use florin_money::Network;

/// Until here whole minutes say enough.
const CALM_SECONDS: u32 = 180;
/// Below this the countdown is shown as urgent, and what is sent could come too late.
const URGENT_SECONDS: u32 = 60;
/// From here on hours say enough.
const HOURS_SECONDS: u32 = 2 * 3600;

/// Returns `true` if a payment that is prepared now could arrive too late.
pub fn is_urgent(seconds: u32) -> bool {
    seconds < URGENT_SECONDS
}

/// While there is plenty of time, how much: a number and its unit as `Intl` names it, never more than there is.
pub fn held(seconds: u32) -> Option<(u32, &'static str)> {
    match seconds {
        HOURS_SECONDS.. => Some((seconds / 3600, "hour")),
        CALM_SECONDS.. => Some((seconds / 60, "minute")),
        _ => None,
    }
}

/// `14:05`, or `1:04:09` from an hour on.
pub fn clock(seconds: u32) -> String {
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    match hours {
        0 => format!("{minutes}:{seconds:02}"),
        _ => format!("{hours}:{minutes:02}:{seconds:02}"),
    }
}

/// Below this the wait is not worth a number.
const SOON_MS: u32 = 45_000;

/// How long it usually takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Estimate {
    /// Less than a minute.
    Soon,
    /// A number, rounded up, and its unit as `Intl` names it.
    About(u32, &'static str),
}

/// How long the missing blocks usually take; `None` for a network whose pace is not known. With every block there, the
/// service has only to look.
pub fn estimate(network: &str, count: u32, required: u32) -> Option<Estimate> {
    let pace = Network::of(network)?.block_ms;
    let wait = required.saturating_sub(count).saturating_mul(pace);
    Some(match wait {
        0..SOON_MS => Estimate::Soon,
        _ if wait <= 90 * 60_000 => Estimate::About(wait.div_ceil(60_000), "minute"),
        _ => Estimate::About(wait.div_ceil(3_600_000), "hour"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn minutes_and_seconds_have_their_places() {
        assert_eq!(clock(0), "0:00");
        assert_eq!(clock(9), "0:09");
        assert_eq!(clock(845), "14:05");
        assert_eq!(clock(3849), "1:04:09");
    }

    #[test]
    fn it_is_urgent_in_the_last_minute_alone() {
        assert!(!is_urgent(60));
        assert!(is_urgent(59));
    }

    #[test]
    fn whole_minutes_are_shown_down_to_three_and_never_too_many() {
        assert_eq!(held(900), Some((15, "minute")));
        assert_eq!(held(899), Some((14, "minute")));
        assert_eq!(held(180), Some((3, "minute")));
        assert_eq!(held(179), None);
        assert_eq!(held(7199), Some((119, "minute")));
        assert_eq!(held(7200), Some((2, "hour")));
        assert_eq!(held(86_399), Some((23, "hour")));
    }

    #[test]
    fn the_estimate_is_of_the_blocks_that_are_missing() {
        let about = |count| estimate("Bitcoin", count, 3);
        assert_eq!(about(0), Some(Estimate::About(30, "minute")));
        assert_eq!(about(2), Some(Estimate::About(10, "minute")));
        assert_eq!(about(3), Some(Estimate::Soon));
        assert_eq!(about(7), Some(Estimate::Soon));
    }

    #[test]
    fn a_fast_chain_is_done_any_moment_and_a_slow_one_takes_hours() {
        assert_eq!(estimate("Tron", 0, 12), Some(Estimate::Soon));
        assert_eq!(
            estimate("Ethereum", 0, 64),
            Some(Estimate::About(13, "minute"))
        );
        assert_eq!(estimate("Bitcoin", 0, 10), Some(Estimate::About(2, "hour")));
        assert_eq!(
            estimate("Bitcoin", 0, u32::MAX),
            Some(Estimate::About(1194, "hour"))
        );
    }

    #[test]
    fn nothing_is_guessed_of_a_network_without_a_known_pace() {
        assert_eq!(estimate("Atlantis", 0, 3), None);
    }
}
