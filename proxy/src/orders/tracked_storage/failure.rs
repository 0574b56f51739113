//! Which results of the storage are failures of the database. A refusal by the state of an order is none.

use florin_storage::{DecideError, OpenAttemptError, OpenError, OrderOperationError, StorageError};

/// Of failures without a name. Source: semantic conventions of OpenTelemetry, `error.type`.
const OTHER: &str = "_OTHER";

/// An error of the storage.
pub(super) trait StorageFailure {
    /// The error of the database, if it is one.
    fn storage_error(&self) -> Option<&StorageError>;

    /// Returns the kind of the failure as a span has it, or `None` for a refusal.
    fn kind(&self) -> Option<&'static str> {
        let error = self.storage_error()?;
        Some(error.outage().map_or(OTHER, Into::into))
    }
}

impl StorageFailure for StorageError {
    fn storage_error(&self) -> Option<&StorageError> {
        Some(self)
    }
}

impl StorageFailure for OpenError {
    fn storage_error(&self) -> Option<&StorageError> {
        match self {
            Self::Storage(error) => Some(error),
            Self::Conflict(_) => None,
        }
    }
}

impl StorageFailure for OpenAttemptError {
    fn storage_error(&self) -> Option<&StorageError> {
        match self {
            Self::Storage(error) => Some(error),
            Self::InvoiceTaken { .. } => None,
        }
    }
}

impl StorageFailure for OrderOperationError {
    fn storage_error(&self) -> Option<&StorageError> {
        match self {
            Self::Storage(error) => Some(error),
            Self::NoOrder(_) | Self::Closed { .. } | Self::TooMany | Self::InProgress => None,
        }
    }
}

impl StorageFailure for DecideError {
    fn storage_error(&self) -> Option<&StorageError> {
        match self {
            Self::Storage(error) => Some(error),
            Self::NoOrder(_) | Self::Changed { .. } | Self::Refused(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use florin_storage::FileFault;

    use super::*;

    #[test]
    fn a_failure_has_the_kind_of_the_outage_and_a_refusal_has_none() {
        let gone = || StorageError::File(FileFault::Gone("florin.db".into()));
        assert_eq!(gone().kind(), Some("gone"));
        assert_eq!(OpenError::from(gone()).kind(), Some("gone"));
        assert_eq!(OpenAttemptError::from(gone()).kind(), Some("gone"));
        assert_eq!(DecideError::from(gone()).kind(), Some("gone"));
        let corrupt = StorageError::Corrupt("an order".into());
        assert_eq!(OrderOperationError::from(corrupt).kind(), Some("_OTHER"));
        assert_eq!(OrderOperationError::InProgress.kind(), None);
        assert_eq!(OrderOperationError::TooMany.kind(), None);
    }
}
