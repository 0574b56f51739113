//! Records an observation and everything that follows from it, in one transaction.

use florin_money::{Amount, Currency};
use florin_orders::{
    Assessment, Attempt, AttemptId, Observation, Order, OrderId, PaymentState, ReviewReason,
    Transition, assess, next_invoice, transition,
};
use sqlx::{Row as _, SqliteConnection};

use super::attempts::find;
use super::events::tell;
use super::orders::{get, set_status};
use super::rows::{self, millis};
use crate::{DueAttempt, RecordedObservation, Settlement, StorageError};

pub(super) async fn record(
    tx: &mut SqliteConnection,
    due: &DueAttempt,
    observation: &Observation,
) -> Result<Option<RecordedObservation>, StorageError> {
    if !is_latest(tx, due).await? {
        return Ok(None);
    }
    let attempt = find(tx, &due.attempt_id).await?;
    let order = get(tx, &due.order_id).await?;
    let assessment = assess(&order, &attempt, observation);
    let change = transition(&order, &attempt, &assessment);
    let said = said(&assessment);
    let is_news = latest_said(tx, &due.attempt_id).await?.as_deref() != Some(&*said);
    let row = insert(tx, due, observation, &said).await?;
    let moved = apply_to_attempt(tx, &order, &attempt, observation, &assessment, &change).await?;
    let doubts = revert(tx, &order, &change, observation).await?;
    if change.credits {
        credit(tx, &order, &attempt, row, observation).await?;
    }
    if change.shows_attempt {
        show(tx, &order, &attempt).await?;
    }
    if moved || doubts || change.status != order.status {
        set_status(tx, &order.id, change.status).await?;
    }
    let Transition { status, events, .. } = change;
    let about = Some(&due.attempt_id);
    tell(tx, &order.id, about, &events, observation.observed_at).await?;
    let newly_held = is_news && is_alarming(&order, &attempt, &assessment);
    let changed = newly_held || moved || doubts || status != order.status || !events.is_empty();
    Ok(Some(RecordedObservation {
        assessment,
        changed,
        status,
        events,
    }))
}

/// Returns `true` if a person has to check the assessment. A gateway that no longer knows an
/// invoice which it completed does not contradict the credit.
fn is_alarming(order: &Order, attempt: &Attempt, assessment: &Assessment) -> bool {
    match assessment {
        Assessment::NeedsReview(ReviewReason::Forgotten) => !order.is_credited_by(attempt),
        Assessment::NeedsReview(_) => true,
        _ => false,
    }
}

/// Records what contradicts the credit, or that nothing does any more. Returns `true` if that
/// changed.
async fn revert(
    tx: &mut SqliteConnection,
    order: &Order,
    change: &Transition,
    observation: &Observation,
) -> Result<bool, StorageError> {
    if change.reverted == order.reverted.map(|reverted| reverted.says) {
        return Ok(false);
    }
    let says = change.reverted;
    sqlx::query("UPDATE orders SET reverted_at = ?, reverted_to = ? WHERE id = ?")
        .bind(says.map(|_| millis(observation.observed_at)))
        .bind(says.map(|payment_state| payment_state.as_str()))
        .bind(order.id.as_str())
        .execute(tx)
        .await?;
    Ok(true)
}

/// The response to an earlier poll never overwrites that to a later one.
async fn is_latest(tx: &mut SqliteConnection, due: &DueAttempt) -> Result<bool, StorageError> {
    let recorded =
        sqlx::query("UPDATE attempts SET recorded_look = ?1 WHERE id = ?2 AND recorded_look < ?1")
            .bind(due.poll_seq)
            .bind(due.attempt_id.as_str())
            .execute(tx)
            .await?;
    Ok(recorded.rows_affected() > 0)
}

/// The assessment as it is stored beside its observation.
fn said(assessment: &Assessment) -> String {
    match assessment {
        Assessment::NeedsReview(hold) => format!("held: {hold}"),
        Assessment::AddressChanged { address } => {
            format!("frozen: the service names the address {address}")
        }
        decided => {
            let payment_state = decided
                .payment_state()
                .expect("only a held assessment has no standing");
            payment_state.as_str().to_owned()
        }
    }
}

async fn latest_said(
    tx: &mut SqliteConnection,
    attempt: &AttemptId,
) -> Result<Option<String>, StorageError> {
    let latest = "SELECT verdict FROM observations WHERE attempt_id = ? ORDER BY look DESC LIMIT 1";
    Ok(sqlx::query_scalar(latest)
        .bind(attempt.as_str())
        .fetch_optional(tx)
        .await?)
}

async fn insert(
    tx: &mut SqliteConnection,
    due: &DueAttempt,
    observation: &Observation,
    said: &str,
) -> Result<i64, StorageError> {
    let inserted = sqlx::query(
        "INSERT INTO observations (attempt_id, look, observed_at, raw, verdict) VALUES (?, ?, ?, ?, ?)",
    )
    .bind(due.attempt_id.as_str())
    .bind(due.poll_seq)
    .bind(millis(observation.observed_at))
    .bind(&observation.raw)
    .bind(said)
    .execute(tx)
    .await?;
    Ok(inserted.last_insert_rowid())
}

/// Saves the attempt. Returns `true` if the customer would see a difference.
async fn apply_to_attempt(
    tx: &mut SqliteConnection,
    order: &Order,
    attempt: &Attempt,
    observation: &Observation,
    assessment: &Assessment,
    change: &Transition,
) -> Result<bool, StorageError> {
    let kept = next_invoice(order, attempt, assessment, change, observation.observed_at);
    let (Some(known), Some(now)) = (attempt.invoice(), kept) else {
        return Ok(false);
    };
    let moved = now.payment_state != known.payment_state || now.progress != known.progress;
    let (count, required) = now.progress.confirmations.unzip();
    // A poll that was requested during this one is kept, unless the payment is settled.
    sqlx::query(
        "UPDATE attempts SET standing = ?1, received_crypto = ?2, received_usd = ?3, received_local = ?4,
             confirmations = ?5, confirmations_required = ?6, transaction_hash = ?7, observed_at = ?8,
             paid_in = ?11, standing_since = ?12, told_late = ?13, was_seen = ?14,
             next_poll_at = CASE WHEN next_poll_at < lease_until AND ?1 <> 'settled'
                 THEN min(next_poll_at, coalesce(?9, next_poll_at)) ELSE ?9 END,
             urgency = iif(?1 = 'settled', 'planned', urgency),
             lease_until = 0
         WHERE id = ?10",
    )
    .bind(now.payment_state.as_str())
    .bind(now.progress.received.crypto.to_string())
    .bind(now.progress.received.usd.to_string())
    .bind(now.progress.received.local.to_string())
    .bind(count)
    .bind(required)
    .bind(&now.progress.transaction_hash)
    .bind(millis(observation.observed_at))
    .bind(now.next_poll_at.map(millis))
    .bind(attempt.terms.id.as_str())
    .bind(now.progress.paid_in.as_ref().map(florin_money::CryptoCode::as_str))
    .bind(millis(now.state_since))
    .bind(now.late_amount_notified.map(|told| told.to_string()))
    .bind(now.was_seen)
    .execute(tx)
    .await?;
    Ok(moved)
}

async fn credit(
    tx: &mut SqliteConnection,
    order: &Order,
    attempt: &Attempt,
    observation: i64,
    seen: &Observation,
) -> Result<(), StorageError> {
    sqlx::query(
        "INSERT INTO credits (order_id, attempt_id, observation_id, amount, currency, credited_at)
         VALUES (?, ?, ?, ?, ?, ?)",
    )
    .bind(order.id.as_str())
    .bind(attempt.terms.id.as_str())
    .bind(observation)
    .bind(order.terms.amount.to_string())
    .bind(order.terms.currency.as_str())
    .bind(millis(seen.observed_at))
    .execute(&mut *tx)
    .await?;
    sqlx::query("UPDATE orders SET settled_at = ? WHERE id = ?")
        .bind(millis(seen.observed_at))
        .bind(order.id.as_str())
        .execute(tx)
        .await?;
    Ok(())
}

async fn show(
    tx: &mut SqliteConnection,
    order: &Order,
    attempt: &Attempt,
) -> Result<(), StorageError> {
    sqlx::query("UPDATE orders SET current_attempt = ? WHERE id = ?")
        .bind(attempt.terms.id.as_str())
        .bind(order.id.as_str())
        .execute(tx)
        .await?;
    Ok(())
}

pub(super) async fn settlement(
    connection: &mut SqliteConnection,
    id: &OrderId,
) -> Result<Option<Settlement>, StorageError> {
    let row = sqlx::query("SELECT attempt_id, amount, currency FROM credits WHERE order_id = ?")
        .bind(id.as_str())
        .fetch_optional(connection)
        .await?;
    let Some(row) = row else {
        return Ok(None);
    };
    Ok(Some(Settlement {
        order_id: id.clone(),
        attempt_id: rows::read(
            "an attempt id",
            AttemptId::parse(row.try_get("attempt_id")?),
        )?,
        amount: rows::read("an amount", Amount::parse(row.try_get("amount")?))?,
        currency: rows::read("a currency", Currency::parse(row.try_get("currency")?))?,
    }))
}
