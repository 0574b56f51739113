//! The outbox: pending events and their deliveries.

use florin_orders::{DeliveryId, EndpointHash, EventId, StoreId};
use jiff::Timestamp;
use sqlx::SqliteConnection;

use super::early_tries;
use super::rows::millis;
use crate::limits::{AT_THIS_MOMENT, MONEY, OTHER, PROBE_INTERVAL, RESERVED_FOR_MONEY};
use crate::rows;
use crate::{
    Delivery, DeliveryFilter, DeliveryOutcome, DueDelivery, EndpointStatus, RecordedDelivery,
    StorageError,
};

pub(super) async fn due(
    tx: &mut SqliteConnection,
    store: &StoreId,
    now: Timestamp,
    lease_until: Timestamp,
    limit: u32,
) -> Result<Vec<DueDelivery>, StorageError> {
    if is_gone(tx, store).await? {
        return Ok(Vec::new());
    }
    let (accepted_at, probe_at) = early_tries::endpoint_times(tx, store).await?;
    let mut leased: Vec<i64> = Vec::new();
    // One statement for each priority: an index finds the due events of one, not of both.
    for (priority, most) in [
        (MONEY, limit),
        (OTHER, limit.saturating_sub(RESERVED_FOR_MONEY)),
    ] {
        let left = most.saturating_sub(u32::try_from(leased.len()).unwrap_or(u32::MAX));
        if left == 0 {
            continue;
        }
        if let Some(accepted_at) = accepted_at {
            early_tries::make_due(tx, store, priority, accepted_at, true, left, now).await?;
        }
        if priority == MONEY
            && probe_at.is_none_or(|at| at <= millis(now))
            && early_tries::make_due(tx, store, priority, millis(now), false, 1, now).await?
        {
            early_tries::postpone_probe(tx, store.as_str(), now + PROBE_INTERVAL).await?;
        }
        let of_priority: Vec<i64> = sqlx::query_scalar(
            "UPDATE outbox SET next_at = ?2, planned_at = ?1, early_from = NULL WHERE position IN (
                 SELECT position FROM outbox WHERE is_head AND store_id = ?4 AND priority = ?5 AND next_at <= ?1
                 ORDER BY next_at, position LIMIT ?3)
             RETURNING position",
        )
        .bind(millis(now))
        .bind(millis(lease_until))
        .bind(left)
        .bind(store.as_str())
        .bind(priority)
        .fetch_all(&mut *tx)
        .await?;
        leased.extend(of_priority);
    }
    let mut due = Vec::with_capacity(leased.len());
    for position in leased {
        let row = sqlx::query(
            "SELECT events.*, outbox.tries, outbox.wakes, outbox.retry_at, traceparent FROM events JOIN outbox USING (position)
                 JOIN orders ON orders.id = events.order_id WHERE position = ?",
        )
        .bind(position)
        .fetch_one(&mut *tx)
        .await?;
        due.push(rows::due_delivery(&row, now)?);
    }
    Ok(due)
}

/// Returns `true` if an event of an order with money may be due: without a transaction.
pub(super) async fn is_money_due(
    connection: &mut SqliteConnection,
    store: &StoreId,
    now: Timestamp,
) -> Result<bool, StorageError> {
    let waits = "SELECT EXISTS (SELECT 1 FROM outbox WHERE is_head AND store_id = ?1 AND priority = ?2 AND next_at <= ?3)
         OR EXISTS (SELECT 1 FROM outbox WHERE is_head AND early_from IS NOT NULL AND store_id = ?1 AND priority = ?2
             AND early_from < (SELECT accepted_at FROM store_deliveries WHERE store_id = ?1))
         OR EXISTS (SELECT 1 FROM outbox WHERE is_head AND early_from IS NOT NULL AND store_id = ?1 AND priority = ?2
             AND early_from < ?3) AND NOT EXISTS (SELECT 1 FROM store_deliveries WHERE store_id = ?1 AND probe_at > ?3)";
    let waits = sqlx::query_scalar(waits)
        .bind(store.as_str())
        .bind(MONEY)
        .bind(millis(now));
    Ok(waits.fetch_one(connection).await?)
}

/// See [`crate::Storage::replan_future`].
pub(super) async fn replan_future(
    tx: &mut SqliteConnection,
    now: Timestamp,
) -> Result<u64, StorageError> {
    let replanned = sqlx::query(
        "UPDATE outbox SET next_at = ?1, planned_at = ?1, retry_at = NULL, early_from = NULL
         WHERE state = 'pending' AND planned_at > ?2",
    )
    .bind(millis(now))
    .bind(millis(now + AT_THIS_MOMENT))
    .execute(&mut *tx)
    .await?;
    sqlx::query("UPDATE store_deliveries SET accepted_at = NULL, probe_at = NULL")
        .execute(tx)
        .await?;
    Ok(replanned.rows_affected())
}

pub(super) async fn record(
    tx: &mut SqliteConnection,
    delivery: &Delivery,
    outcome: DeliveryOutcome,
) -> Result<(), StorageError> {
    let (state, retry) = outcome.state_and_retry();
    if let Some(retry) = retry {
        let store: String = sqlx::query_scalar("SELECT store_id FROM events WHERE id = ?")
            .bind(delivery.event_id.as_str())
            .fetch_one(&mut *tx)
            .await?;
        early_tries::postpone_probe(tx, &store, retry.probe_at).await?;
    }
    if outcome == DeliveryOutcome::Delivered {
        early_tries::note_as_accepting(tx, delivery).await?;
    }
    let is_counted = retry.is_none_or(|retry| retry.is_counted);
    if is_counted {
        note(tx, delivery).await?;
    }
    if let DeliveryOutcome::Gone(endpoint) = outcome {
        note_as_gone(tx, delivery, endpoint).await?;
    }
    // A delivery that outlives its lease may end after another one: a delivered event stays
    // delivered.
    sqlx::query(
        "UPDATE outbox SET state = ?1, tries = tries + ?6, next_at = coalesce(?2, next_at), planned_at = ?4,
             retry_at = coalesce(?2, retry_at), early_from = ?5
         WHERE position = (SELECT position FROM events WHERE id = ?3) AND (state = 'pending' OR ?1 = 'delivered')",
    )
    .bind(state)
    .bind(retry.map(|retry| millis(retry.at)))
    .bind(delivery.event_id.as_str())
    .bind(millis(delivery.ended_at()))
    .bind(retry.map(|retry| millis(retry.early_from)))
    .bind(is_counted)
    .execute(&mut *tx)
    .await?;
    mark_heads(tx, &delivery.event_id).await
}

/// Appends to the list of deliveries.
async fn note(tx: &mut SqliteConnection, delivery: &Delivery) -> Result<(), StorageError> {
    sqlx::query(
        "INSERT INTO deliveries (event_id, store_id, number, tried_at, took_ms, http_status, note)
         SELECT ?1, (SELECT store_id FROM events WHERE id = ?1), count(*) + 1, ?2, ?3, ?4, ?5
         FROM deliveries WHERE event_id = ?1",
    )
    .bind(delivery.event_id.as_str())
    .bind(millis(delivery.tried_at))
    .bind(i64::try_from(delivery.took.as_millis()).unwrap_or(i64::MAX))
    .bind(delivery.http_status)
    .bind(&delivery.note)
    .execute(tx)
    .await?;
    Ok(())
}

/// Marks which events of an event's order may be delivered: those with no earlier pending event that the store has not
/// accepted yet. The others wait for it. Run after each change of a state.
async fn mark_heads(tx: &mut SqliteConnection, event: &EventId) -> Result<(), StorageError> {
    sqlx::query(
        "UPDATE outbox SET is_head = may_go FROM (
             SELECT mine.position AS head, mine.state = 'pending' AND NOT EXISTS (
                 SELECT 1 FROM outbox AS earlier WHERE earlier.order_id = mine.order_id AND earlier.state = 'pending'
                     AND NOT earlier.was_taken AND earlier.position < mine.position) AS may_go
             FROM outbox AS mine WHERE mine.order_id = (SELECT order_id FROM events WHERE id = ?))
         WHERE position = head AND is_head <> may_go",
    )
    .bind(event.as_str())
    .execute(tx)
    .await?;
    Ok(())
}

async fn note_as_gone(
    tx: &mut SqliteConnection,
    delivery: &Delivery,
    EndpointHash(endpoint): EndpointHash,
) -> Result<(), StorageError> {
    // Concurrent deliveries may all receive a 410: the first one counts.
    sqlx::query(
        "INSERT INTO gone_endpoints (store_id, endpoint, event_id, since)
         SELECT store_id, ?2, id, ?3 FROM events WHERE id = ?1 ON CONFLICT DO NOTHING",
    )
    .bind(delivery.event_id.as_str())
    .bind(endpoint.as_slice())
    .bind(millis(delivery.tried_at))
    .execute(tx)
    .await?;
    Ok(())
}

pub(super) async fn page(
    connection: &mut SqliteConnection,
    store: &StoreId,
    filter: &DeliveryFilter,
) -> Result<Option<Vec<RecordedDelivery>>, StorageError> {
    if let Some(event) = &filter.event
        && !belongs_to(connection, store, event).await?
    {
        return Ok(None);
    }
    let before = match &filter.after {
        None => i64::MAX,
        Some(after) => match position(connection, store, after).await? {
            Some(position) => position,
            None => return Ok(None),
        },
    };
    let statement = if filter.event.is_some() {
        // The signs + keep the store's index out: an event has a few deliveries, a store any number.
        "SELECT deliveries.*, events.type FROM deliveries JOIN events ON events.id = event_id
         WHERE deliveries.event_id = ?3 AND +deliveries.store_id = ?1 AND +deliveries.id < ?2
         ORDER BY number DESC LIMIT ?4"
    } else {
        "SELECT deliveries.*, events.type FROM deliveries JOIN events ON events.id = event_id
         WHERE deliveries.store_id = ?1 AND deliveries.id < ?2
         ORDER BY deliveries.id DESC LIMIT ?4"
    };
    let tries = sqlx::query(statement)
        .bind(store.as_str())
        .bind(before)
        .bind(filter.event.as_ref().map(EventId::as_str))
        .bind(filter.limit)
        .fetch_all(connection)
        .await?;
    tries
        .iter()
        .map(rows::delivery)
        .collect::<Result<_, _>>()
        .map(Some)
}

/// The latest deliveries of an event, the latest first.
pub(super) async fn of_event(
    connection: &mut SqliteConnection,
    event: &EventId,
    limit: u32,
) -> Result<Vec<RecordedDelivery>, StorageError> {
    let found = sqlx::query(
        "SELECT deliveries.*, events.type FROM deliveries JOIN events ON events.id = event_id
         WHERE event_id = ? ORDER BY number DESC LIMIT ?",
    )
    .bind(event.as_str())
    .bind(limit)
    .fetch_all(connection)
    .await?;
    found.iter().map(rows::delivery).collect()
}

async fn position(
    connection: &mut SqliteConnection,
    store: &StoreId,
    delivery: &DeliveryId,
) -> Result<Option<i64>, StorageError> {
    let (event, number) = delivery.parts();
    let known = "SELECT id FROM deliveries WHERE event_id = ? AND number = CAST(? AS INTEGER) AND store_id = ?";
    let known = sqlx::query_scalar(known)
        .bind(event)
        .bind(number)
        .bind(store.as_str());
    Ok(known.fetch_optional(connection).await?)
}

pub(super) async fn again(
    tx: &mut SqliteConnection,
    store: &StoreId,
    event: &EventId,
    now: Timestamp,
) -> Result<bool, StorageError> {
    if !belongs_to(tx, store, event).await? {
        return Ok(false);
    }
    sqlx::query(
        "UPDATE outbox SET was_taken = was_taken OR state = 'delivered', state = 'pending', tries = 0, wakes = 0,
             next_at = ?1, planned_at = ?1, retry_at = NULL, early_from = NULL
         WHERE position = (SELECT position FROM events WHERE id = ?2)",
    )
    .bind(millis(now))
    .bind(event.as_str())
    .execute(&mut *tx)
    .await?;
    mark_heads(tx, event).await?;
    Ok(true)
}

async fn belongs_to(
    connection: &mut SqliteConnection,
    store: &StoreId,
    event: &EventId,
) -> Result<bool, StorageError> {
    let known = "SELECT EXISTS (SELECT 1 FROM events WHERE id = ? AND store_id = ?)";
    let known = sqlx::query_scalar(known)
        .bind(event.as_str())
        .bind(store.as_str());
    Ok(known.fetch_one(connection).await?)
}

pub(super) async fn backlog(connection: &mut SqliteConnection) -> Result<u64, StorageError> {
    // One row for each store.
    let waiting = "SELECT coalesce(sum(events), 0) FROM waiting_events";
    let waiting: i64 = sqlx::query_scalar(waiting).fetch_one(connection).await?;
    rows::read("a count", u64::try_from(waiting))
}

pub(super) async fn endpoint_status(
    connection: &mut SqliteConnection,
    store: &StoreId,
) -> Result<EndpointStatus, StorageError> {
    let waiting = "SELECT events FROM waiting_events WHERE store_id = ?";
    let waiting: Option<i64> = sqlx::query_scalar(waiting)
        .bind(store.as_str())
        .fetch_optional(&mut *connection)
        .await?;
    let gone = sqlx::query("SELECT endpoint, since FROM gone_endpoints WHERE store_id = ?")
        .bind(store.as_str())
        .fetch_optional(connection)
        .await?;
    Ok(EndpointStatus {
        waiting: rows::read("a count", u64::try_from(waiting.unwrap_or(0)))?,
        gone: gone.as_ref().map(rows::disabled_endpoint).transpose()?,
    })
}

/// Returns `true` if the store's endpoint is disabled.
pub(super) async fn is_gone(
    tx: &mut SqliteConnection,
    store: &StoreId,
) -> Result<bool, StorageError> {
    let gone = "SELECT EXISTS (SELECT 1 FROM gone_endpoints WHERE store_id = ?)";
    let gone = sqlx::query_scalar(gone).bind(store.as_str());
    Ok(gone.fetch_one(tx).await?)
}

/// Gives up to `limit` pending events behind the position `after` all their retries, from now on. Returns the position
/// of the last; `None` if none is left.
pub(super) async fn restart(
    tx: &mut SqliteConnection,
    store: &StoreId,
    after: i64,
    now: Timestamp,
    limit: u32,
) -> Result<Option<i64>, StorageError> {
    let last: Option<i64> = sqlx::query_scalar(
        "SELECT max(position) FROM (SELECT position FROM outbox
             WHERE state = 'pending' AND store_id = ? AND position > ? ORDER BY position LIMIT ?)",
    )
    .bind(store.as_str())
    .bind(after)
    .bind(limit)
    .fetch_one(&mut *tx)
    .await?;
    if let Some(last) = last {
        sqlx::query(
            "UPDATE outbox SET tries = 0, wakes = 0, next_at = ?1, planned_at = ?1, retry_at = NULL, early_from = NULL
             WHERE state = 'pending' AND store_id = ?2 AND position > ?3 AND position <= ?4",
        )
        .bind(millis(now))
        .bind(store.as_str())
        .bind(after)
        .bind(last)
        .execute(tx)
        .await?;
    }
    Ok(last)
}

pub(super) async fn enable(tx: &mut SqliteConnection, store: &StoreId) -> Result<(), StorageError> {
    sqlx::query("DELETE FROM gone_endpoints WHERE store_id = ?")
        .bind(store.as_str())
        .execute(tx)
        .await?;
    Ok(())
}
