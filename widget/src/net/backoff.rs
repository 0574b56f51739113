//! The pauses between requests. The server names the pace; failures slow it down; jitter spreads the requests of many pages.

const FIRST_PAUSE_MS: u32 = 2_000;
const LONGEST_PAUSE_MS: u32 = 30_000;
/// The pace while changes also arrive as events: polling is then a safeguard.
const BESIDE_EVENTS_MS: u32 = 30_000;

/// Milliseconds until the next poll after a response that named `seconds`: up to a quarter more by `jitter`, and at least half a
/// minute while events arrive as well.
pub fn after_response(seconds: u32, events_arrive: bool, jitter: u8) -> u32 {
    let pause = seconds.clamp(1, 3600) * 1000;
    let pause = if events_arrive {
        pause.max(BESIDE_EVENTS_MS)
    } else {
        pause
    };
    pause + pause / 4 / 255 * u32::from(jitter)
}

/// Milliseconds until the next try after `failures` in a row: 2, 4, 8, 16, then 30 seconds, of each at least half, the rest by
/// `jitter`.
pub fn after_failure(failures: u32, jitter: u8) -> u32 {
    let doublings = failures.saturating_sub(1).min(4);
    let pause = (FIRST_PAUSE_MS << doublings).min(LONGEST_PAUSE_MS);
    pause / 2 + pause / 2 / 255 * u32::from(jitter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_server_names_the_pace_and_chance_spreads_it_by_a_quarter() {
        assert_eq!(after_response(4, false, 0), 4_000);
        assert_eq!(after_response(4, false, 255), 4_765);
    }

    #[test]
    fn no_answer_makes_the_page_ask_without_a_pause() {
        assert_eq!(after_response(0, false, 0), 1_000);
    }

    #[test]
    fn events_make_questions_rare() {
        assert_eq!(after_response(3, true, 0), 30_000);
        assert_eq!(after_response(60, true, 0), 60_000);
    }

    #[test]
    fn failures_slow_down_to_half_a_minute() {
        let longest = |failures| after_failure(failures, 255) / 1000;
        let paces: Vec<u32> = (1..=7).map(longest).collect();
        assert_eq!(paces, [1, 3, 7, 15, 29, 29, 29]);
        assert_eq!(after_failure(1, 0), 1_000);
        assert_eq!(after_failure(u32::MAX, 0), 15_000);
    }
}
