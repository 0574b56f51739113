//! Rows of SQLite: times are Unix milliseconds.

use jiff::Timestamp;
use sqlx::Row as _;
use sqlx::sqlite::SqliteRow;

use crate::StorageError;
use crate::rows::{Record, read};

/// A time as Unix milliseconds.
pub(super) fn millis(time: Timestamp) -> i64 {
    time.as_millisecond()
}

pub(super) fn time(millis: i64) -> Result<Timestamp, StorageError> {
    read("a time", Timestamp::from_millisecond(millis))
}

impl Record for SqliteRow {
    const REQUESTED: [&str; 3] = ["asked_crypto", "asked_usd", "asked_local"];
    const PAYMENT_STATE: &str = "standing";
    const STATE_SINCE: &str = "standing_since";
    const ASSESSMENT: &str = "verdict";

    fn maybe_text(&self, column: &str) -> Result<Option<&str>, StorageError> {
        Ok(self.try_get(column)?)
    }

    fn maybe_integer(&self, column: &str) -> Result<Option<i64>, StorageError> {
        Ok(self.try_get(column)?)
    }

    fn maybe_time(&self, column: &str) -> Result<Option<Timestamp>, StorageError> {
        self.maybe_integer(column)?.map(time).transpose()
    }

    fn flag(&self, column: &str) -> Result<bool, StorageError> {
        Ok(self.try_get(column)?)
    }

    fn bytes(&self, column: &str) -> Result<&[u8], StorageError> {
        Ok(self.try_get(column)?)
    }
}
