//! Counters of what happened in a simulation or a kill campaign.

use std::collections::BTreeMap;
use std::fmt;

use parking_lot::{Mutex, MutexGuard};

type Counts = BTreeMap<(&'static str, String), u64>;

#[derive(Debug, Default)]
pub struct Counters(Mutex<Counts>);

impl Counters {
    pub fn add(&self, theme: &'static str, kind: impl Into<String>, count: u64) {
        *self.counts().entry((theme, kind.into())).or_default() += count;
    }

    pub fn one(&self, theme: &'static str, kind: impl Into<String>) {
        self.add(theme, kind, 1);
    }

    pub fn take(&self, other: &Self) {
        for ((theme, kind), count) in &*other.counts() {
            self.add(theme, kind.clone(), *count);
        }
    }

    pub fn total(&self, theme: &str) -> u64 {
        let counts = self.counts();
        let of_theme = counts.iter().filter(|((other, _), _)| *other == theme);
        of_theme.map(|(_, count)| count).sum()
    }

    /// Returns a message for each of these kinds that never happened.
    pub fn missing<K: Into<String>>(
        &self,
        theme: &'static str,
        kinds: impl IntoIterator<Item = K>,
    ) -> Vec<String> {
        let counts = self.counts();
        let keys = kinds.into_iter().map(|kind| (theme, kind.into()));
        let missing = keys.filter(|key| counts.get(key).is_none_or(|count| *count == 0));
        missing
            .map(|(theme, kind)| format!("not covered: {theme}: {kind} never happened"))
            .collect()
    }

    fn counts(&self) -> MutexGuard<'_, Counts> {
        self.0.lock()
    }
}

/// The kinds of a table that they are drawn from by weight.
pub fn names<K: fmt::Debug>(table: &[(u64, K)]) -> impl Iterator<Item = String> {
    table.iter().map(|(_, kind)| format!("{kind:?}"))
}

impl fmt::Display for Counters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut last = "";
        for ((theme, kind), count) in &*self.counts() {
            if *theme != last {
                writeln!(f, "  {theme}")?;
                last = theme;
            }
            writeln!(f, "    {kind:<52}{count:>8}")?;
        }
        Ok(())
    }
}
