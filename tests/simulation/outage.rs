//! An outage of the simulated storage, with the errors that the proxy meets.

use std::fmt;

use florin_storage::{FileFault, StorageError};
use sqlx::error::{DatabaseError, ErrorKind};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outage {
    Full,
    Io,
    Gone,
    Replaced,
    Damaged,
    ReadOnly,
    Locked,
}

impl Outage {
    /// Returns `true` if nothing can be read either.
    pub(crate) fn stops_reads(self) -> bool {
        self == Self::Damaged
    }

    pub(crate) fn error(self) -> StorageError {
        let path = || "florin.db".to_owned();
        match self {
            Self::Gone => FileFault::Gone(path()).into(),
            Self::Replaced => FileFault::Replaced(path()).into(),
            Self::Damaged => FileFault::Damaged {
                path: path(),
                found: "injected".into(),
            }
            .into(),
            Self::Full => code("13"),
            Self::Io => code("778"),
            Self::ReadOnly => code("8"),
            Self::Locked => code("5"),
        }
    }
}

fn code(code: &'static str) -> StorageError {
    sqlx::Error::Database(Box::new(Injected(code))).into()
}

/// An error of SQLite, by its code. Source: sqlite.org, "Result and Error Codes".
#[derive(Debug)]
struct Injected(&'static str);

impl fmt::Display for Injected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "injected: code {}", self.0)
    }
}

impl std::error::Error for Injected {}

impl DatabaseError for Injected {
    fn message(&self) -> &'static str {
        "injected"
    }

    fn code(&self) -> Option<std::borrow::Cow<'_, str>> {
        Some(self.0.into())
    }

    fn as_error(&self) -> &(dyn std::error::Error + Send + Sync + 'static) {
        self
    }

    fn as_error_mut(&mut self) -> &mut (dyn std::error::Error + Send + Sync + 'static) {
        self
    }

    fn into_error(self: Box<Self>) -> Box<dyn std::error::Error + Send + Sync + 'static> {
        self
    }

    fn kind(&self) -> ErrorKind {
        ErrorKind::Other
    }
}
