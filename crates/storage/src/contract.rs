//! The storage contract: tests that hold for every store. Each test is a function of a backend; `contract!` makes a test of
//! it for each.

mod attempts;
mod backend;
mod callbacks;
mod credits;
mod database;
mod decisions;
mod deliveries;
mod model;
mod orders;
mod polling;
mod replanning;
mod staff;
mod statements;

use std::fmt::Debug;

use async_trait::async_trait;
use florin_orders::fixtures::{
    ADDRESS, amount, at, exact, invoice, new_attempt, observed, received, terms,
};
use florin_orders::{
    Abandoned, Assessment, Attempt, Destination, Event, EventId, EventType, EventType as E,
    LatePayment, NewOrder, Observation, OrderId, OrderStatus, PollPriority, Snapshot, StoreId,
    Stretch, TokenHash, TraceParent, TransactionHint,
};
use jiff::SignedDuration;

pub(crate) use self::backend::Store;
use self::backend::{Backend, Test};
pub(crate) use self::statements::statements;
use crate::{
    Delivery, DeliveryFilter, DeliveryOutcome, DueAttempt, DueDelivery, EmailChange,
    EndpointStatus, KeptEmail, NamedTransaction, OpenAttemptError, OpenError, Opened, OrderFilter,
    OrderOperationError, PROBE_INTERVAL, PollQueue, RecordedObservation, Result, Retry, Storage,
    StorageError,
};

/// The highest first.
const PRIORITIES: [PollPriority; 3] = [
    PollPriority::Callback,
    PollPriority::Watched,
    PollPriority::Unwatched,
];

/// Makes a test for each backend. A function that is missing here is reported as unused.
macro_rules! contract {
    (
        $($module:ident { $($name:ident,)* })*
        ; $($any_module:ident { $any_name:ident })*
    ) => {
        contract!(@ sqlite, Sqlite, $($module { $($name,)* })* ; $($any_module { $any_name })*);
        contract!(@ postgres, Postgres, $($module { $($name,)* })* ; $($any_module { $any_name })*);
    };
    (
        @ $backend:ident, $variant:ident, $($module:ident { $($name:ident,)* })*
        ; $($any_module:ident { $any_name:ident })*
    ) => {
        mod $backend {
            use super::backend::Backend;

            $(mod $module {
                use super::Backend;

                $(#[tokio::test]
                async fn $name() {
                    super::super::$module::$name(Backend::$variant).await;
                })*
            })*

            $(#[test]
            fn $any_name() {
                super::$any_module::$any_name(Backend::$variant);
            })*
        }
    };
}

contract! {
    attempts {
        one_attempt_is_opened_at_a_time,
        no_customer_opens_a_dozen_attempts_in_a_minute,
        a_blocked_invoice_is_reported_and_another_can_be_opened,
        a_paid_or_cancelled_order_takes_no_attempt,
        a_cancelled_order_never_asks_for_money_again,
        an_invoice_that_comes_after_the_cancellation_is_not_shown,
        no_attempt_is_opened_while_a_payment_is_detected,
        a_payment_that_failed_may_be_made_anew,
        saying_paid_moves_the_screen_and_credits_nothing,
        a_credited_order_is_not_marked_as_paid,
        a_wallets_transaction_is_kept_as_a_hint,
        a_transaction_for_an_earlier_attempt_marks_no_other,
        an_invoice_belongs_to_one_attempt,
    }
    credits {
        the_first_sale_is_credited_once_and_reported_in_order,
        a_contradiction_is_news_once_and_the_order_stays_paid,
        two_paid_attempts_credit_one_order_once,
        a_late_payment_is_reported_with_its_own_invoice,
        a_second_payment_that_returns_is_reported_once_and_a_larger_one_again,
        a_response_that_repeats_is_counted_and_a_padded_one_is_cut,
    }
    database {
        prices_are_kept_until_they_are_invalidated_or_expire,
        prices_survive_the_process,
        files_of_a_version_are_kept_while_it_runs_and_thirty_days_after,
        a_request_is_executed_once_and_replayed,
        a_crash_locks_no_key_for_ever,
        a_crash_under_a_clock_that_was_ahead_locks_no_key_for_longer,
        the_database_itself_refuses_to_rewrite_history,
        a_database_serves_one_environment,
        a_payment_needs_review_until_a_clear_response,
        a_changed_address_needs_review,
        the_oldest_waiting_event_of_each_store_is_found,
    }
    decisions {
        an_acceptance_credits_once_and_is_audited,
        of_a_decision_and_a_completion_at_the_same_moment_one_credits,
        orders_that_wait_for_a_person_are_listed_until_a_decision,
        orders_are_found_by_status_store_and_text,
        the_audit_log_only_grows,
    }
    staff {
        a_link_opens_one_session_until_it_expires,
        of_two_openings_of_a_link_one_succeeds,
        a_store_has_a_bounded_number_of_links_and_sessions,
        staff_finds_and_decides_in_its_store_alone,
        another_stores_orders_change_no_search,
    }
    deliveries {
        events_of_an_order_are_delivered_in_their_order,
        nothing_is_sent_to_an_endpoint_that_is_gone_and_nothing_is_lost,
        an_enabled_endpoint_waits_for_no_try_in_progress,
        a_stores_deliveries_are_its_own,
        events_of_a_donation_have_their_own_names,
        a_late_failure_does_not_undo_a_delivery,
        a_redelivery_waits_for_no_try_in_progress,
        a_redelivery_delays_no_later_event,
        an_abandoned_event_is_redelivered_before_pending_ones,
        events_of_orders_with_money_are_delivered_before_all_others,
        other_events_leave_a_place_for_one_with_money,
        an_acceptance_makes_all_waiting_events_of_the_store_due,
        a_rejected_event_is_brought_forward_less_often_than_others_are_accepted,
        money_that_waits_is_tried_by_one_event_at_a_time,
        money_makes_the_waiting_event_of_its_order_due,
    }
    orders {
        orders_expire_in_batches,
        a_reference_names_one_order_at_one_price,
        what_was_opened_is_what_is_read,
        polls_and_deliveries_of_an_order_have_its_trace,
        a_token_opens_its_order_until_it_expires,
        an_order_without_an_attempt_expires_with_an_event,
        another_store_sees_nothing,
        orders_come_in_pages_newest_first,
        what_was_committed_survives_the_process,
        the_receipts_address_is_kept_replaced_and_removed,
        a_paid_order_keeps_its_receipts_address,
        an_address_that_a_paid_order_is_given_is_an_event,
    }
    polling {
        a_slow_response_never_overwrites_a_later_one,
        an_attempt_is_leased_to_one_poller_at_a_time,
        a_callback_only_brings_the_next_poll_forward,
        a_callback_schedules_a_poll_long_after_the_last_one,
        a_callback_during_a_poll_schedules_another_unless_it_settles,
        a_payment_that_needs_review_is_news_once_and_polled_rarely,
        a_callback_schedules_a_poll_two_seconds_after_the_last_one,
        a_rescheduled_poll_keeps_its_priority,
        a_late_reschedule_does_not_end_a_later_poll,
        a_callback_during_the_last_poll_schedules_another,
        only_a_contradicting_callback_schedules_a_recheck_after_a_minute,
        a_failure_without_a_payment_is_distinguished,
        all_attempts_of_an_order_are_polled_for_a_second_payment,
        polls_that_wait_are_counted,
        a_poll_is_put_off_by_the_stretch,
    }
    replanning {
        an_attempt_begun_by_a_clock_that_was_ahead_is_abandoned_when_it_is_right,
        what_a_clock_that_was_ahead_has_planned_is_due_when_it_is_right,
        a_poll_that_ends_while_the_clock_is_ahead_is_planned_again,
        a_delivery_that_ends_while_the_clock_is_ahead_is_planned_again,
        what_is_planned_while_plans_are_searched_keeps_its_plan,
    }
    ;
    callbacks { no_callback_is_lost_and_no_two_polls_overlap }
    model { the_database_makes_of_every_life_what_the_pure_functions_do }
}

pub(crate) fn id(number: u8) -> OrderId {
    OrderId::from_random([number; 16])
}

pub(crate) fn token(number: u8) -> TokenHash {
    TokenHash([number; 32])
}

pub(crate) fn demo() -> StoreId {
    shop("demo")
}

fn shop(name: &str) -> StoreId {
    StoreId::parse(name).unwrap()
}

/// A response with too little money.
pub(crate) fn too_little(status: &str) -> Observation {
    received(status, "0.0001", "6.42", "6.42")
}

/// A poll of the attempt of a number.
pub(crate) fn polled(number: u8, poll_seq: u32) -> DueAttempt {
    DueAttempt {
        attempt_id: new_attempt(number).id,
        order_id: id(number),
        invoice_id: invoice(number).id,
        priority: PollPriority::Unwatched,
        poll_seq,
        stretch: Stretch::NONE,
        traceparent: None,
    }
}

/// A try at an event that began at a second.
pub(crate) fn tried(event: &EventId, second: i64, http_status: u16) -> Delivery {
    Delivery {
        event_id: event.clone(),
        tried_at: at(second),
        took: SignedDuration::ZERO,
        http_status: Some(http_status),
        note: format!("answered {http_status}"),
    }
}

/// What follows from a failed try of the schedule at that second.
pub(crate) fn retry(failed: i64, again: i64) -> DeliveryOutcome {
    DeliveryOutcome::Retry(Retry {
        at: at(again),
        early_from: at(failed),
        probe_at: at(failed) + PROBE_INTERVAL,
        is_counted: true,
    })
}

/// The status for which an operation was refused.
pub(crate) fn closed_in<T: Debug>(done: Result<T, OrderOperationError>) -> OrderStatus {
    match done {
        Err(OrderOperationError::Closed { from, .. }) => from,
        other => panic!("{other:?}"),
    }
}

/// A store as tests use it: times are seconds, leases last 30 of them, and the order, the attempt and the invoice of a number
/// belong together.
#[async_trait]
pub(crate) trait ByNumber: Storage {
    /// Opens an order of the demo store, `r1` for the first, at second 0.
    async fn order(&self, number: u8) -> Opened {
        let terms = terms(&format!("r{number}"));
        self.open(number, &terms, 0).await
    }

    /// Opens an order with a token of a day.
    async fn open(&self, number: u8, terms: &NewOrder, now: i64) -> Opened {
        let (id, ends) = (id(number), at(86_400));
        let opened = self.open_order(&id, terms, token(number), ends, at(now));
        opened.await.unwrap()
    }

    /// Opens an order with an open attempt of the same number.
    async fn awaiting(&self, number: u8) {
        self.order(number).await;
        self.add_attempt(number, number).await;
    }

    /// Opens an attempt of an order.
    async fn add_attempt(&self, order: u8, number: u8) {
        self.begin(order, number, 0).await.unwrap();
        self.confirm(number, 0).await;
    }

    async fn begin(&self, order: u8, number: u8, now: i64) -> Result<Attempt, OrderOperationError> {
        let attempt = new_attempt(number);
        self.begin_attempt(&id(order), &attempt, at(now)).await
    }

    /// Stores the invoice of an attempt.
    async fn confirm(&self, number: u8, now: i64) {
        let (attempt, invoice) = (new_attempt(number).id, invoice(number));
        let opened = self.open_attempt(&attempt, &invoice, at(now)).await;
        opened.unwrap();
    }

    /// Leases the due polls of a priority.
    async fn polls(&self, priority: PollPriority, now: i64) -> Vec<DueAttempt> {
        let due = self.due_attempts(priority, at(now), at(now + 30), 9);
        due.await.unwrap()
    }

    /// Leases a due poll, of the highest priority.
    async fn poll(&self, now: i64) -> DueAttempt {
        for priority in PRIORITIES {
            let due = self.due_attempts(priority, at(now), at(now + 30), 1);
            if let Some(due) = due.await.unwrap().pop() {
                return due;
            }
        }
        panic!("an attempt is due");
    }

    /// Records the response to a poll.
    async fn record(
        &self,
        due: &DueAttempt,
        now: i64,
        response: Observation,
    ) -> Option<RecordedObservation> {
        let observation = Observation {
            invoice_id: Some(due.invoice_id.to_string()),
            observed_at: at(now),
            ..response
        };
        self.record_observation(due, &observation).await.unwrap()
    }

    /// Polls an attempt and records the response.
    async fn observe(&self, now: i64, response: Observation) -> RecordedObservation {
        let due = self.poll(now).await;
        let recorded = self.record(&due, now, response).await;
        recorded.expect("the latest poll")
    }

    /// Receives a callback about the invoice of a number.
    async fn callback(&self, number: u8, now: i64) -> bool {
        let invoice = invoice(number).id;
        let scheduled = self.schedule_poll_of_invoice(&invoice, at(now)).await;
        scheduled.unwrap()
    }

    /// Leases up to nine events of the demo store that are due.
    async fn due(&self, now: i64) -> Vec<DueDelivery> {
        let due = self.due_deliveries(&demo(), at(now), at(now + 30), 9).await;
        due.unwrap()
    }

    /// Records a try at an event.
    async fn deliver(&self, due: &DueDelivery, second: i64, outcome: DeliveryOutcome) {
        let http_status = if outcome == DeliveryOutcome::Delivered {
            204
        } else {
            500
        };
        let tried = tried(&due.event.id, second, http_status);
        self.record_delivery(&tried, outcome).await.unwrap();
    }

    async fn found(&self, number: u8) -> Snapshot {
        self.snapshot(&id(number)).await.unwrap().unwrap()
    }

    async fn status(&self, number: u8) -> OrderStatus {
        self.found(number).await.order.status
    }

    /// The events of the demo store.
    async fn listed(&self) -> Vec<Event> {
        self.events(&demo(), None, 1_000).await.unwrap().unwrap()
    }

    async fn event_types(&self) -> Vec<EventType> {
        let events = self.listed().await;
        for (event, number) in events.iter().zip(1..) {
            assert_eq!(event.sequence, number, "events are numbered without a gap");
        }
        events.into_iter().map(|event| event.event_type).collect()
    }
}

impl<S: Storage + ?Sized> ByNumber for S {}

// Behind a pooler each transaction may have another connection: these begin, read, lease, repeat and list.
contract!(
    @ pooled, Pooled,
    attempts { one_attempt_is_opened_at_a_time, a_wallets_transaction_is_kept_as_a_hint, }
    credits {
        the_first_sale_is_credited_once_and_reported_in_order,
        two_paid_attempts_credit_one_order_once,
    }
    database {
        a_database_serves_one_environment,
        the_oldest_waiting_event_of_each_store_is_found,
    }
    decisions {
        an_acceptance_credits_once_and_is_audited,
        orders_are_found_by_status_store_and_text,
    }
    deliveries { events_of_an_order_are_delivered_in_their_order, }
    polling { a_slow_response_never_overwrites_a_later_one, }
    replanning { what_a_clock_that_was_ahead_has_planned_is_due_when_it_is_right, }
    staff { staff_finds_and_decides_in_its_store_alone, }
    ;
);
