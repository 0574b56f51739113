//! The result of one rule.

use std::fmt;

/// Offences that are printed; the others are counted.
const MAX_SHOWN: usize = 20;

/// A rule with what it has found.
#[derive(Debug)]
pub struct Finding {
    /// A short, stable name: `credited-once`.
    pub name: &'static str,
    /// What is claimed.
    pub claim: &'static str,
    /// Number of checked objects.
    pub checked: usize,
    /// One sentence for each object that breaks the claim.
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

    /// Counts one checked object, which must hold.
    pub(crate) fn must(&mut self, holds: bool, offence: impl FnOnce() -> String) {
        self.check((!holds).then(offence));
    }

    /// Adds what the same rule has found in another database.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_shows_its_first_offences_and_counts_the_rest() {
        let mut finding = Finding::new("name", "a claim");
        finding.must(true, String::new);
        for number in 0..22 {
            finding.must(false, || format!("offence {number}"));
        }
        let printed = finding.to_string();
        assert!(printed.starts_with("BAD name"), "{printed}");
        assert!(printed.contains("      23  a claim"), "{printed}");
        assert!(printed.contains("offence 19") && !printed.contains("offence 20"));
        assert!(printed.ends_with("and 2 more"), "{printed}");
    }
}
