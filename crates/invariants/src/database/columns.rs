//! Columns of a row, the same of both databases.

use sqlx::Row as _;
use sqlx::postgres::PgRow;
use sqlx::sqlite::SqliteRow;

use crate::amount::units;

/// A row by the names of its columns.
pub(super) trait Columns {
    fn text(&self, column: &str) -> sqlx::Result<String>;
    fn optional_text(&self, column: &str) -> sqlx::Result<Option<String>>;
    fn number(&self, column: &str) -> sqlx::Result<i64>;
    fn optional_number(&self, column: &str) -> sqlx::Result<Option<i64>>;
    fn flag(&self, column: &str) -> sqlx::Result<bool>;
    fn bytes(&self, column: &str) -> sqlx::Result<Vec<u8>>;
}

macro_rules! columns {
    ($($row:ty),*) => {
        $(impl Columns for $row {
            fn text(&self, column: &str) -> sqlx::Result<String> {
                self.try_get(column)
            }

            fn optional_text(&self, column: &str) -> sqlx::Result<Option<String>> {
                self.try_get(column)
            }

            fn number(&self, column: &str) -> sqlx::Result<i64> {
                self.try_get(column)
            }

            fn optional_number(&self, column: &str) -> sqlx::Result<Option<i64>> {
                self.try_get(column)
            }

            fn flag(&self, column: &str) -> sqlx::Result<bool> {
                self.try_get(column)
            }

            fn bytes(&self, column: &str) -> sqlx::Result<Vec<u8>> {
                self.try_get(column)
            }
        })*
    };
}

columns!(SqliteRow, PgRow);

/// An amount that every row has.
pub(super) fn amount(row: &impl Columns, column: &str) -> sqlx::Result<i128> {
    let text = row.text(column)?;
    units(&text).ok_or_else(|| sqlx::Error::ColumnDecode {
        index: column.to_owned(),
        source: format!("{text:?} is no amount").into(),
    })
}
