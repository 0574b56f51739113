//! How many failed calls are made again: a quota, so that repetitions never double the load on a service in trouble.
//!
//! Source: AWS SDKs and Tools Reference Guide, "Retry behavior" (standard mode): a bucket of 500, 5 for a repetition, 1
//! back for a call that succeeds at once. The bucket is a fifth of theirs: one proxy, not a fleet's client.

const FULL: u32 = 100;
const REPETITION: u32 = 5;
const ANSWERED: u32 = 1;

#[derive(Debug)]
pub(super) struct Quota(u32);

impl Default for Quota {
    fn default() -> Self {
        Self(FULL)
    }
}

impl Quota {
    /// Takes a repetition out of the quota, if there is one.
    pub(super) fn take(&mut self) -> bool {
        let left = self.0.checked_sub(REPETITION);
        self.0 = left.unwrap_or(self.0);
        left.is_some()
    }

    /// A call was answered.
    pub(super) fn answered(&mut self) {
        self.0 = (self.0 + ANSWERED).min(FULL);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twenty_repetitions_are_free_and_then_one_for_five_answers() {
        let mut quota = Quota::default();
        let free = (0..1000).filter(|_| quota.take()).count();
        assert_eq!(free, 20);
        let mut repeated = 0;
        for _ in 0..100 {
            quota.answered();
            repeated += u32::from(quota.take());
        }
        assert_eq!(repeated, 20);
        for _ in 0..1000 {
            quota.answered();
        }
        assert_eq!((0..1000).filter(|_| quota.take()).count(), 20);
    }
}
