//! [`Storage`](crate::Storage) for both databases: each method is one transaction of a query.

use async_trait::async_trait;
use florin_orders::{
    Abandoned, Attempt, AttemptId, Invoice, NewAttempt, NewOrder, OrderId, Snapshot, StoreId,
    TokenHash,
};
use jiff::Timestamp;

use super::dialect::Store;
use super::{attempts, expiring, orders};
use crate::limits::BATCH;
use crate::{
    KeptEmail, MarkedAsPaid, NamedTransaction, OpenAttemptError, OpenError, Opened, OrderFilter,
    OrderOperationError, Result, Storage,
};

#[async_trait]
impl Storage for Store {
    async fn open_order(
        &self,
        id: &OrderId,
        terms: &NewOrder,
        token: TokenHash,
        token_expires_at: Timestamp,
        now: Timestamp,
    ) -> Result<Opened, OpenError> {
        transaction!(self, Repeat, [id, terms], |tx| async {
            let opened = orders::open(tx, &id, &terms, now).await?;
            expiring::add_token(tx, &opened.order.id, token, token_expires_at).await?;
            Ok(opened)
        })
    }

    async fn snapshot(&self, id: &OrderId) -> Result<Option<Snapshot>> {
        read!(self, |reader| orders::snapshot(reader, id))
    }

    async fn orders(&self, store: &StoreId, filter: &OrderFilter) -> Result<Vec<Snapshot>> {
        read!(self, |reader| orders::list(reader, store, filter))
    }

    async fn cancel_order(
        &self,
        id: &OrderId,
        now: Timestamp,
    ) -> Result<Snapshot, OrderOperationError> {
        transaction!(self, Repeat, [id], |tx| orders::cancel(tx, &id, now))
    }

    async fn expire_orders(&self, now: Timestamp) -> Result<Vec<OrderId>> {
        transaction!(self, Fail, [], |tx| orders::expire(tx, now, BATCH))
    }

    async fn begin_attempt(
        &self,
        order: &OrderId,
        terms: &NewAttempt,
        now: Timestamp,
    ) -> Result<Attempt, OrderOperationError> {
        let clock = self.clock(now);
        transaction!(self, Repeat, [order, terms], |tx| attempts::begin(
            tx, &order, &terms, now, clock
        ))
    }

    async fn open_attempt(
        &self,
        attempt: &AttemptId,
        invoice: &Invoice,
        now: Timestamp,
    ) -> Result<(), OpenAttemptError> {
        transaction!(self, Repeat, [attempt, invoice], |tx| attempts::open(
            tx, &attempt, &invoice, now
        ))
    }

    async fn abandon_attempt(
        &self,
        attempt: &AttemptId,
        reason: Abandoned,
        now: Timestamp,
    ) -> Result<()> {
        transaction!(self, Repeat, [attempt], |tx| attempts::abandon(
            tx, &attempt, reason, now
        ))
    }

    async fn abandon_stale_attempts(&self, begun_before: Timestamp, now: Timestamp) -> Result<u64> {
        let (clock, age) = (self.clock(now), now.duration_since(begun_before));
        transaction!(self, Repeat, [], |tx| async {
            let stale = attempts::stale(tx, age, clock, BATCH).await?;
            for attempt in &stale {
                attempts::abandon(tx, attempt, Abandoned::OutcomeUnknown, now).await?;
            }
            Ok(stale.len() as u64)
        })
    }

    async fn mark_as_paid(
        &self,
        order: &OrderId,
        named: Option<&NamedTransaction>,
        now: Timestamp,
    ) -> Result<MarkedAsPaid, OrderOperationError> {
        let named = named.cloned();
        transaction!(self, Repeat, [order, named], |tx| attempts::mark_as_paid(
            tx,
            &order,
            named.as_ref(),
            now
        ))
    }

    async fn keep_receipt_email(
        &self,
        order: &OrderId,
        email: Option<&str>,
        now: Timestamp,
    ) -> Result<Option<KeptEmail>> {
        let email = email.map(str::to_owned);
        transaction!(self, Repeat, [order, email], |tx| {
            orders::keep_receipt_email(tx, &order, email.as_deref(), now)
        })
    }
}
