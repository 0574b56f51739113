//! Records an observation and everything that follows from it, in one transaction.

use florin_money::CryptoCode;
use florin_orders::{
    AppliedAssessment, Attempt, AttemptId, Observation, Order, PaymentState, Snapshot, assess,
};
use jiff::Timestamp;
use sqlx::Row as _;

use super::dialect::{self, Connection, Transaction};
use super::{orders, outbox};
use crate::rows::{Fence, Time, digest, text_of, truncated, without_nul};
use crate::{DueAttempt, RecordedObservation, Result, StorageError};

/// Locks the order, loads it once, decides in pure code, and saves once. Returns `None` if this or a later poll has been recorded:
/// a response is never overwritten by an earlier one.
pub(super) async fn record(
    tx: &mut Transaction,
    due: &DueAttempt,
    observation: &Observation,
) -> Result<Option<RecordedObservation>> {
    let now = observation.observed_at;
    let other = || StorageError::Corrupt(format!("{} of another order", due.attempt_id));
    let before = orders::locked(tx, &due.order_id).await?.ok_or_else(other)?;
    let attempt = before.attempt(&due.attempt_id).ok_or_else(other)?;
    let assessment = assess(&before.order, attempt, observation);
    match dialect::mark_poll_as_recorded(tx, due).await? {
        Fence::Passed => {}
        Fence::Recorded(events) => {
            return Ok(Some(RecordedObservation {
                assessment,
                changed: true,
                events,
                snapshot: Snapshot {
                    order: before.order.clone(),
                    attempt: Some(attempt.clone()),
                },
            }));
        }
        Fence::Refused => return Ok(None),
    }
    let mut after = before.clone();
    let AppliedAssessment {
        transition,
        changed,
    } = after
        .apply(&due.attempt_id, &assessment, now)
        .ok_or_else(other)?;

    after.put_off_poll(&due.attempt_id, due.stretch, now);

    let text = text_of(&assessment);
    let text = without_nul(truncated(&text));
    let latest = latest(tx, &due.attempt_id).await?;
    let is_news = latest.as_ref().is_none_or(|latest| latest.text != *text);
    let digest = digest(observation);
    let row = match latest {
        Some(latest) if !is_news && latest.digest == digest => {
            count(tx, latest.id, due, observation).await?;
            latest.id
        }
        _ => insert(tx, due, observation, &text, &digest).await?,
    };
    let is_unclear = after
        .attempt(&due.attempt_id)
        .and_then(Attempt::invoice)
        .is_some_and(|invoice| invoice.needs_review);
    if is_news && is_unclear {
        after.request_attention(now);
    }
    let attempt = after.attempt(&due.attempt_id).ok_or_else(other)?;
    save_attempt(tx, due, attempt, now).await?;
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
    outbox::append(tx, &snapshot, first, &transition.events, now).await?;
    Ok(Some(RecordedObservation {
        assessment,
        changed: changed || is_news && is_unclear,
        events: transition.events,
        snapshot,
    }))
}

pub(super) struct Latest {
    pub(super) id: i64,
    text: String,
    digest: Vec<u8>,
}

pub(super) async fn latest(tx: &mut Connection, attempt: &AttemptId) -> Result<Option<Latest>> {
    let latest = "SELECT id, assessment, digest FROM observations WHERE attempt_id = $1 ORDER BY poll_seq DESC LIMIT 1";
    let row = sqlx::query(latest).bind(attempt.as_str());
    let Some(row) = row.fetch_optional(tx).await? else {
        return Ok(None);
    };
    Ok(Some(Latest {
        id: row.try_get("id")?,
        text: row.try_get("assessment")?,
        digest: row.try_get("digest")?,
    }))
}

async fn insert(
    tx: &mut Connection,
    due: &DueAttempt,
    observation: &Observation,
    text: &str,
    digest: &[u8],
) -> Result<i64> {
    let inserted = sqlx::query_scalar(
        "INSERT INTO observations (attempt_id, poll_seq, last_poll_seq, observed_at, last_at, raw, assessment, digest)
         VALUES ($1, $2, $2, $3, $3, $4, $5, $6) RETURNING id",
    )
    .bind(due.attempt_id.as_str())
    .bind(i64::from(due.poll_seq))
    .bind(Time(observation.observed_at))
    .bind(without_nul(truncated(&observation.raw)))
    .bind(text)
    .bind(digest)
    .fetch_one(tx)
    .await?;
    Ok(inserted)
}

async fn count(
    tx: &mut Connection,
    row: i64,
    due: &DueAttempt,
    observation: &Observation,
) -> Result<()> {
    sqlx::query(
        "UPDATE observations SET times = times + 1, last_poll_seq = $1, last_at = $2 WHERE id = $3",
    )
    .bind(i64::from(due.poll_seq))
    .bind(Time(observation.observed_at))
    .bind(row)
    .execute(tx)
    .await?;
    Ok(())
}

async fn save_attempt(
    tx: &mut Connection,
    due: &DueAttempt,
    attempt: &Attempt,
    now: Timestamp,
) -> Result<()> {
    let Some(invoice) = attempt.invoice() else {
        return Ok(());
    };
    let progress = &invoice.progress;
    let (count, required) = progress.confirmations.unzip();
    let hash = progress.transaction_hash.as_deref();
    sqlx::query(
        "UPDATE attempts SET payment_state = $1, received_crypto = $2, received_usd = $3, received_local = $4,
             confirmations = $5, confirmations_required = $6, transaction_hash = $7, observed_at = $8,
             paid_in = $9, state_since = $10, late_amount_notified = $11, was_detected = $12, needs_review = $13
         WHERE id = $14",
    )
    .bind(<&str>::from(invoice.payment_state))
    .bind(progress.received.crypto.to_string())
    .bind(progress.received.usd.to_string())
    .bind(progress.received.local.to_string())
    .bind(count.map(i64::from))
    .bind(required.map(i64::from))
    .bind(hash.map(without_nul))
    .bind(invoice.observed_at.map(Time))
    .bind(progress.paid_in.as_ref().map(CryptoCode::as_str))
    .bind(Time(invoice.state_since))
    .bind(invoice.late_amount_notified.map(|amount| amount.to_string()))
    .bind(invoice.was_seen)
    .bind(invoice.needs_review)
    .bind(attempt.terms.id.as_str())
    .execute(&mut *tx)
    .await?;
    let (state, next) = (invoice.payment_state, invoice.next_poll_at);
    save_poll(tx, due, state, next, now).await
}

/// Schedules the poll after one that was recorded at `now`. A poll that was requested during it is kept, unless the payment is
/// settled. The lease of a later poll stays.
async fn save_poll(
    tx: &mut Connection,
    due: &DueAttempt,
    state: PaymentState,
    next: Option<Timestamp>,
    now: Timestamp,
) -> Result<()> {
    sqlx::query(
        "UPDATE polls SET payment_state = $1, polled_at = CASE WHEN polled_at > $5 THEN polled_at ELSE $5 END,
             next_poll_at = CASE WHEN next_poll_at < lease_next_at AND $1 <> 'settled' AND next_poll_at < coalesce($2, lease_next_at)
                 THEN next_poll_at ELSE $2 END,
             priority = CASE WHEN $1 = 'settled' THEN 'unwatched' ELSE priority END,
             leased_by = CASE WHEN poll_seq > $3 THEN leased_by END,
             leased_until = CASE WHEN poll_seq > $3 THEN leased_until END,
             lease_next_at = CASE WHEN poll_seq > $3 THEN lease_next_at END
         WHERE attempt_id = $4",
    )
    .bind(<&str>::from(state))
    .bind(next.map(Time))
    .bind(i64::from(due.poll_seq))
    .bind(due.attempt_id.as_str())
    .bind(Time(now))
    .execute(tx)
    .await?;
    Ok(())
}

/// Writes the credit of an order: one row, ever.
pub(super) async fn credit(
    tx: &mut Connection,
    order: &Order,
    attempt: &AttemptId,
    observation: i64,
    now: Timestamp,
) -> Result<()> {
    sqlx::query(
        "INSERT INTO credits (order_id, attempt_id, observation_id, amount, currency, credited_at)
         VALUES ($1, $2, $3, $4, $5, $6)",
    )
    .bind(order.id.as_str())
    .bind(attempt.as_str())
    .bind(observation)
    .bind(order.terms.amount.to_string())
    .bind(order.terms.currency.as_str())
    .bind(Time(now))
    .execute(tx)
    .await?;
    Ok(())
}
