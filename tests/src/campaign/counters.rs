//! Counters of what happened in a campaign.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};

use super::kill_plan::TARGETS;

/// Counts by name.
#[derive(Debug, Default)]
pub struct Counters(Mutex<BTreeMap<&'static str, u64>>);

impl Counters {
    /// Adds one.
    pub(super) fn count(&self, what: &'static str) {
        self.add(what, 1);
    }

    /// Adds `times`.
    pub(super) fn add(&self, what: &'static str, times: u64) {
        *self.lock().entry(what).or_default() += times;
    }

    /// Returns the count of `what`, 0 when it never happened.
    pub fn of(&self, what: &str) -> u64 {
        self.lock().get(what).copied().unwrap_or(0)
    }

    /// Returns the number of kills.
    pub fn kills(&self) -> u64 {
        self.sum(|what| what.starts_with("kills "))
    }

    /// Returns the number of kills that were timed to their target request.
    pub fn targeted_kills(&self) -> u64 {
        self.sum(|what| TARGETS.iter().any(|target| target.name == what))
    }

    fn sum(&self, counts: impl Fn(&str) -> bool) -> u64 {
        let all = self.lock();
        let counted = all.iter().filter(|(what, _)| counts(what));
        counted.map(|(_, count)| count).sum()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<&'static str, u64>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Display for Counters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (what, count) in &*self.lock() {
            writeln!(f, "  {count:>8}  {what}")?;
        }
        Ok(())
    }
}
