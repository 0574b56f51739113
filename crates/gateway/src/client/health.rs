//! The state of the connection to the gateway, for the operator.

use core::time::Duration;

use jiff::SignedDuration;

/// The state of the connection to the gateway.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Health {
    /// `true` while the circuit is open: only probes are sent.
    pub is_circuit_open: bool,
    /// The rest of the Retry-After pause.
    pub pause: Duration,
    /// `true` while the gateway asks for a pause of more than five minutes. One call tries each five minutes.
    pub is_pause_excessive: bool,
    /// The present rate limit, in calls per minute.
    pub requests_per_minute: u64,
    /// How far its clock is ahead of ours, in whole seconds; `None` before its first answer.
    pub skew: Option<SignedDuration>,
}
