//! The meaning of failed statements.

use sqlx::postgres::PgDatabaseError;

use crate::StorageError;

/// What follows from a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Another transaction was first: the same transaction may succeed now.
    Conflict,
    /// The schema was changed after a statement was prepared: the connection prepares it no other time.
    OldSchema,
    /// The connection was lost: whether the transaction was committed is unknown.
    Lost,
    /// Everything else.
    Other,
}

impl StorageError {
    /// This error with the server's name for an unreachable server.
    pub(super) fn for_postgres(self) -> Self {
        match (kind(&self), self) {
            (Kind::Lost, Self::Database(error))
            | (_, Self::Database(error @ sqlx::Error::PoolTimedOut)) => {
                Self::Unreachable(error.to_string())
            }
            (_, error) => error,
        }
    }
}

/// Returns `true` if a statement was prepared before a column was added to its table.
pub(super) fn is_of_old_schema(error: &StorageError) -> bool {
    kind(error) == Kind::OldSchema
}

/// Source: PostgreSQL, src/backend/utils/cache/plancache.c: "cached plan must not change result type" has the code of every
/// feature that is not supported, and names its routine.
fn is_of_cached_plan(error: Option<&PgDatabaseError>) -> bool {
    error.and_then(PgDatabaseError::routine) == Some("RevalidateCachedQuery")
}

/// Source: PostgreSQL, "Error Codes": 40001 `serialization_failure`, 40P01 `deadlock_detected`, class 08 connection
/// exceptions, 57P01 to 57P03 a server that ends or starts.
pub(super) fn kind(error: &StorageError) -> Kind {
    let StorageError::Database(error) = error else {
        return Kind::Other;
    };
    match error {
        sqlx::Error::Io(_) | sqlx::Error::Protocol(_) | sqlx::Error::Tls(_) => Kind::Lost,
        sqlx::Error::Database(error) => {
            let error = error.try_downcast_ref::<PgDatabaseError>();
            match error.map(PgDatabaseError::code) {
                Some("40001" | "40P01") => Kind::Conflict,
                Some("0A000") if is_of_cached_plan(error) => Kind::OldSchema,
                Some("57P01" | "57P02" | "57P03") => Kind::Lost,
                Some(code) if code.starts_with("08") => Kind::Lost,
                _ => Kind::Other,
            }
        }
        _ => Kind::Other,
    }
}
