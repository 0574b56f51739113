//! What became of a permitted request.

use crate::client::{AmbiguousOutcome, CallError};

/// The outcome of one request.
#[derive(Clone, Debug)]
pub(in crate::client) struct Outcome {
    pub(in crate::client) verdict: Verdict,
    pub(in crate::client) response: Option<Response>,
}

/// What an outcome says about the gateway.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::client) enum Verdict {
    /// A usable answer.
    Answered,
    /// No usable answer, but one from a running gateway.
    Alive,
    /// 429.
    RateLimited,
    /// The gateway was not reached.
    Unreachable,
    /// The gateway failed, or its answer did not arrive.
    Failed,
    /// The caller went away before the answer.
    Abandoned,
    /// The permission was not used.
    Unsent,
}

/// The status of a response, and its headers that matter to the limits.
#[derive(Clone, Debug)]
pub(in crate::client) struct Response {
    pub(in crate::client) status: u16,
    pub(in crate::client) retry_after: Option<String>,
    pub(in crate::client) date: Option<String>,
}

impl Outcome {
    pub(in crate::client) const ABANDONED: Self = Self {
        verdict: Verdict::Abandoned,
        response: None,
    };
    pub(in crate::client) const UNSENT: Self = Self {
        verdict: Verdict::Unsent,
        response: None,
    };

    pub(in crate::client) fn of<T>(
        response: Option<Response>,
        result: &Result<T, CallError>,
    ) -> Self {
        let verdict = match result {
            Ok(_) => Verdict::Answered,
            Err(error) => verdict(error),
        };
        Self { verdict, response }
    }

    /// Returns `true` if the next calls, and the caller itself, have to know it before they go on.
    pub(in crate::client) fn is_urgent(&self) -> bool {
        let is_well = matches!(self.verdict, Verdict::Answered | Verdict::Alive);
        let status = self.response.as_ref().map(|response| response.status);
        !is_well || matches!(status, Some(401 | 503))
    }

    /// Returns `true` if the request may reach the gateway later.
    pub(in crate::client) fn may_be_on_its_way(&self) -> bool {
        let is_unanswered = matches!(self.verdict, Verdict::Failed | Verdict::Abandoned);
        is_unanswered && self.response.is_none()
    }
}

/// An unreadable response still comes from a running gateway.
fn verdict(error: &CallError) -> Verdict {
    match error {
        CallError::RateLimited { .. } => Verdict::RateLimited,
        CallError::Refused { .. }
        | CallError::Ambiguous(
            AmbiguousOutcome::InvalidJson(_)
            | AmbiguousOutcome::TooLarge
            | AmbiguousOutcome::Status(_),
        ) => Verdict::Alive,
        CallError::NotSent(_) => Verdict::Unreachable,
        CallError::Broken { .. }
        | CallError::Ambiguous(AmbiguousOutcome::TimedOut | AmbiguousOutcome::Truncated(_)) => {
            Verdict::Failed
        }
        CallError::OutOfBudget { .. } | CallError::CircuitOpen { .. } | CallError::NoLimits(_) => {
            Verdict::Unsent
        }
    }
}
