//! What happened in a campaign, counted.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};

use super::kill_plan::AIMS;

/// Counts by name.
#[derive(Debug, Default)]
pub struct Tally(Mutex<BTreeMap<&'static str, u64>>);

impl Tally {
    /// It happened once more.
    pub(super) fn count(&self, what: &'static str) {
        self.add(what, 1);
    }

    /// It happened so many times more.
    pub(super) fn add(&self, what: &'static str, times: u64) {
        *self.lock().entry(what).or_default() += times;
    }

    /// How often it happened.
    pub fn of(&self, what: &str) -> u64 {
        self.lock().get(what).copied().unwrap_or(0)
    }

    /// How often the proxy was killed.
    pub fn kills(&self) -> u64 {
        self.sum(|what| what.starts_with("kills "))
    }

    /// How often it was killed at the very moment that was aimed at.
    pub fn aimed_kills(&self) -> u64 {
        self.sum(|what| AIMS.iter().any(|aim| aim.name == what))
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

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (what, count) in &*self.lock() {
            writeln!(f, "  {count:>8}  {what}")?;
        }
        Ok(())
    }
}
