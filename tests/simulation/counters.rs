//! Counters over all worlds.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};

/// Counts by group and kind.
#[derive(Debug, Default)]
pub(crate) struct Counters(Mutex<BTreeMap<(&'static str, String), u64>>);

impl Counters {
    pub(crate) fn add(&self, theme: &'static str, kind: impl Into<String>, count: u64) {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *counts.entry((theme, kind.into())).or_default() += count;
    }

    pub(crate) fn one(&self, theme: &'static str, kind: impl Into<String>) {
        self.add(theme, kind, 1);
    }

    /// Adds the counts of another.
    pub(crate) fn take(&self, other: &Self) {
        let counts = other.0.lock().unwrap_or_else(PoisonError::into_inner);
        for ((theme, kind), count) in &*counts {
            self.add(theme, kind.clone(), *count);
        }
    }

    pub(crate) fn of(&self, theme: &'static str, kind: &str) -> u64 {
        let counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        counts
            .get(&(theme, kind.to_owned()))
            .copied()
            .unwrap_or_default()
    }
}

impl fmt::Display for Counters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut last = "";
        for ((theme, kind), count) in &*counts {
            if *theme != last {
                writeln!(f, "  {theme}")?;
                last = theme;
            }
            writeln!(f, "    {kind:<44}{count:>12}")?;
        }
        Ok(())
    }
}
