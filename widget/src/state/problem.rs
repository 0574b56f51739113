//! Why there is no answer.

use florin_checkout_api::{ErrorBody, ErrorCode};

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Problem {
    /// The network is gone, or the proxy.
    Network,
    /// The proxy refused.
    Refused(ErrorBody),
    /// The answer is not of this contract: the page is older or newer than the proxy.
    Unreadable,
}

impl Problem {
    /// The refusal's code.
    pub(crate) fn code(&self) -> Option<ErrorCode> {
        match self {
            Self::Refused(body) => body.code,
            Self::Network | Self::Unreadable => None,
        }
    }

    /// Returns `true` if the same request may succeed after a while. A page that is older than the proxy reads the
    /// answer no better then, but a proxy that is older than the page is about to be replaced.
    pub(crate) fn is_temporary(&self) -> bool {
        match self {
            Self::Network | Self::Unreadable => true,
            Self::Refused(body) => matches!(
                body.code,
                Some(
                    ErrorCode::RateLimited
                        | ErrorCode::GatewayUnavailable
                        | ErrorCode::StorageUnavailable
                        | ErrorCode::Internal
                        // The same request is still at work, or a proxy that was killed left it so for a while.
                        | ErrorCode::RequestInProgress
                        | ErrorCode::AttemptInProgress
                )
            ),
        }
    }

    /// Returns `true` if the proxy refused the amount of a donation: the customer corrects it in its field.
    pub(crate) fn is_about_amount(&self) -> bool {
        matches!(
            self.code(),
            Some(ErrorCode::DonationOutOfRange | ErrorCode::InvalidRequest)
        )
    }

    /// For the shop's page: the event `florin-error`.
    pub(super) fn message(&self) -> &str {
        match self {
            Self::Refused(body) => &body.message,
            Self::Network => "no answer",
            Self::Unreadable => "an answer that this page does not understand",
        }
    }
}
