//! Rows of SQLite: times are Unix milliseconds.

use jiff::Timestamp;
use sqlx::encode::IsNull;
use sqlx::error::BoxDynError;
use sqlx::sqlite::{SqliteArgumentsBuffer, SqliteRow, SqliteTypeInfo, SqliteValueRef};
use sqlx::{Row as _, Sqlite};

use crate::Result;
use crate::rows::{Record, Time};

impl sqlx::Type<Sqlite> for Time {
    fn type_info() -> SqliteTypeInfo {
        <i64 as sqlx::Type<Sqlite>>::type_info()
    }
}

impl sqlx::Encode<'_, Sqlite> for Time {
    fn encode_by_ref(&self, buffer: &mut SqliteArgumentsBuffer) -> Result<IsNull, BoxDynError> {
        sqlx::Encode::<Sqlite>::encode(self.0.as_millisecond(), buffer)
    }
}

impl<'r> sqlx::Decode<'r, Sqlite> for Time {
    fn decode(value: SqliteValueRef<'r>) -> Result<Self, BoxDynError> {
        let millis = <i64 as sqlx::Decode<Sqlite>>::decode(value)?;
        Ok(Self(Timestamp::from_millisecond(millis)?))
    }
}

impl Record for SqliteRow {
    fn maybe_text(&self, column: &str) -> Result<Option<&str>> {
        Ok(self.try_get(column)?)
    }

    fn maybe_integer(&self, column: &str) -> Result<Option<i64>> {
        Ok(self.try_get(column)?)
    }

    fn maybe_time(&self, column: &str) -> Result<Option<Timestamp>> {
        let time: Option<Time> = self.try_get(column)?;
        Ok(time.map(|Time(time)| time))
    }

    fn flag(&self, column: &str) -> Result<bool> {
        Ok(self.try_get(column)?)
    }

    fn bytes(&self, column: &str) -> Result<&[u8]> {
        Ok(self.try_get(column)?)
    }
}
