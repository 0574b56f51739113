//! Attempts: inserted before anything is sent, opened once, polled by `next_poll_at`.

use florin_money::Amount;
use florin_orders::{
    Abandoned, Amounts, Attempt, AttemptId, Destination, EventType, Invoice, InvoiceId, NewAttempt,
    OrderId, OrderStatus, PaymentState, PollPriority, Snapshot, StoreId, Stretch, TransactionHint,
    next_poll,
};
use jiff::{SignedDuration, Timestamp};
use sqlx::sqlite::SqliteRow;
use sqlx::{Row as _, SqliteConnection};

use super::orders::{emit, end_attention, get, request_attention, set_status, snapshot};
use super::rows::{millis, time};
use crate::limits::{AT_THIS_MOMENT, InvoiceKind, MAX_ATTEMPTS_PER_MINUTE};
use crate::rows::{self, Record as _};
use crate::{
    DueAttempt, MarkedAsPaid, NamedTransaction, OpenAttemptError, OrderOperationError, PollQueue,
    StorageError,
};

pub(super) async fn begin(
    tx: &mut SqliteConnection,
    order_id: &OrderId,
    terms: &NewAttempt,
    now: Timestamp,
) -> Result<Attempt, OrderOperationError> {
    let Some(Snapshot { order, .. }) = snapshot(tx, order_id).await? else {
        return Err(OrderOperationError::NoOrder(order_id.clone()));
    };
    if !order.takes_attempts(now) {
        return Err(OrderOperationError::Closed {
            from: order.status,
            event: "new attempt",
        });
    }
    let creating =
        "SELECT EXISTS (SELECT 1 FROM attempts WHERE order_id = ? AND state = 'creating')";
    let in_progress: bool = sqlx::query_scalar(creating)
        .bind(order_id.as_str())
        .fetch_one(&mut *tx)
        .await
        .map_err(StorageError::from)?;
    if in_progress {
        return Err(OrderOperationError::InProgress);
    }
    if begun_just_now(tx, order_id, now).await? >= MAX_ATTEMPTS_PER_MINUTE {
        return Err(OrderOperationError::TooMany);
    }
    insert(tx, order_id, terms, now).await?;
    Ok(find(tx, &terms.id).await?)
}

async fn begun_just_now(
    tx: &mut SqliteConnection,
    order_id: &OrderId,
    now: Timestamp,
) -> Result<i64, StorageError> {
    let count = "SELECT count(*) FROM attempts WHERE order_id = ? AND begun_at > ?";
    let since = now - SignedDuration::from_mins(1);
    let count = sqlx::query_scalar(count)
        .bind(order_id.as_str())
        .bind(millis(since));
    Ok(count.fetch_one(tx).await?)
}

async fn insert(
    tx: &mut SqliteConnection,
    order_id: &OrderId,
    terms: &NewAttempt,
    now: Timestamp,
) -> Result<(), StorageError> {
    let custom = terms.custom();
    let figure = |read: fn(&Amounts<Amount>) -> Amount| {
        custom.map(|custom| read(&custom.requested.amounts).to_string())
    };
    sqlx::query(
        "INSERT INTO attempts (id, order_id, flow, crypto_code, conversion_id, asked_crypto, asked_usd,
             asked_local, local_currency, begun_at, state)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'creating')",
    )
    .bind(terms.id.as_str())
    .bind(order_id.as_str())
    .bind(<&str>::from(terms.flow()))
    .bind(custom.map(|custom| custom.crypto_code.as_str()))
    .bind(custom.map(|custom| custom.conversion_id.as_str()))
    .bind(figure(|amounts| amounts.crypto))
    .bind(figure(|amounts| amounts.usd))
    .bind(figure(|amounts| amounts.local))
    .bind(custom.map(|custom| custom.requested.local_currency.as_str()))
    .bind(millis(now))
    .execute(tx)
    .await?;
    Ok(())
}

/// The attempt of an id that is known to exist.
pub(super) async fn find(
    connection: &mut SqliteConnection,
    id: &AttemptId,
) -> Result<Attempt, StorageError> {
    let row = sqlx::query("SELECT * FROM attempts WHERE id = ?")
        .bind(id.as_str())
        .fetch_one(connection);
    rows::attempt(&row.await?)
}

pub(super) async fn open(
    tx: &mut SqliteConnection,
    id: &AttemptId,
    invoice: &Invoice,
    now: Timestamp,
) -> Result<(), OpenAttemptError> {
    if let Some(taken) = holder_of(tx, id, invoice).await? {
        return Err(taken);
    }
    Ok(store_invoice(tx, id, invoice, now).await?)
}

/// The error that another attempt holds the invoice already.
async fn holder_of(
    tx: &mut SqliteConnection,
    id: &AttemptId,
    invoice: &Invoice,
) -> Result<Option<OpenAttemptError>, StorageError> {
    let holder = "SELECT order_id FROM attempts WHERE invoice_id = ? AND id <> ?";
    let holder: Option<String> = sqlx::query_scalar(holder)
        .bind(invoice.id.as_str())
        .bind(id.as_str())
        .fetch_optional(tx)
        .await?;
    let Some(holder) = holder else {
        return Ok(None);
    };
    Ok(Some(OpenAttemptError::InvoiceTaken {
        invoice: invoice.id.clone(),
        order: rows::read("an order id", OrderId::parse(&holder))?,
    }))
}

async fn store_invoice(
    tx: &mut SqliteConnection,
    id: &AttemptId,
    invoice: &Invoice,
    now: Timestamp,
) -> Result<(), StorageError> {
    let (address, qr_string, warnings) = match &invoice.destination {
        Destination::Address {
            address,
            qr_string,
            warnings,
        } => (Some(address), Some(qr_string), Some(warnings.clone())),
        Destination::Page { .. } => (None, None, None),
    };
    let opened = sqlx::query(
        "UPDATE attempts SET state = 'open', invoice_id = ?, address = ?, qr_string = ?, warnings = ?,
             page_url = ?, opened_at = ?, standing_since = ?, expires_at = ?, next_poll_at = ?
         WHERE id = ? AND state = 'creating'",
    )
    .bind(invoice.id.as_str())
    .bind(address)
    .bind(qr_string)
    .bind(warnings.map(|texts| serde_json::Value::from(texts).to_string()))
    .bind(invoice.page().map(url::Url::as_str))
    .bind(millis(invoice.opened_at))
    .bind(millis(invoice.opened_at))
    .bind(millis(invoice.expires_at))
    .bind(next_poll(invoice, now).map(millis))
    .bind(id.as_str())
    .execute(&mut *tx)
    .await?;
    if opened.rows_affected() == 0 {
        // Abandoned meanwhile: this invoice is not shown.
        return Ok(());
    }
    let attempt = find(tx, id).await?;
    let order = get(tx, &attempt.order_id).await?;
    if !order.takes_attempts(now) {
        // The order was cancelled or paid by another attempt meanwhile: this invoice is polled, not
        // shown.
        return Ok(());
    }
    sqlx::query("UPDATE orders SET current_attempt = ? WHERE id = ?")
        .bind(id.as_str())
        .bind(order.id.as_str())
        .execute(&mut *tx)
        .await?;
    set_status(tx, &order.id, OrderStatus::AwaitingPayment).await?;
    emit(tx, &order.id, &[EventType::AttemptOpened], now).await?;
    end_attention(tx, &order.id).await
}

pub(super) async fn abandon(
    tx: &mut SqliteConnection,
    id: &AttemptId,
    reason: Abandoned,
    now: Timestamp,
) -> Result<(), StorageError> {
    let ended = sqlx::query("UPDATE attempts SET state = ? WHERE id = ? AND state = 'creating'")
        .bind(<&str>::from(reason))
        .bind(id.as_str())
        .execute(&mut *tx)
        .await?;
    if ended.rows_affected() == 0 || reason != Abandoned::Blocked {
        return Ok(());
    }
    let attempt = find(tx, id).await?;
    let order = get(tx, &attempt.order_id).await?;
    if !order.takes_attempts(now) {
        return Ok(());
    }
    set_status(tx, &order.id, OrderStatus::Blocked).await?;
    emit(tx, &order.id, &[EventType::Blocked], now).await?;
    request_attention(tx, &order.id, now).await
}

pub(super) async fn stale(
    tx: &mut SqliteConnection,
    begun_before: Timestamp,
    limit: u32,
) -> Result<Vec<AttemptId>, StorageError> {
    let ids = "SELECT id FROM attempts WHERE state = 'creating' AND begun_at < ? LIMIT ?";
    let ids: Vec<String> = sqlx::query_scalar(ids)
        .bind(millis(begun_before))
        .bind(limit)
        .fetch_all(tx)
        .await?;
    ids.iter()
        .map(|id| rows::read("an attempt id", AttemptId::parse(id)))
        .collect()
}

pub(super) async fn mark_as_paid(
    tx: &mut SqliteConnection,
    id: &OrderId,
    named: Option<&NamedTransaction>,
    now: Timestamp,
) -> Result<MarkedAsPaid, OrderOperationError> {
    let Some(known) = snapshot(tx, id).await? else {
        return Err(OrderOperationError::NoOrder(id.clone()));
    };
    let from = known.order.status;
    let invoice = known.attempt.as_ref().and_then(Attempt::invoice);
    if let Some((named, address)) = named.and_then(|one| Some((one, one.earlier_address(invoice)?)))
    {
        keep_earlier_hint(tx, id, &named.hint, address).await?;
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
    // The row decides which of concurrent calls is the first.
    let marked = sqlx::query(
        "UPDATE attempts SET marked_as_paid_at = ?1 WHERE order_id = ?2 AND invoice_id = ?3
             AND marked_as_paid_at IS NULL
             AND (SELECT settled_at FROM orders WHERE id = ?2) IS NULL",
    )
    .bind(millis(now))
    .bind(id.as_str())
    .bind(invoice.id.as_str())
    .execute(&mut *tx)
    .await
    .map_err(StorageError::from)?;
    let hinted = match named {
        None => 0,
        Some(named) => sqlx::query(
            "UPDATE attempts SET transaction_hint = ?1 WHERE order_id = ?2 AND invoice_id = ?3
                 AND (transaction_hint IS NULL OR transaction_hint <> ?1)
                 AND (SELECT settled_at FROM orders WHERE id = ?2) IS NULL",
        )
        .bind(named.hint.as_str())
        .bind(id.as_str())
        .bind(invoice.id.as_str())
        .execute(&mut *tx)
        .await
        .map_err(StorageError::from)?
        .rows_affected(),
    };
    if marked.rows_affected() == 0 && hinted == 0 {
        return Ok(MarkedAsPaid {
            snapshot: known,
            is_first: false,
        });
    }
    let is_first = marked.rows_affected() != 0;
    let status = if from == OrderStatus::AwaitingPayment {
        OrderStatus::Checking
    } else {
        from
    };
    set_status(tx, id, status).await?;
    let marked = snapshot(tx, id).await?;
    Ok(MarkedAsPaid {
        snapshot: marked.ok_or_else(|| OrderOperationError::NoOrder(id.clone()))?,
        is_first,
    })
}

/// Keeps a transaction with the earlier attempt that it pays.
async fn keep_earlier_hint(
    tx: &mut SqliteConnection,
    id: &OrderId,
    hint: &TransactionHint,
    address: &str,
) -> Result<(), OrderOperationError> {
    let kept = sqlx::query(
        "UPDATE attempts SET transaction_hint = ?1 WHERE order_id = ?2 AND address = ?3 COLLATE NOCASE
             AND invoice_id IS NOT NULL
             AND (SELECT settled_at FROM orders WHERE id = ?2) IS NULL",
    )
    .bind(hint.as_str())
    .bind(id.as_str())
    .bind(address)
    .execute(&mut *tx)
    .await
    .map_err(StorageError::from)?;
    if kept.rows_affected() == 0 {
        return Err(OrderOperationError::Closed {
            from: OrderStatus::Open,
            event: "payment of an earlier attempt",
        });
    }
    Ok(())
}

pub(super) async fn due(
    tx: &mut SqliteConnection,
    priority: PollPriority,
    now: Timestamp,
    lease_until: Timestamp,
    limit: u32,
) -> Result<Vec<DueAttempt>, StorageError> {
    let leased = sqlx::query(
        "UPDATE attempts SET lease_until = ?2, next_poll_at = ?2, look = look + 1, looked_at = ?1,
             urgency = 'planned'
         WHERE id IN (SELECT id FROM attempts
                      WHERE urgency = ?4 AND next_poll_at <= ?1 AND lease_until <= ?1
                      ORDER BY next_poll_at LIMIT ?3)
         RETURNING id, order_id, invoice_id, look,
             (SELECT traceparent FROM orders WHERE orders.id = attempts.order_id) AS traceparent",
    )
    .bind(millis(now))
    .bind(millis(lease_until))
    .bind(limit)
    .bind(<&str>::from(priority))
    .fetch_all(tx)
    .await?;
    leased
        .iter()
        .map(|row| due_attempt(row, priority))
        .collect()
}

fn due_attempt(row: &SqliteRow, priority: PollPriority) -> Result<DueAttempt, StorageError> {
    Ok(DueAttempt {
        priority,
        attempt_id: row.parsed("id", AttemptId::parse)?,
        order_id: row.parsed("order_id", OrderId::parse)?,
        invoice_id: row.parsed("invoice_id", InvoiceId::parse)?,
        poll_seq: row.try_get("look")?,
        stretch: Stretch::NONE,
        traceparent: rows::traceparent(row)?,
    })
}

/// A file belongs to one process: these are the leases of one that has ended.
pub(super) async fn end_leases(tx: &mut SqliteConnection) -> Result<(), StorageError> {
    sqlx::query(
        "UPDATE attempts SET next_poll_at = min(next_poll_at, looked_at), lease_until = 0
         WHERE lease_until > 0",
    )
    .execute(tx)
    .await?;
    Ok(())
}

pub(super) async fn schedule_poll(
    tx: &mut SqliteConnection,
    id: &OrderId,
    at: Timestamp,
) -> Result<bool, StorageError> {
    let scheduled = sqlx::query(
        "UPDATE attempts SET next_poll_at = ?1, urgency = iif(urgency = 'hinted', urgency, 'watched')
         WHERE id = (SELECT current_attempt FROM orders WHERE id = ?2) AND standing <> 'settled'
             AND (next_poll_at IS NULL OR next_poll_at > ?1)",
    )
    .bind(millis(at))
    .bind(id.as_str())
    .execute(tx)
    .await?;
    Ok(scheduled.rows_affected() > 0)
}

pub(super) async fn schedule_polls_of_order(
    tx: &mut SqliteConnection,
    id: &OrderId,
    pause: SignedDuration,
    now: Timestamp,
) -> Result<bool, StorageError> {
    let scheduled = sqlx::query(
        "UPDATE attempts SET next_poll_at = max(?1, coalesce(looked_at, opened_at) + ?2),
             urgency = iif(urgency = 'hinted', urgency, 'watched')
         WHERE order_id = ?3 AND state = 'open' AND standing <> 'frozen'
             AND (next_poll_at IS NULL OR next_poll_at > max(?1, coalesce(looked_at, opened_at) + ?2))",
    )
    .bind(millis(now))
    .bind(i64::try_from(pause.as_millis()).unwrap_or(i64::MAX))
    .bind(id.as_str())
    .execute(tx)
    .await?;
    Ok(scheduled.rows_affected() > 0)
}

/// By the clock that is right, what lies in the future has not happened: it was written by one that was ahead.
pub(super) async fn replan_future(
    tx: &mut SqliteConnection,
    now: Timestamp,
) -> Result<u64, StorageError> {
    let replanned = sqlx::query(
        "UPDATE attempts SET next_poll_at = ?1, lease_until = 0, looked_at = min(looked_at, ?1)
         WHERE next_poll_at > ?1 AND coalesce(looked_at, opened_at) > ?2",
    )
    .bind(millis(now))
    .bind(millis(now + AT_THIS_MOMENT))
    .execute(&mut *tx)
    .await?;
    sqlx::query(
        "UPDATE attempts SET expires_at = ?1 + expires_at - opened_at, opened_at = ?1
         WHERE state = 'open' AND opened_at > ?2",
    )
    .bind(millis(now))
    .bind(millis(now + AT_THIS_MOMENT))
    .execute(&mut *tx)
    .await?;
    // An attempt whose invoice never came is abandoned so long after it was begun.
    sqlx::query("UPDATE attempts SET begun_at = ?1 WHERE state = 'creating' AND begun_at > ?2")
        .bind(millis(now))
        .bind(millis(now + AT_THIS_MOMENT))
        .execute(tx)
        .await?;
    Ok(replanned.rows_affected())
}

pub(super) async fn poll_queue(
    reader: &mut SqliteConnection,
    until: Timestamp,
    most: u32,
) -> Result<PollQueue, StorageError> {
    let mut queue = PollQueue::default();
    for priority in [
        PollPriority::Callback,
        PollPriority::Watched,
        PollPriority::Unwatched,
    ] {
        let word = <&str>::from(priority);
        let due: i64 = sqlx::query_scalar(
            "SELECT count(*) FROM (SELECT 1 FROM attempts WHERE urgency = ? AND next_poll_at <= ? LIMIT ?)",
        )
        .bind(word)
        .bind(millis(until))
        .bind(most)
        .fetch_one(&mut *reader)
        .await?;
        let first: Option<i64> = sqlx::query_scalar(
            "SELECT min(next_poll_at) FROM attempts WHERE urgency = ? AND next_poll_at IS NOT NULL",
        )
        .bind(word)
        .fetch_one(&mut *reader)
        .await?;
        queue.count(priority, due);
        if let Some(first) = first {
            queue.first.insert(priority, time(first)?);
        }
    }
    Ok(queue)
}

/// A poll that a callback causes.
pub(super) struct WantedPoll {
    attempt: String,
    at: i64,
}

/// When a callback causes a poll of an invoice; `None` if one is due before.
pub(super) async fn callback_poll(
    reader: &mut SqliteConnection,
    id: &InvoiceId,
    known: InvoiceKind,
    at: Timestamp,
) -> Result<Option<WantedPoll>, StorageError> {
    // The response to a poll whose lease has expired reschedules the next poll: only a poll that is
    // due before the end of the lease is kept.
    let wanted: Option<(String, i64)> = sqlx::query_as(
        "SELECT id, wanted FROM (
             SELECT *, CASE WHEN NOT ?4 AND lease_until BETWEEN 1 AND ?1 THEN lease_until - 1
                 ELSE max(?1, coalesce(looked_at, 0) + ?3) END AS wanted FROM attempts)
         WHERE invoice_id = ?2 AND (standing = 'settled') = ?4
             AND (next_poll_at IS NULL OR next_poll_at > wanted)",
    )
    .bind(millis(at))
    .bind(id.as_str())
    .bind(known.debounce_ms())
    .bind(known == InvoiceKind::Settled)
    .fetch_optional(reader)
    .await?;
    Ok(wanted.map(|(attempt, at)| WantedPoll { attempt, at }))
}

pub(super) async fn schedule_poll_at(
    tx: &mut SqliteConnection,
    wanted: &WantedPoll,
    known: InvoiceKind,
) -> Result<bool, StorageError> {
    let scheduled = sqlx::query(
        "UPDATE attempts SET next_poll_at = ?1, urgency = 'hinted'
         WHERE id = ?2 AND (standing = 'settled') = ?3 AND (next_poll_at IS NULL OR next_poll_at > ?1)",
    )
    .bind(wanted.at)
    .bind(&wanted.attempt)
    .bind(known == InvoiceKind::Settled)
    .execute(tx)
    .await?;
    Ok(scheduled.rows_affected() > 0)
}

pub(super) async fn store_of(
    reader: &mut SqliteConnection,
    id: &InvoiceId,
) -> Result<Option<StoreId>, StorageError> {
    let found: Option<String> = sqlx::query_scalar(
        "SELECT store_id FROM orders
         WHERE id = (SELECT order_id FROM attempts WHERE invoice_id = ?)",
    )
    .bind(id.as_str())
    .fetch_optional(reader)
    .await?;
    let store = found.map(|store| rows::read("a store id", StoreId::parse(&store)));
    store.transpose()
}

pub(super) async fn defer(
    tx: &mut SqliteConnection,
    due: &DueAttempt,
    until: Timestamp,
    now: Timestamp,
) -> Result<(), StorageError> {
    sqlx::query(
        "UPDATE attempts SET next_poll_at = ?1, lease_until = 0, looked_at = max(looked_at, ?5),
             urgency = iif(urgency = 'planned', ?2, urgency)
         WHERE id = ?3 AND look = ?4",
    )
    .bind(millis(until))
    .bind(<&str>::from(due.priority))
    .bind(due.attempt_id.as_str())
    .bind(due.poll_seq)
    .bind(millis(now))
    .execute(tx)
    .await?;
    Ok(())
}
