//! The real storage with injected faults: calls that fail before, within or after their commit, and crashes of the
//! process at each of these points.

use std::future::Future;

use async_trait::async_trait;
use florin_orders::{
    Abandoned, Aggregate, Attempt, AttemptId, Event, EventId, Invoice, InvoiceId, NewAttempt,
    NewOrder, NewRefund, Observation, OrderId, PollPriority, Snapshot, StoreId, TokenHash,
    WebhookId,
};
use florin_storage::{
    Actor, AttemptStorage, AuditEntry, Claim, Credited, DecideError, Delivery, DeliveryFilter,
    DeliveryOutcome, DeliveryStorage, DueAttempt, DueDelivery, Endpoint, EndpointStatus,
    ExpiringStorage, Failure, Fingerprint, GivenUpEvent, KeptEmail, MarkedAsPaid, NamedTransaction,
    NewAuditEntry, NewDecision, OpenAttemptError, OpenError, Opened, OperatorStorage, OrderFilter,
    OrderHistory, OrderOperationError, OrderSearch, OrderVersion, PollQueue, PollStorage,
    PriceList, RecordedDelivery, RecordedObservation, RequestId, Result, Settlement, SharedStorage,
    SqliteStorage, StaffAccess, StaticFile, Storage, StorageError, StoreScope, StoredResponse,
    TokenGrant, Totals,
};
use jiff::{SignedDuration, Timestamp};

use crate::disaster::{DISASTERS, Disaster, Step};
use crate::process::Process;
use crate::world::Outage;

pub(crate) struct FaultyStorage {
    pub(crate) inner: SqliteStorage,
    pub(crate) process: Process,
}

impl std::fmt::Debug for FaultyStorage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.inner.fmt(f)
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Fault {
    Before,
    Halfway,
    /// Stored; the response is lost.
    After,
    CrashBefore,
    CrashHalfway,
    CrashAfter,
}

const FAULTS: [(u64, Fault); 6] = [
    (3, Fault::Before),
    (3, Fault::Halfway),
    (3, Fault::After),
    (1, Fault::CrashBefore),
    (1, Fault::CrashHalfway),
    (2, Fault::CrashAfter),
];

impl FaultyStorage {
    /// A call during an outage. The commit of some was on its way to the disk: its outcome is unknown.
    async fn fail<T, E: Failure>(
        &self,
        name: &'static str,
        outage: Outage,
        work: impl Future<Output = Result<T, E>> + Send,
    ) -> Result<T, E> {
        let (process, world) = (&self.process, &self.process.world);
        if outage == Outage::Locked {
            process.sleep(5_000).await;
        }
        if world.random.percent(3) && !is_read(name) {
            world.count_write();
            let done = world.database.run(work);
            world.log(|| format!("storage: {name} was done, and the outcome is unknown"));
            world.count("faults of the storage", "a commit of unknown outcome");
            world.after_write(name);
            drop(done);
        }
        Err(E::from(outage.error()))
    }

    async fn call<T, E: Failure>(
        &self,
        name: &'static str,
        work: impl Future<Output = Result<T, E>> + Send,
    ) -> Result<T, E> {
        let (process, world) = (&self.process, &self.process.world);
        process.wait_while_frozen().await;
        world.step(Step::Storage);
        let outage = *world.outage();
        if let Some(outage) = outage.filter(|outage| outage.stops_reads() || !is_read(name)) {
            return self.fail(name, outage, work).await;
        }
        if world.random.percent(10) {
            process.sleep(world.random.between(0, 40)).await;
        }
        let fault = world.draw_fault("faults of the storage", 12, &FAULTS);
        if fault.is_some() {
            world.log(|| format!("storage: the fault is that of {name}"));
        }
        let kind = world.random.weigh(&DISASTERS);
        let lost = || {
            E::from(match kind {
                Disaster::Storage(outage) => outage.error(),
                _ => StorageError::Corrupt("injected: disk I/O error".into()),
            })
        };
        let halfway = matches!(fault, Some(Fault::Halfway | Fault::CrashHalfway));
        let done = match fault {
            Some(Fault::Before) => return Err(lost()),
            Some(Fault::CrashBefore) => return process.crash("before a commit").await,
            _ => {
                if halfway {
                    world.queries.arm(world.random.between(1, 6));
                }
                if !is_read(name) {
                    world.count_write();
                }
                let done = world.database.run(work);
                if halfway {
                    world.queries.arm(0);
                }
                done
            }
        };
        world.count("calls of the storage", name);
        world.after_write(name);
        if let (None, Err(error)) = (fault, &done)
            && error.storage_error().is_some()
        {
            let details = format!("{name}: {error:?}");
            world.violated("storage fails only by injected faults", &details);
        }
        match fault {
            Some(Fault::After) => return Err(lost()),
            Some(Fault::CrashHalfway) => return process.crash("within a commit").await,
            Some(Fault::CrashAfter) => return process.crash("after a commit").await,
            _ => {}
        }
        if world.random.percent(10) {
            process.sleep(world.random.between(0, 40)).await;
        }
        done
    }
}

/// Methods that write nothing.
fn is_read(name: &str) -> bool {
    matches!(
        name,
        "order_of_token"
            | "snapshot"
            | "orders"
            | "poll_queue"
            | "prices"
            | "store_of_invoice"
            | "settlement"
            | "find_orders"
            | "orders_for_attention"
            | "order_history"
            | "given_up_events"
            | "event"
            | "audit_log"
            | "credited"
            | "settlements"
            | "staff_link"
            | "staff_session"
            | "events"
            | "deliveries"
            | "endpoint_status"
            | "backlog"
    )
}

/// Every method of the storage, through [`FaultyStorage::call`].
macro_rules! with_faults {
    ($storage:ident; $(async fn $name:ident(&self $(, $argument:ident: $type:ty)* $(,)?) -> $result:ty;)* $({ $($own:tt)* })?) => {
        #[async_trait]
        impl $storage for FaultyStorage {
            $(async fn $name(&self $(, $argument: $type)*) -> $result {
                self.call(stringify!($name), self.inner.$name($($argument),*)).await
            })*
            $($($own)*)?
        }
    };
}

with_faults! {
    OperatorStorage;
    async fn decide(&self, order: &OrderId, decision: &NewDecision, now: Timestamp) -> Result<Snapshot, DecideError>;
    async fn refund(&self, order: &OrderId, refund: &NewRefund, actor: &Actor, now: Timestamp) -> Result<Snapshot, DecideError>;
    async fn find_orders(&self, search: &OrderSearch) -> Result<Vec<Aggregate>>;
    async fn orders_for_attention(&self, scope: &StoreScope, limit: u32) -> Result<Vec<Aggregate>>;
    async fn order_history(&self, scope: &StoreScope, order: &OrderId) -> Result<Option<OrderHistory>>;
    async fn given_up_events(&self, scope: &StoreScope, limit: u32) -> Result<Vec<GivenUpEvent>>;
    async fn event(&self, scope: &StoreScope, event: &EventId) -> Result<Option<Event>>;
    async fn record_audit(&self, entry: &NewAuditEntry) -> Result<()>;
    async fn audit_log(&self, after: Option<i64>, limit: u32) -> Result<Vec<AuditEntry>>;
    async fn credited(&self, scope: &StoreScope, from: Timestamp) -> Result<Vec<Credited>>;
    async fn settlements(
        &self, scope: &StoreScope, from: Timestamp, until: Timestamp, after: Option<(Timestamp, &str)>, limit: u32,
    ) -> Result<Vec<Settlement>>;
}

with_faults! {
    ExpiringStorage;
    async fn keep_prices(&self, prices: &PriceList) -> Result<()>;
    async fn prices(&self, fetched_after: Timestamp) -> Result<Vec<PriceList>>;
    async fn invalidate_prices(&self) -> Result<()>;
    async fn delete_expired_prices(&self, fetched_until: Timestamp) -> Result<u64>;
    async fn add_token(
        &self, order: &OrderId, token: TokenHash, token_expires_at: Timestamp,
    ) -> Result<()>;
    async fn claim_request(
        &self, request: RequestId, fingerprint: Fingerprint, now: Timestamp, lease_until: Timestamp,
    ) -> Result<Claim>;
    async fn store_response(
        &self, request: RequestId, lease_until: Timestamp, response: &StoredResponse, kept_until: Timestamp,
    ) -> Result<bool>;
    async fn release_request(&self, request: RequestId, lease_until: Timestamp) -> Result<()>;
    async fn delete_expired_requests(&self, now: Timestamp) -> Result<u64>;
    async fn order_of_token(&self, token: TokenHash, now: Timestamp) -> Result<Option<Snapshot>>;
    async fn token_grant(&self, token: TokenHash) -> Result<Option<TokenGrant>>;
    async fn delete_expired_tokens(&self, now: Timestamp) -> Result<u64>;
    async fn add_staff_link(
        &self, token: TokenHash, access: &StaffAccess, expires_at: Timestamp,
    ) -> Result<()>;
    async fn staff_link(&self, token: TokenHash, now: Timestamp) -> Result<Option<StaffAccess>>;
    async fn open_staff_session(
        &self, link: TokenHash, session: TokenHash, now: Timestamp,
    ) -> Result<Option<StaffAccess>>;
    async fn staff_session(&self, session: TokenHash, now: Timestamp) -> Result<Option<StaffAccess>>;
    async fn end_staff_session(&self, session: TokenHash) -> Result<()>;
    async fn delete_expired_staff_access(&self, now: Timestamp) -> Result<u64>;
    async fn keep_static_files(&self, files: &[StaticFile], now: Timestamp) -> Result<()>;
    async fn static_file(&self, name: &str) -> Result<Option<StaticFile>>;
}

with_faults! {
    AttemptStorage;
    async fn begin_attempt(
        &self, order: &OrderId, terms: &NewAttempt, now: Timestamp,
    ) -> Result<Attempt, OrderOperationError>;
    async fn open_attempt(
        &self, attempt: &AttemptId, invoice: &Invoice, now: Timestamp,
    ) -> Result<(), OpenAttemptError>;
    async fn abandon_attempt(
        &self, attempt: &AttemptId, reason: Abandoned, now: Timestamp,
    ) -> Result<()>;
    async fn abandon_stale_attempts(&self, begun_before: Timestamp, now: Timestamp) -> Result<u64>;
    async fn mark_as_paid(
        &self, order: &OrderId, named: Option<&NamedTransaction>, now: Timestamp,
    ) -> Result<MarkedAsPaid, OrderOperationError>;
}

with_faults! {
    PollStorage;
    async fn due_attempts(
        &self, poll_priority: PollPriority, now: Timestamp, lease_until: Timestamp, limit: u32,
    ) -> Result<Vec<DueAttempt>>;
    async fn schedule_poll(&self, order: &OrderId, pause: SignedDuration, now: Timestamp) -> Result<bool>;
    async fn schedule_polls_of_order(
        &self, order: &OrderId, pause: SignedDuration, now: Timestamp,
    ) -> Result<bool>;
    async fn replan_future(&self, now: Timestamp) -> Result<u64>;
    async fn poll_queue(&self, until: Timestamp, most: u32) -> Result<PollQueue>;
    async fn schedule_poll_of_invoice(&self, invoice: &InvoiceId, at: Timestamp) -> Result<bool>;
    async fn schedule_recheck(&self, invoice: &InvoiceId, at: Timestamp) -> Result<bool>;
    async fn store_of_invoice(&self, invoice: &InvoiceId) -> Result<Option<StoreId>>;
    async fn reschedule_poll(&self, due: &DueAttempt, until: Timestamp, now: Timestamp) -> Result<()>;
    async fn record_observation(&self, due: &DueAttempt, observation: &Observation) -> Result<Option<RecordedObservation>>;
}

with_faults! {
    DeliveryStorage;
    async fn events(
        &self, store: &StoreId, after: Option<&EventId>, limit: u32,
    ) -> Result<Option<Vec<Event>>>;
    async fn set_webhooks(
        &self, store: &StoreId, webhooks: Vec<(WebhookId, Option<Vec<String>>)>,
    ) -> Result<Vec<Endpoint>>;
    async fn due_deliveries(
        &self, endpoint: &Endpoint, now: Timestamp, lease_until: Timestamp, limit: u32,
    ) -> Result<Vec<DueDelivery>>;
    async fn record_delivery(&self, delivery: &Delivery, outcome: DeliveryOutcome) -> Result<()>;
    async fn deliveries(
        &self, store: &StoreId, filter: &DeliveryFilter,
    ) -> Result<Option<Vec<RecordedDelivery>>>;
    async fn redeliver(
        &self, store: &StoreId, event: &EventId, webhook: Option<&WebhookId>, now: Timestamp,
    ) -> Result<bool>;
    async fn endpoint_status(&self, endpoint: &Endpoint) -> Result<EndpointStatus>;
    async fn enable_endpoint(&self, endpoint: &Endpoint, now: Timestamp) -> Result<bool>;
    async fn backlog(&self) -> Result<u64>;
}

with_faults! {
    Storage;
    async fn open_order(
        &self, id: &OrderId, terms: &NewOrder, token: TokenHash, token_expires_at: Timestamp, now: Timestamp,
    ) -> Result<Opened, OpenError>;
    async fn snapshot(&self, id: &OrderId) -> Result<Option<Snapshot>>;
    async fn orders(&self, store: &StoreId, filter: &OrderFilter) -> Result<Vec<Snapshot>>;
    async fn cancel_order(&self, id: &OrderId, now: Timestamp) -> Result<Snapshot, OrderOperationError>;
    async fn expire_orders(&self, now: Timestamp) -> Result<Vec<OrderId>>;
    async fn keep_receipt_email(
        &self, order: &OrderId, email: Option<&str>, now: Timestamp,
    ) -> Result<Option<KeptEmail>>;
    async fn keep_refund_address(
        &self, order: &OrderId, address: &str, now: Timestamp,
    ) -> Result<Option<Snapshot>>;
}

with_faults! {
    SharedStorage;
    async fn totals(&self) -> Result<Totals>;
    async fn check_database(&self) -> Result<()>;
    async fn check_writing(&self, now: Timestamp) -> Result<()>;
    {
        /// Where several proxies write, every write gives every order another version.
        async fn versions(&self, orders: &[OrderId]) -> Result<Vec<(OrderId, OrderVersion)>> {
            let world = &self.process.world;
            self.process.wait_while_frozen().await;
            if world.proxies == 1 {
                return Ok(Vec::new());
            }
            let version = OrderVersion::new([world.writes(), 0, 0, 0]);
            Ok(orders.iter().map(|order| (order.clone(), version)).collect())
        }
    }
}
