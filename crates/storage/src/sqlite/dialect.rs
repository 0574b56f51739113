//! What SQLite does differently from PostgreSQL, for the queries that both compile. Times are Unix milliseconds.

use florin_orders::{EventId, StoreId};
use jiff::Timestamp;
use sqlx::encode::IsNull;
use sqlx::error::BoxDynError;
use sqlx::sqlite::{SqliteArgumentsBuffer, SqliteRow, SqliteTypeInfo, SqliteValueRef};
use sqlx::{Row as _, Sqlite, SqliteConnection};

use crate::limits::{AT_THIS_MOMENT, Lease};
use crate::rows::{Fence, Record, Time};
use crate::{DueAttempt, Endpoint, Result};

pub(super) use super::SqliteStorage as Store;
pub(super) use super::writer::WriteTransaction as Transaction;

pub(super) type Connection = SqliteConnection;
pub(super) type Row = SqliteRow;

/// The present; $1: clock.
pub(super) const PRESENT: &str = "SELECT $1";

/// $1: order.
pub(super) const LOCK_ORDER: &str = "SELECT true FROM orders WHERE id = $1";

/// $1: order.
pub(super) const LOCKED_ORDER: &str = "SELECT * FROM orders WHERE id = $1";

/// $1: now, $2: limit.
pub(super) const EXPIRED_ORDERS: &str =
    "SELECT id FROM orders INDEXED BY orders_by_expiry WHERE status = 'open' AND expires_at <= $1
     ORDER BY expires_at LIMIT $2";

/// $1: request, $2: fingerprint, $3: end of the claim, $4: clock, $5: milliseconds of the lease. A lease that ends more than
/// a minute after a new one is of a clock that was set back since.
pub(super) const CLAIM_REQUEST: &str = "INSERT INTO requests (id, fingerprint, kept_until, leased_until) VALUES ($1, $2, $3, $4 + $5)
     ON CONFLICT (id) DO UPDATE SET kept_until = excluded.kept_until, leased_until = excluded.leased_until
     WHERE requests.fingerprint = excluded.fingerprint AND requests.status IS NULL
         AND (requests.leased_until <= $4 OR requests.leased_until > $4 + $5 + 60000)
         AND requests.kept_until <> excluded.kept_until
     RETURNING true";

/// $1: now, $2: clock, $3: limit.
pub(super) const DELETE_EXPIRED_REQUESTS: &str =
    "DELETE FROM requests WHERE id IN (SELECT id FROM requests
         WHERE kept_until <= $1 AND (status IS NOT NULL OR leased_until <= $2) LIMIT $3)";

/// $1 to $10: the attempt, $11: clock.
pub(super) const INSERT_ATTEMPT: &str =
    "INSERT INTO attempts (id, order_id, flow, crypto_code, conversion_id, requested_crypto,
         requested_usd, requested_local, local_currency, begun_at, begun_clock, state)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, 'creating') RETURNING *";

/// $1: clock, $2: milliseconds, $3: limit.
pub(super) const STALE_ATTEMPTS: &str =
    "SELECT id FROM attempts WHERE state = 'creating' AND begun_clock < $1 - $2 LIMIT $3";

/// $1: priority, $2: now, $3: end of the lease, $4: clock, $5: its milliseconds, $6: limit, $7: holder.
pub(super) const LEASE_POLLS: &str =
    "UPDATE polls SET leased_by = $7, leased_until = $3, lease_next_at = $3, next_poll_at = $3,
         poll_seq = poll_seq + 1, polled_at = $2, priority = 'unwatched'
     WHERE attempt_id IN (SELECT attempt_id FROM polls
         WHERE priority = $1 AND next_poll_at <= $2 AND (leased_until IS NULL OR leased_until <= $2)
         ORDER BY next_poll_at LIMIT $6)
     RETURNING attempt_id, order_id, invoice_id, poll_seq,
         (SELECT traceparent FROM orders WHERE orders.id = polls.order_id) AS traceparent";

/// $1: now, $2: milliseconds of the pause, $3: order.
pub(super) const SCHEDULE_POLL: &str =
    "UPDATE polls SET next_poll_at = max($1, coalesce(polled_at, opened_at) + $2),
         priority = CASE priority WHEN 'callback' THEN priority ELSE 'watched' END
     WHERE attempt_id = (SELECT current_attempt FROM orders WHERE id = $3) AND payment_state <> 'settled'
         AND (next_poll_at IS NULL OR next_poll_at > max($1, coalesce(polled_at, opened_at) + $2))";

/// $1: now, $2: milliseconds of the pause, $3: order.
pub(super) const SCHEDULE_POLLS_OF_ORDER: &str =
    "UPDATE polls SET next_poll_at = max($1, coalesce(polled_at, opened_at) + $2),
         priority = CASE priority WHEN 'callback' THEN priority ELSE 'watched' END
     WHERE order_id = $3 AND payment_state <> 'address_changed' AND (next_poll_at IS NULL
         OR next_poll_at > max($1, coalesce(polled_at, opened_at) + $2))";

/// $1: time, $2: invoice, $3: milliseconds between polls that callbacks cause, $4: whether the payment is settled.
pub(super) const POLL_FOR_CALLBACK: &str = "SELECT attempt_id, due_at FROM (
         SELECT *, CASE WHEN NOT $4 AND lease_next_at <= $1 THEN lease_next_at - 1
             ELSE max($1, coalesce(polled_at, 0) + $3) END AS due_at FROM polls) AS polls
     WHERE invoice_id = $2 AND (payment_state = 'settled') = $4
         AND (next_poll_at IS NULL OR next_poll_at > due_at)";

/// $1: store, $2: clock, $3: webhook.
pub(super) const DELIVERIES_IN_PROGRESS: &str =
    "SELECT count(*) FROM outbox WHERE store_id = $1 AND webhook = $3 AND leased_until > $2";

/// $1: now, $2: whether the endpoint accepts other events, $3: store, $4: priority, $5: early from before, $6: limit,
/// $7: webhook.
pub(super) const MAKE_DUE_EARLY: &str = "UPDATE outbox SET next_at = $1, planned_at = $1, early_from = NULL,
         early_tries = early_tries + CASE WHEN $2 OR early_tries > 0 THEN 1 ELSE 0 END
     WHERE (order_id, sequence, webhook) IN (SELECT order_id, sequence, webhook FROM outbox
         WHERE is_head AND early_from IS NOT NULL AND store_id = $3 AND webhook = $7 AND priority = $4 AND early_from < $5
         ORDER BY early_from LIMIT $6)";

pub(super) async fn mark_poll_as_recorded(
    tx: &mut SqliteConnection,
    due: &DueAttempt,
) -> Result<Fence> {
    let passed = sqlx::query(
        "UPDATE polls SET recorded_seq = $1 WHERE attempt_id = $2 AND recorded_seq < $1",
    )
    .bind(i64::from(due.poll_seq))
    .bind(due.attempt_id.as_str())
    .execute(tx)
    .await?;
    Ok(if passed.rows_affected() > 0 {
        Fence::Passed
    } else {
        Fence::Refused
    })
}

pub(super) async fn lease_events(
    tx: &mut SqliteConnection,
    endpoint: &Endpoint,
    priority: i64,
    lease: &Lease,
    limit: i64,
) -> Result<Vec<Row>> {
    let leased: Vec<(String, i64)> = sqlx::query_as(
        "UPDATE outbox SET next_at = $4, planned_at = $3, early_from = NULL, leased_by = $6, leased_until = $4
         WHERE (order_id, sequence, webhook) IN (SELECT order_id, sequence, webhook FROM outbox
             WHERE is_head AND store_id = $1 AND webhook = $7 AND priority = $2 AND next_at <= $3
                 AND (leased_until IS NULL OR leased_until <= $3)
             ORDER BY next_at, position LIMIT $5)
         RETURNING order_id, sequence",
    )
    .bind(endpoint.store.as_str())
    .bind(priority)
    .bind(Time(lease.now))
    .bind(Time(lease.until))
    .bind(limit)
    .bind(&*lease.holder)
    .bind(endpoint.webhook.as_str())
    .fetch_all(&mut *tx)
    .await?;
    let mut rows = Vec::with_capacity(leased.len());
    for (order, sequence) in leased {
        let row = sqlx::query(
            "SELECT events.*, tries, early_tries, retry_at, traceparent
             FROM events JOIN outbox USING (order_id, sequence) JOIN orders ON orders.id = events.order_id
             WHERE events.order_id = $1 AND events.sequence = $2 AND webhook = $3",
        );
        let row = row.bind(order).bind(sequence);
        let row = row.bind(endpoint.webhook.as_str()).fetch_one(&mut *tx);
        rows.push(row.await?);
    }
    Ok(rows)
}

pub(super) async fn restart_events(
    tx: &mut SqliteConnection,
    endpoint: &Endpoint,
    (after, last): (i64, i64),
    now: Timestamp,
) -> Result<()> {
    sqlx::query(
        "UPDATE outbox SET tries = 0, early_tries = 0, next_at = $1, planned_at = $1, retry_at = NULL, early_from = NULL,
             leased_by = NULL, leased_until = NULL
         WHERE state = 'pending' AND store_id = $2 AND webhook = $5 AND position > $3 AND position <= $4",
    )
    .bind(Time(now))
    .bind(endpoint.store.as_str())
    .bind(after)
    .bind(last)
    .bind(endpoint.webhook.as_str())
    .execute(tx)
    .await?;
    Ok(())
}

/// `None` when the store has no event `after`.
pub(super) async fn event_page(
    connection: &mut SqliteConnection,
    store: &StoreId,
    after: Option<&EventId>,
    limit: u32,
) -> Result<Option<Vec<Row>>> {
    let start = match after {
        None => 0,
        Some(after) => {
            let known = "SELECT position FROM events WHERE id = $1 AND store_id = $2";
            let known = sqlx::query_scalar(known)
                .bind(after.as_str())
                .bind(store.as_str());
            match known.fetch_optional(&mut *connection).await? {
                Some(position) => position,
                None => return Ok(None),
            }
        }
    };
    let found = sqlx::query(
        "SELECT * FROM events WHERE store_id = $1 AND position > $2 ORDER BY position LIMIT $3",
    )
    .bind(store.as_str())
    .bind::<i64>(start)
    .bind(limit)
    .fetch_all(connection)
    .await?;
    Ok(Some(found))
}

pub(super) async fn replan_future(
    tx: &mut SqliteConnection,
    now: Timestamp,
    _clock: Option<Time>,
) -> Result<u64> {
    let ahead = now + AT_THIS_MOMENT;
    let mut replanned = 0;
    for statement in [
        "UPDATE attempts SET expires_at = $1 + expires_at - opened_at, opened_at = $1
         WHERE id IN (SELECT attempt_id FROM polls WHERE opened_at > $2) AND opened_at > $2",
        // An attempt whose invoice never came is abandoned so long after it was begun.
        "UPDATE attempts SET begun_at = $1, begun_clock = $1 WHERE state = 'creating' AND begun_clock > $2",
    ] {
        sqlx::query(statement)
            .bind(Time(now))
            .bind(Time(ahead))
            .execute(&mut *tx)
            .await?;
    }
    for statement in [
        "UPDATE polls SET next_poll_at = $1, polled_at = min(polled_at, $1), opened_at = min(opened_at, $1),
             leased_by = NULL, leased_until = NULL, lease_next_at = NULL
         WHERE next_poll_at > $1 AND coalesce(polled_at, opened_at) > $2",
        "UPDATE outbox SET next_at = $1, planned_at = $1, retry_at = NULL, early_from = NULL,
             leased_by = NULL, leased_until = NULL
         WHERE state = 'pending' AND planned_at > $2",
    ] {
        let changed = sqlx::query(statement)
            .bind(Time(now))
            .bind(Time(ahead))
            .execute(&mut *tx)
            .await?;
        replanned += changed.rows_affected();
    }
    sqlx::query("UPDATE webhooks SET accepted_at = NULL, probe_at = NULL")
        .execute(tx)
        .await?;
    Ok(replanned)
}

impl sqlx::Type<Sqlite> for Time {
    fn type_info() -> SqliteTypeInfo {
        <i64 as sqlx::Type<Sqlite>>::type_info()
    }
}

impl sqlx::Encode<'_, Sqlite> for Time {
    fn encode_by_ref(&self, buffer: &mut SqliteArgumentsBuffer) -> Result<IsNull, BoxDynError> {
        sqlx::Encode::<Sqlite>::encode(self.0.as_millisecond(), buffer)
    }
}

impl<'r> sqlx::Decode<'r, Sqlite> for Time {
    fn decode(value: SqliteValueRef<'r>) -> Result<Self, BoxDynError> {
        let millis = <i64 as sqlx::Decode<Sqlite>>::decode(value)?;
        Ok(Self(Timestamp::from_millisecond(millis)?))
    }
}

impl Record for SqliteRow {
    fn maybe_text(&self, column: &str) -> Result<Option<&str>> {
        Ok(self.try_get(column)?)
    }

    fn maybe_integer(&self, column: &str) -> Result<Option<i64>> {
        Ok(self.try_get(column)?)
    }

    fn maybe_time(&self, column: &str) -> Result<Option<Timestamp>> {
        let time: Option<Time> = self.try_get(column)?;
        Ok(time.map(|Time(time)| time))
    }

    fn flag(&self, column: &str) -> Result<bool> {
        Ok(self.try_get(column)?)
    }

    fn bytes(&self, column: &str) -> Result<&[u8]> {
        Ok(self.try_get(column)?)
    }
}
