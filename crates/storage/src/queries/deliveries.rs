//! The outbox: pending events and their deliveries.

use async_trait::async_trait;
use florin_orders::{DeliveryId, EndpointHash, Event, EventId, StoreId, WebhookId};
use jiff::Timestamp;

use super::dialect::{self, Connection, Store, Transaction};
use super::outbox;
use crate::limits::{
    Lease, MAX_DELIVERIES_PER_WEBHOOK, MONEY, OTHER, PROBE_INTERVAL, RESERVED_FOR_MONEY,
    milliseconds,
};
use crate::rows::{self, Time, without_nul};
use crate::{
    Delivery, DeliveryFilter, DeliveryOutcome, DeliveryStorage, DueDelivery, Endpoint,
    EndpointStatus, RecordedDelivery, Result, StorageError,
};

#[async_trait]
impl DeliveryStorage for Store {
    async fn events(
        &self,
        store: &StoreId,
        after: Option<&EventId>,
        limit: u32,
    ) -> Result<Option<Vec<Event>>> {
        let page = read!(self, |reader| dialect::event_page(
            reader, store, after, limit
        ))?;
        page.map(|found| found.iter().map(rows::event).collect())
            .transpose()
    }

    async fn set_webhooks(
        &self,
        store: &StoreId,
        webhooks: Vec<(WebhookId, Option<Vec<String>>)>,
    ) -> Result<Vec<Endpoint>> {
        transaction!(self, Repeat, [store, webhooks], |tx| set_webhooks(
            tx, &store, &webhooks
        ))
    }

    async fn due_deliveries(
        &self,
        endpoint: &Endpoint,
        now: Timestamp,
        lease_until: Timestamp,
        limit: u32,
    ) -> Result<Vec<DueDelivery>> {
        if !read!(self, |reader| may_be_due(reader, endpoint, now, limit))? {
            return Ok(Vec::new());
        }
        let lease = self.holder.lease(now, lease_until);
        transaction!(self, Fail, [endpoint, lease], |tx| due(
            tx, &endpoint, &lease, limit
        ))
    }

    async fn record_delivery(&self, delivery: &Delivery, outcome: DeliveryOutcome) -> Result<()> {
        let holder = self.holder.name.clone();
        transaction!(self, Repeat, [delivery, holder], |tx| record(
            tx, &delivery, outcome, &holder
        ))
    }

    async fn deliveries(
        &self,
        store: &StoreId,
        filter: &DeliveryFilter,
    ) -> Result<Option<Vec<RecordedDelivery>>> {
        read!(self, |reader| page(reader, store, filter))
    }

    /// A try in progress keeps no event from being sent again.
    async fn redeliver(
        &self,
        store: &StoreId,
        event: &EventId,
        webhook: Option<&WebhookId>,
        now: Timestamp,
    ) -> Result<bool> {
        let webhook = webhook.cloned();
        transaction!(self, Repeat, [store, event, webhook], |tx| async {
            if !belongs_to(tx, &store, &event).await? {
                return Ok(false);
            }
            let Some((order, sequence)) = lock_order_of(tx, &event).await? else {
                return Ok(false);
            };
            let planned = sqlx::query(
                "UPDATE outbox SET was_delivered = was_delivered OR state = 'delivered', state = 'pending', tries = 0, early_tries = 0,
                     next_at = $1, planned_at = $1, retry_at = NULL, early_from = NULL,
                     leased_by = NULL, leased_until = NULL
                 WHERE order_id = $2 AND sequence = $3
                     AND (webhook = $4 OR CAST($4 AS text) IS NULL AND state <> 'unwanted')",
            )
            .bind(Time(now))
            .bind(&order)
            .bind(sequence)
            .bind(webhook.as_ref().map(WebhookId::as_str))
            .execute(&mut **tx)
            .await?;
            outbox::mark_heads(tx, &order).await?;
            Ok(webhook.is_none() || planned.rows_affected() > 0)
        })
    }

    async fn endpoint_status(&self, endpoint: &Endpoint) -> Result<EndpointStatus> {
        let (store, webhook) = (endpoint.store.as_str(), endpoint.webhook.as_str());
        let (waiting, disabled) = read!(self, |reader| async {
            let waiting = "SELECT count(*) FROM outbox WHERE state = 'pending' AND store_id = $1 AND webhook = $2";
            let waiting: i64 = sqlx::query_scalar(waiting)
                .bind(store)
                .bind(webhook)
                .fetch_one(&mut *reader)
                .await?;
            let disabled = "SELECT endpoint, since FROM disabled_endpoints WHERE store_id = $1 AND webhook = $2";
            let disabled = sqlx::query(disabled).bind(store).bind(webhook);
            Ok((waiting, disabled.fetch_optional(reader).await?))
        })?;
        Ok(EndpointStatus {
            waiting: rows::read("a count", u64::try_from(waiting))?,
            gone: disabled.as_ref().map(rows::disabled_endpoint).transpose()?,
        })
    }

    async fn enable_endpoint(&self, endpoint: &Endpoint, now: Timestamp) -> Result<bool> {
        if !read!(self, |reader| outbox::is_disabled(reader, endpoint))? {
            return Ok(false);
        }
        // Nothing is delivered meanwhile: the endpoint is enabled last.
        let mut after = 0;
        loop {
            let last = transaction!(self, Repeat, [endpoint], |tx| outbox::restart(
                tx, &endpoint, after, now
            ))?;
            match last {
                Some(last) => after = last,
                None => return Ok(true),
            }
        }
    }

    async fn backlog(&self) -> Result<u64> {
        // A counter would be one row that all transactions of a webhook wait for. The index has the waiting events alone.
        let waiting: i64 = read!(self, |reader| async {
            let waiting = sqlx::query_scalar("SELECT count(*) FROM outbox WHERE state = 'pending'");
            Ok(waiting.fetch_one(reader).await?)
        })?;
        rows::read("a count", u64::try_from(waiting))
    }
}

/// Returns the webhooks that the store had before. A removed one is forgotten once nothing waits for it.
async fn set_webhooks(
    tx: &mut Connection,
    store: &StoreId,
    webhooks: &[(WebhookId, Option<Vec<String>>)],
) -> Result<Vec<Endpoint>> {
    let ended = "DELETE FROM webhooks WHERE store_id = $1 AND NOT is_configured AND NOT EXISTS (SELECT 1 FROM outbox
             WHERE state = 'pending' AND outbox.store_id = webhooks.store_id AND outbox.webhook = webhooks.webhook)
         AND NOT EXISTS (SELECT 1 FROM disabled_endpoints AS disabled
             WHERE disabled.store_id = webhooks.store_id AND disabled.webhook = webhooks.webhook)";
    let ended = sqlx::query(ended).bind(store.as_str());
    ended.execute(&mut *tx).await?;
    let before = "UPDATE webhooks SET is_configured = false WHERE store_id = $1 RETURNING webhook";
    let before: Vec<String> = sqlx::query_scalar(before)
        .bind(store.as_str())
        .fetch_all(&mut *tx)
        .await?;
    for (webhook, events) in webhooks {
        sqlx::query(
            "INSERT INTO webhooks (store_id, webhook, is_configured, events) VALUES ($1, $2, true, $3)
             ON CONFLICT (store_id, webhook) DO UPDATE SET is_configured = true, events = excluded.events",
        )
        .bind(store.as_str())
        .bind(webhook.as_str())
        .bind(events.as_ref().map(|events| format!(" {} ", events.join(" "))))
        .execute(&mut *tx)
        .await?;
    }
    let before = before.iter().map(|id| {
        let webhook = rows::read("a webhook", WebhookId::parse(id))?;
        let store = store.clone();
        Ok(Endpoint { store, webhook })
    });
    before.collect()
}

/// Leases due events. All processes together deliver [`MAX_DELIVERIES_PER_WEBHOOK`] at once, of which [`RESERVED_FOR_MONEY`]
/// are for events of orders with money. It takes no lock of an order: `SKIP LOCKED` replaces it, since the lease and `next_at`
/// alone are written.
async fn due(
    tx: &mut Connection,
    endpoint: &Endpoint,
    lease: &Lease,
    limit: u32,
) -> Result<Vec<DueDelivery>> {
    if outbox::is_disabled(tx, endpoint).await? {
        return Ok(Vec::new());
    }
    let (accepted_at, probe_at) = outbox::lock_endpoint(tx, endpoint).await?;
    let in_progress: i64 = sqlx::query_scalar(dialect::DELIVERIES_IN_PROGRESS)
        .bind(endpoint.store.as_str())
        .bind(lease.clock)
        .bind(endpoint.webhook.as_str())
        .fetch_one(&mut *tx)
        .await?;
    let in_progress = rows::read("a count", u32::try_from(in_progress))?;
    let free = MAX_DELIVERIES_PER_WEBHOOK.saturating_sub(in_progress);
    let limit = limit.min(free);
    let mut due: Vec<DueDelivery> = Vec::new();
    // One statement for each priority: an index finds the due events of one, not of both.
    for (priority, most) in [
        (MONEY, limit),
        (OTHER, limit.saturating_sub(RESERVED_FOR_MONEY)),
    ] {
        let left = i64::from(most) - i64::try_from(due.len()).expect("a few events");
        if left <= 0 {
            continue;
        }
        if let Some(accepted_at) = accepted_at {
            outbox::make_due(tx, endpoint, priority, accepted_at, true, left, lease.now).await?;
        }
        if priority == MONEY
            && probe_at.is_none_or(|Time(at)| at <= lease.now)
            && outbox::make_due(tx, endpoint, priority, Time(lease.now), false, 1, lease.now)
                .await?
        {
            let until = lease.now + PROBE_INTERVAL;
            outbox::postpone_probe(tx, endpoint.store.as_str(), &endpoint.webhook, until).await?;
        }
        let leased = dialect::lease_events(tx, endpoint, priority, lease, left).await?;
        for row in &leased {
            due.push(rows::due_delivery(row, lease.now)?);
        }
    }
    Ok(due)
}

/// Returns `true` if up to `limit` deliveries may be due: without a lock, so that an idle dispatcher costs next to nothing.
async fn may_be_due(
    connection: &mut Connection,
    endpoint: &Endpoint,
    now: Timestamp,
    limit: u32,
) -> Result<bool> {
    let least = if limit <= RESERVED_FOR_MONEY {
        MONEY
    } else {
        OTHER
    };
    let waits = "SELECT EXISTS (SELECT 1 FROM outbox
         WHERE is_head AND store_id = $1 AND webhook = $5 AND priority IN ($3, $4) AND next_at <= $2)
         OR EXISTS (SELECT 1 FROM outbox
             WHERE is_head AND early_from IS NOT NULL AND store_id = $1 AND webhook = $5 AND priority IN ($3, $4)
                 AND early_from < (SELECT accepted_at FROM webhooks WHERE store_id = $1 AND webhook = $5))
         OR EXISTS (SELECT 1 FROM outbox
             WHERE is_head AND early_from IS NOT NULL AND store_id = $1 AND webhook = $5 AND priority = $3
                 AND early_from < $2)
             AND NOT EXISTS (SELECT 1 FROM webhooks WHERE store_id = $1 AND webhook = $5 AND probe_at > $2)";
    let waits = sqlx::query_scalar(waits)
        .bind(endpoint.store.as_str())
        .bind(Time(now))
        .bind(MONEY)
        .bind(least)
        .bind(endpoint.webhook.as_str());
    Ok(waits.fetch_one(connection).await?)
}

async fn record(
    tx: &mut Transaction,
    delivery: &Delivery,
    outcome: DeliveryOutcome,
    holder: &str,
) -> Result<()> {
    let Some((order, sequence)) = lock_order_of(tx, &delivery.event_id).await? else {
        return Err(StorageError::Corrupt(format!(
            "no event {}",
            delivery.event_id
        )));
    };
    if tx.is_repeat() && is_recorded(tx, delivery).await? {
        return Ok(());
    }
    let (state, retry) = outcome.state_and_retry();
    if let Some(retry) = retry {
        let store: String = sqlx::query_scalar("SELECT store_id FROM events WHERE id = $1")
            .bind(delivery.event_id.as_str())
            .fetch_one(&mut **tx)
            .await?;
        outbox::postpone_probe(tx, &store, &delivery.webhook, retry.probe_at).await?;
    }
    if outcome == DeliveryOutcome::Delivered {
        outbox::note_as_accepting(tx, delivery, &order, sequence).await?;
    }
    let is_counted = retry.is_none_or(|retry| retry.is_counted);
    if is_counted {
        note(tx, delivery).await?;
    }
    if let DeliveryOutcome::Gone(endpoint) = outcome {
        note_as_disabled(tx, delivery, endpoint).await?;
    }
    // A delivery that outlives its lease may end after another one: a delivered event stays delivered, and the lease of
    // another process stays.
    sqlx::query(
        "UPDATE outbox SET state = $1, tries = tries + $8, next_at = coalesce($2, next_at), planned_at = $6,
             retry_at = coalesce($2, retry_at), early_from = $7,
             leased_until = CASE WHEN leased_by = $3 THEN NULL ELSE leased_until END
         WHERE order_id = $4 AND sequence = $5 AND webhook = $9 AND (state = 'pending' OR $1 = 'delivered')",
    )
    .bind(state)
    .bind(retry.map(|retry| Time(retry.at)))
    .bind(holder)
    .bind(&order)
    .bind(sequence)
    .bind(Time(delivery.ended_at()))
    .bind(retry.map(|retry| Time(retry.early_from)))
    .bind(i64::from(is_counted))
    .bind(delivery.webhook.as_str())
    .execute(&mut **tx)
    .await?;
    outbox::mark_heads(tx, &order).await
}

async fn note(tx: &mut Connection, delivery: &Delivery) -> Result<()> {
    sqlx::query(
        "INSERT INTO deliveries (event_id, store_id, webhook, number, tried_at, took_ms, http_status, note)
         SELECT $1, (SELECT store_id FROM events WHERE id = $1), $6, count(*) + 1, $2, $3, $4, $5
         FROM deliveries WHERE event_id = $1",
    )
    .bind(delivery.event_id.as_str())
    .bind(Time(delivery.tried_at))
    .bind(milliseconds(delivery.took))
    .bind(delivery.http_status.map(i32::from))
    .bind(without_nul(&delivery.note))
    .bind(delivery.webhook.as_str())
    .execute(tx)
    .await?;
    Ok(())
}

/// Locks the order of an event; `None` for an unknown event.
async fn lock_order_of(tx: &mut Connection, event: &EventId) -> Result<Option<(String, i64)>> {
    let place: Option<(String, i64)> =
        sqlx::query_as("SELECT order_id, sequence FROM events WHERE id = $1")
            .bind(event.as_str())
            .fetch_optional(&mut *tx)
            .await?;
    if let Some((order, _)) = &place {
        sqlx::query(dialect::LOCK_ORDER)
            .bind(order)
            .execute(tx)
            .await?;
    }
    Ok(place)
}

/// Returns `true` if an earlier run of this transaction, whose commit had no response, has recorded a delivery.
async fn is_recorded(tx: &mut Connection, delivery: &Delivery) -> Result<bool> {
    let recorded = "SELECT EXISTS (SELECT 1 FROM deliveries
         WHERE event_id = $1 AND tried_at = $2 AND took_ms = $3 AND note = $4 AND webhook = $5)";
    let recorded = sqlx::query_scalar(recorded)
        .bind(delivery.event_id.as_str())
        .bind(Time(delivery.tried_at))
        .bind(milliseconds(delivery.took))
        .bind(without_nul(&delivery.note))
        .bind(delivery.webhook.as_str());
    Ok(recorded.fetch_one(tx).await?)
}

async fn note_as_disabled(
    tx: &mut Connection,
    delivery: &Delivery,
    EndpointHash(endpoint): EndpointHash,
) -> Result<()> {
    // Concurrent deliveries may all receive a 410: the first one counts.
    sqlx::query(
        "INSERT INTO disabled_endpoints (store_id, webhook, endpoint, event_id, since)
         SELECT store_id, $4, $2, id, $3 FROM events WHERE id = $1 ON CONFLICT DO NOTHING",
    )
    .bind(delivery.event_id.as_str())
    .bind(endpoint.as_slice())
    .bind(Time(delivery.tried_at))
    .bind(delivery.webhook.as_str())
    .execute(tx)
    .await?;
    Ok(())
}

async fn page(
    connection: &mut Connection,
    store: &StoreId,
    filter: &DeliveryFilter,
) -> Result<Option<Vec<RecordedDelivery>>> {
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
    if let Some(event) = &filter.event {
        let found = of_event(connection, event, None, before, filter.limit).await?;
        return Ok(Some(found));
    }
    let found = sqlx::query(
        "SELECT deliveries.*, events.type FROM deliveries JOIN events ON events.id = event_id
         WHERE deliveries.store_id = $1 AND deliveries.id < $2
         ORDER BY deliveries.id DESC LIMIT $3",
    )
    .bind(store.as_str())
    .bind(before)
    .bind(i64::from(filter.limit))
    .fetch_all(connection)
    .await?;
    let page = found.iter().map(rows::delivery).collect::<Result<_>>();
    page.map(Some)
}

/// The deliveries of an event to a webhook, or to all, before a position, the latest first. A condition of the store would let
/// SQLite read all deliveries of the store.
pub(super) async fn of_event(
    connection: &mut Connection,
    event: &EventId,
    webhook: Option<&str>,
    before: i64,
    limit: u32,
) -> Result<Vec<RecordedDelivery>> {
    let found = sqlx::query(
        "SELECT deliveries.*, events.type FROM deliveries JOIN events ON events.id = event_id
         WHERE deliveries.event_id = $1 AND deliveries.id < $2 AND (CAST($4 AS text) IS NULL OR webhook = $4)
         ORDER BY number DESC LIMIT $3",
    )
    .bind(event.as_str())
    .bind(before)
    .bind(i64::from(limit))
    .bind(webhook)
    .fetch_all(connection)
    .await?;
    found.iter().map(rows::delivery).collect()
}

async fn position(
    connection: &mut Connection,
    store: &StoreId,
    delivery: &DeliveryId,
) -> Result<Option<i64>> {
    let (event, number) = delivery.parts();
    let known = "SELECT id FROM deliveries WHERE event_id = $1 AND number = CAST($2 AS bigint) AND store_id = $3";
    let known = sqlx::query_scalar(known)
        .bind(event)
        .bind(number)
        .bind(store.as_str());
    Ok(known.fetch_optional(connection).await?)
}

async fn belongs_to(connection: &mut Connection, store: &StoreId, event: &EventId) -> Result<bool> {
    let known = "SELECT EXISTS (SELECT 1 FROM events WHERE id = $1 AND store_id = $2)";
    let known = sqlx::query_scalar(known)
        .bind(event.as_str())
        .bind(store.as_str());
    Ok(known.fetch_one(connection).await?)
}

/// Ends the leases of a process that has ended: its events are due at the time that the lease gave them.
pub(super) async fn end_leases(tx: &mut Connection, holder: &str) -> Result<()> {
    sqlx::query(
        "UPDATE outbox SET leased_by = NULL, leased_until = NULL
         WHERE leased_by = $1 AND leased_until IS NOT NULL",
    )
    .bind(holder)
    .execute(tx)
    .await?;
    Ok(())
}
