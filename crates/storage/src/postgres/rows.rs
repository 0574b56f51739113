//! Rows as values. A row that cannot be parsed is corrupt: there are no defaults.

use std::borrow::Cow;
use std::fmt::Display;
use std::str::FromStr;

use florin_money::{Amount, CryptoCode, Currency};
use florin_orders::{
    Aggregate, Amounts, Attempt, AttemptId, AttemptState, CustomTerms, Destination, Event, EventId,
    EventType, FinalDecision, Flow, Invoice, InvoiceId, InvoiceTerms, NewAttempt, NewOrder, Order,
    OrderId, Progress, QuotedAmounts, Reference, Reverted, StoreId, TransactionHint,
};
use jiff::Timestamp;
use sqlx::encode::IsNull;
use sqlx::error::BoxDynError;
use sqlx::postgres::types::Oid;
use sqlx::postgres::{PgArgumentBuffer, PgRow, PgTypeInfo, PgValueFormat, PgValueRef};
use sqlx::{Postgres, Row as _};
use url::Url;

use crate::StorageError;

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

/// A time of a row.
pub(super) fn time(row: &PgRow, column: &str) -> Result<Timestamp, StorageError> {
    let Time(time) = row.try_get(column)?;
    Ok(time)
}

/// A number of a row that is not negative.
pub(super) fn number<T: TryFrom<i64, Error: Display>>(
    row: &PgRow,
    column: &str,
) -> Result<T, StorageError> {
    read(column, T::try_from(row.try_get(column)?))
}

/// A text from outside: the database stores every character but NUL.
pub(super) fn text(text: &str) -> Cow<'_, str> {
    if text.contains('\0') {
        Cow::Owned(text.replace('\0', "\u{fffd}"))
    } else {
        Cow::Borrowed(text)
    }
}

/// Parses a stored text.
pub(super) fn read<T, E: Display>(what: &str, parsed: Result<T, E>) -> Result<T, StorageError> {
    parsed.map_err(|error| StorageError::Corrupt(format!("{what} ({error})")))
}

pub(super) fn word<T: FromStr>(text: &str) -> Result<T, StorageError> {
    text.parse().map_err(|_| corrupt_word(text))
}

fn corrupt_word(text: &str) -> StorageError {
    StorageError::Corrupt(format!("the word {text:?}"))
}

fn amount(row: &PgRow, column: &str) -> Result<Amount, StorageError> {
    read(column, Amount::parse(row.try_get(column)?))
}

fn maybe_amount(row: &PgRow, column: &str) -> Result<Option<Amount>, StorageError> {
    let text: Option<&str> = row.try_get(column)?;
    read(column, text.map(Amount::parse).transpose())
}

fn maybe_count(row: &PgRow, column: &str) -> Result<Option<u32>, StorageError> {
    let count: Option<i64> = row.try_get(column)?;
    read(column, count.map(u32::try_from).transpose())
}

fn currency(row: &PgRow, column: &str) -> Result<Currency, StorageError> {
    read(column, Currency::parse(row.try_get(column)?))
}

pub(super) fn maybe_time(row: &PgRow, column: &str) -> Result<Option<Timestamp>, StorageError> {
    Ok(row
        .try_get::<Option<Time>, _>(column)?
        .map(|Time(time)| time))
}

pub(super) fn order(row: &PgRow) -> Result<Order, StorageError> {
    let assets: &str = row.try_get("assets")?;
    let assets = assets
        .split_ascii_whitespace()
        .map(CryptoCode::parse)
        .collect();
    let terms = NewOrder {
        store_id: read("a store id", StoreId::parse(row.try_get("store_id")?))?,
        reference: read("a reference", Reference::parse(row.try_get("reference")?))?,
        amount: amount(row, "amount")?,
        currency: currency(row, "currency")?,
        price_source: word(row.try_get("price_source")?)?,
        title: row.try_get("title")?,
        lines: read("lines", serde_json::from_str(row.try_get("lines")?))?,
        customer_email: row.try_get("customer_email")?,
        return_url: row.try_get("return_url")?,
        metadata: read("metadata", serde_json::from_str(row.try_get("metadata")?))?,
        assets: read("assets", assets)?,
        flow: word(row.try_get("flow")?)?,
        tolerance: amount(row, "tolerance")?,
        expires_at: time(row, "expires_at")?,
    };
    let current: Option<&str> = row.try_get("current_attempt")?;
    Ok(Order {
        id: read("an order id", OrderId::parse(row.try_get("id")?))?,
        terms,
        status: word(row.try_get("status")?)?,
        current_attempt: read("an attempt id", current.map(AttemptId::parse).transpose())?,
        sequence: number(row, "sequence")?,
        version: number(row, "version")?,
        created_at: time(row, "created_at")?,
        settled_at: maybe_time(row, "settled_at")?,
        reverted: reverted(row)?,
        cancelled_at: maybe_time(row, "cancelled_at")?,
        has_money: row.try_get("has_money")?,
        late_payment: row
            .try_get::<Option<&str>, _>("late_payment")?
            .map(word)
            .transpose()?,
        decision: decision(row)?,
        receipt_email: row.try_get("receipt_email")?,
    })
}

/// An order with all its attempts.
pub(super) fn aggregate(row: &PgRow, attempts: &[PgRow]) -> Result<Aggregate, StorageError> {
    Ok(Aggregate {
        order: order(row)?,
        attempts: attempts.iter().map(attempt).collect::<Result<_, _>>()?,
        late_event_at: maybe_time(row, "late_event_at")?,
        attention_since: maybe_time(row, "attention_since")?,
    })
}

fn decision(row: &PgRow) -> Result<Option<FinalDecision>, StorageError> {
    let Some(at) = maybe_time(row, "decided_at")? else {
        return Ok(None);
    };
    let outcome = word(row.try_get("decision")?)?;
    Ok(Some(FinalDecision { outcome, at }))
}

fn reverted(row: &PgRow) -> Result<Option<Reverted>, StorageError> {
    let Some(at) = maybe_time(row, "reverted_at")? else {
        return Ok(None);
    };
    let payment_state = word(row.try_get("reverted_to")?)?;
    Ok(Some(Reverted { at, payment_state }))
}

pub(super) fn attempt(row: &PgRow) -> Result<Attempt, StorageError> {
    let terms = NewAttempt {
        id: read("an attempt id", AttemptId::parse(row.try_get("id")?))?,
        invoice: match word(row.try_get("flow")?)? {
            Flow::Custom => InvoiceTerms::Custom(custom_ask(row)?),
            Flow::Hosted => InvoiceTerms::Hosted,
        },
    };
    let state = match row.try_get::<&str, _>("state")? {
        "creating" => AttemptState::Creating,
        "open" => AttemptState::Open(Box::new(invoice(row)?)),
        reason => AttemptState::Abandoned(word(reason)?),
    };
    Ok(Attempt {
        order_id: read("an order id", OrderId::parse(row.try_get("order_id")?))?,
        terms,
        begun_at: time(row, "begun_at")?,
        state,
    })
}

fn custom_ask(row: &PgRow) -> Result<CustomTerms, StorageError> {
    Ok(CustomTerms {
        crypto_code: read(
            "a crypto code",
            CryptoCode::parse(row.try_get("crypto_code")?),
        )?,
        conversion_id: row.try_get("conversion_id")?,
        requested: QuotedAmounts {
            amounts: Amounts {
                crypto: amount(row, "requested_crypto")?,
                usd: amount(row, "requested_usd")?,
                local: amount(row, "requested_local")?,
            },
            local_currency: currency(row, "local_currency")?,
        },
    })
}

fn destination(row: &PgRow) -> Result<Destination, StorageError> {
    if let Some(url) = row.try_get::<Option<&str>, _>("page_url")? {
        let url = read("a page's address", Url::parse(url))?;
        return Ok(Destination::Page { url });
    }
    Ok(Destination::Address {
        address: row.try_get("address")?,
        qr_string: row.try_get("qr_string")?,
        warnings: read("warnings", serde_json::from_str(row.try_get("warnings")?))?,
    })
}

fn invoice(row: &PgRow) -> Result<Invoice, StorageError> {
    let count = maybe_count(row, "confirmations")?;
    let required = maybe_count(row, "confirmations_required")?;
    Ok(Invoice {
        id: read(
            "an invoice id",
            InvoiceId::parse(row.try_get("invoice_id")?),
        )?,
        destination: destination(row)?,
        opened_at: time(row, "opened_at")?,
        expires_at: time(row, "expires_at")?,
        marked_as_paid_at: maybe_time(row, "marked_as_paid_at")?,
        transaction_hint: read(
            "a transaction hash",
            row.try_get::<Option<&str>, _>("transaction_hint")?
                .map(TransactionHint::parse)
                .transpose(),
        )?,
        payment_state: word(row.try_get("payment_state")?)?,
        state_since: time(row, "state_since")?,
        progress: Progress {
            received: Amounts {
                crypto: amount(row, "received_crypto")?,
                usd: amount(row, "received_usd")?,
                local: amount(row, "received_local")?,
            },
            confirmations: count.zip(required),
            transaction_hash: row.try_get("transaction_hash")?,
            paid_in: read(
                "a crypto code",
                row.try_get::<Option<&str>, _>("paid_in")?
                    .map(CryptoCode::parse)
                    .transpose(),
            )?,
        },
        was_seen: row.try_get("was_seen")?,
        late_amount_notified: maybe_amount(row, "late_amount_notified")?,
        needs_review: row.try_get("needs_review")?,
        observed_at: maybe_time(row, "observed_at")?,
        next_poll_at: maybe_time(row, "next_poll_at")?,
    })
}

pub(super) fn event_type(word: &str) -> Result<EventType, StorageError> {
    EventType::parse(word).ok_or_else(|| corrupt_word(word))
}

pub(super) fn event(row: &PgRow) -> Result<Event, StorageError> {
    Ok(Event {
        position: row.try_get("position")?,
        id: read("an event id", EventId::parse(row.try_get("id")?))?,
        store_id: read("a store id", StoreId::parse(row.try_get("store_id")?))?,
        order_id: read("an order id", OrderId::parse(row.try_get("order_id")?))?,
        sequence: number(row, "sequence")?,
        event_type: event_type(row.try_get("type")?)?,
        kind: row.try_get("type")?,
        created_at: time(row, "created_at")?,
        payload: row.try_get("payload")?,
    })
}
