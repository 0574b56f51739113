//! The time left to pay, in words that do not frighten.

use crate::decimal::decimal;

/// From here on the countdown is shown as urgent.
const URGENT_SECONDS: u32 = 120;

/// Whether little time is left.
pub fn is_urgent(seconds: u32) -> bool {
    seconds <= URGENT_SECONDS
}

/// `14:05`, or `1:04:09` from an hour on.
pub fn clock(seconds: u32) -> String {
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    let mut text = String::new();
    if hours > 0 {
        text.push_str(&decimal(hours));
        text.push(':');
        two_digits(&mut text, minutes);
    } else {
        text.push_str(&decimal(minutes));
    }
    text.push(':');
    two_digits(&mut text, seconds);
    text
}

fn two_digits(text: &mut String, number: u32) {
    if number < 10 {
        text.push('0');
    }
    text.push_str(&decimal(number));
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
    fn it_stays_calm_until_two_minutes_are_left() {
        assert!(!is_urgent(121));
        assert!(is_urgent(120));
    }
}
