//! What an operator reads: decisions, observations, credits.

use florin_money::{Amount, CryptoCode, Currency};
use florin_orders::{AttemptId, AuditId, OrderId, Reference, StoreId};

use super::{Record, read};
use jiff::SignedDuration;

use crate::{Actor, AuditEntry, Result, SettledOrder, StaffAccess, StoreScope, StoredObservation};

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

/// A link or a session of a store's staff.
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

/// An order and its credit.
pub(crate) fn settled_order(row: &impl Record) -> Result<SettledOrder> {
    let asset = match row.maybe_parsed("crypto_code", CryptoCode::parse)? {
        None => row.maybe_parsed("paid_in", CryptoCode::parse)?,
        asset => asset,
    };
    Ok(SettledOrder {
        order_id: row.parsed("order_id", OrderId::parse)?,
        store_id: row.parsed("store_id", StoreId::parse)?,
        reference: row.parsed("reference", Reference::parse)?,
        credited_at: row.time("credited_at")?,
        amount: row.parsed("amount", Amount::parse)?,
        currency: row.parsed("currency", Currency::parse_stored)?,
        crypto_code: asset,
        received_crypto: row.parsed("received_crypto", Amount::parse)?,
        decision: row.maybe_word("decision")?,
    })
}
