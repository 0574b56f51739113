//! Records an observation and everything that follows from it, in one transaction.

use florin_money::CryptoCode;
use florin_orders::{
    AppliedAssessment, Attempt, AttemptId, Observation, Order, OrderId, Snapshot, assess,
};
use jiff::Timestamp;
use sqlx::{Row as _, SqliteConnection};

use super::rows::millis;
use super::{events, orders};
use crate::observation::{bounded, facts, text_of};
use crate::rows;
use crate::{Credit, DueAttempt, RecordedObservation, StorageError};

/// Locks the order, loads it once, decides in pure code, and saves once. Returns `None` if a later poll has been recorded.
pub(super) async fn record(
    tx: &mut SqliteConnection,
    due: &DueAttempt,
    observation: &Observation,
) -> Result<Option<RecordedObservation>, StorageError> {
    if !lock(tx, due).await? {
        return Ok(None);
    }
    let now = observation.observed_at;
    let other = || StorageError::Corrupt(format!("{} of another order", due.attempt_id));
    let before = orders::aggregate(tx, &due.order_id).await?;
    let attempt = before.attempt(&due.attempt_id).ok_or_else(other)?;
    let assessment = assess(&before.order, attempt, observation);
    let mut after = before.clone();
    let AppliedAssessment {
        transition,
        changed,
    } = after
        .apply(&due.attempt_id, &assessment, now)
        .ok_or_else(other)?;

    after.put_off_poll(&due.attempt_id, due.stretch, now);

    let text = text_of(&assessment);
    let text = bounded(&text);
    let latest = latest(tx, &due.attempt_id).await?;
    let is_news = latest.as_ref().is_none_or(|latest| latest.text != text);
    let facts = facts(observation);
    let row = match latest {
        Some(latest) if !is_news && latest.facts.as_deref() == Some(&facts[..]) => {
            count(tx, latest.id, due, observation).await?;
            latest.id
        }
        _ => insert(tx, due, observation, text, &facts).await?,
    };
    let is_unclear = after
        .attempt(&due.attempt_id)
        .and_then(Attempt::invoice)
        .is_some_and(|invoice| invoice.needs_review);
    if is_news && is_unclear {
        after.request_attention(now);
    }
    let attempt = after.attempt(&due.attempt_id).ok_or_else(other)?;
    save_attempt(tx, attempt, now).await?;
    if transition.credits {
        credit(tx, &after.order, &due.attempt_id, row, now).await?;
    }
    if after.order.version != before.order.version
        || after.attention_since != before.attention_since
    {
        orders::save(tx, &after).await?;
    }
    let snapshot = Snapshot {
        order: after.order.clone(),
        attempt: Some(attempt.clone()),
    };
    let first = before.order.sequence + 1;
    events::append(tx, &snapshot, first, &transition.events, now).await?;
    Ok(Some(RecordedObservation {
        assessment,
        changed: changed || is_news && is_unclear,
        events: transition.events,
        snapshot,
    }))
}

/// Takes the write lock and marks the poll as recorded. Returns `false` if a later poll has been recorded: its response
/// is never overwritten.
async fn lock(tx: &mut SqliteConnection, due: &DueAttempt) -> Result<bool, StorageError> {
    let recorded =
        sqlx::query("UPDATE attempts SET recorded_look = ?1 WHERE id = ?2 AND recorded_look < ?1")
            .bind(due.poll_seq)
            .bind(due.attempt_id.as_str())
            .execute(tx)
            .await?;
    Ok(recorded.rows_affected() > 0)
}

/// The latest row of an attempt's observations.
pub(super) struct Latest {
    pub(super) id: i64,
    text: String,
    facts: Option<Vec<u8>>,
}

pub(super) async fn latest(
    tx: &mut SqliteConnection,
    attempt: &AttemptId,
) -> Result<Option<Latest>, StorageError> {
    let latest = "SELECT id, verdict, facts FROM observations WHERE attempt_id = ? ORDER BY look DESC LIMIT 1";
    let row = sqlx::query(latest).bind(attempt.as_str());
    let Some(row) = row.fetch_optional(tx).await? else {
        return Ok(None);
    };
    Ok(Some(Latest {
        id: row.try_get("id")?,
        text: row.try_get("verdict")?,
        facts: row.try_get("facts")?,
    }))
}

async fn insert(
    tx: &mut SqliteConnection,
    due: &DueAttempt,
    observation: &Observation,
    text: &str,
    facts: &[u8],
) -> Result<i64, StorageError> {
    let inserted = sqlx::query(
        "INSERT INTO observations (attempt_id, look, observed_at, raw, verdict, facts, last_look, last_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?2, ?3)",
    )
    .bind(due.attempt_id.as_str())
    .bind(due.poll_seq)
    .bind(millis(observation.observed_at))
    .bind(bounded(&observation.raw))
    .bind(text)
    .bind(facts)
    .execute(tx)
    .await?;
    Ok(inserted.last_insert_rowid())
}

/// Counts an observation that repeats the latest one.
async fn count(
    tx: &mut SqliteConnection,
    row: i64,
    due: &DueAttempt,
    observation: &Observation,
) -> Result<(), StorageError> {
    sqlx::query(
        "UPDATE observations SET times = times + 1, last_look = ?, last_at = ? WHERE id = ?",
    )
    .bind(due.poll_seq)
    .bind(millis(observation.observed_at))
    .bind(row)
    .execute(tx)
    .await?;
    Ok(())
}

/// Saves an attempt after a transition.
async fn save_attempt(
    tx: &mut SqliteConnection,
    attempt: &Attempt,
    now: Timestamp,
) -> Result<(), StorageError> {
    let Some(invoice) = attempt.invoice() else {
        return Ok(());
    };
    let progress = &invoice.progress;
    let (count, required) = progress.confirmations.unzip();
    // A poll that was requested during this one is kept, unless the payment is settled.
    sqlx::query(
        "UPDATE attempts SET standing = ?1, received_crypto = ?2, received_usd = ?3, received_local = ?4,
             confirmations = ?5, confirmations_required = ?6, transaction_hash = ?7, observed_at = ?8,
             paid_in = ?11, standing_since = ?12, late_amount_notified = ?13, was_seen = ?14,
             needs_review = ?15, looked_at = max(looked_at, ?16),
             next_poll_at = CASE WHEN next_poll_at < lease_until AND ?1 <> 'settled'
                 THEN min(next_poll_at, coalesce(?9, next_poll_at)) ELSE ?9 END,
             urgency = iif(?1 = 'settled', 'planned', urgency),
             lease_until = 0
         WHERE id = ?10",
    )
    .bind(<&str>::from(invoice.payment_state))
    .bind(progress.received.crypto.to_string())
    .bind(progress.received.usd.to_string())
    .bind(progress.received.local.to_string())
    .bind(count)
    .bind(required)
    .bind(&progress.transaction_hash)
    .bind(invoice.observed_at.map(millis))
    .bind(invoice.next_poll_at.map(millis))
    .bind(attempt.terms.id.as_str())
    .bind(progress.paid_in.as_ref().map(CryptoCode::as_str))
    .bind(millis(invoice.state_since))
    .bind(invoice.late_amount_notified.map(|amount| amount.to_string()))
    .bind(invoice.was_seen)
    .bind(invoice.needs_review)
    .bind(millis(now))
    .execute(tx)
    .await?;
    Ok(())
}

/// Writes the credit of an order: one row, ever.
pub(super) async fn credit(
    tx: &mut SqliteConnection,
    order: &Order,
    attempt: &AttemptId,
    observation: i64,
    now: Timestamp,
) -> Result<(), StorageError> {
    sqlx::query(
        "INSERT INTO credits (order_id, attempt_id, observation_id, amount, currency, credited_at)
         VALUES (?, ?, ?, ?, ?, ?)",
    )
    .bind(order.id.as_str())
    .bind(attempt.as_str())
    .bind(observation)
    .bind(order.terms.amount.to_string())
    .bind(order.terms.currency.as_str())
    .bind(millis(now))
    .execute(tx)
    .await?;
    Ok(())
}

pub(super) async fn credit_of(
    connection: &mut SqliteConnection,
    id: &OrderId,
) -> Result<Option<Credit>, StorageError> {
    let row = sqlx::query("SELECT attempt_id, amount, currency FROM credits WHERE order_id = ?")
        .bind(id.as_str())
        .fetch_optional(connection)
        .await?;
    row.map(|row| rows::credit(&row, id)).transpose()
}
