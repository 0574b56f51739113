//! The words for where an invoice stands.

/// `transaction_status` as far as an invoice of POST /invoice reaches it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    Checking,
    Processing,
    Completed,
    Failed,
    /// A hosted checkout alone comes here, before it is an invoice.
    Cancelled,
}

/// A status that a callback tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Final {
    Completed,
    Failed,
}

impl Status {
    /// The word on the wire.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Checking => "CHECKING",
            Self::Processing => "PROCESSING",
            Self::Completed => "COMPLETED",
            Self::Failed => "FAILED",
            Self::Cancelled => "CANCELLED",
        }
    }
}

impl Final {
    /// What a lie says instead.
    pub(crate) fn opposite(self) -> Self {
        match self {
            Self::Completed => Self::Failed,
            Self::Failed => Self::Completed,
        }
    }

    /// The word on the wire.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Completed => Status::Completed.as_str(),
            Self::Failed => Status::Failed.as_str(),
        }
    }
}
