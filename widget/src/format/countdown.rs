//! The time left to pay: whole minutes while there is plenty, then seconds.

/// Until here whole minutes say enough.
const CALM_SECONDS: u32 = 180;
/// Below this the countdown is shown as urgent, and what is sent could come too late.
const URGENT_SECONDS: u32 = 60;
/// From here on hours say enough.
const HOURS_SECONDS: u32 = 2 * 3600;

/// Whether little time is left: a payment that is prepared now could arrive after it.
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
}
