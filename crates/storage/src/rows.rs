//! Rows of either database as values. A row that cannot be parsed is corrupt: there are no defaults.

mod event;
mod operator;
mod order;

use std::borrow::Cow;
use std::fmt::Display;
use std::str::FromStr;

use florin_orders::EventType;
use jiff::Timestamp;

use crate::{Result, StorageError};

pub(crate) use self::event::{
    credit, delivery, disabled_endpoint, due_delivery, event, outbox, recorded_event,
};
pub(crate) use self::operator::{audit_entry, observation, settled_order, staff_access};
pub(crate) use self::order::{aggregate, attempt, order, traceparent};

/// A time in whole milliseconds: Unix milliseconds in SQLite, `timestamptz` in PostgreSQL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Time(pub(crate) Timestamp);

/// A text from outside without NUL, which PostgreSQL stores in no text.
pub(crate) fn without_nul(text: &str) -> Cow<'_, str> {
    if text.contains('\0') {
        Cow::Owned(text.replace('\0', "\u{fffd}"))
    } else {
        Cow::Borrowed(text)
    }
}

/// A row of either database. A column of another type, or without the value that is asked for, is an error.
pub(crate) trait Record {
    /// A text, or NULL.
    fn maybe_text(&self, column: &str) -> Result<Option<&str>>;

    /// A whole number, or NULL.
    fn maybe_integer(&self, column: &str) -> Result<Option<i64>>;

    /// A time, or NULL.
    fn maybe_time(&self, column: &str) -> Result<Option<Timestamp>>;

    /// A truth value.
    fn flag(&self, column: &str) -> Result<bool>;

    /// Bytes.
    fn bytes(&self, column: &str) -> Result<&[u8]>;

    /// A text.
    fn text(&self, column: &str) -> Result<&str> {
        self.maybe_text(column)?.ok_or_else(|| no_value(column))
    }

    /// A copy of a text.
    fn string(&self, column: &str) -> Result<String> {
        self.text(column).map(str::to_owned)
    }

    /// A copy of a text, or NULL.
    fn maybe_string(&self, column: &str) -> Result<Option<String>> {
        Ok(self.maybe_text(column)?.map(str::to_owned))
    }

    /// A whole number.
    fn integer(&self, column: &str) -> Result<i64> {
        self.maybe_integer(column)?.ok_or_else(|| no_value(column))
    }

    /// A time.
    fn time(&self, column: &str) -> Result<Timestamp> {
        self.maybe_time(column)?.ok_or_else(|| no_value(column))
    }

    /// A whole number within the limits of its type.
    fn number<T: TryFrom<i64, Error: Display>>(&self, column: &str) -> Result<T> {
        read(column, T::try_from(self.integer(column)?))
    }

    /// A whole number within the limits of its type, or NULL.
    fn maybe_number<T: TryFrom<i64, Error: Display>>(&self, column: &str) -> Result<Option<T>> {
        let number = self.maybe_integer(column)?;
        read(column, number.map(T::try_from).transpose())
    }

    /// A parsed text.
    fn parsed<'r, T, E: Display>(
        &'r self,
        column: &str,
        parse: impl FnOnce(&'r str) -> Result<T, E>,
    ) -> Result<T> {
        read(column, parse(self.text(column)?))
    }

    /// A parsed text, or NULL.
    fn maybe_parsed<'r, T, E: Display>(
        &'r self,
        column: &str,
        parse: impl FnOnce(&'r str) -> Result<T, E>,
    ) -> Result<Option<T>> {
        read(column, self.maybe_text(column)?.map(parse).transpose())
    }

    /// A word of a list.
    fn word<T: FromStr>(&self, column: &str) -> Result<T> {
        word(self.text(column)?)
    }

    /// A word of a list, or NULL.
    fn maybe_word<T: FromStr>(&self, column: &str) -> Result<Option<T>> {
        self.maybe_text(column)?.map(word).transpose()
    }

    /// The type of an event.
    fn event_type(&self, column: &str) -> Result<EventType> {
        event_type(self.text(column)?)
    }
}

/// The value, or which stored value cannot be parsed and why.
pub(crate) fn read<T, E: Display>(what: &str, parsed: Result<T, E>) -> Result<T> {
    parsed.map_err(|error| StorageError::Corrupt(format!("{what} ({error})")))
}

/// A word of a list.
pub(crate) fn word<T: FromStr>(text: &str) -> Result<T> {
    text.parse().map_err(|_| corrupt_word(text))
}

/// The type of an event.
pub(crate) fn event_type(text: &str) -> Result<EventType> {
    EventType::parse(text).ok_or_else(|| corrupt_word(text))
}

fn corrupt_word(text: &str) -> StorageError {
    StorageError::Corrupt(format!("the word {text:?}"))
}

fn no_value(column: &str) -> StorageError {
    StorageError::Corrupt(format!("{column} (NULL)"))
}
