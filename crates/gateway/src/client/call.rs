//! The endpoints, as far as limits and keys treat them differently.

use core::time::Duration;

/// Longest wait for the budget while a customer waits for the call.
const LONGEST_WAIT: Duration = Duration::from_secs(3);

/// One endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Call {
    Prices,
    CreateInvoice,
    Invoice,
    Confirm,
    Checkout,
    /// Any endpoint, to read.
    Read,
    /// Any endpoint, to change something.
    Write,
}

impl Call {
    /// Returns `true` if the call may be repeated after an ambiguous outcome.
    pub(super) fn is_repeatable(self) -> bool {
        match self {
            Self::Prices | Self::Invoice | Self::Confirm | Self::Read => true,
            // Each makes something new every time, or may.
            Self::CreateInvoice | Self::Checkout | Self::Write => false,
        }
    }

    /// Returns `true` if a response that is no 401 says that key and signature are right. Source: payment-service.md: GET /prices
    /// shows no signature, POST /checkout only the key.
    pub(super) fn proves_key(self) -> bool {
        matches!(self, Self::Invoice | Self::CreateInvoice)
    }

    /// Returns `true` if a 401 says that the key is wrong. A store's own call may be one that the account must not make.
    pub(super) fn needs_only_key(self) -> bool {
        !matches!(self, Self::Read | Self::Write)
    }

    /// Longest wait for the budget. A poll does not wait here: it is rescheduled in the database.
    pub(super) fn max_wait(self) -> Duration {
        match self {
            Self::Invoice => Duration::ZERO,
            _ => LONGEST_WAIT,
        }
    }
}
