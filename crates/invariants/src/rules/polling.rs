//! Nothing that can still change is left unpolled, and the gateway's pauses are kept.

use std::collections::BTreeMap;

use crate::Millis;
use crate::evidence::Evidence;
use crate::rules::Finding;

const DAY: Millis = 24 * 3_600_000;
/// An unpaid attempt is polled for sixty days after its end; a day less allows for changes of the clock.
const AFTER_EXPIRY: Millis = 59 * DAY;
/// A settled payment may be reverted within a day.
const AFTER_PAYMENT: Millis = DAY;

pub(super) fn still_polled(evidence: &Evidence) -> Finding {
    let claim = "attempts that can still change: the next poll is scheduled";
    let mut finding = Finding::new("still-polled", claim);
    let now = evidence.taken_at;
    let attempts = evidence.database.attempts.iter();
    for attempt in attempts.filter(|attempt| attempt.state == "open") {
        let can_change = if attempt.payment == "settled" {
            let since = attempt.payment_since;
            since.is_some_and(|since| since > now - AFTER_PAYMENT)
        } else {
            let expires_at = attempt.expires_at;
            expires_at.is_none_or(|expires_at| expires_at > now - AFTER_EXPIRY)
        };
        let holds = attempt.is_scheduled || !can_change;
        finding.must(holds, (&attempt.id, &attempt.payment));
    }
    finding
}

pub(super) fn nothing_half_made(evidence: &Evidence) -> Finding {
    let mut finding = Finding::new("nothing-half-made", "attempts: none is left in `creating`");
    for attempt in &evidence.database.attempts {
        finding.must(attempt.state != "creating", &attempt.id);
    }
    finding
}

pub(super) fn newest_response_counts(evidence: &Evidence) -> Finding {
    let claim = "observations: none is recorded after the response to a later poll of its attempt";
    let mut finding = Finding::new("newest-response-counts", claim);
    let mut latest: BTreeMap<&str, i64> = BTreeMap::new();
    for observation in &evidence.database.observations {
        let before = latest.insert(&observation.attempt_id, observation.poll);
        let is_newer = before.is_none_or(|before| before < observation.poll);
        finding.must(is_newer, (observation, "after poll", before));
    }
    finding
}

pub(super) fn pauses_kept(evidence: &Evidence) -> Finding {
    let claim = "pauses that the gateway requested by Retry-After: no request was sent within";
    let mut finding = Finding::new("pauses-kept", claim);
    let requests = &evidence.gateway.requests;
    for pause in &evidence.gateway.pauses {
        let later = requests.get(pause.known_after..).unwrap_or_default();
        let mut within = later
            .iter()
            .filter(|request| request.process == pause.process && request.at < pause.until);
        let first = within.next();
        finding.must(first.is_none(), (first, pause, within.count(), "others"));
    }
    finding
}
