//! What PostgreSQL does differently from SQLite, for the queries that both compile.

use std::time::Duration;

use florin_orders::{EventId, StoreId};
use jiff::Timestamp;
use sqlx::encode::IsNull;
use sqlx::error::BoxDynError;
use sqlx::postgres::types::Oid;
use sqlx::postgres::{PgArgumentBuffer, PgRow, PgTypeInfo, PgValueFormat, PgValueRef};
use sqlx::{PgConnection, Postgres, Row as _};

use crate::limits::{AT_THIS_MOMENT, Lease};
use crate::rows::{self, Fence, Record, Time};
use crate::{DueAttempt, Endpoint, Result};

pub(super) use super::PostgresStorage as Store;
pub(super) use super::transaction::Transaction;

pub(super) type Connection = PgConnection;
pub(super) type Row = PgRow;

/// The present; $1: clock.
pub(super) const PRESENT: &str = "SELECT coalesce($1, clock_timestamp())";

/// $1: order.
pub(super) const LOCK_ORDER: &str = "SELECT true FROM orders WHERE id = $1 FOR UPDATE";

/// $1: order.
pub(super) const LOCKED_ORDER: &str = "SELECT * FROM orders WHERE id = $1 FOR UPDATE";

/// $1: now, $2: limit.
pub(super) const EXPIRED_ORDERS: &str =
    "SELECT id FROM orders WHERE status = 'open' AND expires_at <= $1 ORDER BY expires_at LIMIT $2
     FOR UPDATE SKIP LOCKED";

/// $1: request, $2: fingerprint, $3: end of the claim, $4: clock, $5: milliseconds of the lease. A lease that ends more than
/// a minute after a new one is of a clock that was set back since.
pub(super) const CLAIM_REQUEST: &str = "INSERT INTO requests (id, fingerprint, kept_until, leased_until)
     VALUES ($1, $2, $3, coalesce($4, clock_timestamp()) + $5 * interval '1 ms')
     ON CONFLICT (id) DO UPDATE SET kept_until = excluded.kept_until, leased_until = excluded.leased_until
     WHERE requests.fingerprint = excluded.fingerprint AND requests.status IS NULL
         AND (requests.leased_until <= coalesce($4, clock_timestamp())
             OR requests.leased_until > coalesce($4, clock_timestamp()) + ($5 + 60000) * interval '1 ms')
         AND requests.kept_until <> excluded.kept_until
     RETURNING true";

/// $1: now, $2: clock, $3: limit.
pub(super) const DELETE_EXPIRED_REQUESTS: &str = "DELETE FROM requests WHERE id = ANY (ARRAY (SELECT id FROM requests
         WHERE kept_until <= $1 AND (status IS NOT NULL OR leased_until <= coalesce($2, clock_timestamp()))
         LIMIT $3 FOR UPDATE SKIP LOCKED))";

/// $1 to $10: the attempt, $11: clock.
pub(super) const INSERT_ATTEMPT: &str = "INSERT INTO attempts (id, order_id, flow, crypto_code, conversion_id, requested_crypto,
         requested_usd, requested_local, local_currency, begun_at, begun_clock, state)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, coalesce($11, clock_timestamp()), 'creating') RETURNING *";

/// $1: clock, $2: milliseconds, $3: limit.
pub(super) const STALE_ATTEMPTS: &str = "SELECT attempts.id FROM attempts JOIN orders ON orders.id = order_id
     WHERE state = 'creating' AND begun_clock < coalesce($1, clock_timestamp()) - $2 * interval '1 ms'
     ORDER BY orders.id LIMIT $3 FOR UPDATE OF orders SKIP LOCKED";

/// $1: priority, $2: now, $3: end of the lease, $4: clock, $5: its milliseconds, $6: limit, $7: holder.
pub(super) const LEASE_POLLS: &str = "WITH due AS (
         SELECT attempt_id AS id FROM polls
         WHERE priority = $1 AND next_poll_at <= $2
             AND (leased_until IS NULL OR leased_until <= coalesce($4, clock_timestamp()))
         ORDER BY next_poll_at LIMIT $6 FOR UPDATE SKIP LOCKED)
     UPDATE polls SET leased_by = $7, leased_until = coalesce($4, clock_timestamp()) + $5 * interval '1 ms',
         lease_next_at = $3, next_poll_at = $3, poll_seq = poll_seq + 1, polled_at = $2, priority = 'unwatched'
     FROM due WHERE attempt_id = due.id
     RETURNING attempt_id, order_id, invoice_id, poll_seq,
         (SELECT traceparent FROM orders WHERE orders.id = polls.order_id) AS traceparent";

/// $1: now, $2: milliseconds of the pause, $3: order.
pub(super) const SCHEDULE_POLL: &str = "UPDATE polls SET next_poll_at = greatest($1, coalesce(polled_at, opened_at) + $2 * interval '1 ms'),
         priority = CASE priority WHEN 'callback' THEN priority ELSE 'watched' END
     WHERE attempt_id = (SELECT current_attempt FROM orders WHERE id = $3) AND payment_state <> 'settled'
         AND (next_poll_at IS NULL OR next_poll_at > greatest($1, coalesce(polled_at, opened_at) + $2 * interval '1 ms'))";

/// $1: now, $2: milliseconds of the pause, $3: order.
pub(super) const SCHEDULE_POLLS_OF_ORDER: &str = "UPDATE polls SET next_poll_at = greatest($1, coalesce(polled_at, opened_at) + $2 * interval '1 ms'),
         priority = CASE priority WHEN 'callback' THEN priority ELSE 'watched' END
     WHERE order_id = $3 AND payment_state <> 'address_changed' AND (next_poll_at IS NULL
         OR next_poll_at > greatest($1, coalesce(polled_at, opened_at) + $2 * interval '1 ms'))";

/// $1: time, $2: invoice, $3: milliseconds between polls that callbacks cause, $4: whether the payment is settled.
pub(super) const POLL_FOR_CALLBACK: &str = "SELECT attempt_id, due_at FROM (
         SELECT *, CASE WHEN NOT $4 AND lease_next_at <= $1 THEN lease_next_at - interval '1 ms'
             ELSE greatest($1, polled_at + $3 * interval '1 ms') END AS due_at FROM polls) AS polls
     WHERE invoice_id = $2 AND (payment_state = 'settled') = $4
         AND (next_poll_at IS NULL OR next_poll_at > due_at)";

/// $1: store, $2: clock, $3: webhook.
pub(super) const DELIVERIES_IN_PROGRESS: &str = "SELECT count(*) FROM outbox WHERE store_id = $1 AND webhook = $3 AND leased_until > coalesce($2, clock_timestamp())";

/// $1: now, $2: whether the endpoint accepts other events, $3: store, $4: priority, $5: early from before, $6: limit,
/// $7: webhook.
pub(super) const MAKE_DUE_EARLY: &str = "WITH waiting AS (
         SELECT order_id, sequence, webhook FROM outbox
         WHERE is_head AND early_from IS NOT NULL AND store_id = $3 AND webhook = $7 AND priority = $4 AND early_from < $5
         ORDER BY early_from LIMIT $6 FOR UPDATE SKIP LOCKED)
     UPDATE outbox SET next_at = $1, planned_at = $1, early_from = NULL,
         early_tries = early_tries + CASE WHEN $2 OR early_tries > 0 THEN 1 ELSE 0 END
     FROM waiting WHERE outbox.order_id = waiting.order_id AND outbox.sequence = waiting.sequence
         AND outbox.webhook = waiting.webhook";

/// Source: `pg_type.dat`: `timestamptz`.
const TIMESTAMPTZ: Oid = Oid(1184);
/// Source: "Date/Time Types": a `timestamptz` counts microseconds since 2000-01-01 00:00 UTC.
const EPOCH_MICROS: i64 = 946_684_800_000_000;
const WAITS: u32 = 20;
const WAIT: Duration = Duration::from_millis(5);

pub(super) async fn mark_poll_as_recorded(tx: &mut Transaction, due: &DueAttempt) -> Result<Fence> {
    let passed = sqlx::query(
        "UPDATE polls SET recorded_seq = $1, recorded_tx = pg_current_xact_id()
         WHERE attempt_id = $2 AND recorded_seq < $1",
    )
    .bind(i64::from(due.poll_seq))
    .bind(due.attempt_id.as_str())
    .execute(&mut **tx)
    .await?;
    if passed.rows_affected() > 0 {
        return Ok(Fence::Passed);
    }
    if !tx.is_repeat() {
        return Ok(Fence::Refused);
    }
    let recorded: Option<String> = sqlx::query_scalar(
        "SELECT recorded_tx::text FROM polls WHERE attempt_id = $1 AND recorded_seq = $2",
    )
    .bind(due.attempt_id.as_str())
    .bind(i64::from(due.poll_seq))
    .fetch_optional(&mut **tx)
    .await?;
    let Some(recorded) = recorded else {
        return Ok(Fence::Refused);
    };
    let emitted: Vec<String> = sqlx::query_scalar(
        "SELECT type FROM events WHERE order_id = $1 AND tx = $2::text::xid8 ORDER BY sequence",
    )
    .bind(due.order_id.as_str())
    .bind(recorded)
    .fetch_all(&mut **tx)
    .await?;
    let events = emitted.iter().map(|word| rows::event_type(word));
    Ok(Fence::Recorded(events.collect::<Result<_, _>>()?))
}

pub(super) async fn lease_events(
    tx: &mut PgConnection,
    endpoint: &Endpoint,
    priority: i64,
    lease: &Lease,
    limit: i64,
) -> Result<Vec<Row>> {
    let leased = sqlx::query(
        "WITH due AS (
             SELECT order_id, sequence, webhook FROM outbox
             WHERE is_head AND store_id = $1 AND webhook = $9 AND priority = $2 AND next_at <= $3
                 AND (leased_until IS NULL OR leased_until <= coalesce($5, clock_timestamp()))
             ORDER BY next_at, position LIMIT $7 FOR UPDATE SKIP LOCKED),
         leased AS (
             UPDATE outbox SET next_at = $4, planned_at = $3, early_from = NULL, leased_by = $8,
                 leased_until = coalesce($5, clock_timestamp()) + $6 * interval '1 ms'
             FROM due WHERE outbox.order_id = due.order_id AND outbox.sequence = due.sequence
                AND outbox.webhook = due.webhook
             RETURNING outbox.order_id, outbox.sequence, tries, early_tries, retry_at)
         SELECT events.*, tries, early_tries, retry_at, traceparent FROM leased JOIN events USING (order_id, sequence)
             JOIN orders ON orders.id = events.order_id ORDER BY position",
    )
    .bind(endpoint.store.as_str())
    .bind(priority)
    .bind(Time(lease.now))
    .bind(Time(lease.until))
    .bind(lease.clock)
    .bind(lease.length_ms())
    .bind(limit)
    .bind(&*lease.holder)
    .bind(endpoint.webhook.as_str())
    .fetch_all(tx)
    .await?;
    Ok(leased)
}

/// Gives the pending events of a webhook in a range of positions all their retries from now on, whatever try is in progress. Their orders are locked first.
pub(super) async fn restart_events(
    tx: &mut PgConnection,
    endpoint: &Endpoint,
    (after, last): (i64, i64),
    now: Timestamp,
) -> Result<()> {
    let orders: Vec<String> = sqlx::query_scalar(
        "SELECT id FROM orders WHERE id IN (SELECT order_id FROM outbox
             WHERE state = 'pending' AND store_id = $1 AND webhook = $4 AND position > $2 AND position <= $3)
         ORDER BY id FOR UPDATE",
    )
    .bind(endpoint.store.as_str())
    .bind(after)
    .bind(last)
    .bind(endpoint.webhook.as_str())
    .fetch_all(&mut *tx)
    .await?;
    sqlx::query(
        "UPDATE outbox SET tries = 0, early_tries = 0, next_at = $1, planned_at = $1, retry_at = NULL, early_from = NULL,
             leased_by = NULL, leased_until = NULL
         WHERE state = 'pending' AND store_id = $2 AND webhook = $6 AND position > $3 AND position <= $4 AND order_id = ANY($5)",
    )
    .bind(Time(now))
    .bind(endpoint.store.as_str())
    .bind(after)
    .bind(last)
    .bind(&orders)
    .bind(endpoint.webhook.as_str())
    .execute(tx)
    .await?;
    Ok(())
}

/// `None` when the store has no event `after`.
///
/// A page ends below the first transaction that still runs: the events of that one may come before what was committed
/// already, and a reader that had passed them would never see them.
pub(super) async fn event_page(
    connection: &mut PgConnection,
    store: &StoreId,
    after: Option<&EventId>,
    limit: u32,
) -> Result<Option<Vec<Row>>> {
    let (tx, position) = match after {
        None => ("0".to_owned(), 0),
        Some(after) => {
            let known = sqlx::query_as::<_, (String, i64)>(
                "SELECT tx::text, position FROM events WHERE id = $1 AND store_id = $2",
            );
            let known = known.bind(after.as_str()).bind(store.as_str());
            match known.fetch_optional(&mut *connection).await? {
                Some(place) => place,
                None => return Ok(None),
            }
        }
    };
    let horizon = horizon(connection).await?;
    let found = sqlx::query(
        "SELECT * FROM events
         WHERE store_id = $1 AND (tx, position) > ($2::text::xid8, $3) AND tx < $4::text::xid8
         ORDER BY tx, position LIMIT $5",
    )
    .bind(store.as_str())
    .bind(tx)
    .bind(position)
    .bind(horizon)
    .bind(i64::from(limit))
    .fetch_all(connection)
    .await?;
    Ok(Some(found))
}

/// The transaction below which all have ended. Waits a little, so that what was committed before the call is below it.
async fn horizon(connection: &mut PgConnection) -> Result<String> {
    let mut waits = tokio::time::interval(WAIT);
    let (mut below, first) = running(connection).await?;
    for _ in 0..WAITS {
        if below >= first {
            break;
        }
        waits.tick().await;
        (below, _) = running(connection).await?;
    }
    Ok(below.to_string())
}

/// The first transaction that runs, and the next that will begin.
async fn running(connection: &mut PgConnection) -> Result<(u64, u64)> {
    // Transactions of other databases of the server write no event of this one.
    let (first, next): (String, String) = sqlx::query_as(
        "WITH seen AS MATERIALIZED (SELECT pg_current_snapshot() AS snapshot), running AS (
             SELECT xid FROM seen, pg_snapshot_xip(snapshot) AS xid WHERE NOT EXISTS (
                 SELECT 1 FROM pg_stat_activity WHERE backend_xid = xid::xid AND datname <> current_database()))
         SELECT coalesce((SELECT xid FROM running ORDER BY xid LIMIT 1), pg_snapshot_xmax(snapshot))::text,
             pg_snapshot_xmax(snapshot)::text FROM seen",
    )
    .fetch_one(connection)
    .await?;
    let number = |xid: String| rows::read("a transaction", xid.parse());
    Ok((number(first)?, number(next)?))
}

/// Plans anew what lies in the future by the clock that is right. Returns the number of polls and deliveries.
pub(super) async fn replan_future(
    tx: &mut PgConnection,
    now: Timestamp,
    clock: Option<Time>,
) -> Result<u64> {
    let now = not_before_the_server(tx, now, clock).await?;
    let polls = replan_polls(tx, now, clock).await?;
    Ok(polls + replan_deliveries(tx, now, clock).await?)
}

/// The time by the server's clock where the caller's is behind: what other processes have planned meanwhile is right.
async fn not_before_the_server(
    tx: &mut PgConnection,
    now: Timestamp,
    clock: Option<Time>,
) -> Result<Timestamp> {
    let later = sqlx::query_scalar("SELECT greatest($1, coalesce($2, clock_timestamp()))");
    let Time(later) = later.bind(Time(now)).bind(clock).fetch_one(tx).await?;
    Ok(later)
}

/// By the clock that is right, what lies in the future has not happened: it was written by one that was ahead.
async fn replan_polls(tx: &mut PgConnection, now: Timestamp, clock: Option<Time>) -> Result<u64> {
    let ahead = Time(now + AT_THIS_MOMENT);
    // The orders first, in the order of their ids.
    sqlx::query(
        "SELECT 1 FROM orders WHERE id IN (SELECT order_id FROM polls WHERE opened_at > $1
             UNION SELECT order_id FROM attempts WHERE state = 'creating' AND begun_at > $1)
         ORDER BY id FOR UPDATE",
    )
    .bind(ahead)
    .execute(&mut *tx)
    .await?;
    sqlx::query(
        "UPDATE attempts SET expires_at = $1::timestamptz + (expires_at - opened_at), opened_at = $1
         WHERE id IN (SELECT attempt_id FROM polls WHERE opened_at > $2) AND opened_at > $2",
    )
    .bind(Time(now))
    .bind(ahead)
    .execute(&mut *tx)
    .await?;
    // An attempt whose invoice never came is abandoned so long after it was begun.
    sqlx::query(
        "UPDATE attempts SET begun_at = $1, begun_clock = least(begun_clock, coalesce($2, clock_timestamp()))
         WHERE state = 'creating' AND begun_at > $3",
    )
    .bind(Time(now))
    .bind(clock)
    .bind(ahead)
    .execute(&mut *tx)
    .await?;
    let replanned = sqlx::query(
        "UPDATE polls SET next_poll_at = $1, polled_at = least(polled_at, $1), opened_at = least(opened_at, $1),
             leased_until = least(leased_until, $2)
         WHERE next_poll_at > $1 AND coalesce(polled_at, opened_at) > $3",
    )
    .bind(Time(now))
    .bind(clock)
    .bind(ahead)
    .execute(tx)
    .await?;
    Ok(replanned.rows_affected())
}

/// A living process keeps its lease: one that would last longer than any delivery is
/// of a server's clock that was ahead.
async fn replan_deliveries(
    tx: &mut PgConnection,
    now: Timestamp,
    clock: Option<Time>,
) -> Result<u64> {
    let orders: Vec<String> = sqlx::query_scalar(
        "SELECT id FROM orders WHERE id IN (
             SELECT order_id FROM outbox WHERE state = 'pending' AND planned_at > $1)
         ORDER BY id FOR UPDATE",
    )
    .bind(Time(now + AT_THIS_MOMENT))
    .fetch_all(&mut *tx)
    .await?;
    let replanned = sqlx::query(
        "UPDATE outbox SET next_at = $1, planned_at = $1, retry_at = NULL, early_from = NULL,
             leased_until = CASE WHEN leased_until IS NOT NULL
                 THEN least(leased_until, coalesce($3, clock_timestamp()) + interval '1 minute') END
         WHERE order_id = ANY($2) AND state = 'pending' AND planned_at > $4",
    )
    .bind(Time(now))
    .bind(&orders)
    .bind(clock)
    .bind(Time(now + AT_THIS_MOMENT))
    .execute(&mut *tx)
    .await?;
    sqlx::query("UPDATE webhooks SET accepted_at = NULL, probe_at = NULL")
        .execute(tx)
        .await?;
    Ok(replanned.rows_affected())
}

impl sqlx::Type<Postgres> for Time {
    fn type_info() -> PgTypeInfo {
        PgTypeInfo::with_oid(TIMESTAMPTZ)
    }
}

impl sqlx::Encode<'_, Postgres> for Time {
    fn encode_by_ref(&self, buffer: &mut PgArgumentBuffer) -> Result<IsNull, BoxDynError> {
        let micros = self.0.as_millisecond() * 1000 - EPOCH_MICROS;
        buffer.extend_from_slice(&micros.to_be_bytes());
        Ok(IsNull::No)
    }
}

impl<'r> sqlx::Decode<'r, Postgres> for Time {
    fn decode(value: PgValueRef<'r>) -> Result<Self, BoxDynError> {
        if value.format() != PgValueFormat::Binary {
            return Err("a time in a text format".into());
        }
        let micros = i64::from_be_bytes(value.as_bytes()?.try_into()?);
        let micros = micros
            .checked_add(EPOCH_MICROS)
            .ok_or("a time out of range")?;
        Ok(Self(Timestamp::from_millisecond(micros.div_euclid(1000))?))
    }
}

impl Record for PgRow {
    fn maybe_text(&self, column: &str) -> Result<Option<&str>> {
        Ok(self.try_get(column)?)
    }

    fn maybe_integer(&self, column: &str) -> Result<Option<i64>> {
        match self.try_get(column) {
            // The type `integer` instead of `bigint`.
            Err(sqlx::Error::ColumnDecode { .. }) => {
                Ok(self.try_get::<Option<i32>, _>(column)?.map(i64::from))
            }
            number => Ok(number?),
        }
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
