//! Failures of a call, by what the caller may do next, and what each outcome means for the limits.

use core::time::Duration;

use reqwest::header::{DATE, RETRY_AFTER};

use super::transport::RawResponse;
use crate::GatewayError;

/// A call without a usable response.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// No connection: refused, no such host, a broken TLS handshake, or the deadline for connecting passed. The gateway
    /// has not seen the request.
    #[error("the gateway cannot be reached: {0}")]
    NotSent(String),
    /// The request was sent, and there is no usable response: the gateway may or may not have
    /// executed it.
    #[error("the gateway gave no usable answer: {0}")]
    Ambiguous(#[from] AmbiguousOutcome),
    /// The gateway rate-limits us (429 or `Retry-After`). The request was not executed.
    #[error("the gateway asks for a pause of {} s", .retry_after.as_secs())]
    RateLimited {
        /// What is left of the pause.
        retry_after: Duration,
    },
    /// Our own rate limit is exhausted for this priority. Nothing was sent.
    #[error("too many calls of the gateway at once; the next one in {} ms", .retry_after.as_millis())]
    OutOfBudget {
        /// When the budget allows a call again, if no other call takes it.
        retry_after: Duration,
    },
    /// The circuit is open after repeated failures. Nothing was sent.
    #[error("the gateway is down and is asked again in {} s", .retry_after.as_secs())]
    CircuitOpen {
        /// When it is tried again.
        retry_after: Duration,
    },
    /// The limits that the processes of an account share cannot be read or written. Nothing was sent.
    #[error("the limits of the gateway account cannot be read from the database: {0}")]
    NoLimits(String),
    /// A status from 400 to 499 other than 429: the same request will be refused again.
    #[error("the gateway refused with status {status}")]
    Refused {
        status: u16,
        /// The error body; empty if it was not readable.
        error: GatewayError,
    },
    /// A status from 500 to 599. The gateway may have executed the request.
    #[error("the gateway failed with status {status}")]
    Broken { status: u16 },
}

/// What is wrong with a response, or with its absence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AmbiguousOutcome {
    #[error("no whole response in time")]
    TimedOut,
    #[error("the connection broke: {0}")]
    Truncated(String),
    #[error(
        "the response is larger than {} bytes",
        super::transport::MAX_ANSWER_BYTES
    )]
    TooLarge,
    /// A success whose body is not the documented JSON.
    #[error("the response cannot be read: {0}")]
    InvalidJson(String),
    /// A status that is neither success nor error, such as a redirect: none is followed.
    #[error("the response has the status {0}")]
    Status(u16),
}

impl CallError {
    /// Returns `true` if the gateway has definitely not executed the request. Then another POST
    /// /invoice may be sent; otherwise an invoice may exist that we have never received.
    pub fn definitely_not_executed(&self) -> bool {
        match self {
            Self::NotSent(_)
            | Self::RateLimited { .. }
            | Self::OutOfBudget { .. }
            | Self::CircuitOpen { .. }
            | Self::NoLimits(_)
            | Self::Refused { .. } => true,
            Self::Ambiguous(_) | Self::Broken { .. } => false,
        }
    }
}

#[derive(Clone, Debug)]
pub(super) struct Outcome {
    pub(super) kind: OutcomeKind,
    pub(super) response: Option<Response>,
    /// The caller repeats the call if the retry budget allows it.
    pub(super) wants_retry: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OutcomeKind {
    Success,
    /// No usable answer, but one from a running gateway.
    Alive,
    /// 429.
    RateLimited,
    Unreachable,
    /// The gateway failed, or its response did not arrive.
    Failed,
    Abandoned,
    Unsent,
}

/// What the limits learn from a response.
#[derive(Clone, Debug)]
pub(super) struct Response {
    pub(super) status: u16,
    pub(super) retry_after: Option<String>,
    pub(super) date: Option<String>,
}

impl Response {
    pub(super) fn of(response: &RawResponse) -> Self {
        let header = |name| response.headers.get(name)?.to_str().ok().map(str::to_owned);
        Self {
            status: response.status,
            retry_after: header(RETRY_AFTER),
            date: header(DATE),
        }
    }
}

impl Outcome {
    pub(super) const ABANDONED: Self = Self {
        kind: OutcomeKind::Abandoned,
        response: None,
        wants_retry: false,
    };
    pub(super) const UNSENT: Self = Self {
        kind: OutcomeKind::Unsent,
        ..Self::ABANDONED
    };

    pub(super) fn of<T>(response: Option<Response>, result: &Result<T, CallError>) -> Self {
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
    pub(super) fn is_urgent(&self) -> bool {
        let is_well = matches!(self.kind, OutcomeKind::Success | OutcomeKind::Alive);
        let status = self.response.as_ref().map(|response| response.status);
        !is_well || self.wants_retry || matches!(status, Some(401 | 503))
    }

    /// Returns `true` if the request may reach the gateway later.
    pub(super) fn may_be_on_its_way(&self) -> bool {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_unsent_or_refused_request_is_definitely_not_executed() {
        let refused = CallError::Refused {
            status: 400,
            error: GatewayError::default(),
        };
        let retry_after = Duration::from_secs(1);
        for (error, expected) in [
            (CallError::NotSent(String::new()), true),
            (refused, true),
            (CallError::RateLimited { retry_after }, true),
            (CallError::OutOfBudget { retry_after }, true),
            (CallError::CircuitOpen { retry_after }, true),
            (CallError::NoLimits(String::new()), true),
            (CallError::Broken { status: 503 }, false),
            (CallError::Ambiguous(AmbiguousOutcome::TimedOut), false),
        ] {
            assert_eq!(error.definitely_not_executed(), expected, "{error}");
        }
    }
}
