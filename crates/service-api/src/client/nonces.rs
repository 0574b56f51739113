//! Nonces that never go back in time.

use core::sync::atomic::{AtomicI64, Ordering};

use jiff::Timestamp;

use crate::Nonce;

/// Gives out nonces that never go back, whatever the clock does.
///
/// `Assumed:` several requests may carry the same nonce within one second; a 401 for the second of them would disprove
/// it.
#[derive(Debug)]
pub(crate) struct Nonces(AtomicI64);

impl Nonces {
    pub(crate) fn new() -> Self {
        Self(AtomicI64::new(i64::MIN))
    }

    /// The current second, or the last one given out if the clock was set back.
    pub(crate) fn next(&self, now: Timestamp) -> Nonce {
        let now = now.as_second();
        Nonce::from_second(now.max(self.0.fetch_max(now, Ordering::Relaxed)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_nonce_follows_the_clock_and_never_goes_back() {
        let nonces = Nonces::new();
        let at = |second| Timestamp::from_second(second).unwrap();
        let given = [100, 100, 103, 40, 104].map(|second| nonces.next(at(second)));
        assert_eq!(given, [100, 100, 103, 103, 104].map(Nonce::from_second));
    }
}
