//! What one invariant came to.

use std::fmt;

/// Offending rows that are printed; the others are counted.
const SHOWN: usize = 20;

/// An invariant, judged.
#[derive(Debug)]
pub(crate) struct Finding {
    /// A short name, stable: `credited-once`.
    pub(crate) name: &'static str,
    /// What is claimed.
    pub(crate) claim: &'static str,
    /// Number of checked objects.
    pub(crate) judged: usize,
    /// One sentence for each thing that breaks the claim.
    pub(crate) offences: Vec<String>,
}

impl Finding {
    pub(crate) fn new(name: &'static str, claim: &'static str) -> Self {
        Self {
            name,
            claim,
            judged: 0,
            offences: Vec::new(),
        }
    }

    /// Looks at one thing: `offence` says what is wrong with it, when it is.
    pub(crate) fn look(&mut self, offence: Option<String>) {
        self.judged += 1;
        self.offences.extend(offence);
    }

    /// Looks at one thing that must be so.
    pub(crate) fn must(&mut self, holds: bool, offence: impl FnOnce() -> String) {
        self.look((!holds).then(offence));
    }

    pub(crate) fn holds(&self) -> bool {
        self.offences.is_empty()
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.holds() { "ok " } else { "BAD" };
        write!(
            f,
            "{sign} {:<20} {:>8}  {}",
            self.name, self.judged, self.claim
        )?;
        for offence in self.offences.iter().take(SHOWN) {
            write!(f, "\n    - {offence}")?;
        }
        let hidden = self.offences.len().saturating_sub(SHOWN);
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
