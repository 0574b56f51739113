//! Times as the database stores them.

use jiff::Timestamp;
use sqlx::Postgres;
use sqlx::encode::IsNull;
use sqlx::error::BoxDynError;
use sqlx::postgres::types::Oid;
use sqlx::postgres::{PgArgumentBuffer, PgTypeInfo, PgValueFormat, PgValueRef};

/// Source: `pg_type.dat`: `timestamptz`.
const TIMESTAMPTZ: Oid = Oid(1184);
/// Source: "Date/Time Types": a `timestamptz` counts microseconds since 2000-01-01 00:00 UTC.
const EPOCH_MICROS: i64 = 946_684_800_000_000;

/// A time in whole milliseconds, as SQLite stores it: both stores return the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Time(pub(super) Timestamp);

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
