//! The calls that the client makes.

use core::time::Duration;

/// A customer waits no longer than this before he is told to come back.
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
    Ask,
    /// Any endpoint, to change something.
    Tell,
}

impl Call {
    /// Whether a second time does no harm when nobody knows what became of the first.
    pub(super) fn is_repeatable(self) -> bool {
        match self {
            Self::Prices | Self::Invoice | Self::Confirm | Self::Ask => true,
            // Each makes something new every time, or may.
            Self::CreateInvoice | Self::Checkout | Self::Tell => false,
        }
    }

    /// How long a call may wait for its turn. A look is planned anew in the database instead: it waits there.
    pub(super) fn longest_wait(self) -> Duration {
        match self {
            Self::Invoice => Duration::ZERO,
            _ => LONGEST_WAIT,
        }
    }
}
