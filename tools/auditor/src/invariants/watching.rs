//! Watching: nothing that can still change is forgotten.

use crate::evidence::{Attempt, Evidence};
use crate::finding::Finding;

pub(super) fn every_open_attempt_is_watched(evidence: &Evidence) -> Finding {
    let mut finding = Finding::new(
        "still-watched",
        "attempts: none is half made, and each that can still change has its next look planned",
    );
    for attempt in &evidence.ledger.attempts {
        let Attempt {
            id,
            state,
            standing,
            is_planned,
            ..
        } = attempt;
        finding.look(match (state.as_str(), standing.as_str()) {
            ("creating", _) => Some(format!(
                "{id} is still in `creating`, and no process works on it"
            )),
            // What is settled cannot change, and may be left alone.
            ("open", "settled") => None,
            ("open", _) if !is_planned => {
                Some(format!("{id} is {standing}, and no look is planned"))
            }
            _ => None,
        });
    }
    finding
}
