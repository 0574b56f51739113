//! The payment poller: polls the gateway for every attempt that is due, and records each observation.
//!
//! Polls, callbacks and restarts all lead here: only this worker records observations. The poller leases no more attempts than
//! the gateway's limits allow at this moment; the rest stays queued in the database.

use std::sync::Arc;
use std::time::Duration;

use florin_gateway_client::{
    CallError, ErrorCode, GatewayError, InvoiceId, InvoiceResponse, Priority,
};
use florin_orders::{
    Amounts, Assessment, EventType, Observation, Order, PollPriority, Snapshot, eager_pause,
    is_fresh, second_payment_pause,
};
use florin_storage::{DueAttempt, RecordedObservation, StorageError};
use jiff::{SignedDuration, Timestamp};
use tokio::task::JoinSet;
use tracing::Instrument as _;

use crate::payments::error::log_rejection;
use crate::payments::{confirm, is_marked_as_paid};
use crate::state::{AppState, PollingPace, error_unless_outage};
use crate::trace;

const CONCURRENT_POLLS: usize = 8;
/// A poll without an outcome by then is repeated. Longer than all tries of a call together.
const LEASE: SignedDuration = SignedDuration::from_secs(60);
const RETRY: SignedDuration = SignedDuration::from_secs(5);
/// The same if the limits left no room for the call.
const RETRY_WITHOUT_BUDGET: SignedDuration = SignedDuration::from_secs(1);
/// How often the queue of polls is compared with what the gateway's limits allow.
const MEASURE_INTERVAL: SignedDuration = SignedDuration::from_secs(10);
/// The polls that are compared: those that are due by then.
const LOOKAHEAD: SignedDuration = SignedDuration::from_secs(15);
/// What watched orders may take of the limits: half is kept for orders that are not watched.
const WATCHED_PERCENT: u64 = 50;
const MOST_COUNTED: u32 = 10_000;
const REPORTED_LAG: SignedDuration = SignedDuration::from_mins(1);

/// The longest sleep: a poll that another process scheduled is noticed by then.
const MAX_SLEEP: Duration = Duration::from_secs(1);
/// The shortest: a poll that is due may wait for the gateway's limits.
const MIN_SLEEP: Duration = Duration::from_millis(200);

/// Runs until the process ends; then finishes the polls in flight.
pub(crate) async fn run(app: Arc<AppState>) {
    let (mut polls, mut measured_at) = (JoinSet::new(), None);
    while !app.shutdown.is_cancelled() {
        start_polls(&app, &mut polls).await;
        let is_due = |at: Timestamp| app.now().duration_since(at).abs() >= MEASURE_INTERVAL;
        if measured_at.is_none_or(is_due) {
            measured_at = Some(app.now());
            measure(&app).await;
        }
        let pause = until_next(&app).await;
        tokio::select! {
            () = app.shutdown.cancelled() => {}
            () = app.poller_wakeup.notified(), if polls.len() < CONCURRENT_POLLS => {}
            () = app.clock.sleep(pause), if polls.len() < CONCURRENT_POLLS => {}
            Some(ended) = polls.join_next() => ended.expect("a poll does not panic"),
        }
    }
    while polls.join_next().await.is_some() {}
}

/// Polls once what is due, within the limits.
pub(crate) async fn poll_once(app: &Arc<AppState>) {
    let mut polls = JoinSet::new();
    start_polls(app, &mut polls).await;
    while let Some(ended) = polls.join_next().await {
        ended.expect("a poll does not panic");
    }
}

async fn start_polls(app: &Arc<AppState>, polls: &mut JoinSet<()>) {
    let mut begun = Vec::new();
    for poll_priority in [
        PollPriority::Callback,
        PollPriority::Watched,
        PollPriority::Unwatched,
    ] {
        // One slot is reserved for unwatched attempts, so that watched ones cannot starve them.
        let reserved = usize::from(poll_priority != PollPriority::Unwatched);
        let free = CONCURRENT_POLLS.saturating_sub(polls.len() + reserved);
        let priority = request_priority(poll_priority);
        let room = app.gateway.available_after(&begun, priority);
        let limit = room.min(u32::try_from(free).unwrap_or(u32::MAX));
        for due in lease_due(app, poll_priority, limit).await {
            let span = tracing::info_span!("poll", order = %due.order_id);
            let trace = due.traceparent;
            let poll = poll_invoice(app.clone(), due).instrument(span);
            polls.spawn(trace::within(trace, poll));
            begun.push(priority);
        }
    }
}

/// Returns `true` while nothing may be sent: polls wait for the gateway and not for the limits.
fn is_paused(app: &AppState) -> bool {
    !app.gateway.health().pause.is_zero() || app.gateway_unavailable()
}

/// How long nothing is due, or may be sent.
async fn until_next(app: &AppState) -> Duration {
    if is_paused(app) {
        return MAX_SLEEP;
    }
    let now = app.now();
    let longest = SignedDuration::try_from(MAX_SLEEP).expect("it is a second");
    // The database's outages are reported by its monitor.
    let queue = app.storage.poll_queue(now + longest, 1).await.ok();
    let first = queue.and_then(|queue| queue.first_at());
    let pause = first.map_or(longest, |at| at.duration_since(now));
    let pause = Duration::try_from(pause.max(SignedDuration::ZERO)).unwrap_or(MAX_SLEEP);
    pause.clamp(MIN_SLEEP, MAX_SLEEP)
}

/// Stretches the pauses between polls when the gateway's limits do not allow all of them, and reports how late they are.
async fn measure(app: &AppState) {
    let now = app.now();
    // A watched attempt is counted once in the shortest interval, in which it is polled once.
    let interval = SignedDuration::try_from(app.config().gateway.poll_interval);
    let shortest = eager_pause(interval.expect("the interval is a minute at most"));
    let queues = async {
        let queue = app
            .storage
            .poll_queue(now + LOOKAHEAD, MOST_COUNTED)
            .await?;
        let watched = app.storage.poll_queue(now + shortest, MOST_COUNTED).await?;
        Ok((queue, watched.due_prioritised))
    };
    let (queue, watched) = match queues.await {
        Ok(queues) => queues,
        Err(error) => {
            let error: StorageError = error;
            error_unless_outage!(error, "failed to read the queue of polls");
            return;
        }
    };
    let lag = queue.first_at().map_or(SignedDuration::ZERO, |first| {
        now.duration_since(first).max(SignedDuration::ZERO)
    });
    let before = app.polling_pace();
    let health = app.gateway.health();
    let pace = if is_paused(app) {
        PollingPace { lag, ..before }
    } else {
        // In thousandths of a request.
        let allowed_in = |time: SignedDuration| {
            health.requests_per_minute * u64::try_from(time.as_millis()).unwrap_or(0) / 60
        };
        let for_watched = allowed_in(shortest) * WATCHED_PERCENT / 100;
        PollingPace {
            stretch: before.stretch.next(queue.due * 1000, allowed_in(LOOKAHEAD)),
            watched_stretch: before.watched_stretch.next(watched * 1000, for_watched),
            lag,
        }
    };
    app.set_polling_pace(pace);
    let (was_late, is_late) = (before.lag >= REPORTED_LAG, lag >= REPORTED_LAG);
    if is_late && !was_late {
        tracing::warn!(
            lag_seconds = lag.as_secs(),
            due = queue.due,
            stretch_percent = pace.stretch.percent(),
            "polls are late: payments are found later"
        );
    } else if was_late && !is_late {
        tracing::info!("polls are in time again");
    }
}

fn request_priority(poll_priority: PollPriority) -> Priority {
    match poll_priority {
        PollPriority::Callback => Priority::Callback,
        PollPriority::Watched => Priority::Watched,
        PollPriority::Unwatched => Priority::Unwatched,
    }
}

async fn lease_due(app: &AppState, poll_priority: PollPriority, limit: u32) -> Vec<DueAttempt> {
    if limit == 0 {
        return Vec::new();
    }
    let (storage, now) = (&app.storage, app.now());
    let due = storage.due_attempts(poll_priority, now, now + LEASE, limit);
    due.await.unwrap_or_else(|error| {
        error_unless_outage!(error, "failed to read due attempts");
        Vec::new()
    })
}

async fn poll_invoice(app: Arc<AppState>, due: DueAttempt) {
    let id = match InvoiceId::parse(due.invoice_id.as_str()) {
        Ok(id) => id,
        Err(error) => return tracing::error!(%error, "a stored invoice has an invalid id"),
    };
    let priority = request_priority(due.priority);
    match app.gateway.invoice(&id, priority).await {
        Ok(response) => on_response(&app, &due, response).await,
        Err(error) => on_error(&app, &due, &error).await,
    }
}

async fn on_response(app: &Arc<AppState>, due: &DueAttempt, response: InvoiceResponse) {
    gateway_responded(app);
    let due = DueAttempt {
        stretch: app.polling_pace().stretch,
        ..due.clone()
    };
    record(app, &due, &observation(app, response)).await;
}

fn gateway_responded(app: &AppState) {
    if app.set_gateway_reachable(true) {
        tracing::info!("the gateway responds again");
    }
}

async fn record(app: &Arc<AppState>, due: &DueAttempt, observation: &Observation) {
    match app.storage.record_observation(due, observation).await {
        Ok(Some(observed)) => {
            note_confirmations(app, &observed.snapshot);
            report(app, due, &observed);
            if observed.snapshot.order.status.is_settled() {
                poll_for_second_payment(app, &observed.snapshot.order).await;
            }
            app.metrics.order_events(&observed.events);
            if observed.events.contains(&EventType::Paid) {
                on_credit(app, &observed.snapshot);
            }
        }
        Ok(None) => tracing::debug!(order = %due.order_id, "a newer poll was recorded already"),
        Err(error) => {
            error_unless_outage!(error, order = %due.order_id, "failed to record an observation");
            reschedule(app, due, RETRY).await;
        }
    }
    // The next poll may be due before the poller wakes.
    app.poller_wakeup.notify_one();
}

/// Schedules polls of all attempts of a fresh paid order, so that a second payment is noticed within a minute at whichever
/// address it arrives.
async fn poll_for_second_payment(app: &AppState, order: &Order) {
    let now = app.now();
    if !order.settled_at.is_some_and(|at| is_fresh(at, now)) {
        return;
    }
    let pause = second_payment_pause(SignedDuration::ZERO);
    let storage = &app.storage;
    let scheduled = storage.schedule_polls_of_order(&order.id, pause, now);
    if let Err(error) = scheduled.await {
        error_unless_outage!(error, order = %order.id, "failed to schedule polls for a second payment");
    }
}

/// The list of assets says how long a payment takes.
fn note_confirmations(app: &AppState, snapshot: &Snapshot) {
    let Some(attempt) = &snapshot.attempt else {
        return;
    };
    let confirmations = attempt
        .invoice()
        .and_then(|invoice| invoice.progress.confirmations);
    if let (Some(terms), Some((_, required))) = (attempt.terms.custom(), confirmations) {
        app.note_required_confirmations(&terms.crypto_code, required);
    }
}

/// Counts the credit. Sends the gateway the address for the receipt that was stored before the credit, unless "I've sent it" has
/// sent it. The request that stores an address later sends it itself.
fn on_credit(app: &Arc<AppState>, credited: &Snapshot) {
    app.metrics.credited(&credited.order);
    let email = credited.order.receipt_email.clone();
    if email.is_some() && !is_marked_as_paid(credited) {
        confirm(app, credited, email);
    }
}

fn report(app: &AppState, due: &DueAttempt, observed: &RecordedObservation) {
    let order = &due.order_id;
    match &observed.assessment {
        Assessment::NeedsReview(_) if !observed.changed => {}
        Assessment::NeedsReview(reason) => {
            app.metrics.needs_review();
            tracing::error!(
                %order, invoice = %due.invoice_id, %reason,
                "a payment needs review: nothing is credited until the gateway's response is clear"
            );
        }
        assessment if observed.events.contains(&EventType::Reverted) => tracing::error!(
            %order, invoice = %due.invoice_id, says = assessment.payment_state().map(<&str>::from),
            "the gateway takes back a payment that was credited: the order stays paid, ask the gateway and the store"
        ),
        Assessment::AddressChanged { address } if observed.changed => tracing::error!(
            %order, invoice = %due.invoice_id, address,
            "the gateway changed an invoice's address: the order is blocked"
        ),
        _ if observed.changed => {
            tracing::info!(%order, status = <&str>::from(observed.snapshot.order.status), "order changed");
        }
        _ => {}
    }
    app.wake_dispatcher();
}

async fn on_error(app: &Arc<AppState>, due: &DueAttempt, error: &CallError) {
    match error {
        CallError::Refused { status, error } if is_unknown_invoice(*status, error) => {
            gateway_responded(app);
            return record(app, due, &unknown_invoice(app, error)).await;
        }
        CallError::Refused { status: 401, .. } => {
            gateway_responded(app);
            log_rejection(error, "invoice lookup rejected");
        }
        CallError::Refused { status, error } => {
            gateway_responded(app);
            tracing::error!(
                order = %due.order_id, invoice = %due.invoice_id,
                status, code = error.code.as_ref().map(ErrorCode::as_str), gateway_message = error.message,
                "invoice lookup rejected"
            );
        }
        // Nothing was sent, so nothing is known. The storage monitor reports an outage of the database.
        CallError::OutOfBudget { .. } | CallError::NoLimits(_) => {}
        error if app.set_gateway_reachable(false) => {
            tracing::warn!(%error, "the gateway does not respond: payments are found later");
        }
        _ => {}
    }
    let pause = match error {
        CallError::RateLimited { retry_after } | CallError::CircuitOpen { retry_after } => {
            SignedDuration::try_from(*retry_after)
                .unwrap_or(RETRY)
                .max(RETRY)
        }
        CallError::OutOfBudget { retry_after } => SignedDuration::try_from(*retry_after)
            .unwrap_or(RETRY_WITHOUT_BUDGET)
            .max(RETRY_WITHOUT_BUDGET),
        CallError::Refused { .. } => SignedDuration::from_mins(1),
        CallError::NotSent(_)
        | CallError::Ambiguous(_)
        | CallError::Broken { .. }
        | CallError::NoLimits(_) => RETRY,
    };
    reschedule(app, due, pause).await;
}

/// Polls again after a pause. While the storage fails, tries again until the lease of the poll ends, or the process does.
async fn reschedule(app: &AppState, due: &DueAttempt, pause: SignedDuration) {
    let storage = &app.storage;
    let begun = app.now();
    loop {
        let now = app.now();
        match storage.reschedule_poll(due, now + pause, now).await {
            Ok(()) => return,
            Err(error) if error.outage().is_none() => {
                tracing::error!(%error, order = %due.order_id, "failed to reschedule poll");
                return;
            }
            Err(_) if now.duration_since(begun) >= LEASE => return,
            Err(_) => {}
        }
        tokio::select! {
            () = app.shutdown.cancelled() => return,
            () = app.clock.sleep(MAX_SLEEP) => {}
        }
    }
}

/// Source: payment-service.md, "Errors": 404 for what does not exist, `INVALID_INVOICE_ID` for an invoice that does not
/// exist or has expired.
fn is_unknown_invoice(status: u16, error: &GatewayError) -> bool {
    status == 404 || error.code == Some(ErrorCode::InvalidInvoiceId)
}

fn refusal(error: &GatewayError) -> String {
    let parts = [
        error.code.as_ref().map(ErrorCode::as_str),
        error.message.as_deref(),
    ];
    let parts: Vec<&str> = parts.into_iter().flatten().collect();
    if parts.is_empty() {
        return "The gateway knows no such invoice, and says nothing more.".to_owned();
    }
    parts.join(": ")
}

/// An invoice that the gateway does not know is an observation too.
fn unknown_invoice(app: &AppState, error: &GatewayError) -> Observation {
    Observation {
        observed_at: app.now(),
        raw: refusal(error),
        ..Observation::default()
    }
}

fn observation(app: &AppState, response: InvoiceResponse) -> Observation {
    let InvoiceResponse {
        status: invoice,
        raw,
    } = response;
    Observation {
        observed_at: app.now(),
        raw,
        is_known: true,
        invoice_id: invoice.invoice_id,
        status: invoice
            .transaction_status
            .map(|status| status.as_str().to_owned()),
        requested: Amounts {
            crypto: invoice.invoice_crypto_amount,
            usd: invoice.invoice_amount_in_usd,
            local: invoice.invoice_amount_in_local_currency,
        },
        received: Amounts {
            crypto: invoice.received_crypto_amount,
            usd: invoice.received_amount_in_usd,
            local: invoice.received_amount_in_local_currency,
        },
        local_currency: invoice.local_currency_code,
        crypto_code: invoice.transaction_crypto,
        address: invoice.wallet_address,
        confirmations: invoice.blockchain_confirmations,
        transaction_hash: invoice.transaction_hash,
    }
}

#[cfg(test)]
mod tests;
