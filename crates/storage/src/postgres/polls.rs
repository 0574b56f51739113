//! Polls: leased, scheduled, rescheduled.

use florin_orders::{
    AttemptId, Invoice, InvoiceId, OrderId, PaymentState, PollPriority, StoreId, Stretch, next_poll,
};
use jiff::{SignedDuration, Timestamp};
use sqlx::postgres::PgRow;
use sqlx::{PgConnection, Row as _};

use super::PostgresStorage;
use super::clock::{Lease, milliseconds};
use super::dead_connections::{Reading, close_idle, in_time};
use super::failure::is_of_old_schema;
use super::rows::Time;
use super::transaction::{OnLoss, Transaction, run};
use crate::limits::{AT_THIS_MOMENT, InvoiceKind};
use crate::rows::{self, Record as _};
use crate::{DueAttempt, PollQueue, StorageError};

/// Schedules the first poll of an attempt that was opened.
pub(super) async fn insert(
    tx: &mut PgConnection,
    order: &OrderId,
    id: &AttemptId,
    invoice: &Invoice,
    now: Timestamp,
) -> Result<(), StorageError> {
    sqlx::query(
        "INSERT INTO polls (attempt_id, order_id, invoice_id, opened_at, next_poll_at)
         VALUES ($1, $2, $3, $4, $5)",
    )
    .bind(id.as_str())
    .bind(order.as_str())
    .bind(invoice.id.as_str())
    .bind(Time(invoice.opened_at))
    .bind(next_poll(invoice, now).map(Time))
    .execute(tx)
    .await?;
    Ok(())
}

/// Leases due polls. Two processes never wait for each other: what one has locked, the other leaves out.
pub(super) async fn due(
    tx: &mut PgConnection,
    priority: PollPriority,
    lease: &Lease,
    limit: u32,
) -> Result<Vec<DueAttempt>, StorageError> {
    let leased = sqlx::query(
        "WITH due AS (
             SELECT attempt_id AS id FROM polls
             WHERE priority = $1 AND next_poll_at <= $2
                 AND (leased_until IS NULL OR leased_until <= coalesce($4, clock_timestamp()))
             ORDER BY next_poll_at LIMIT $6 FOR UPDATE SKIP LOCKED)
         UPDATE polls SET leased_by = $7, leased_until = coalesce($4, clock_timestamp()) + $5 * interval '1 ms',
             lease_next_at = $3, next_poll_at = $3, poll_seq = poll_seq + 1, polled_at = $2, priority = 'planned'
         FROM due WHERE attempt_id = due.id
         RETURNING attempt_id, order_id, invoice_id, poll_seq,
             (SELECT traceparent FROM orders WHERE orders.id = polls.order_id) AS traceparent",
    )
    .bind(<&str>::from(priority))
    .bind(Time(lease.now))
    .bind(Time(lease.until))
    .bind(lease.clock())
    .bind(lease.length_ms())
    .bind(i64::from(limit))
    .bind(&*lease.holder)
    .fetch_all(tx)
    .await?;
    leased
        .iter()
        .map(|row| due_attempt(row, priority))
        .collect()
}

fn due_attempt(row: &PgRow, priority: PollPriority) -> Result<DueAttempt, StorageError> {
    let invoice = InvoiceId::parse(row.try_get("invoice_id")?);
    Ok(DueAttempt {
        priority,
        attempt_id: row.parsed("attempt_id", AttemptId::parse)?,
        order_id: row.parsed("order_id", OrderId::parse)?,
        invoice_id: rows::read("an invoice id", invoice)?,
        poll_seq: row.number("poll_seq")?,
        stretch: Stretch::NONE,
        traceparent: rows::traceparent(row)?,
    })
}

/// Ends the leases of a process that closes: its polls are due at once. Those of other processes are theirs.
pub(super) async fn end_leases(tx: &mut PgConnection, holder: &str) -> Result<(), StorageError> {
    sqlx::query(
        "UPDATE polls SET next_poll_at = least(next_poll_at, polled_at), leased_by = NULL, leased_until = NULL,
             lease_next_at = NULL
         WHERE leased_by = $1",
    )
    .bind(holder)
    .execute(tx)
    .await?;
    Ok(())
}

/// The outcome of recording a poll.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Fence {
    /// It is the latest.
    Passed,
    /// It is the latest, and was recorded in this transaction.
    Recorded(String),
    /// A later one was recorded.
    Refused,
}

/// Marks a poll as recorded, if no later one is.
pub(super) async fn pass(tx: &mut PgConnection, due: &DueAttempt) -> Result<Fence, StorageError> {
    let passed = sqlx::query(
        "UPDATE polls SET recorded_seq = $1, recorded_tx = pg_current_xact_id()
         WHERE attempt_id = $2 AND recorded_seq < $1",
    )
    .bind(i64::from(due.poll_seq))
    .bind(due.attempt_id.as_str())
    .execute(&mut *tx)
    .await?;
    if passed.rows_affected() > 0 {
        return Ok(Fence::Passed);
    }
    let recorded: Option<String> = sqlx::query_scalar(
        "SELECT recorded_tx::text FROM polls WHERE attempt_id = $1 AND recorded_seq = $2",
    )
    .bind(due.attempt_id.as_str())
    .bind(i64::from(due.poll_seq))
    .fetch_optional(tx)
    .await?;
    Ok(recorded.map_or(Fence::Refused, Fence::Recorded))
}

/// Schedules the poll after one that was recorded at `now`. A poll that was requested during it is kept, unless the payment is
/// settled. The lease of a later poll stays.
pub(super) async fn save(
    tx: &mut PgConnection,
    due: &DueAttempt,
    state: PaymentState,
    next: Option<Timestamp>,
    now: Timestamp,
) -> Result<(), StorageError> {
    sqlx::query(
        "UPDATE polls SET payment_state = $1, polled_at = greatest(polled_at, $5),
             next_poll_at = CASE WHEN next_poll_at < lease_next_at AND $1 <> 'settled'
                 THEN least(next_poll_at, $2) ELSE $2 END,
             priority = CASE WHEN $1 = 'settled' THEN 'planned' ELSE priority END,
             leased_by = CASE WHEN poll_seq > $3 THEN leased_by END,
             leased_until = CASE WHEN poll_seq > $3 THEN leased_until END,
             lease_next_at = CASE WHEN poll_seq > $3 THEN lease_next_at END
         WHERE attempt_id = $4",
    )
    .bind(<&str>::from(state))
    .bind(next.map(Time))
    .bind(i64::from(due.poll_seq))
    .bind(due.attempt_id.as_str())
    .bind(Time(now))
    .execute(tx)
    .await?;
    Ok(())
}

pub(super) async fn schedule(
    tx: &mut PgConnection,
    id: &OrderId,
    at: Timestamp,
) -> Result<bool, StorageError> {
    let scheduled = sqlx::query(
        "UPDATE polls SET next_poll_at = $1, priority = CASE priority WHEN 'hinted' THEN priority ELSE 'watched' END
         WHERE attempt_id = (SELECT current_attempt FROM orders WHERE id = $2) AND payment_state <> 'settled'
             AND (next_poll_at IS NULL OR next_poll_at > $1)",
    )
    .bind(Time(at))
    .bind(id.as_str())
    .execute(tx)
    .await?;
    Ok(scheduled.rows_affected() > 0)
}

pub(super) async fn schedule_of_order(
    tx: &mut PgConnection,
    id: &OrderId,
    pause: SignedDuration,
    now: Timestamp,
) -> Result<bool, StorageError> {
    let scheduled = sqlx::query(
        "UPDATE polls SET next_poll_at = greatest($1, coalesce(polled_at, opened_at) + $2 * interval '1 ms'),
             priority = CASE priority WHEN 'hinted' THEN priority ELSE 'watched' END
         WHERE order_id = $3 AND payment_state <> 'frozen' AND (next_poll_at IS NULL
             OR next_poll_at > greatest($1, coalesce(polled_at, opened_at) + $2 * interval '1 ms'))",
    )
    .bind(Time(now))
    .bind(milliseconds(pause))
    .bind(id.as_str())
    .execute(tx)
    .await?;
    Ok(scheduled.rows_affected() > 0)
}

/// The time by the server's clock where the caller's is behind: what other processes have planned meanwhile is right.
pub(super) async fn not_before_the_server(
    tx: &mut PgConnection,
    now: Timestamp,
    clock: Option<Time>,
) -> Result<Timestamp, StorageError> {
    let later = sqlx::query_scalar("SELECT greatest($1, coalesce($2, clock_timestamp()))");
    let Time(later) = later.bind(Time(now)).bind(clock).fetch_one(tx).await?;
    Ok(later)
}

/// By the clock that is right, what lies in the future has not happened: it was written by one that was ahead.
pub(super) async fn replan_future(
    tx: &mut PgConnection,
    now: Timestamp,
    clock: Option<Time>,
) -> Result<u64, StorageError> {
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

pub(super) async fn queue(
    connection: &mut PgConnection,
    until: Timestamp,
    most: u32,
) -> Result<PollQueue, StorageError> {
    let mut queue = PollQueue::default();
    for priority in [
        PollPriority::Callback,
        PollPriority::Watched,
        PollPriority::Unwatched,
    ] {
        let (due, first): (i64, Option<Time>) = sqlx::query_as(
            "SELECT (SELECT count(*) FROM (
                     SELECT 1 FROM polls WHERE priority = $1 AND next_poll_at <= $2 LIMIT $3) AS due),
                 (SELECT min(next_poll_at) FROM polls WHERE priority = $1 AND next_poll_at IS NOT NULL)",
        )
        .bind(<&str>::from(priority))
        .bind(Time(until))
        .bind(i64::from(most))
        .fetch_one(&mut *connection)
        .await?;
        queue.count(priority, due);
        if let Some(Time(first)) = first {
            queue.first.insert(priority, first);
        }
    }
    Ok(queue)
}

/// A poll that a callback causes.
#[derive(Clone, Debug)]
struct WantedPoll {
    attempt: String,
    at: Time,
}

impl PostgresStorage {
    /// Schedules the poll that a callback causes. One that changes nothing reads only.
    pub(super) async fn schedule_poll_of(
        &self,
        invoice: &InvoiceId,
        known: InvoiceKind,
        at: Timestamp,
    ) -> Result<bool, StorageError> {
        let wanted = read!(self, |reader| wanted(reader, invoice, known, at))?;
        let Some(wanted) = wanted else {
            return Ok(false);
        };
        transaction!(self, Repeat, [wanted], |tx| schedule_at(tx, &wanted, known)
            .await)
    }
}

/// When a callback causes a poll of an invoice; `None` if one is due before.
async fn wanted(
    connection: &mut PgConnection,
    id: &InvoiceId,
    known: InvoiceKind,
    at: Timestamp,
) -> Result<Option<WantedPoll>, StorageError> {
    // The response to a poll whose lease has expired reschedules the next poll: only a poll that is
    // due before the end of the lease is kept.
    let wanted: Option<(String, Time)> = sqlx::query_as(
        "SELECT attempt_id, wanted FROM (
             SELECT *, CASE WHEN NOT $4 AND lease_next_at <= $1 THEN lease_next_at - interval '1 ms'
                 ELSE greatest($1, polled_at + $3 * interval '1 ms') END AS wanted FROM polls) AS polls
         WHERE invoice_id = $2 AND (payment_state = 'settled') = $4
             AND (next_poll_at IS NULL OR next_poll_at > wanted)",
    )
    .bind(Time(at))
    .bind(id.as_str())
    .bind(known.debounce_ms())
    .bind(known == InvoiceKind::Settled)
    .fetch_optional(connection)
    .await?;
    Ok(wanted.map(|(attempt, at)| WantedPoll { attempt, at }))
}

async fn schedule_at(
    tx: &mut PgConnection,
    wanted: &WantedPoll,
    known: InvoiceKind,
) -> Result<bool, StorageError> {
    let scheduled = sqlx::query(
        "UPDATE polls SET next_poll_at = $1, priority = 'hinted'
         WHERE attempt_id = $2 AND (payment_state = 'settled') = $3
             AND (next_poll_at IS NULL OR next_poll_at > $1)",
    )
    .bind(wanted.at)
    .bind(&wanted.attempt)
    .bind(known == InvoiceKind::Settled)
    .execute(tx)
    .await?;
    Ok(scheduled.rows_affected() > 0)
}

pub(super) async fn store_of(
    connection: &mut PgConnection,
    id: &InvoiceId,
) -> Result<Option<StoreId>, StorageError> {
    let found: Option<String> = sqlx::query_scalar(
        "SELECT store_id FROM orders WHERE id = (SELECT order_id FROM polls WHERE invoice_id = $1)",
    )
    .bind(id.as_str())
    .fetch_optional(connection)
    .await?;
    let store = found.map(|store| rows::read("a store id", StoreId::parse(&store)));
    store.transpose()
}

/// Reschedules a poll that failed, unless its lease was lost.
pub(super) async fn reschedule(
    tx: &mut PgConnection,
    due: &DueAttempt,
    until: Timestamp,
    now: Timestamp,
) -> Result<(), StorageError> {
    sqlx::query(
        "UPDATE polls SET next_poll_at = $1, polled_at = greatest(polled_at, $5), leased_by = NULL, leased_until = NULL, lease_next_at = NULL,
             priority = CASE priority WHEN 'planned' THEN $2 ELSE priority END
         WHERE attempt_id = $3 AND poll_seq = $4",
    )
    .bind(Time(until))
    .bind(<&str>::from(due.priority))
    .bind(due.attempt_id.as_str())
    .bind(i64::from(due.poll_seq))
    .bind(Time(now))
    .execute(tx)
    .await?;
    Ok(())
}
