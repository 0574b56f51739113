//! Pauses that the service asked for.

use jiff::SignedDuration;

use crate::evidence::Evidence;
use crate::finding::Finding;

pub(super) fn every_pause_is_kept(evidence: &Evidence) -> Finding {
    let mut finding = Finding::new(
        "pauses-kept",
        "pauses that the service asked for by Retry-After: no call came within",
    );
    let calls = &evidence.service.calls;
    for (place, call) in calls.iter().enumerate() {
        let Some(seconds) = call.retry_after_seconds else {
            continue;
        };
        let until = call.at + SignedDuration::from_secs(seconds);
        let within = calls[place + 1..]
            .iter()
            .take_while(|later| later.at < until);
        // What was already on its way when the answer went out could not know.
        let within = within.filter(|later| later.at > call.at + IN_FLIGHT);
        let count = within.count();
        finding.must(count == 0, || {
            format!(
                "{} asked for {seconds} s at {}, and {count} calls came within",
                call.what, call.at
            )
        });
    }
    finding
}

/// Calls that were sent before the pause was heard of, on a machine that has much else to do.
const IN_FLIGHT: SignedDuration = SignedDuration::from_secs(1);
