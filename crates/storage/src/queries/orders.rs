//! Orders: one per reference, accessed by token, listed by store.

use async_trait::async_trait;
use florin_orders::{
    Aggregate, Attempt, AttemptId, EventType, NewOrder, Order, OrderId, OrderStatus, Refund,
    Snapshot, StoreId, TokenHash,
};
use jiff::Timestamp;

use super::dialect::{self, Connection, Row, Store, Transaction};
use super::outbox::append;
use crate::limits::BATCH;
use crate::rows::{self, Record as _, Time, without_nul};
use crate::{
    EmailChange, KeptEmail, OpenError, Opened, OrderFilter, OrderOperationError, Result, Storage,
    StorageError,
};

#[async_trait]
impl Storage for Store {
    /// The reference decides: of two processes that open it, one inserts and the other finds it.
    async fn open_order(
        &self,
        id: &OrderId,
        terms: &NewOrder,
        token: TokenHash,
        token_expires_at: Timestamp,
        now: Timestamp,
    ) -> Result<Opened, OpenError> {
        transaction!(self, Repeat, [id, terms], |tx| async {
            let opened = open(tx, &id, &terms, now).await?;
            add_token(tx, &opened.order.id, token, token_expires_at).await?;
            Ok(opened)
        })
    }

    async fn snapshot(&self, id: &OrderId) -> Result<Option<Snapshot>> {
        read!(self, |reader| snapshot(reader, id))
    }

    async fn orders(&self, store: &StoreId, filter: &OrderFilter) -> Result<Vec<Snapshot>> {
        read!(self, |reader| async {
            let found = if let Some(reference) = &filter.reference {
                let found = "SELECT * FROM orders WHERE store_id = $1 AND reference = $2
                         AND (CAST($3 AS text) IS NULL OR status = $3)
                         AND (CAST($4 AS text) IS NULL OR (created_at, id) <
                             (SELECT created_at, id FROM orders WHERE id = $4 AND store_id = $1))
                     LIMIT $5";
                let found = sqlx::query(found)
                    .bind(store.as_str())
                    .bind(reference.as_str())
                    .bind(filter.status.map(<&str>::from))
                    .bind(filter.after.as_ref().map(OrderId::as_str))
                    .bind(i64::from(filter.limit));
                found.fetch_all(&mut *reader).await?
            } else {
                let (status, after) = (filter.status, filter.after.as_ref());
                page(reader, Some(store), status, after, filter.limit).await?
            };
            let mut page = Vec::with_capacity(found.len());
            for row in &found {
                page.push(with_attempt(reader, row).await?);
            }
            Ok(page)
        })
    }

    async fn cancel_order(
        &self,
        id: &OrderId,
        now: Timestamp,
    ) -> Result<Snapshot, OrderOperationError> {
        transaction!(self, Repeat, [id], |tx| async {
            let Some(mut known) = locked(tx, &id).await? else {
                return Err(OrderOperationError::NoOrder(id.clone()));
            };
            let (from, is_paid) = (known.order.status, known.order.status.is_settled());
            let is_closed = known.order.decision.is_some() && !is_paid;
            if known.order.cancelled_at.is_some() || is_closed {
                return Ok(known.snapshot());
            }
            if is_paid || known.order.has_money {
                let event = "cancellation";
                return Err(OrderOperationError::Closed { from, event });
            }
            let cancel = sqlx::query("UPDATE orders SET cancelled_at = $1 WHERE id = $2")
                .bind(Time(now))
                .bind(id.as_str());
            cancel
                .execute(&mut **tx)
                .await
                .map_err(StorageError::from)?;
            known.order.cancelled_at = Some(now);
            known.order.status = OrderStatus::Cancelled;
            Ok(save_change(tx, known, &[EventType::Cancelled], now).await?)
        })
    }

    async fn expire_orders(&self, now: Timestamp) -> Result<Vec<OrderId>> {
        transaction!(self, Fail, [], |tx| async {
            let due: Vec<String> = sqlx::query_scalar(dialect::EXPIRED_ORDERS)
                .bind(Time(now))
                .bind(i64::from(BATCH))
                .fetch_all(&mut **tx)
                .await?;
            let mut expired = Vec::with_capacity(due.len());
            for id in due {
                let id = rows::read("an order id", OrderId::parse(&id))?;
                if let Some(mut order) = locked(tx, &id).await? {
                    order.order.status = OrderStatus::Expired;
                    save_change(tx, order, &[EventType::Expired], now).await?;
                }
                expired.push(id);
            }
            Ok(expired)
        })
    }

    async fn keep_receipt_email(
        &self,
        order: &OrderId,
        email: Option<&str>,
        now: Timestamp,
    ) -> Result<Option<KeptEmail>> {
        let email = email.map(|email| without_nul(email).into_owned());
        transaction!(self, Repeat, [order, email], |tx| async {
            let Some(mut known) = locked(tx, &order).await? else {
                return Ok(None);
            };
            if !known.order.takes_receipt_email(email.as_deref()) {
                let (snapshot, change) = (known.snapshot(), EmailChange::Refused);
                return Ok(Some(KeptEmail { snapshot, change }));
            }
            let before = known.order.receipt_email.clone();
            let is_stored = before.as_deref() == email.as_deref();
            if is_stored && !tx.is_repeat() {
                let (snapshot, change) = (known.snapshot(), EmailChange::Unchanged);
                return Ok(Some(KeptEmail { snapshot, change }));
            }
            known.order.receipt_email.clone_from(&email);
            let is_news = known.order.status.is_settled() && before.is_none();
            let events: &[EventType] = if is_news {
                &[EventType::EmailAdded]
            } else {
                &[]
            };
            let snapshot = save_change(tx, known, events, now).await?;
            // A repetition finds what the try before has stored.
            let change = if before.is_none() || tx.is_repeat() && is_stored {
                EmailChange::First
            } else {
                EmailChange::Replaced
            };
            Ok(Some(KeptEmail { snapshot, change }))
        })
    }

    async fn keep_refund_address(
        &self,
        order: &OrderId,
        address: &str,
        now: Timestamp,
    ) -> Result<Option<Snapshot>> {
        let address = without_nul(address).into_owned();
        transaction!(self, Repeat, [order, address], |tx| async {
            let known = locked(tx, &order).await?;
            let known = known.filter(|known| known.takes_refund_address(&address));
            let Some(mut known) = known else {
                return Ok(None);
            };
            if known.order.refund_address.as_deref() == Some(&address) {
                return Ok(Some(known.snapshot()));
            }
            known.order.refund_address = Some(address.clone());
            let events = [EventType::RefundAddressAdded];
            Ok(Some(save_change(tx, known, &events, now).await?))
        })
    }
}

pub(super) async fn add_token(
    tx: &mut Connection,
    id: &OrderId,
    token: TokenHash,
    expires_at: Timestamp,
) -> Result<()> {
    sqlx::query("INSERT INTO client_tokens (hash, order_id, expires_at) VALUES ($1, $2, $3) ON CONFLICT (hash) DO NOTHING")
        .bind(token.0.as_slice())
        .bind(id.as_str())
        .bind(Time(expires_at))
        .execute(tx)
        .await?;
    Ok(())
}

async fn open(
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
        Some(row) => Ok(Some(with_attempt(connection, &row).await?)),
        None => Ok(None),
    }
}

async fn with_attempt(connection: &mut Connection, row: &Row) -> Result<Snapshot> {
    let mut order = rows::order(row)?;
    order.refunds = refunds(connection, row).await?;
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

/// The refunds of an order. Without one, nothing is read.
async fn refunds(connection: &mut Connection, order: &Row) -> Result<Vec<Refund>> {
    if order.maybe_time("refunded_at")?.is_none() {
        return Ok(Vec::new());
    }
    let found = sqlx::query("SELECT * FROM refunds WHERE order_id = $1 ORDER BY refunded_at, id")
        .bind(order.text("id")?)
        .fetch_all(connection)
        .await?;
    found.iter().map(rows::refund).collect()
}

/// Locks an order until the transaction ends: the first statement of every transaction that writes it. Returns `false` for
/// an unknown order.
pub(super) async fn lock(tx: &mut Connection, id: &OrderId) -> Result<bool> {
    let locked: Option<bool> = sqlx::query_scalar(dialect::LOCK_ORDER)
        .bind(id.as_str())
        .fetch_optional(tx)
        .await?;
    Ok(locked.is_some())
}

/// An order with its attempts, locked until the transaction ends; `None` for an unknown order.
pub(super) async fn locked(tx: &mut Connection, id: &OrderId) -> Result<Option<Aggregate>> {
    with_attempts(tx, id, dialect::LOCKED_ORDER).await
}

pub(super) async fn aggregate(
    connection: &mut Connection,
    id: &OrderId,
) -> Result<Option<Aggregate>> {
    with_attempts(connection, id, "SELECT * FROM orders WHERE id = $1").await
}

async fn with_attempts(
    connection: &mut Connection,
    id: &OrderId,
    statement: &'static str,
) -> Result<Option<Aggregate>> {
    let order = sqlx::query(statement).bind(id.as_str());
    let Some(order) = order.fetch_optional(&mut *connection).await? else {
        return Ok(None);
    };
    let attempts = sqlx::query(
        "SELECT attempts.*, polls.next_poll_at FROM attempts LEFT JOIN polls ON polls.attempt_id = attempts.id
         WHERE attempts.order_id = $1",
    )
    .bind(id.as_str())
    .fetch_all(&mut *connection)
    .await?;
    let mut aggregate = rows::aggregate(&order, &attempts)?;
    aggregate.order.refunds = refunds(connection, &order).await?;
    Ok(Some(aggregate))
}

/// Saves a locked order that changed, and its events; returns the order afterwards. No person is called any more to an
/// order about which nothing is open.
pub(super) async fn save_change(
    tx: &mut Connection,
    mut after: Aggregate,
    events: &[EventType],
    now: Timestamp,
) -> Result<Snapshot> {
    let first = after.order.sequence + 1;
    after.order.sequence += u32::try_from(events.len()).expect("a handful of events");
    after.order.version += 1;
    if after.attention_causes().is_empty() {
        after.attention_since = None;
    }
    save(tx, &after).await?;
    let snapshot = after.snapshot();
    append(tx, &snapshot, first, events, now).await?;
    Ok(snapshot)
}

/// Saves an order after a transition: one statement for all that changed.
pub(super) async fn save(tx: &mut Connection, after: &Aggregate) -> Result<()> {
    let order = &after.order;
    let reverted = order.reverted;
    let version = i64::try_from(order.version).expect("a version counts changes");
    sqlx::query(
        "UPDATE orders SET status = $1, current_attempt = $2, settled_at = $3, reverted_at = $4, reverted_to = $5,
             has_money = $6, late_payment = $7, late_event_at = $8, sequence = $9, version = $10,
             decision = $11, decided_at = $12, attention_since = $13, receipt_email = $14,
             late_crypto_code = $15, refund_address = $16, refunded_at = $17
         WHERE id = $18",
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
    .bind(order.receipt_email.as_deref())
    .bind(order.late_crypto_code.as_ref().map(florin_money::CryptoCode::as_str))
    .bind(order.refund_address.as_deref())
    .bind(order.refunds.last().map(|latest| Time(latest.at)))
    .bind(order.id.as_str())
    .execute(tx)
    .await?;
    Ok(())
}

/// A page of orders, newest first. A statement for each combination: a condition like "$2 IS NULL OR status = $2" hides the
/// index. Each takes all parameters and uses some.
pub(super) async fn page(
    connection: &mut Connection,
    store: Option<&StoreId>,
    status: Option<OrderStatus>,
    after: Option<&OrderId>,
    limit: u32,
) -> Result<Vec<Row>> {
    let statement = match (store, status, after) {
        (None, None, None) => "SELECT * FROM orders ORDER BY created_at DESC, id DESC LIMIT $4",
        (None, None, Some(_)) => {
            "SELECT * FROM orders WHERE (created_at, id) < (SELECT created_at, id FROM orders WHERE id = $3)
             ORDER BY created_at DESC, id DESC LIMIT $4"
        }
        (None, Some(_), None) => {
            "SELECT * FROM orders WHERE status = $2 ORDER BY created_at DESC, id DESC LIMIT $4"
        }
        (None, Some(_), Some(_)) => {
            "SELECT * FROM orders WHERE status = $2
                 AND (created_at, id) < (SELECT created_at, id FROM orders WHERE id = $3)
             ORDER BY created_at DESC, id DESC LIMIT $4"
        }
        (Some(_), None, None) => {
            "SELECT * FROM orders WHERE store_id = $1 ORDER BY created_at DESC, id DESC LIMIT $4"
        }
        (Some(_), None, Some(_)) => {
            "SELECT * FROM orders WHERE store_id = $1
                 AND (created_at, id) < (SELECT created_at, id FROM orders WHERE id = $3 AND store_id = $1)
             ORDER BY created_at DESC, id DESC LIMIT $4"
        }
        (Some(_), Some(_), None) => {
            "SELECT * FROM orders WHERE store_id = $1 AND status = $2
             ORDER BY created_at DESC, id DESC LIMIT $4"
        }
        (Some(_), Some(_), Some(_)) => {
            "SELECT * FROM orders WHERE store_id = $1 AND status = $2
                 AND (created_at, id) < (SELECT created_at, id FROM orders WHERE id = $3 AND store_id = $1)
             ORDER BY created_at DESC, id DESC LIMIT $4"
        }
    };
    let found = sqlx::query(statement)
        .bind(store.map(StoreId::as_str))
        .bind(status.map(<&str>::from))
        .bind(after.map(OrderId::as_str))
        .bind(i64::from(limit));
    Ok(found.fetch_all(connection).await?)
}

pub(super) async fn attempt(connection: &mut Connection, id: &AttemptId) -> Result<Attempt> {
    let row = sqlx::query(
        "SELECT attempts.*, polls.next_poll_at FROM attempts LEFT JOIN polls ON polls.attempt_id = attempts.id
         WHERE attempts.id = $1",
    )
    .bind(id.as_str())
    .fetch_one(connection)
    .await?;
    rows::attempt(&row)
}
