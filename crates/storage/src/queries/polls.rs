//! Polls: leased, scheduled, rescheduled.

use async_trait::async_trait;
use florin_orders::{
    AttemptId, Invoice, InvoiceId, Observation, OrderId, PollPriority, StoreId, Stretch, next_poll,
};
use jiff::{SignedDuration, Timestamp};

use super::dialect::{self, Connection, Row, Store};
use super::{observe, orders};
use crate::limits::milliseconds;
use crate::rows::{self, Record as _, Time};
use crate::{DueAttempt, PollQueue, PollStorage, RecordedObservation, Result};

impl Store {
    /// Schedules the poll that a callback causes. A callback that changes nothing reads only.
    async fn schedule_callback_poll(
        &self,
        invoice: &InvoiceId,
        is_settled: bool,
        at: Timestamp,
    ) -> Result<bool> {
        // The shortest time between polls of an invoice that callbacks cause, whatever their number.
        let pause_ms: i64 = if is_settled { 60_000 } else { 2000 };
        // The response to a poll whose lease has expired reschedules the next poll: only a poll that is due before the
        // end of the lease is kept.
        let poll: Option<(String, Time)> = read!(self, |reader| async {
            let poll = sqlx::query_as(dialect::POLL_FOR_CALLBACK)
                .bind(Time(at))
                .bind(invoice.as_str())
                .bind(pause_ms)
                .bind(is_settled);
            Ok(poll.fetch_optional(reader).await?)
        })?;
        let Some((attempt, at)) = poll else {
            return Ok(false);
        };
        transaction!(self, Repeat, [attempt], |tx| async {
            let scheduled = sqlx::query(
                "UPDATE polls SET next_poll_at = $1, priority = 'callback'
                 WHERE attempt_id = $2 AND (payment_state = 'settled') = $3
                     AND (next_poll_at IS NULL OR next_poll_at > $1)",
            )
            .bind(at)
            .bind(&attempt)
            .bind(is_settled)
            .execute(&mut **tx)
            .await?;
            Ok(scheduled.rows_affected() > 0)
        })
    }
}

#[async_trait]
impl PollStorage for Store {
    /// Two processes never wait for each other: what one has locked, the other leaves out.
    async fn due_attempts(
        &self,
        priority: PollPriority,
        now: Timestamp,
        lease_until: Timestamp,
        limit: u32,
    ) -> Result<Vec<DueAttempt>> {
        let lease = self.holder.lease(now, lease_until);
        transaction!(self, Fail, [lease], |tx| async {
            let leased = sqlx::query(dialect::LEASE_POLLS)
                .bind(<&str>::from(priority))
                .bind(Time(lease.now))
                .bind(Time(lease.until))
                .bind(lease.clock)
                .bind(lease.length_ms())
                .bind(i64::from(limit))
                .bind(&*lease.holder)
                .fetch_all(&mut **tx)
                .await?;
            let due = leased.iter().map(|row| due_attempt(row, priority));
            due.collect()
        })
    }

    async fn schedule_poll(
        &self,
        order: &OrderId,
        pause: SignedDuration,
        now: Timestamp,
    ) -> Result<bool> {
        transaction!(self, Repeat, [order], |tx| async {
            let scheduled = sqlx::query(dialect::SCHEDULE_POLL)
                .bind(Time(now))
                .bind(milliseconds(pause))
                .bind(order.as_str())
                .execute(&mut **tx)
                .await?;
            Ok(scheduled.rows_affected() > 0)
        })
    }

    async fn schedule_polls_of_order(
        &self,
        order: &OrderId,
        pause: SignedDuration,
        now: Timestamp,
    ) -> Result<bool> {
        transaction!(self, Repeat, [order], |tx| async {
            orders::lock(tx, &order).await?;
            let scheduled = sqlx::query(dialect::SCHEDULE_POLLS_OF_ORDER)
                .bind(Time(now))
                .bind(milliseconds(pause))
                .bind(order.as_str())
                .execute(&mut **tx)
                .await?;
            Ok(scheduled.rows_affected() > 0)
        })
    }

    async fn replan_future(&self, now: Timestamp) -> Result<u64> {
        let clock = self.holder.clock(now);
        transaction!(self, Repeat, [], |tx| dialect::replan_future(
            tx, now, clock
        ))
    }

    async fn poll_queue(&self, until: Timestamp, most: u32) -> Result<PollQueue> {
        read!(self, |reader| queue(reader, until, most))
    }

    async fn schedule_poll_of_invoice(&self, invoice: &InvoiceId, at: Timestamp) -> Result<bool> {
        self.schedule_callback_poll(invoice, false, at).await
    }

    async fn schedule_recheck(&self, invoice: &InvoiceId, at: Timestamp) -> Result<bool> {
        self.schedule_callback_poll(invoice, true, at).await
    }

    async fn store_of_invoice(&self, invoice: &InvoiceId) -> Result<Option<StoreId>> {
        let store = "SELECT store_id FROM orders WHERE id = (SELECT order_id FROM polls WHERE invoice_id = $1)";
        let found: Option<String> = read!(self, |reader| async {
            let store = sqlx::query_scalar(store).bind(invoice.as_str());
            Ok(store.fetch_optional(reader).await?)
        })?;
        let store = found.map(|store| rows::read("a store id", StoreId::parse(&store)));
        store.transpose()
    }

    /// Does nothing if the lease was lost.
    async fn reschedule_poll(
        &self,
        due: &DueAttempt,
        until: Timestamp,
        now: Timestamp,
    ) -> Result<()> {
        transaction!(self, Repeat, [due], |tx| async {
            sqlx::query(
                "UPDATE polls SET next_poll_at = $1, polled_at = CASE WHEN polled_at > $5 THEN polled_at ELSE $5 END,
                     leased_by = NULL, leased_until = NULL, lease_next_at = NULL,
                     priority = CASE priority WHEN 'unwatched' THEN $2 ELSE priority END
                 WHERE attempt_id = $3 AND poll_seq = $4",
            )
            .bind(Time(until))
            .bind(<&str>::from(due.priority))
            .bind(due.attempt_id.as_str())
            .bind(i64::from(due.poll_seq))
            .bind(Time(now))
            .execute(&mut **tx)
            .await?;
            Ok(())
        })
    }

    async fn record_observation(
        &self,
        due: &DueAttempt,
        observation: &Observation,
    ) -> Result<Option<RecordedObservation>> {
        transaction!(self, Repeat, [due, observation], |tx| observe::record(
            tx,
            &due,
            &observation
        ))
    }
}

pub(super) async fn insert(
    tx: &mut Connection,
    order: &OrderId,
    id: &AttemptId,
    invoice: &Invoice,
    now: Timestamp,
) -> Result<()> {
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

fn due_attempt(row: &Row, priority: PollPriority) -> Result<DueAttempt> {
    Ok(DueAttempt {
        priority,
        attempt_id: row.parsed("attempt_id", AttemptId::parse)?,
        order_id: row.parsed("order_id", OrderId::parse)?,
        invoice_id: row.parsed("invoice_id", InvoiceId::parse)?,
        poll_seq: row.number("poll_seq")?,
        stretch: Stretch::NONE,
        traceparent: rows::traceparent(row)?,
    })
}

/// Ends the leases of a process that closes: its polls are due at once. Those of other processes are theirs.
pub(super) async fn end_leases(tx: &mut Connection, holder: &str) -> Result<()> {
    sqlx::query(
        "UPDATE polls SET next_poll_at = CASE WHEN polled_at < next_poll_at THEN polled_at ELSE next_poll_at END, leased_by = NULL, leased_until = NULL,
             lease_next_at = NULL
         WHERE leased_by = $1",
    )
    .bind(holder)
    .execute(tx)
    .await?;
    Ok(())
}

async fn queue(connection: &mut Connection, until: Timestamp, most: u32) -> Result<PollQueue> {
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
