//! Orders: one per reference, accessed by token, listed by store.

use florin_orders::{
    Aggregate, AttemptId, EventType, NewOrder, Order, OrderId, OrderStatus, Reference, Snapshot,
    StoreId, TokenHash,
};
use jiff::Timestamp;
use sqlx::SqliteConnection;

use super::events::append;
use super::rows::millis;
use crate::rows::{self, Record as _};
use crate::{
    EmailChange, KeptEmail, OpenError, Opened, OrderFilter, OrderOperationError, StorageError,
    TokenGrant,
};

pub(super) async fn open(
    tx: &mut SqliteConnection,
    id: &OrderId,
    terms: &NewOrder,
    now: Timestamp,
) -> Result<Opened, OpenError> {
    let known = sqlx::query("SELECT * FROM orders WHERE store_id = ? AND reference = ?")
        .bind(terms.store_id.as_str())
        .bind(terms.reference.as_str())
        .fetch_optional(&mut *tx)
        .await
        .map_err(StorageError::from)?;
    if let Some(row) = known {
        let order = rows::order(&row)?;
        let same_price =
            order.terms.amount == terms.amount && order.terms.currency == terms.currency;
        if same_price {
            return Ok(Opened {
                order,
                is_new: false,
            });
        }
        return Err(OpenError::Conflict(Box::new(order)));
    }
    insert(tx, id, terms, now).await?;
    emit(tx, id, &[EventType::Created], now).await?;
    Ok(Opened {
        order: get(tx, id).await?,
        is_new: true,
    })
}

async fn insert(
    tx: &mut SqliteConnection,
    id: &OrderId,
    terms: &NewOrder,
    now: Timestamp,
) -> Result<(), StorageError> {
    let assets: Vec<&str> = terms
        .assets
        .iter()
        .map(florin_money::CryptoCode::as_str)
        .collect();
    let lines = serde_json::to_string(&terms.lines).expect("texts and numbers become JSON");
    let metadata = serde_json::Value::Object(terms.metadata.clone()).to_string();
    sqlx::query(
        "INSERT INTO orders (id, store_id, reference, amount, currency, price_source, title,
             lines, customer_email, return_url, cancel_url, metadata, assets, flow, tolerance, expires_at, created_at, traceparent, status)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'open')",
    )
    .bind(id.as_str())
    .bind(terms.store_id.as_str())
    .bind(terms.reference.as_str())
    .bind(terms.amount.to_string())
    .bind(terms.currency.as_str())
    .bind(<&str>::from(terms.price_source))
    .bind(&terms.title)
    .bind(lines)
    .bind(&terms.customer_email)
    .bind(&terms.return_url)
    .bind(&terms.cancel_url)
    .bind(metadata)
    .bind(assets.join(" "))
    .bind(<&str>::from(terms.flow))
    .bind(terms.tolerance.to_string())
    .bind(millis(terms.expires_at))
    .bind(millis(now))
    .bind(terms.traceparent.map(|it| it.to_string()))
    .execute(tx)
    .await?;
    Ok(())
}

/// Grants a client token access to an order.
pub(super) async fn add_token(
    tx: &mut SqliteConnection,
    id: &OrderId,
    token: TokenHash,
    expires_at: Timestamp,
) -> Result<(), StorageError> {
    sqlx::query("INSERT INTO client_tokens (hash, order_id, expires_at) VALUES (?, ?, ?)")
        .bind(token.0.as_slice())
        .bind(id.as_str())
        .bind(millis(expires_at))
        .execute(tx)
        .await?;
    Ok(())
}

/// Deletes up to `limit` expired tokens; returns their number.
pub(super) async fn delete_expired_tokens(
    tx: &mut SqliteConnection,
    now: Timestamp,
    limit: u32,
) -> Result<u64, StorageError> {
    let forgotten = "DELETE FROM client_tokens
         WHERE hash IN (SELECT hash FROM client_tokens WHERE expires_at <= ? LIMIT ?)";
    let forgotten = sqlx::query(forgotten)
        .bind(millis(now))
        .bind(limit)
        .execute(tx)
        .await?;
    Ok(forgotten.rows_affected())
}

/// The token is looked up by its hash, so that the timing reveals nothing about the token.
pub(super) async fn of_token(
    connection: &mut SqliteConnection,
    token: TokenHash,
    now: Timestamp,
) -> Result<Option<Snapshot>, StorageError> {
    let id: Option<String> =
        sqlx::query_scalar("SELECT order_id FROM client_tokens WHERE hash = ? AND expires_at > ?")
            .bind(token.0.as_slice())
            .bind(millis(now))
            .fetch_optional(&mut *connection)
            .await?;
    match id {
        Some(id) => snapshot(connection, &rows::read("an order id", OrderId::parse(&id))?).await,
        None => Ok(None),
    }
}

/// What a client token opens; looked up like [`of_token`].
pub(super) async fn token_grant(
    connection: &mut SqliteConnection,
    token: TokenHash,
) -> Result<Option<TokenGrant>, StorageError> {
    let row = sqlx::query("SELECT order_id, expires_at FROM client_tokens WHERE hash = ?")
        .bind(token.0.as_slice())
        .fetch_optional(connection)
        .await?;
    let Some(row) = row else {
        return Ok(None);
    };
    Ok(Some(TokenGrant {
        order_id: row.parsed("order_id", OrderId::parse)?,
        expires_at: row.time("expires_at")?,
    }))
}

pub(super) async fn snapshot(
    connection: &mut SqliteConnection,
    id: &OrderId,
) -> Result<Option<Snapshot>, StorageError> {
    let row = sqlx::query("SELECT * FROM orders WHERE id = ?")
        .bind(id.as_str())
        .fetch_optional(&mut *connection)
        .await?;
    match row {
        Some(row) => Ok(Some(with_attempt(connection, rows::order(&row)?).await?)),
        None => Ok(None),
    }
}

async fn with_attempt(
    connection: &mut SqliteConnection,
    order: Order,
) -> Result<Snapshot, StorageError> {
    let Some(id) = &order.current_attempt else {
        return Ok(Snapshot {
            order,
            attempt: None,
        });
    };
    let row = sqlx::query("SELECT * FROM attempts WHERE id = ?")
        .bind(id.as_str())
        .fetch_one(connection)
        .await?;
    Ok(Snapshot {
        order,
        attempt: Some(rows::attempt(&row)?),
    })
}

/// An order with all its attempts.
pub(super) async fn aggregate(
    tx: &mut SqliteConnection,
    id: &OrderId,
) -> Result<Aggregate, StorageError> {
    let order = sqlx::query("SELECT * FROM orders WHERE id = ?")
        .bind(id.as_str())
        .fetch_one(&mut *tx)
        .await?;
    let attempts = sqlx::query("SELECT * FROM attempts WHERE order_id = ?")
        .bind(id.as_str())
        .fetch_all(tx)
        .await?;
    rows::aggregate(&order, &attempts)
}

/// Saves an order after a transition: one statement for all that changed.
pub(super) async fn save(tx: &mut SqliteConnection, after: &Aggregate) -> Result<(), StorageError> {
    let order = &after.order;
    let reverted = order.reverted;
    let version = i64::try_from(order.version).expect("a version counts changes");
    sqlx::query(
        "UPDATE orders SET status = ?, current_attempt = ?, settled_at = ?, reverted_at = ?, reverted_to = ?,
             has_money = ?, late_payment = ?, late_event_at = ?, sequence = ?, version = ?, decision = ?,
             decided_at = ?, attention_since = ?
         WHERE id = ?",
    )
    .bind(<&str>::from(order.status))
    .bind(order.current_attempt.as_ref().map(AttemptId::as_str))
    .bind(order.settled_at.map(millis))
    .bind(reverted.map(|reverted| millis(reverted.at)))
    .bind(reverted.map(|reverted| <&str>::from(reverted.payment_state)))
    .bind(order.has_money)
    .bind(order.late_payment.map(<&str>::from))
    .bind(after.late_event_at.map(millis))
    .bind(order.sequence)
    .bind(version)
    .bind(order.decision.map(|decision| <&str>::from(decision.outcome)))
    .bind(order.decision.map(|decision| millis(decision.at)))
    .bind(after.attention_since.map(millis))
    .bind(order.id.as_str())
    .execute(tx)
    .await?;
    Ok(())
}

/// The order of an id that is known to exist.
pub(super) async fn get(
    connection: &mut SqliteConnection,
    id: &OrderId,
) -> Result<Order, StorageError> {
    let row = sqlx::query("SELECT * FROM orders WHERE id = ?")
        .bind(id.as_str())
        .fetch_one(connection);
    rows::order(&row.await?)
}

pub(super) async fn list(
    connection: &mut SqliteConnection,
    store: &StoreId,
    filter: &OrderFilter,
) -> Result<Vec<Snapshot>, StorageError> {
    // A statement for each combination: a condition like "?2 IS NULL OR reference = ?2" hides the index. Each takes all
    // parameters and uses some.
    let statement = match (&filter.reference, filter.status, &filter.after) {
        (Some(_), _, _) => {
            "SELECT * FROM orders WHERE store_id = ?1 AND reference = ?2 AND (?3 IS NULL OR status = ?3)
                 AND (?4 IS NULL OR (created_at, id) <
                     (SELECT created_at, id FROM orders WHERE id = ?4 AND store_id = ?1))
             LIMIT ?5"
        }
        (None, None, None) => {
            "SELECT * FROM orders WHERE store_id = ?1 ORDER BY created_at DESC, id DESC LIMIT ?5"
        }
        (None, None, Some(_)) => {
            "SELECT * FROM orders WHERE store_id = ?1
                 AND (created_at, id) < (SELECT created_at, id FROM orders WHERE id = ?4 AND store_id = ?1)
             ORDER BY created_at DESC, id DESC LIMIT ?5"
        }
        (None, Some(_), None) => {
            "SELECT * FROM orders WHERE store_id = ?1 AND status = ?3
             ORDER BY created_at DESC, id DESC LIMIT ?5"
        }
        (None, Some(_), Some(_)) => {
            "SELECT * FROM orders WHERE store_id = ?1 AND status = ?3
                 AND (created_at, id) < (SELECT created_at, id FROM orders WHERE id = ?4 AND store_id = ?1)
             ORDER BY created_at DESC, id DESC LIMIT ?5"
        }
    };
    let found = sqlx::query(statement)
        .bind(store.as_str())
        .bind(filter.reference.as_ref().map(Reference::as_str))
        .bind(filter.status.map(<&str>::from))
        .bind(filter.after.as_ref().map(OrderId::as_str))
        .bind(filter.limit)
        .fetch_all(&mut *connection)
        .await?;
    let mut page = Vec::with_capacity(found.len());
    for row in &found {
        page.push(with_attempt(connection, rows::order(row)?).await?);
    }
    Ok(page)
}

pub(super) async fn cancel(
    tx: &mut SqliteConnection,
    id: &OrderId,
    now: Timestamp,
) -> Result<Snapshot, OrderOperationError> {
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
    sqlx::query("UPDATE orders SET cancelled_at = ? WHERE id = ?")
        .bind(millis(now))
        .bind(id.as_str())
        .execute(&mut *tx)
        .await
        .map_err(StorageError::from)?;
    set_status(tx, id, OrderStatus::Cancelled).await?;
    emit(tx, id, &[EventType::Cancelled], now).await?;
    end_attention(tx, id).await?;
    snapshot(tx, id)
        .await?
        .ok_or_else(|| OrderOperationError::NoOrder(id.clone()))
}

pub(super) async fn keep_receipt_email(
    tx: &mut SqliteConnection,
    id: &OrderId,
    email: Option<&str>,
    now: Timestamp,
) -> Result<Option<KeptEmail>, StorageError> {
    let Some(before) = snapshot(tx, id).await? else {
        return Ok(None);
    };
    if !before.order.takes_receipt_email(email) {
        let (snapshot, change) = (before, EmailChange::Refused);
        return Ok(Some(KeptEmail { snapshot, change }));
    }
    if before.order.receipt_email.as_deref() == email {
        let (snapshot, change) = (before, EmailChange::Unchanged);
        return Ok(Some(KeptEmail { snapshot, change }));
    }
    sqlx::query("UPDATE orders SET receipt_email = ?, version = version + 1 WHERE id = ?")
        .bind(email)
        .bind(id.as_str())
        .execute(&mut *tx)
        .await?;
    if before.order.status.is_settled() {
        emit(tx, id, &[EventType::EmailAdded], now).await?;
    }
    let snapshot = snapshot(tx, id).await?;
    let change = match before.order.receipt_email {
        None => EmailChange::First,
        Some(_) => EmailChange::Replaced,
    };
    Ok(snapshot.map(|snapshot| KeptEmail { snapshot, change }))
}

pub(super) async fn expire(
    tx: &mut SqliteConnection,
    now: Timestamp,
    limit: u32,
) -> Result<Vec<OrderId>, StorageError> {
    // Without the hint the index of all statuses is taken, and its rows are sorted.
    let over =
        "SELECT id FROM orders INDEXED BY orders_untried WHERE status = 'open' AND expires_at <= ?
         ORDER BY expires_at LIMIT ?";
    let over: Vec<String> = sqlx::query_scalar(over)
        .bind(millis(now))
        .bind(limit)
        .fetch_all(&mut *tx)
        .await?;
    let mut expired = Vec::with_capacity(over.len());
    for id in over {
        let id = rows::read("an order id", OrderId::parse(&id))?;
        set_status(tx, &id, OrderStatus::Expired).await?;
        emit(tx, &id, &[EventType::Expired], now).await?;
        expired.push(id);
    }
    Ok(expired)
}

/// Emits events about an order in its present state, and counts them in the order's row.
pub(super) async fn emit(
    tx: &mut SqliteConnection,
    order_id: &OrderId,
    events: &[EventType],
    now: Timestamp,
) -> Result<(), StorageError> {
    let missing = || StorageError::Corrupt(format!("no order {order_id} to emit events of"));
    let snapshot = snapshot(tx, order_id).await?.ok_or_else(missing)?;
    append(tx, &snapshot, snapshot.order.sequence + 1, events, now).await?;
    let count = u32::try_from(events.len()).expect("a handful of events");
    sqlx::query("UPDATE orders SET sequence = sequence + ?, version = version + 1 WHERE id = ?")
        .bind(count)
        .bind(order_id.as_str())
        .execute(tx)
        .await?;
    Ok(())
}

/// Requests attention for an order.
pub(super) async fn request_attention(
    tx: &mut SqliteConnection,
    id: &OrderId,
    now: Timestamp,
) -> Result<(), StorageError> {
    sqlx::query("UPDATE orders SET attention_since = ? WHERE id = ?")
        .bind(millis(now))
        .bind(id.as_str())
        .execute(tx)
        .await?;
    Ok(())
}

/// Calls no person any more to an order about which nothing is open.
pub(super) async fn end_attention(
    tx: &mut SqliteConnection,
    id: &OrderId,
) -> Result<(), StorageError> {
    let waits = "SELECT attention_since IS NOT NULL FROM orders WHERE id = ?";
    let waits: bool = sqlx::query_scalar(waits)
        .bind(id.as_str())
        .fetch_one(&mut *tx)
        .await?;
    if !waits || !aggregate(tx, id).await?.attention_causes().is_empty() {
        return Ok(());
    }
    sqlx::query("UPDATE orders SET attention_since = NULL WHERE id = ?")
        .bind(id.as_str())
        .execute(tx)
        .await?;
    Ok(())
}

/// Sets the status of an order. The caller emits the event, if any, in the same transaction.
pub(super) async fn set_status(
    tx: &mut SqliteConnection,
    id: &OrderId,
    status: OrderStatus,
) -> Result<(), StorageError> {
    sqlx::query("UPDATE orders SET status = ?, version = version + 1 WHERE id = ?")
        .bind(<&str>::from(status))
        .bind(id.as_str())
        .execute(tx)
        .await?;
    Ok(())
}
