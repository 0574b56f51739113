//! Rows of either database as values. A row that cannot be parsed is corrupt: there are no defaults. And the record of an
//! observation, the same in both databases.

mod order;

use std::borrow::Cow;
use std::fmt::Display;
use std::str::FromStr;

use florin_money::{Amount, CryptoCode, Currency};
use florin_orders::{
    Assessment, AttemptId, AuditId, DeliveryId, EndpointHash, Event, EventId, EventType,
    Observation, OrderId, Reference, Refund, StoreId, WebhookId,
};
use jiff::{SignedDuration, Timestamp};
use sha2::{Digest as _, Sha256};

use crate::{
    Actor, AuditEntry, Delivery, DisabledEndpoint, DueDelivery, EventState, Outbox,
    RecordedDelivery, RecordedEvent, Result, Settlement, SettlementKind, StaffAccess, StorageError,
    StoreScope, StoredObservation,
};

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

/// A row of either database. A column of another type, or NULL where the name of the method has no `maybe`, is an error.
pub(crate) trait Record {
    fn maybe_text(&self, column: &str) -> Result<Option<&str>>;

    fn maybe_integer(&self, column: &str) -> Result<Option<i64>>;

    fn maybe_time(&self, column: &str) -> Result<Option<Timestamp>>;

    fn flag(&self, column: &str) -> Result<bool>;

    fn bytes(&self, column: &str) -> Result<&[u8]>;

    fn text(&self, column: &str) -> Result<&str> {
        self.maybe_text(column)?.ok_or_else(|| no_value(column))
    }

    fn string(&self, column: &str) -> Result<String> {
        self.text(column).map(str::to_owned)
    }

    fn maybe_string(&self, column: &str) -> Result<Option<String>> {
        Ok(self.maybe_text(column)?.map(str::to_owned))
    }

    fn integer(&self, column: &str) -> Result<i64> {
        self.maybe_integer(column)?.ok_or_else(|| no_value(column))
    }

    fn time(&self, column: &str) -> Result<Timestamp> {
        self.maybe_time(column)?.ok_or_else(|| no_value(column))
    }

    fn number<T: TryFrom<i64, Error: Display>>(&self, column: &str) -> Result<T> {
        read(column, T::try_from(self.integer(column)?))
    }

    fn maybe_number<T: TryFrom<i64, Error: Display>>(&self, column: &str) -> Result<Option<T>> {
        let number = self.maybe_integer(column)?;
        read(column, number.map(T::try_from).transpose())
    }

    fn parsed<'r, T, E: Display>(
        &'r self,
        column: &str,
        parse: impl FnOnce(&'r str) -> Result<T, E>,
    ) -> Result<T> {
        read(column, parse(self.text(column)?))
    }

    fn maybe_parsed<'r, T, E: Display>(
        &'r self,
        column: &str,
        parse: impl FnOnce(&'r str) -> Result<T, E>,
    ) -> Result<Option<T>> {
        read(column, self.maybe_text(column)?.map(parse).transpose())
    }

    fn word<T: FromStr>(&self, column: &str) -> Result<T> {
        word(self.text(column)?)
    }

    fn maybe_word<T: FromStr>(&self, column: &str) -> Result<Option<T>> {
        self.maybe_text(column)?.map(word).transpose()
    }

    fn event_type(&self, column: &str) -> Result<EventType> {
        event_type(self.text(column)?)
    }
}

pub(crate) fn read<T, E: Display>(what: &str, parsed: Result<T, E>) -> Result<T> {
    parsed.map_err(|error| StorageError::Corrupt(format!("{what} ({error})")))
}

pub(crate) fn word<T: FromStr>(text: &str) -> Result<T> {
    text.parse().map_err(|_| corrupt_word(text))
}

pub(crate) fn event_type(text: &str) -> Result<EventType> {
    EventType::parse(text).ok_or_else(|| corrupt_word(text))
}

fn corrupt_word(text: &str) -> StorageError {
    StorageError::Corrupt(format!("the word {text:?}"))
}

fn no_value(column: &str) -> StorageError {
    StorageError::Corrupt(format!("{column} (NULL)"))
}

pub(crate) fn event(row: &impl Record) -> Result<Event> {
    Ok(Event {
        position: row.integer("position")?,
        id: row.parsed("id", EventId::parse)?,
        store_id: row.parsed("store_id", StoreId::parse)?,
        order_id: row.parsed("order_id", OrderId::parse)?,
        sequence: row.number("sequence")?,
        event_type: row.event_type("type")?,
        kind: row.string("type")?,
        created_at: row.time("created_at")?,
        payload: row.string("payload")?,
    })
}

pub(crate) fn due_delivery(row: &impl Record, now: Timestamp) -> Result<DueDelivery> {
    Ok(DueDelivery {
        event: event(row)?,
        tries: row.number("tries")?,
        wakes: row.number("early_tries")?,
        ahead_of: row.maybe_time("retry_at")?.filter(|at| *at > now),
        traceparent: traceparent(row)?,
    })
}

pub(crate) fn delivery(row: &impl Record) -> Result<RecordedDelivery> {
    let event_id = row.parsed("event_id", EventId::parse)?;
    Ok(RecordedDelivery {
        id: DeliveryId::of(&event_id, row.number("number")?),
        kind: row.string("type")?,
        delivery: Delivery {
            event_id,
            webhook: row.parsed("webhook", WebhookId::parse)?,
            tried_at: row.time("tried_at")?,
            took: SignedDuration::from_millis(row.integer("took_ms")?),
            http_status: row.maybe_number("http_status")?,
            note: row.string("note")?,
        },
    })
}

pub(crate) fn recorded_event(
    row: &impl Record,
    event: Event,
    deliveries: Vec<RecordedDelivery>,
) -> Result<RecordedEvent> {
    let webhook = row.parsed("webhook", WebhookId::parse)?;
    let state = row.word("state")?;
    let next_at = row.time("next_at")?;
    Ok(RecordedEvent {
        event,
        webhook,
        state,
        next_at: (state == EventState::Pending).then_some(next_at),
        deliveries,
    })
}

pub(crate) fn disabled_endpoint(row: &impl Record) -> Result<DisabledEndpoint> {
    let endpoint = row.bytes("endpoint")?.try_into();
    Ok(DisabledEndpoint {
        endpoint: EndpointHash(read("endpoint", endpoint)?),
        since: row.time("since")?,
    })
}

pub(crate) fn outbox(row: &impl Record) -> Result<Outbox> {
    Ok(Outbox {
        store_id: row.parsed("store_id", StoreId::parse)?,
        webhook: row.parsed("webhook", WebhookId::parse)?,
        waiting: row.number("waiting")?,
        oldest_at: row.maybe_time("oldest_at")?,
        is_disabled: row.flag("is_disabled")?,
    })
}

pub(crate) fn audit_entry(row: &impl Record) -> Result<AuditEntry> {
    let scope = match row.maybe_parsed("staff_of", StoreId::parse)? {
        Some(store) => StoreScope::Store(store),
        None => StoreScope::All,
    };
    let before = row.maybe_word("status_before")?;
    Ok(AuditEntry {
        position: row.integer("position")?,
        id: row.parsed("id", AuditId::parse)?,
        at: row.time("at")?,
        actor: Actor {
            name: row.string("operator")?,
            scope,
        },
        action: row.word("action")?,
        order_id: row.maybe_parsed("order_id", OrderId::parse)?,
        subject: row.maybe_string("subject")?,
        reason: row.string("reason")?,
        status: before.zip(row.maybe_word("status_after")?),
    })
}

pub(crate) fn observation(row: &impl Record) -> Result<StoredObservation> {
    Ok(StoredObservation {
        attempt_id: row.parsed("attempt_id", AttemptId::parse)?,
        first_at: row.time("observed_at")?,
        last_at: row.time("last_at")?,
        times: row.number("times")?,
        raw: row.string("raw")?,
        assessment: row.string("assessment")?,
    })
}

pub(crate) fn staff_access(row: &impl Record) -> Result<StaffAccess> {
    let secret_key = row.bytes("secret_key")?.try_into();
    Ok(StaffAccess {
        store: row.parsed("store_id", StoreId::parse)?,
        secret_key: read("secret_key", secret_key)?,
        person: row.string("person")?,
        may_decide: row.flag("may_decide")?,
        session: SignedDuration::from_secs(row.integer("session_seconds")?),
    })
}

pub(crate) fn refund(row: &impl Record) -> Result<Refund> {
    Ok(Refund {
        id: row.parsed("id", AuditId::parse)?,
        crypto_code: row.parsed("crypto_code", CryptoCode::parse)?,
        amount_in_crypto: row.parsed("amount_in_crypto", Amount::parse)?,
        amount: row.parsed("amount", Amount::parse)?,
        transaction_hash: row.maybe_string("transaction_hash")?,
        at: row.time("refunded_at")?,
    })
}

pub(crate) fn settlement(row: &impl Record, kind: SettlementKind) -> Result<Settlement> {
    let is_accepted = row.maybe_text("decision")? == Some("accepted");
    let kind = match kind {
        SettlementKind::Payment if is_accepted => SettlementKind::Accepted,
        kind => kind,
    };
    Ok(Settlement {
        kind,
        id: row.string("id")?,
        at: row.time("at")?,
        order_id: row.parsed("order_id", OrderId::parse)?,
        store_id: row.parsed("store_id", StoreId::parse)?,
        reference: row.parsed("reference", Reference::parse)?,
        title: row.string("title")?,
        metadata: row.parsed("metadata", serde_json::from_str)?,
        amount: row.parsed("amount", Amount::parse)?,
        currency: row.parsed("currency", Currency::parse_stored)?,
        crypto_code: row.maybe_parsed("asset", CryptoCode::parse)?,
        amount_in_crypto: row.parsed("amount_in_crypto", Amount::parse)?,
        transaction_hash: row.maybe_string("transaction_hash")?,
    })
}

pub(crate) fn credited(row: &impl Record) -> Result<(Currency, Amount)> {
    let currency = row.parsed("currency", Currency::parse_stored)?;
    Ok((currency, row.parsed("amount", Amount::parse)?))
}

/// The most of a response, and of its assessment, that is stored.
const MAX_BYTES: usize = 4096;

pub(crate) fn text_of(assessment: &Assessment) -> String {
    match assessment {
        Assessment::NeedsReview(reason) => format!("needs_review: {reason}"),
        Assessment::AddressChanged { address } => {
            format!("address_changed: the gateway names the address {address}")
        }
        decided => {
            let payment_state = decided
                .payment_state()
                .expect("only an assessment that needs review has no payment state");
            <&str>::from(payment_state).to_owned()
        }
    }
}

/// A digest of the members that are assessed. Two responses with the same digest are one observation.
pub(crate) fn digest(observation: &Observation) -> [u8; 16] {
    let Observation {
        observed_at: _,
        raw: _,
        is_known,
        invoice_id,
        status,
        requested,
        received,
        local_currency,
        crypto_code,
        address,
        // The attempt has the latest count. Each block is no news by itself.
        confirmations: _,
        transaction_hash,
    } = observation;
    let mut digest = Sha256::new_with_prefix([u8::from(*is_known)]);
    for member in [
        invoice_id,
        status,
        &requested.crypto,
        &requested.usd,
        &requested.local,
        &received.crypto,
        &received.usd,
        &received.local,
        local_currency,
        crypto_code,
        address,
        transaction_hash,
    ] {
        // Length first, so that no two lists of members have the same bytes.
        let length = member.as_ref().map_or(u64::MAX, |text| text.len() as u64);
        digest.update(length.to_be_bytes());
        digest.update(member.as_deref().unwrap_or_default());
    }
    let digest: [u8; 32] = digest.finalize().into();
    *digest.first_chunk().expect("a digest has 32 bytes")
}

/// The beginning of a text: an honest response is a tenth of this.
pub(crate) fn truncated(text: &str) -> &str {
    &text[..text.floor_char_boundary(MAX_BYTES)]
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fence {
    Passed,
    /// An earlier run of this transaction, whose commit had no response, has recorded it and emitted these events.
    Recorded(Vec<EventType>),
    /// It, or a later one, was recorded before.
    Refused,
}
