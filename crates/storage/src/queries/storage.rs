//! [`Storage`](crate::Storage) for both databases: each method is one transaction of a query.

use async_trait::async_trait;
use florin_orders::{
    Abandoned, Attempt, AttemptId, Event, EventId, Invoice, InvoiceId, NewAttempt, NewOrder,
    Observation, OrderId, PollPriority, Snapshot, StoreId, TokenHash,
};
use jiff::{SignedDuration, Timestamp};

use super::dialect::{Store, statements};
use super::{attempts, deliveries, dialect, expiring, observe, orders, polls};
use crate::limits::{BATCH, InvoiceKind, RESTART_BATCH};
use crate::{
    Claim, Credit, Delivery, DeliveryFilter, DeliveryOutcome, DueAttempt, DueDelivery,
    EndpointStatus, Fingerprint, KeptEmail, MarkedAsPaid, NamedTransaction, OpenAttemptError,
    OpenError, Opened, OrderFilter, OrderOperationError, PollQueue, PriceList, RecordedDelivery,
    RecordedObservation, RequestId, Result, Storage, StorageError, StoredResponse, TokenGrant,
};

impl Store {
    /// Schedules the poll that a callback causes. A callback that changes nothing reads only.
    async fn schedule_callback_poll(
        &self,
        invoice: &InvoiceId,
        known: InvoiceKind,
        at: Timestamp,
    ) -> Result<bool> {
        let poll = read!(self, |reader| polls::for_callback(
            reader, invoice, known, at
        ))?;
        let Some(poll) = poll else {
            return Ok(false);
        };
        transaction!(self, Repeat, [poll], |tx| polls::schedule_for_callback(
            tx, &poll, known
        ))
    }
}

#[async_trait]
impl Storage for Store {
    async fn keep_prices(&self, prices: &PriceList) -> Result<()> {
        transaction!(self, Repeat, [prices], |tx| expiring::keep_prices(
            tx, &prices
        ))
    }

    async fn prices(&self, fetched_after: Timestamp) -> Result<Vec<PriceList>> {
        read!(self, |reader| expiring::prices_after(reader, fetched_after))
    }

    async fn invalidate_prices(&self) -> Result<()> {
        transaction!(self, Repeat, [], |tx| expiring::invalidate_prices(tx))
    }

    async fn delete_expired_prices(&self, fetched_until: Timestamp) -> Result<u64> {
        transaction!(self, Repeat, [], |tx| expiring::delete_expired(
            tx,
            statements::DELETE_EXPIRED_PRICES,
            fetched_until
        ))
    }

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

    async fn add_token(
        &self,
        order: &OrderId,
        token: TokenHash,
        token_expires_at: Timestamp,
    ) -> Result<()> {
        transaction!(self, Repeat, [order], |tx| expiring::add_token(
            tx,
            &order,
            token,
            token_expires_at
        ))
    }

    async fn claim_request(
        &self,
        request: RequestId,
        fingerprint: Fingerprint,
        now: Timestamp,
        lease_until: Timestamp,
    ) -> Result<Claim> {
        let lease = self.lease(now, lease_until);
        transaction!(self, Repeat, [lease], |tx| expiring::claim_request(
            tx,
            request,
            fingerprint,
            &lease
        ))
    }

    async fn store_response(
        &self,
        request: RequestId,
        lease_until: Timestamp,
        response: &StoredResponse,
        kept_until: Timestamp,
    ) -> Result<bool> {
        transaction!(self, Repeat, [response], |tx| expiring::store_response(
            tx,
            request,
            lease_until,
            &response,
            kept_until
        ))
    }

    async fn release_request(&self, request: RequestId, lease_until: Timestamp) -> Result<()> {
        transaction!(self, Repeat, [], |tx| expiring::release_request(
            tx,
            request,
            lease_until
        ))
    }

    async fn delete_expired_requests(&self, now: Timestamp) -> Result<u64> {
        let clock = self.clock(now);
        transaction!(self, Repeat, [], |tx| expiring::delete_expired_requests(
            tx, now, clock
        ))
    }

    async fn order_of_token(&self, token: TokenHash, now: Timestamp) -> Result<Option<Snapshot>> {
        read!(self, |reader| expiring::order_of_token(reader, token, now))
    }

    async fn token_grant(&self, token: TokenHash) -> Result<Option<TokenGrant>> {
        read!(self, |reader| expiring::token_grant(reader, token))
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

    async fn delete_expired_tokens(&self, now: Timestamp) -> Result<u64> {
        transaction!(self, Repeat, [], |tx| expiring::delete_expired(
            tx,
            statements::DELETE_EXPIRED_TOKENS,
            now
        ))
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

    async fn due_attempts(
        &self,
        priority: PollPriority,
        now: Timestamp,
        lease_until: Timestamp,
        limit: u32,
    ) -> Result<Vec<DueAttempt>> {
        let lease = self.lease(now, lease_until);
        transaction!(self, Fail, [lease], |tx| polls::due(
            tx, priority, &lease, limit
        ))
    }

    async fn schedule_poll(&self, order: &OrderId, at: Timestamp) -> Result<bool> {
        transaction!(self, Repeat, [order], |tx| polls::schedule(tx, &order, at))
    }

    async fn schedule_polls_of_order(
        &self,
        order: &OrderId,
        pause: SignedDuration,
        now: Timestamp,
    ) -> Result<bool> {
        transaction!(self, Repeat, [order], |tx| async {
            orders::lock(tx, &order).await?;
            polls::schedule_of_order(tx, &order, pause, now).await
        })
    }

    async fn replan_future(&self, now: Timestamp) -> Result<u64> {
        let clock = self.clock(now);
        transaction!(self, Repeat, [], |tx| dialect::replan_future(
            tx, now, clock
        ))
    }

    async fn poll_queue(&self, until: Timestamp, most: u32) -> Result<PollQueue> {
        read!(self, |reader| polls::queue(reader, until, most))
    }

    async fn schedule_poll_of_invoice(&self, invoice: &InvoiceId, at: Timestamp) -> Result<bool> {
        self.schedule_callback_poll(invoice, InvoiceKind::Unsettled, at)
            .await
    }

    async fn schedule_recheck(&self, invoice: &InvoiceId, at: Timestamp) -> Result<bool> {
        self.schedule_callback_poll(invoice, InvoiceKind::Settled, at)
            .await
    }

    async fn store_of_invoice(&self, invoice: &InvoiceId) -> Result<Option<StoreId>> {
        read!(self, |reader| polls::store_of(reader, invoice))
    }

    async fn reschedule_poll(
        &self,
        due: &DueAttempt,
        until: Timestamp,
        now: Timestamp,
    ) -> Result<()> {
        transaction!(self, Repeat, [due], |tx| polls::reschedule(
            tx, &due, until, now
        ))
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

    async fn credit_of(&self, order: &OrderId) -> Result<Option<Credit>> {
        read!(self, |reader| observe::credit_of(reader, order))
    }

    async fn events(
        &self,
        store: &StoreId,
        after: Option<&EventId>,
        limit: u32,
    ) -> Result<Option<Vec<Event>>> {
        read!(self, |reader| dialect::event_page(
            reader, store, after, limit
        ))
    }

    async fn due_deliveries(
        &self,
        store: &StoreId,
        now: Timestamp,
        lease_until: Timestamp,
        limit: u32,
    ) -> Result<Vec<DueDelivery>> {
        if !read!(self, |reader| deliveries::may_be_due(
            reader, store, now, limit
        ))? {
            return Ok(Vec::new());
        }
        let lease = self.lease(now, lease_until);
        transaction!(self, Fail, [store, lease], |tx| deliveries::due(
            tx, &store, &lease, limit
        ))
    }

    async fn record_delivery(&self, delivery: &Delivery, outcome: DeliveryOutcome) -> Result<()> {
        let holder = self.holder();
        transaction!(self, Repeat, [delivery, holder], |tx| deliveries::record(
            tx, &delivery, outcome, &holder
        ))
    }

    async fn deliveries(
        &self,
        store: &StoreId,
        filter: &DeliveryFilter,
    ) -> Result<Option<Vec<RecordedDelivery>>> {
        read!(self, |reader| deliveries::page(reader, store, filter))
    }

    async fn redeliver(&self, store: &StoreId, event: &EventId, now: Timestamp) -> Result<bool> {
        transaction!(self, Repeat, [store, event], |tx| deliveries::redeliver(
            tx, &store, &event, now
        ))
    }

    async fn endpoint_status(&self, store: &StoreId) -> Result<EndpointStatus> {
        read!(self, |reader| deliveries::endpoint_status(reader, store))
    }

    async fn enable_endpoint(&self, store: &StoreId, now: Timestamp) -> Result<bool> {
        if !read!(self, |reader| deliveries::is_disabled(reader, store))? {
            return Ok(false);
        }
        // Nothing is delivered meanwhile: the endpoint is enabled last.
        let mut after = 0;
        loop {
            let last = transaction!(self, Repeat, [store], |tx| async {
                let last = deliveries::restart(tx, &store, after, now, RESTART_BATCH).await?;
                if last.is_none() {
                    deliveries::enable(tx, &store).await?;
                }
                Ok::<_, StorageError>(last)
            })?;
            match last {
                Some(last) => after = last,
                None => return Ok(true),
            }
        }
    }

    async fn backlog(&self) -> Result<u64> {
        read!(self, |reader| deliveries::backlog(reader))
    }
}
