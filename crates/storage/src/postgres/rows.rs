//! Rows of PostgreSQL, and the types of its values.

use jiff::Timestamp;
use sqlx::encode::IsNull;
use sqlx::error::BoxDynError;
use sqlx::postgres::types::Oid;
use sqlx::postgres::{PgArgumentBuffer, PgRow, PgTypeInfo, PgValueFormat, PgValueRef};
use sqlx::{Postgres, Row as _};

use crate::Result;
use crate::rows::{Record, Time};

/// Source: `pg_type.dat`: `timestamptz`.
const TIMESTAMPTZ: Oid = Oid(1184);
/// Source: "Date/Time Types": a `timestamptz` counts microseconds since 2000-01-01 00:00 UTC.
const EPOCH_MICROS: i64 = 946_684_800_000_000;

impl sqlx::Type<Postgres> for Time {
    fn type_info() -> PgTypeInfo {
        PgTypeInfo::with_oid(TIMESTAMPTZ)
    }
}

impl sqlx::Encode<'_, Postgres> for Time {
    fn encode_by_ref(&self, buffer: &mut PgArgumentBuffer) -> Result<IsNull, BoxDynError> {
        let micros = self.0.as_millisecond() * 1000 - EPOCH_MICROS;
        buffer.extend_from_slice(&micros.to_be_bytes());
        Ok(IsNull::No)
    }
}

impl<'r> sqlx::Decode<'r, Postgres> for Time {
    fn decode(value: PgValueRef<'r>) -> Result<Self, BoxDynError> {
        if value.format() != PgValueFormat::Binary {
            return Err("a time in a text format".into());
        }
        let micros = i64::from_be_bytes(value.as_bytes()?.try_into()?);
        let micros = micros
            .checked_add(EPOCH_MICROS)
            .ok_or("a time out of range")?;
        Ok(Self(Timestamp::from_millisecond(micros.div_euclid(1000))?))
    }
}

impl Record for PgRow {
    fn maybe_text(&self, column: &str) -> Result<Option<&str>> {
        Ok(self.try_get(column)?)
    }

    fn maybe_integer(&self, column: &str) -> Result<Option<i64>> {
        match self.try_get(column) {
            // The type `integer` instead of `bigint`.
            Err(sqlx::Error::ColumnDecode { .. }) => {
                Ok(self.try_get::<Option<i32>, _>(column)?.map(i64::from))
            }
            number => Ok(number?),
        }
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
