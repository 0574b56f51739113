//! Events in the outbox: numbered per order without a gap, stored with their payload, and tried ahead of their schedule, so that
//! an endpoint that was away is noticed soon after it is back.
//!
//! A failed event waits for its retry. An acceptance by the endpoint makes all events that wait for it due, and money makes
//! those of its order due. Without either, every few seconds one waiting event with money is tried: the one that has waited longest
//! since its last try.

use florin_orders::{EventId, EventType, Order, OrderRecord, Snapshot, WebhookId};
use jiff::Timestamp;

use super::dialect::{self, Connection};
use crate::limits::{MONEY, OTHER, RESTART_BATCH};
use crate::rows::Time;
use crate::{Delivery, Endpoint, Result};

/// Appends events to the outbox, numbered from `first`. Their payload shows the order with the snapshot's attempt.
pub(super) async fn append(
    tx: &mut Connection,
    snapshot: &Snapshot,
    first: u32,
    events: &[EventType],
    now: Timestamp,
) -> Result<()> {
    if events.is_empty() {
        return Ok(());
    }
    let Order { id, terms, .. } = &snapshot.order;
    let record = OrderRecord::of(snapshot);
    for (event, sequence) in events.iter().zip(first..) {
        let name = event.name_for(terms.price_source);
        let payload = record.payload(&name, sequence, now);
        let position: i64 = sqlx::query_scalar(
            "INSERT INTO events (id, store_id, order_id, sequence, type, created_at, payload)
             VALUES ($1, $2, $3, $4, $5, $6, $7) RETURNING position",
        )
        .bind(EventId::of(id, sequence, &payload).as_str())
        .bind(terms.store_id.as_str())
        .bind(id.as_str())
        .bind(i64::from(sequence))
        .bind(&name)
        .bind(Time(now))
        .bind(payload)
        .fetch_one(&mut *tx)
        .await?;
        sqlx::query(
            "INSERT INTO outbox (order_id, sequence, webhook, position, store_id, state, next_at, planned_at, priority, is_head)
             SELECT $1, $2, hooks.webhook, $3, $4, CASE WHEN is_wanted THEN 'pending' ELSE 'unwanted' END, $5, $5, $6,
                 is_wanted AND NOT EXISTS (SELECT 1 FROM outbox AS earlier WHERE earlier.order_id = $1
                     AND earlier.webhook = hooks.webhook AND earlier.state = 'pending' AND NOT earlier.was_delivered)
             FROM (SELECT webhook, events IS NULL OR events LIKE '% ' || $7 || ' %' AS is_wanted
                   FROM webhooks WHERE store_id = $4 AND is_configured
                   UNION ALL SELECT 'default', true
                   WHERE NOT EXISTS (SELECT 1 FROM webhooks WHERE store_id = $4 AND is_configured)) AS hooks",
        )
        .bind(id.as_str())
        .bind(i64::from(sequence))
        .bind(position)
        .bind(terms.store_id.as_str())
        .bind(Time(now))
        .bind(OTHER)
        .bind(&name)
        .execute(&mut *tx)
        .await?;
    }
    if events.iter().any(|event| event.is_about_money()) {
        // The events of an order are delivered in their order, so that earlier ones go first as well.
        sqlx::query("UPDATE outbox SET priority = $1 WHERE order_id = $2 AND state = 'pending'")
            .bind(MONEY)
            .bind(id.as_str())
            .execute(&mut *tx)
            .await?;
        sqlx::query(
            "UPDATE outbox SET next_at = $1, planned_at = $1, early_from = NULL
             WHERE order_id = $2 AND state = 'pending' AND early_from <= $1",
        )
        .bind(Time(now))
        .bind(id.as_str())
        .execute(&mut *tx)
        .await?;
    }
    Ok(())
}

/// Locks the deliveries to a webhook. Returns when its endpoint last accepted an event while others waited, and from when waiting
/// money may be tried early.
pub(super) async fn lock_endpoint(
    tx: &mut Connection,
    endpoint: &Endpoint,
) -> Result<(Option<Time>, Option<Time>)> {
    let times = sqlx::query_as(
        "INSERT INTO webhooks (store_id, webhook) VALUES ($1, $2)
         ON CONFLICT (store_id, webhook) DO UPDATE SET store_id = excluded.store_id RETURNING accepted_at, probe_at",
    )
    .bind(endpoint.store.as_str())
    .bind(endpoint.webhook.as_str())
    .fetch_one(tx)
    .await?;
    Ok(times)
}

/// Makes up to `limit` events due that may be tried early from before `early_before`, the longest waiting first. Returns `true`
/// if there was one. `accepts`: the endpoint accepts other events. One that it rejects meanwhile counts each early try.
pub(super) async fn make_due(
    tx: &mut Connection,
    endpoint: &Endpoint,
    priority: i64,
    early_before: Time,
    accepts: bool,
    limit: i64,
    now: Timestamp,
) -> Result<bool> {
    let made_due = sqlx::query(dialect::MAKE_DUE_EARLY)
        .bind(Time(now))
        .bind(accepts)
        .bind(endpoint.store.as_str())
        .bind(priority)
        .bind(early_before)
        .bind(limit)
        .bind(endpoint.webhook.as_str())
        .execute(tx)
        .await?;
    Ok(made_due.rows_affected() > 0)
}

/// Keeps waiting events with money from being tried early until a time.
pub(super) async fn postpone_probe(
    tx: &mut Connection,
    store: &str,
    webhook: &WebhookId,
    until: Timestamp,
) -> Result<()> {
    sqlx::query(
        "UPDATE webhooks SET probe_at = CASE WHEN probe_at > $2 THEN probe_at ELSE $2 END
         WHERE store_id = $1 AND webhook = $3",
    )
    .bind(store)
    .bind(Time(until))
    .bind(webhook.as_str())
    .execute(tx)
    .await?;
    Ok(())
}

/// Notes for the events that wait for a webhook that its endpoint accepts. Without waiting events it writes nothing: all deliveries
/// to it would wait for its row.
pub(super) async fn note_as_accepting(
    tx: &mut Connection,
    delivery: &Delivery,
    order: &str,
    sequence: i64,
) -> Result<()> {
    sqlx::query(
        "UPDATE webhooks AS mine SET accepted_at = $1 FROM outbox AS accepted
         WHERE accepted.order_id = $2 AND accepted.sequence = $3 AND accepted.webhook = $4
             AND mine.store_id = accepted.store_id AND mine.webhook = $4 AND EXISTS (
                 SELECT 1 FROM outbox AS waiting WHERE waiting.is_head AND waiting.early_from IS NOT NULL
                     AND waiting.store_id = accepted.store_id AND waiting.webhook = $4)",
    )
    .bind(Time(delivery.ended_at()))
    .bind(order)
    .bind(sequence)
    .bind(delivery.webhook.as_str())
    .execute(tx)
    .await?;
    Ok(())
}

/// Marks which events of an order may be delivered to each webhook: those with no earlier pending event that it has not accepted
/// yet. The others wait for it. Run after each change of a state, with the order locked.
pub(super) async fn mark_heads(tx: &mut Connection, order: &str) -> Result<()> {
    sqlx::query(
        "UPDATE outbox SET is_head = may_go FROM (
             SELECT mine.sequence AS head, mine.webhook AS hook, mine.state = 'pending' AND NOT EXISTS (
                 SELECT 1 FROM outbox AS earlier WHERE earlier.order_id = mine.order_id AND earlier.state = 'pending'
                     AND earlier.webhook = mine.webhook AND NOT earlier.was_delivered
                     AND earlier.sequence < mine.sequence) AS may_go
             FROM outbox AS mine WHERE mine.order_id = $1) AS heads
         WHERE order_id = $1 AND sequence = head AND webhook = hook AND is_head <> may_go",
    )
    .bind(order)
    .execute(tx)
    .await?;
    Ok(())
}

pub(super) async fn is_disabled(tx: &mut Connection, endpoint: &Endpoint) -> Result<bool> {
    let disabled =
        "SELECT EXISTS (SELECT 1 FROM disabled_endpoints WHERE store_id = $1 AND webhook = $2)";
    let disabled = sqlx::query_scalar(disabled)
        .bind(endpoint.store.as_str())
        .bind(endpoint.webhook.as_str());
    Ok(disabled.fetch_one(tx).await?)
}

/// Gives a batch of the pending events behind the position `after` all their retries, from now on. Returns the position of the
/// last; `None` if none was left, and the endpoint is enabled.
pub(super) async fn restart(
    tx: &mut Connection,
    endpoint: &Endpoint,
    after: i64,
    now: Timestamp,
) -> Result<Option<i64>> {
    let last: Option<i64> = sqlx::query_scalar(
        "SELECT max(position) FROM (SELECT position FROM outbox
             WHERE state = 'pending' AND store_id = $1 AND webhook = $4 AND position > $2
             ORDER BY position LIMIT $3) AS batch",
    )
    .bind(endpoint.store.as_str())
    .bind(after)
    .bind(i64::from(RESTART_BATCH))
    .bind(endpoint.webhook.as_str())
    .fetch_one(&mut *tx)
    .await?;
    if let Some(last) = last {
        dialect::restart_events(tx, endpoint, (after, last), now).await?;
        return Ok(Some(last));
    }
    sqlx::query("DELETE FROM disabled_endpoints WHERE store_id = $1 AND webhook = $2")
        .bind(endpoint.store.as_str())
        .bind(endpoint.webhook.as_str())
        .execute(tx)
        .await?;
    Ok(None)
}
