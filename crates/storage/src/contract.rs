//! The storage contract: tests that hold for every store. Each test is a function of a backend; `contract!` makes a test of
//! it for each.

mod attempts;
mod backend;
mod callbacks;
mod credits;
mod decisions;
mod deliveries;
mod model;
mod observations;
mod orders;
mod payments;
mod polling;
mod prices;
mod replanning;
mod requests;
mod schema;
mod staff;
mod statements;
mod static_files;
mod totals;

use florin_orders::fixtures::{
    ADDRESS, amount, at, exact, invoice, new_attempt, observed, received, terms,
};
use florin_orders::{
    Abandoned, Assessment, Attempt, Destination, EventType, EventType as E, LatePayment, NewOrder,
    Observation, OrderId, OrderStatus, PaymentState, PollPriority, StoreId, TokenHash, TraceParent,
    TransactionHint,
};
use jiff::SignedDuration;

pub(crate) use self::backend::Store;
use self::backend::{Backend, Test};
pub(crate) use self::statements::statements;
use crate::{
    Delivery, DeliveryFilter, DeliveryOutcome, DueAttempt, DueDelivery, EmailChange,
    EndpointStatus, KeptEmail, MarkedAsPaid, NamedTransaction, OpenAttemptError, OpenError, Opened,
    OrderFilter, OrderOperationError, PROBE_INTERVAL, PollQueue, PriceList, RecordedDelivery,
    RecordedObservation, Retry, StorageError,
};

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
        saying_paid_moves_the_screen_and_credits_nothing,
        a_credited_order_is_not_marked_as_paid,
        a_wallets_transaction_is_kept_as_a_hint,
        a_transaction_for_an_earlier_attempt_marks_no_other,
        an_invoice_belongs_to_one_attempt,
    }
    credits {
        the_first_sale_is_credited_once_and_reported_in_order,
        a_contradiction_is_reported_once_and_the_order_stays_paid,
        a_credited_invoice_that_the_gateway_forgets_is_no_alarm,
        a_credited_attempt_is_polled_ten_times,
        two_paid_attempts_credit_one_order_once,
        what_pays_an_order_after_its_time_is_known_as_late_and_more_of_it_as_a_second,
        a_replaced_attempt_that_is_paid_in_its_time_is_not_called_late,
        an_underpayment_is_polled_on_and_completed_by_the_rest,
        a_late_payment_is_reported_with_its_own_invoice,
        a_second_payment_that_returns_is_reported_once_and_a_larger_one_again,
        an_amount_reported_as_late_before_the_credit_is_not_reported_after_it,
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
    observations {
        a_response_that_repeats_is_counted_and_a_padded_one_is_cut,
    }
    orders {
        orders_expire_in_batches,
        a_reference_names_one_order_at_one_price,
        what_was_opened_is_what_is_read,
        polls_and_deliveries_of_an_order_have_its_trace,
        a_token_opens_its_order_until_it_expires,
        an_order_without_an_attempt_expires_with_an_event,
        a_token_that_is_over_is_forgotten,
        another_store_sees_nothing,
        orders_come_in_pages_newest_first,
        what_was_committed_survives_the_process,
        the_receipts_address_is_kept_replaced_and_removed,
        a_paid_order_keeps_its_receipts_address,
        an_address_that_a_paid_order_is_given_is_an_event,
    }
    payments {
        money_that_arrived_is_not_asked_for_again_whatever_the_gateway_calls_it,
        a_payment_that_failed_on_its_way_may_be_made_anew,
        a_payment_that_failed_before_anything_arrived_may_be_made_anew,
    }
    polling {
        a_slow_response_never_overwrites_a_later_one,
        an_attempt_is_leased_to_one_poller_at_a_time,
        a_callback_only_brings_the_next_poll_forward,
        a_callback_schedules_a_poll_long_after_the_last_one,
        a_callback_during_a_poll_schedules_another,
        a_callback_during_the_settling_poll_schedules_none,
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
    prices {
        prices_are_kept_until_they_are_invalidated_or_expire,
        prices_survive_the_process,
    }
    static_files {
        files_of_a_version_are_kept_while_it_runs_and_thirty_days_after,
    }
    replanning {
        an_attempt_begun_by_a_clock_that_was_ahead_is_abandoned_when_it_is_right,
        what_a_clock_that_was_ahead_has_planned_is_due_when_it_is_right,
        a_poll_that_ends_while_the_clock_is_ahead_is_planned_again,
        a_delivery_that_ends_while_the_clock_is_ahead_is_planned_again,
        what_is_planned_while_plans_are_searched_keeps_its_plan,
    }
    requests {
        a_crash_under_a_clock_that_was_ahead_locks_no_key_for_longer,
        a_request_is_executed_once_and_replayed,
        a_crash_locks_no_key_for_ever,
        another_token_sees_the_same_order_until_it_is_over,
    }
    schema {
        the_database_itself_refuses_to_rewrite_history,
        a_database_serves_one_environment,
    }
    totals {
        a_payment_needs_review_until_a_clear_response,
        a_changed_address_needs_review,
        the_oldest_waiting_event_of_each_store_is_found,
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

pub(crate) async fn order(storage: &Store, number: u8) -> Opened {
    let terms = terms(&format!("r{number}"));
    storage
        .open_order(&id(number), &terms, token(number), at(86_400), at(0))
        .await
        .unwrap()
}

/// An order with an open attempt of the same number.
pub(crate) async fn awaiting(storage: &Store, number: u8) {
    order(storage, number).await;
    attempt(storage, number, number).await;
}

pub(crate) async fn attempt(storage: &Store, order: u8, number: u8) {
    storage
        .begin_attempt(&id(order), &new_attempt(number), at(0))
        .await
        .unwrap();
    let invoice = invoice(number);
    storage
        .open_attempt(&new_attempt(number).id, &invoice, at(0))
        .await
        .unwrap();
}

pub(crate) async fn poll(storage: &Store, now: i64) -> DueAttempt {
    // All priorities, the highest first.
    for priority in [
        PollPriority::Callback,
        PollPriority::Watched,
        PollPriority::Unwatched,
    ] {
        let due = storage
            .due_attempts(priority, at(now), at(now + 30), 1)
            .await;
        if let Some(due) = due.unwrap().pop() {
            return due;
        }
    }
    panic!("an attempt is due");
}

pub(crate) async fn observe(
    storage: &Store,
    now: i64,
    mut observation: Observation,
) -> RecordedObservation {
    let due = poll(storage, now).await;
    observation.invoice_id = Some(due.invoice_id.to_string());
    observation.observed_at = at(now);
    storage
        .record_observation(&due, &observation)
        .await
        .unwrap()
        .expect("the latest poll")
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

pub(crate) fn demo() -> StoreId {
    StoreId::parse("demo").unwrap()
}

pub(crate) async fn event_types(storage: &Store) -> Vec<EventType> {
    let events = storage.events(&demo(), None, 100).await.unwrap().unwrap();
    for (event, number) in events.iter().zip(1..) {
        assert_eq!(event.sequence, number, "events are numbered without a gap");
    }
    events.into_iter().map(|event| event.event_type).collect()
}

pub(crate) async fn status(storage: &Store, number: u8) -> OrderStatus {
    storage
        .snapshot(&id(number))
        .await
        .unwrap()
        .unwrap()
        .order
        .status
}

// Behind a pooler each transaction may have another connection: these begin, read, lease, repeat and list.
contract!(
    @ pooled, Pooled,
    attempts { one_attempt_is_opened_at_a_time, a_wallets_transaction_is_kept_as_a_hint, }
    credits {
        the_first_sale_is_credited_once_and_reported_in_order,
        two_paid_attempts_credit_one_order_once,
    }
    decisions {
        an_acceptance_credits_once_and_is_audited,
        orders_are_found_by_status_store_and_text,
    }
    deliveries { events_of_an_order_are_delivered_in_their_order, }
    polling { a_slow_response_never_overwrites_a_later_one, }
    replanning { what_a_clock_that_was_ahead_has_planned_is_due_when_it_is_right, }
    schema { a_database_serves_one_environment, }
    staff { staff_finds_and_decides_in_its_store_alone, }
    totals { the_oldest_waiting_event_of_each_store_is_found, }
    ;
);
