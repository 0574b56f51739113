//! How a call can fail, by what the caller may do next.

use core::time::Duration;

use crate::ServiceError;

/// A call without a usable answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// No connection: refused, no such host, a broken TLS handshake, or the deadline for connecting passed. The service
    /// has not seen the request.
    #[error("the payment service cannot be reached: {0}")]
    NotSent(String),
    /// The request was sent, and there is no usable answer: nobody knows whether the service has acted on it.
    #[error("the payment service gave no usable answer: {0}")]
    Unclear(#[from] Unclear),
    /// The service asks for a pause, just now or earlier; while it lasts nothing is sent. It has not acted on the
    /// request.
    #[error("the payment service asks for a pause of {} s", .retry_after.as_secs())]
    RateLimited {
        /// What is left of the pause.
        retry_after: Duration,
    },
    /// More calls are wanted than the service is asked for at a time; calls of a higher priority go first. Nothing was
    /// sent.
    #[error("too many calls of the payment service at once; the next one in {} ms", .retry_after.as_millis())]
    OutOfBudget {
        /// When there is room again, if nobody else takes it.
        retry_after: Duration,
    },
    /// The service has failed again and again just now and is left alone for a while. Nothing was sent.
    #[error("the payment service is down and is asked again in {} s", .retry_after.as_secs())]
    CircuitOpen {
        /// When it is tried again.
        retry_after: Duration,
    },
    /// A status from 400 to 499 other than 429: the same request will be refused again.
    #[error("the payment service refused with status {status}")]
    Refused {
        /// The status.
        status: u16,
        /// What it said; empty if that was not readable.
        error: ServiceError,
    },
    /// A status from 500 to 599: the service is in trouble. It may have acted on the request.
    #[error("the payment service failed with status {status}")]
    Broken {
        /// The status.
        status: u16,
    },
}

/// What is wrong with an answer, or with its absence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unclear {
    /// The deadline passed.
    #[error("no whole answer in time")]
    TimedOut,
    /// The connection ended before the answer did.
    #[error("the connection broke: {0}")]
    Cut(String),
    /// The answer is larger than any of the service's.
    #[error(
        "the answer is larger than {} bytes",
        super::transport::MAX_ANSWER_BYTES
    )]
    TooLarge,
    /// A success whose body is not what the endpoint answers.
    #[error("the answer cannot be read: {0}")]
    Garbled(String),
    /// A status that is neither success nor error, such as a redirect: none is followed.
    #[error("the answer has the status {0}")]
    Status(u16),
}

impl CallError {
    /// Whether the service has surely not acted on the request. If it has not for POST /invoice, another invoice may
    /// be asked for; if nobody knows, there may be one that was never seen.
    pub fn surely_not_done(&self) -> bool {
        match self {
            Self::NotSent(_)
            | Self::RateLimited { .. }
            | Self::OutOfBudget { .. }
            | Self::CircuitOpen { .. }
            | Self::Refused { .. } => true,
            Self::Unclear(_) | Self::Broken { .. } => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_the_service_has_not_seen_or_has_refused_is_surely_not_done() {
        let refused = CallError::Refused {
            status: 400,
            error: ServiceError::default(),
        };
        let limited = CallError::RateLimited {
            retry_after: Duration::from_secs(1),
        };
        let retry_after = Duration::from_secs(1);
        let over = CallError::OutOfBudget { retry_after };
        let open = CallError::CircuitOpen { retry_after };
        for error in [
            CallError::NotSent(String::new()),
            refused,
            limited,
            over,
            open,
        ] {
            assert!(error.surely_not_done(), "{error}");
        }
        for error in [
            CallError::Broken { status: 503 },
            CallError::Unclear(Unclear::TimedOut),
        ] {
            assert!(!error.surely_not_done(), "{error}");
        }
    }
}
