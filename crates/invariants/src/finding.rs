//! The result of one rule.

use std::fmt;

/// Offences that are printed; the others are counted.
const MAX_SHOWN: usize = 20;

#[derive(Debug)]
pub struct Finding {
    /// A short, stable name: `credited-once`.
    pub name: &'static str,
    pub claim: &'static str,
    pub checked: usize,
    pub offences: Vec<String>,
}

impl Finding {
    pub(crate) fn new(name: &'static str, claim: &'static str) -> Self {
        Self {
            name,
            claim,
            checked: 0,
            offences: Vec::new(),
        }
    }

    /// Counts one checked object; an offence is a sentence about it.
    pub(crate) fn check(&mut self, offence: Option<String>) {
        self.checked += 1;
        self.offences.extend(offence);
    }

    /// Counts one checked object, for which the claim must hold; `facts` are its name and what contradicts the claim.
    pub(crate) fn must(&mut self, holds: bool, facts: impl fmt::Debug) {
        self.check((!holds).then(|| format!("{facts:?}")));
    }

    pub(crate) fn include(&mut self, other: Self, place: &str) {
        self.checked += other.checked;
        let offences = other.offences.into_iter();
        self.offences
            .extend(offences.map(|offence| format!("{place}: {offence}")));
    }

    /// Returns `true` if there is no offence.
    pub fn holds(&self) -> bool {
        self.offences.is_empty()
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.holds() { "ok " } else { "BAD" };
        write!(
            f,
            "{sign} {:<22} {:>8}  {}",
            self.name, self.checked, self.claim
        )?;
        for offence in self.offences.iter().take(MAX_SHOWN) {
            write!(f, "\n    - {offence}")?;
        }
        let hidden = self.offences.len().saturating_sub(MAX_SHOWN);
        if hidden > 0 {
            write!(f, "\n    - and {hidden} more")?;
        }
        Ok(())
    }
}
