//! Orders: one per reference, accessed by token, listed by store.

use florin_orders::{
    Aggregate, Attempt, AttemptId, EventType, NewOrder, Order, OrderId, OrderStatus, Reference,
    Snapshot, StoreId,
};
use jiff::Timestamp;

use super::dialect::{Connection, Transaction, statements};
use super::outbox::append;
use crate::rows::{self, Time, without_nul};
use crate::{
    EmailChange, KeptEmail, OpenError, Opened, OrderFilter, OrderOperationError, Result,
    StorageError,
};

/// Opens an order. The reference decides: of two processes that open it, one inserts and the other finds it.
pub(super) async fn open(
    tx: &mut Transaction,
    id: &OrderId,
    terms: &NewOrder,
    now: Timestamp,
) -> Result<Opened, OpenError> {
    if let Some(order) = insert(tx, id, terms, now).await? {
        let snapshot = Snapshot {
            order,
            attempt: None,
        };
        append(tx, &snapshot, 1, &[EventType::Created], now).await?;
        return Ok(Opened {
            order: snapshot.order,
            is_new: true,
        });
    }
    let known = sqlx::query("SELECT * FROM orders WHERE store_id = $1 AND reference = $2")
        .bind(terms.store_id.as_str())
        .bind(terms.reference.as_str())
        .fetch_one(&mut **tx)
        .await
        .map_err(StorageError::from)?;
    let order = rows::order(&known)?;
    let same_price = order.terms.amount == terms.amount && order.terms.currency == terms.currency;
    if !same_price {
        return Err(OpenError::Conflict(Box::new(order)));
    }
    // The id is random: an order of this id was inserted by an earlier run, whose commit had no response.
    let is_new = tx.is_repeat() && order.id == *id;
    Ok(Opened { order, is_new })
}

/// Inserts an order, with its first event counted; `None` if its reference names one already.
async fn insert(
    tx: &mut Connection,
    id: &OrderId,
    terms: &NewOrder,
    now: Timestamp,
) -> Result<Option<Order>> {
    let assets: Vec<&str> = terms
        .assets
        .iter()
        .map(florin_money::CryptoCode::as_str)
        .collect();
    let lines = serde_json::to_string(&terms.lines).expect("texts and numbers become JSON");
    let metadata = serde_json::Value::Object(terms.metadata.clone()).to_string();
    let inserted = sqlx::query(
        "INSERT INTO orders (id, store_id, reference, amount, currency, price_source, title,
             lines, customer_email, return_url, cancel_url, metadata, assets, flow, tolerance, expires_at, created_at, traceparent,
             status, sequence, version)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, 'open', 1, 1)
         ON CONFLICT (store_id, reference) DO NOTHING RETURNING *",
    )
    .bind(id.as_str())
    .bind(terms.store_id.as_str())
    .bind(terms.reference.as_str())
    .bind(terms.amount.to_string())
    .bind(terms.currency.as_str())
    .bind(<&str>::from(terms.price_source))
    .bind(without_nul(&terms.title))
    .bind(lines)
    .bind(terms.customer_email.as_deref().map(without_nul))
    .bind(terms.return_url.as_deref().map(without_nul))
    .bind(terms.cancel_url.as_deref().map(without_nul))
    .bind(metadata)
    .bind(assets.join(" "))
    .bind(<&str>::from(terms.flow))
    .bind(terms.tolerance.to_string())
    .bind(Time(terms.expires_at))
    .bind(Time(now))
    .bind(terms.traceparent.map(|it| it.to_string()))
    .fetch_optional(tx)
    .await?;
    inserted.as_ref().map(rows::order).transpose()
}

pub(super) async fn snapshot(
    connection: &mut Connection,
    id: &OrderId,
) -> Result<Option<Snapshot>> {
    let row = sqlx::query("SELECT * FROM orders WHERE id = $1")
        .bind(id.as_str())
        .fetch_optional(&mut *connection)
        .await?;
    match row {
        Some(row) => Ok(Some(with_attempt(connection, rows::order(&row)?).await?)),
        None => Ok(None),
    }
}

async fn with_attempt(connection: &mut Connection, order: Order) -> Result<Snapshot> {
    let Some(id) = &order.current_attempt else {
        return Ok(Snapshot {
            order,
            attempt: None,
        });
    };
    let attempt = attempt(connection, id).await?;
    Ok(Snapshot {
        order,
        attempt: Some(attempt),
    })
}

/// Locks an order until the transaction ends: the first statement of every transaction that writes it. Returns `false` for
/// an unknown order.
pub(super) async fn lock(tx: &mut Connection, id: &OrderId) -> Result<bool> {
    let locked: Option<bool> = sqlx::query_scalar(statements::LOCK_ORDER)
        .bind(id.as_str())
        .fetch_optional(tx)
        .await?;
    Ok(locked.is_some())
}

pub(super) async fn aggregate(tx: &mut Connection, id: &OrderId) -> Result<Aggregate> {
    with_attempts(tx, id, statements::LOCKED_ORDER).await
}

pub(super) async fn read_aggregate(connection: &mut Connection, id: &OrderId) -> Result<Aggregate> {
    with_attempts(connection, id, "SELECT * FROM orders WHERE id = $1").await
}

async fn with_attempts(
    connection: &mut Connection,
    id: &OrderId,
    statement: &'static str,
) -> Result<Aggregate> {
    let order = sqlx::query(statement).bind(id.as_str());
    let order = order.fetch_one(&mut *connection).await?;
    let attempts = sqlx::query(
        "SELECT attempts.*, polls.next_poll_at FROM attempts LEFT JOIN polls ON polls.attempt_id = attempts.id
         WHERE attempts.order_id = $1",
    )
    .bind(id.as_str())
    .fetch_all(connection)
    .await?;
    rows::aggregate(&order, &attempts)
}

/// Saves an order after a transition: one statement for all that changed.
pub(super) async fn save(tx: &mut Connection, after: &Aggregate) -> Result<()> {
    let order = &after.order;
    let reverted = order.reverted;
    let version = i64::try_from(order.version).expect("a version counts changes");
    sqlx::query(
        "UPDATE orders SET status = $1, current_attempt = $2, settled_at = $3, reverted_at = $4, reverted_to = $5,
             has_money = $6, late_payment = $7, late_event_at = $8, sequence = $9, version = $10,
             decision = $11, decided_at = $12, attention_since = $13
         WHERE id = $14",
    )
    .bind(<&str>::from(order.status))
    .bind(order.current_attempt.as_ref().map(AttemptId::as_str))
    .bind(order.settled_at.map(Time))
    .bind(reverted.map(|reverted| Time(reverted.at)))
    .bind(reverted.map(|reverted| <&str>::from(reverted.payment_state)))
    .bind(order.has_money)
    .bind(order.late_payment.map(<&str>::from))
    .bind(after.late_event_at.map(Time))
    .bind(i64::from(order.sequence))
    .bind(version)
    .bind(order.decision.map(|decision| <&str>::from(decision.outcome)))
    .bind(order.decision.map(|decision| Time(decision.at)))
    .bind(after.attention_since.map(Time))
    .bind(order.id.as_str())
    .execute(tx)
    .await?;
    Ok(())
}

/// The order of an id that is known to exist.
pub(super) async fn get(connection: &mut Connection, id: &OrderId) -> Result<Order> {
    let row = sqlx::query("SELECT * FROM orders WHERE id = $1")
        .bind(id.as_str())
        .fetch_one(connection);
    rows::order(&row.await?)
}

pub(super) async fn list(
    connection: &mut Connection,
    store: &StoreId,
    filter: &OrderFilter,
) -> Result<Vec<Snapshot>> {
    // A statement for each combination: a condition like "$2 IS NULL OR reference = $2" hides the index. Each takes all
    // parameters and uses some.
    let statement = match (&filter.reference, filter.status, &filter.after) {
        (Some(_), _, _) => {
            "SELECT * FROM orders WHERE store_id = $1 AND reference = $2 AND (CAST($3 AS text) IS NULL OR status = $3)
                 AND (CAST($4 AS text) IS NULL OR (created_at, id) <
                     (SELECT created_at, id FROM orders WHERE id = $4 AND store_id = $1))
             LIMIT $5"
        }
        (None, None, None) => {
            "SELECT * FROM orders WHERE store_id = $1 ORDER BY created_at DESC, id DESC LIMIT $5"
        }
        (None, None, Some(_)) => {
            "SELECT * FROM orders WHERE store_id = $1
                 AND (created_at, id) < (SELECT created_at, id FROM orders WHERE id = $4 AND store_id = $1)
             ORDER BY created_at DESC, id DESC LIMIT $5"
        }
        (None, Some(_), None) => {
            "SELECT * FROM orders WHERE store_id = $1 AND status = $3
             ORDER BY created_at DESC, id DESC LIMIT $5"
        }
        (None, Some(_), Some(_)) => {
            "SELECT * FROM orders WHERE store_id = $1 AND status = $3
                 AND (created_at, id) < (SELECT created_at, id FROM orders WHERE id = $4 AND store_id = $1)
             ORDER BY created_at DESC, id DESC LIMIT $5"
        }
    };
    let found = sqlx::query(statement)
        .bind(store.as_str())
        .bind(filter.reference.as_ref().map(Reference::as_str))
        .bind(filter.status.map(<&str>::from))
        .bind(filter.after.as_ref().map(OrderId::as_str))
        .bind(i64::from(filter.limit))
        .fetch_all(&mut *connection)
        .await?;
    let mut page = Vec::with_capacity(found.len());
    for row in &found {
        page.push(with_attempt(connection, rows::order(row)?).await?);
    }
    Ok(page)
}

pub(super) async fn cancel(
    tx: &mut Connection,
    id: &OrderId,
    now: Timestamp,
) -> Result<Snapshot, OrderOperationError> {
    lock(tx, id).await?;
    let Some(known) = snapshot(tx, id).await? else {
        return Err(OrderOperationError::NoOrder(id.clone()));
    };
    let Order {
        status: from,
        cancelled_at,
        has_money,
        decision,
        ..
    } = known.order;
    let is_closed = decision.is_some() && !from.is_settled();
    if cancelled_at.is_some() || is_closed {
        return Ok(known);
    }
    if from.is_settled() || has_money {
        let event = "cancellation";
        return Err(OrderOperationError::Closed { from, event });
    }
    let cancel = "UPDATE orders SET cancelled_at = $1, status = 'cancelled', version = version + 1 WHERE id = $2";
    let cancel = sqlx::query(cancel).bind(Time(now)).bind(id.as_str());
    cancel.execute(&mut *tx).await.map_err(StorageError::from)?;
    emit(tx, id, &[EventType::Cancelled], now).await?;
    end_attention(tx, id).await?;
    snapshot(tx, id)
        .await?
        .ok_or_else(|| OrderOperationError::NoOrder(id.clone()))
}

pub(super) async fn keep_receipt_email(
    tx: &mut Transaction,
    id: &OrderId,
    email: Option<&str>,
    now: Timestamp,
) -> Result<Option<KeptEmail>> {
    let email = email.map(without_nul);
    lock(tx, id).await?;
    let Some(before) = snapshot(tx, id).await? else {
        return Ok(None);
    };
    if !before.order.takes_receipt_email(email.as_deref()) {
        let (snapshot, change) = (before, EmailChange::Refused);
        return Ok(Some(KeptEmail { snapshot, change }));
    }
    if before.order.receipt_email.as_deref() == email.as_deref() && !tx.is_repeat() {
        let (snapshot, change) = (before, EmailChange::Unchanged);
        return Ok(Some(KeptEmail { snapshot, change }));
    }
    sqlx::query("UPDATE orders SET receipt_email = $1, version = version + 1 WHERE id = $2")
        .bind(email.as_deref())
        .bind(id.as_str())
        .execute(&mut **tx)
        .await?;
    if before.order.status.is_settled() && before.order.receipt_email.is_none() {
        emit(tx, id, &[EventType::EmailAdded], now).await?;
    }
    let snapshot = snapshot(tx, id).await?;
    let before = before.order.receipt_email;
    // A repetition finds what the try before has stored.
    let change = if before.is_none() || tx.is_repeat() && before.as_deref() == email.as_deref() {
        EmailChange::First
    } else {
        EmailChange::Replaced
    };
    Ok(snapshot.map(|snapshot| KeptEmail { snapshot, change }))
}

pub(super) async fn expire(
    tx: &mut Connection,
    now: Timestamp,
    limit: u32,
) -> Result<Vec<OrderId>> {
    let due: Vec<String> = sqlx::query_scalar(statements::EXPIRED_ORDERS)
        .bind(Time(now))
        .bind(i64::from(limit))
        .fetch_all(&mut *tx)
        .await?;
    let mut expired = Vec::with_capacity(due.len());
    for id in due {
        let id = rows::read("an order id", OrderId::parse(&id))?;
        set_status(tx, &id, OrderStatus::Expired).await?;
        emit(tx, &id, &[EventType::Expired], now).await?;
        expired.push(id);
    }
    Ok(expired)
}

/// Emits events about an order in its present state, and counts them in the order's row.
pub(super) async fn emit(
    tx: &mut Connection,
    order_id: &OrderId,
    events: &[EventType],
    now: Timestamp,
) -> Result<()> {
    let missing = || StorageError::Corrupt(format!("no order {order_id} to emit events of"));
    let snapshot = snapshot(tx, order_id).await?.ok_or_else(missing)?;
    append(tx, &snapshot, snapshot.order.sequence + 1, events, now).await?;
    let count = i64::try_from(events.len()).expect("a handful of events");
    sqlx::query("UPDATE orders SET sequence = sequence + $1, version = version + 1 WHERE id = $2")
        .bind(count)
        .bind(order_id.as_str())
        .execute(tx)
        .await?;
    Ok(())
}

pub(super) async fn request_attention(
    tx: &mut Connection,
    id: &OrderId,
    now: Timestamp,
) -> Result<()> {
    sqlx::query("UPDATE orders SET attention_since = $1 WHERE id = $2")
        .bind(Time(now))
        .bind(id.as_str())
        .execute(tx)
        .await?;
    Ok(())
}

/// Calls no person any more to an order about which nothing is open.
pub(super) async fn end_attention(tx: &mut Connection, id: &OrderId) -> Result<()> {
    let waits = "SELECT attention_since IS NOT NULL FROM orders WHERE id = $1";
    let waits: bool = sqlx::query_scalar(waits)
        .bind(id.as_str())
        .fetch_one(&mut *tx)
        .await?;
    if !waits || !aggregate(tx, id).await?.attention_causes().is_empty() {
        return Ok(());
    }
    sqlx::query("UPDATE orders SET attention_since = NULL WHERE id = $1")
        .bind(id.as_str())
        .execute(tx)
        .await?;
    Ok(())
}

/// Sets the status of an order. The caller emits the event, if any, in the same transaction.
pub(super) async fn set_status(
    tx: &mut Connection,
    id: &OrderId,
    status: OrderStatus,
) -> Result<()> {
    sqlx::query("UPDATE orders SET status = $1, version = version + 1 WHERE id = $2")
        .bind(<&str>::from(status))
        .bind(id.as_str())
        .execute(tx)
        .await?;
    Ok(())
}

pub(super) async fn attempt(connection: &mut Connection, id: &AttemptId) -> Result<Attempt> {
    let found = maybe_attempt(connection, id).await?;
    found.ok_or_else(|| StorageError::Corrupt(format!("no attempt {id}")))
}

/// The attempt of an id; `None` for an unknown one.
pub(super) async fn maybe_attempt(
    connection: &mut Connection,
    id: &AttemptId,
) -> Result<Option<Attempt>> {
    let row = sqlx::query(
        "SELECT attempts.*, polls.next_poll_at FROM attempts LEFT JOIN polls ON polls.attempt_id = attempts.id
         WHERE attempts.id = $1",
    )
    .bind(id.as_str())
    .fetch_optional(connection)
    .await?;
    row.as_ref().map(rows::attempt).transpose()
}
