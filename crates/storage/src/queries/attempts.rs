//! Attempts: inserted before anything is sent, opened once.

use async_trait::async_trait;
use florin_money::Amount;
use florin_orders::{
    Abandoned, Amounts, Attempt, AttemptId, AttemptState, Destination, EventType, Invoice,
    NewAttempt, OrderId, OrderStatus, PaymentState, TransactionHint,
};
use jiff::{SignedDuration, Timestamp};

use super::dialect::{self, Connection, Store, Transaction};
use super::orders::{lock, locked, save_change};
use super::polls;
use crate::limits::{BATCH, MAX_ATTEMPTS_PER_MINUTE, milliseconds};
use crate::rows::{self, Time, without_nul};
use crate::{
    AttemptStorage, MarkedAsPaid, NamedTransaction, OpenAttemptError, OrderOperationError, Result,
    StorageError,
};

#[async_trait]
impl AttemptStorage for Store {
    async fn begin_attempt(
        &self,
        order: &OrderId,
        terms: &NewAttempt,
        now: Timestamp,
    ) -> Result<Attempt, OrderOperationError> {
        let clock = self.holder.clock(now);
        transaction!(self, Repeat, [order, terms], |tx| async {
            let Some(known) = locked(tx, &order).await? else {
                return Err(OrderOperationError::NoOrder(order.clone()));
            };
            if tx.is_repeat()
                && let Some(begun) = known.attempt(&terms.id)
            {
                return Ok(begun.clone());
            }
            if !known.order.takes_attempts(now) {
                return Err(OrderOperationError::Closed {
                    from: known.order.status,
                    event: "new attempt",
                });
            }
            let mut attempts = known.attempts.iter();
            if attempts.any(|attempt| matches!(attempt.state, AttemptState::Creating)) {
                return Err(OrderOperationError::InProgress);
            }
            let since = now - SignedDuration::from_mins(1);
            let is_recent = |attempt: &&Attempt| attempt.begun_at > since;
            if known.attempts.iter().filter(is_recent).count() >= MAX_ATTEMPTS_PER_MINUTE {
                return Err(OrderOperationError::TooMany);
            }
            Ok(insert(tx, &order, &terms, now, clock).await?)
        })
    }

    async fn open_attempt(
        &self,
        attempt: &AttemptId,
        invoice: &Invoice,
        now: Timestamp,
    ) -> Result<(), OpenAttemptError> {
        transaction!(self, Repeat, [attempt, invoice], |tx| async {
            let Some(order) = lock_order_of(tx, &attempt).await? else {
                return Ok(());
            };
            let holder = "SELECT order_id FROM attempts WHERE invoice_id = $1 AND id <> $2";
            let holder: Option<String> = sqlx::query_scalar(holder)
                .bind(invoice.id.as_str())
                .bind(attempt.as_str())
                .fetch_optional(&mut **tx)
                .await
                .map_err(StorageError::from)?;
            if let Some(holder) = holder {
                return Err(OpenAttemptError::InvoiceTaken {
                    invoice: invoice.id.clone(),
                    order: rows::read("an order id", OrderId::parse(&holder))?,
                });
            }
            Ok(store_invoice(tx, &order, &attempt, &invoice, now).await?)
        })
    }

    async fn abandon_attempt(
        &self,
        attempt: &AttemptId,
        reason: Abandoned,
        now: Timestamp,
    ) -> Result<()> {
        transaction!(self, Repeat, [attempt], |tx| abandon(
            tx, &attempt, reason, now
        ))
    }

    /// The orders of the attempts are locked; those that another transaction has locked are left out.
    async fn abandon_stale_attempts(&self, begun_before: Timestamp, now: Timestamp) -> Result<u64> {
        let (clock, age) = (self.holder.clock(now), now.duration_since(begun_before));
        transaction!(self, Repeat, [], |tx| async {
            let stale: Vec<String> = sqlx::query_scalar(dialect::STALE_ATTEMPTS)
                .bind(clock)
                .bind(milliseconds(age))
                .bind(i64::from(BATCH))
                .fetch_all(&mut **tx)
                .await?;
            for attempt in &stale {
                let attempt = rows::read("an attempt id", AttemptId::parse(attempt))?;
                abandon(tx, &attempt, Abandoned::OutcomeUnknown, now).await?;
            }
            Ok(stale.len() as u64)
        })
    }

    async fn mark_as_paid(
        &self,
        order: &OrderId,
        named: Option<&NamedTransaction>,
        now: Timestamp,
    ) -> Result<MarkedAsPaid, OrderOperationError> {
        let named = named.cloned();
        transaction!(self, Repeat, [order, named], |tx| mark_as_paid(
            tx,
            &order,
            named.as_ref(),
            now
        ))
    }
}

async fn insert(
    tx: &mut Connection,
    order_id: &OrderId,
    terms: &NewAttempt,
    now: Timestamp,
    clock: Option<Time>,
) -> Result<Attempt> {
    let custom = terms.custom();
    let figure = |read: fn(&Amounts<Amount>) -> Amount| {
        custom.map(|custom| read(&custom.requested.amounts).to_string())
    };
    let inserted = sqlx::query(dialect::INSERT_ATTEMPT)
        .bind(terms.id.as_str())
        .bind(order_id.as_str())
        .bind(<&str>::from(terms.flow()))
        .bind(custom.map(|custom| custom.crypto_code.as_str()))
        .bind(custom.map(|custom| without_nul(&custom.conversion_id)))
        .bind(figure(|amounts| amounts.crypto))
        .bind(figure(|amounts| amounts.usd))
        .bind(figure(|amounts| amounts.local))
        .bind(custom.map(|custom| custom.requested.local_currency.as_str()))
        .bind(Time(now))
        .bind(clock)
        .fetch_one(tx)
        .await?;
    rows::attempt(&inserted)
}

/// Locks the order of an attempt; `None` for an unknown attempt. An attempt never changes its order.
async fn lock_order_of(tx: &mut Connection, id: &AttemptId) -> Result<Option<OrderId>> {
    let order: Option<String> = sqlx::query_scalar("SELECT order_id FROM attempts WHERE id = $1")
        .bind(id.as_str())
        .fetch_optional(&mut *tx)
        .await?;
    let Some(order) = order else {
        return Ok(None);
    };
    let order = rows::read("an order id", OrderId::parse(&order))?;
    lock(tx, &order).await?;
    Ok(Some(order))
}

async fn store_invoice(
    tx: &mut Connection,
    order: &OrderId,
    id: &AttemptId,
    invoice: &Invoice,
    now: Timestamp,
) -> Result<()> {
    let (address, qr_string, warnings) = match &invoice.destination {
        Destination::Address {
            address,
            qr_string,
            warnings,
        } => (Some(address), Some(qr_string), Some(warnings.clone())),
        Destination::Page { .. } => (None, None, None),
    };
    let opened = sqlx::query(
        "UPDATE attempts SET state = 'open', invoice_id = $1, address = $2, qr_string = $3, warnings = $4,
             page_url = $5, opened_at = $6, state_since = $6, expires_at = $7
         WHERE id = $8 AND state = 'creating'",
    )
    .bind(invoice.id.as_str())
    .bind(address.map(|found| without_nul(found)))
    .bind(qr_string.map(|found| without_nul(found)))
    .bind(warnings.map(|texts| serde_json::Value::from(texts).to_string()))
    .bind(invoice.page().map(url::Url::as_str))
    .bind(Time(invoice.opened_at))
    .bind(Time(invoice.expires_at))
    .bind(id.as_str())
    .execute(&mut *tx)
    .await?;
    if opened.rows_affected() == 0 {
        // Abandoned meanwhile: this invoice is not shown.
        return Ok(());
    }
    polls::insert(tx, order, id, invoice, now).await?;
    let known = locked(tx, order).await?;
    // The order may have been cancelled or paid by another attempt meanwhile: this invoice is polled, not shown.
    if let Some(mut known) = known.filter(|known| known.order.takes_attempts(now)) {
        known.order.current_attempt = Some(id.clone());
        known.order.status = OrderStatus::AwaitingPayment;
        save_change(tx, known, &[EventType::AttemptOpened], now).await?;
    }
    Ok(())
}

async fn abandon(
    tx: &mut Connection,
    id: &AttemptId,
    reason: Abandoned,
    now: Timestamp,
) -> Result<()> {
    let Some(order) = lock_order_of(tx, id).await? else {
        return Ok(());
    };
    let ended = sqlx::query("UPDATE attempts SET state = $1 WHERE id = $2 AND state = 'creating'")
        .bind(<&str>::from(reason))
        .bind(id.as_str())
        .execute(&mut *tx)
        .await?;
    if ended.rows_affected() == 0 || reason != Abandoned::Blocked {
        return Ok(());
    }
    let known = locked(tx, &order).await?;
    if let Some(mut known) = known.filter(|known| known.order.takes_attempts(now)) {
        known.order.status = OrderStatus::Blocked;
        known.request_attention(now);
        save_change(tx, known, &[EventType::Blocked], now).await?;
    }
    Ok(())
}

async fn mark_as_paid(
    tx: &mut Transaction,
    id: &OrderId,
    named: Option<&NamedTransaction>,
    now: Timestamp,
) -> Result<MarkedAsPaid, OrderOperationError> {
    let unknown = || OrderOperationError::NoOrder(id.clone());
    let known = locked(tx, id).await?.ok_or_else(unknown)?.snapshot();
    let from = known.order.status;
    let invoice = known.attempt.as_ref().and_then(Attempt::invoice);
    if let Some((named, address)) = named.and_then(|one| Some((one, one.earlier_address(invoice)?)))
    {
        keep_earlier_hint(tx, id, from, &named.hint, address).await?;
        return Ok(MarkedAsPaid {
            snapshot: known,
            is_first: false,
        });
    }
    let is_payable = |invoice: &&Invoice| invoice.payment_state != PaymentState::AddressChanged;
    let Some(invoice) = invoice.filter(is_payable) else {
        return Err(OrderOperationError::Closed {
            from,
            event: "payment",
        });
    };
    // The order is locked: of concurrent calls one alone finds its invoice unmarked.
    let is_open = known.order.settled_at.is_none();
    let is_first = is_open && invoice.marked_as_paid_at.is_none();
    let hint = named.map(|named| &named.hint);
    let hint = hint.filter(|hint| is_open && invoice.transaction_hint.as_ref() != Some(*hint));
    if !is_first && hint.is_none() {
        // A repetition finds what the try before has stored.
        let is_ours = tx.is_repeat() && invoice.marked_as_paid_at == Some(now);
        return Ok(MarkedAsPaid {
            snapshot: known,
            is_first: is_ours,
        });
    }
    sqlx::query(
        "UPDATE attempts SET marked_as_paid_at = coalesce(marked_as_paid_at, $1),
             transaction_hint = coalesce($2, transaction_hint)
         WHERE order_id = $3 AND invoice_id = $4",
    )
    .bind(Time(now))
    .bind(hint.map(TransactionHint::as_str))
    .bind(id.as_str())
    .bind(invoice.id.as_str())
    .execute(&mut **tx)
    .await
    .map_err(StorageError::from)?;
    let mut marked = locked(tx, id).await?.ok_or_else(unknown)?;
    if from == OrderStatus::AwaitingPayment {
        marked.order.status = OrderStatus::Checking;
    }
    let snapshot = save_change(tx, marked, &[], now).await?;
    Ok(MarkedAsPaid { snapshot, is_first })
}

async fn keep_earlier_hint(
    tx: &mut Transaction,
    id: &OrderId,
    from: OrderStatus,
    hint: &TransactionHint,
    address: &str,
) -> Result<(), OrderOperationError> {
    let kept = sqlx::query(
        "UPDATE attempts SET transaction_hint = $1 WHERE order_id = $2 AND lower(address) = lower($3)
             AND invoice_id IS NOT NULL
             AND (SELECT settled_at FROM orders WHERE id = $2) IS NULL",
    )
    .bind(hint.as_str())
    .bind(id.as_str())
    .bind(address)
    .execute(&mut **tx)
    .await
    .map_err(StorageError::from)?;
    if kept.rows_affected() == 0 {
        return Err(OrderOperationError::Closed {
            from,
            event: "payment of an earlier attempt",
        });
    }
    Ok(())
}
