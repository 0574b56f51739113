//! Nothing that can still change is left unpolled, and the gateway's pauses are kept.

use std::collections::BTreeMap;

use crate::clock::Millis;
use crate::evidence::{Attempt, Evidence};
use crate::finding::Finding;

const DAY: Millis = 24 * 3_600_000;
/// An unpaid attempt is polled for sixty days after its end; a day less allows for changes of the clock.
const AFTER_EXPIRY: Millis = 59 * DAY;
/// A settled payment may be reverted within a day.
const AFTER_PAYMENT: Millis = DAY;

pub(super) fn still_polled(evidence: &Evidence) -> Finding {
    let mut finding = Finding::new(
        "still-polled",
        "attempts that can still change: the next poll is scheduled",
    );
    let now = evidence.taken_at;
    for attempt in evidence
        .database
        .attempts
        .iter()
        .filter(|attempt| attempt.state == "open")
    {
        let Attempt {
            id,
            payment,
            payment_since,
            expires_at,
            is_scheduled,
            ..
        } = attempt;
        let can_change = if payment == "settled" {
            payment_since.is_some_and(|since| since > now - AFTER_PAYMENT)
        } else {
            expires_at.is_none_or(|expires_at| expires_at > now - AFTER_EXPIRY)
        };
        finding.must(*is_scheduled || !can_change, || {
            format!("{id} is {payment}, and no poll is scheduled")
        });
    }
    finding
}

pub(super) fn nothing_half_made(evidence: &Evidence) -> Finding {
    let mut finding = Finding::new("nothing-half-made", "attempts: none is left in `creating`");
    for attempt in &evidence.database.attempts {
        finding.must(attempt.state != "creating", || {
            format!("{} is still in `creating`", attempt.id)
        });
    }
    finding
}

pub(super) fn newest_response_counts(evidence: &Evidence) -> Finding {
    let mut finding = Finding::new(
        "newest-response-counts",
        "observations: none is recorded after the response to a later poll of its attempt",
    );
    let mut latest: BTreeMap<&str, i64> = BTreeMap::new();
    for observation in &evidence.database.observations {
        let before = latest.insert(&observation.attempt_id, observation.poll);
        finding.must(
            before.is_none_or(|before| before < observation.poll),
            || {
                let (id, poll) = (&observation.attempt_id, observation.poll);
                format!("{id}: the response to poll {poll} was recorded after {before:?}")
            },
        );
    }
    finding
}

pub(super) fn pauses_kept(evidence: &Evidence) -> Finding {
    let mut finding = Finding::new(
        "pauses-kept",
        "pauses that the gateway requested by Retry-After: no request was sent within",
    );
    let requests = &evidence.gateway.requests;
    for pause in &evidence.gateway.pauses {
        let later = requests.get(pause.known_after..).unwrap_or_default();
        let mut within = later
            .iter()
            .filter(|request| request.process == pause.process && request.at < pause.until);
        finding.check(within.next().map(|first| {
            let (endpoint, left) = (&first.endpoint, pause.until - first.at);
            let others = within.count();
            format!("{endpoint} was sent {left} ms before the end of a pause, and {others} others")
        }));
    }
    finding
}
