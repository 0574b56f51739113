//! The outcome of a permitted request.

use crate::client::{AmbiguousOutcome, CallError};

/// The outcome of one request.
#[derive(Clone, Debug)]
pub(in crate::client) struct Outcome {
    pub(in crate::client) kind: OutcomeKind,
    pub(in crate::client) response: Option<Response>,
    /// The caller repeats the call if the retry budget allows it.
    pub(in crate::client) wants_retry: bool,
}

/// The meaning of an outcome for the gateway's health.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::client) enum OutcomeKind {
    /// A usable response.
    Success,
    /// No usable answer, but one from a running gateway.
    Alive,
    /// 429.
    RateLimited,
    /// The gateway was not reached.
    Unreachable,
    /// The gateway failed, or its response did not arrive.
    Failed,
    /// The caller went away before the response.
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
        kind: OutcomeKind::Abandoned,
        response: None,
        wants_retry: false,
    };
    pub(in crate::client) const UNSENT: Self = Self {
        kind: OutcomeKind::Unsent,
        ..Self::ABANDONED
    };

    pub(in crate::client) fn of<T>(
        response: Option<Response>,
        result: &Result<T, CallError>,
    ) -> Self {
        let kind = match result {
            Ok(_) => OutcomeKind::Success,
            Err(error) => kind(error),
        };
        Self {
            kind,
            response,
            wants_retry: false,
        }
    }

    /// Returns `true` if the next calls, and the caller itself, have to know it before they go on.
    pub(in crate::client) fn is_urgent(&self) -> bool {
        let is_well = matches!(self.kind, OutcomeKind::Success | OutcomeKind::Alive);
        let status = self.response.as_ref().map(|response| response.status);
        !is_well || self.wants_retry || matches!(status, Some(401 | 503))
    }

    /// Returns `true` if the request may reach the gateway later.
    pub(in crate::client) fn may_be_on_its_way(&self) -> bool {
        let is_unanswered = matches!(self.kind, OutcomeKind::Failed | OutcomeKind::Abandoned);
        is_unanswered && self.response.is_none()
    }
}

/// An unreadable response still comes from a running gateway.
fn kind(error: &CallError) -> OutcomeKind {
    match error {
        CallError::RateLimited { .. } => OutcomeKind::RateLimited,
        CallError::Refused { .. }
        | CallError::Ambiguous(
            AmbiguousOutcome::InvalidJson(_)
            | AmbiguousOutcome::TooLarge
            | AmbiguousOutcome::Status(_),
        ) => OutcomeKind::Alive,
        CallError::NotSent(_) => OutcomeKind::Unreachable,
        CallError::Broken { .. }
        | CallError::Ambiguous(AmbiguousOutcome::TimedOut | AmbiguousOutcome::Truncated(_)) => {
            OutcomeKind::Failed
        }
        CallError::OutOfBudget { .. } | CallError::CircuitOpen { .. } | CallError::NoLimits(_) => {
            OutcomeKind::Unsent
        }
    }
}
