//! How long confirmations usually take, by the pace of each network's blocks.

use super::networks;

/// Below this the wait is not worth a number.
const SOON_MS: u32 = 45_000;

/// How long it usually takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Estimate {
    /// Less than a minute.
    Soon,
    /// So many of a unit as `Intl` names it, rounded up.
    About(u32, &'static str),
}

/// How long the missing blocks usually take; `None` for a network whose pace is not known. With every block there, the
/// service has only to look.
pub fn estimate(network: &str, count: u32, required: u32) -> Option<Estimate> {
    let pace = networks::known(network)?.block_ms;
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

    #[test]
    fn the_pace_of_every_network_that_is_offered_is_known() {
        for asset in florin_money::Asset::ALL {
            assert!(estimate(asset.network(), 0, 3).is_some(), "{asset:?}");
        }
    }
}
