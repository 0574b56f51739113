//! The one watcher: asks the service about every attempt that is due, and hands what it hears to the ledger.
//!
//! Polls, callbacks and restarts all lead here: there is one way into the ledger. It takes no more out of the ledger than
//! the service may be asked at this moment; the rest waits there, and is not lost.

use std::sync::Arc;
use std::time::Duration;

use jiff::SignedDuration;
use ledger::{DueAttempt, EventType, Figures, Observation, Observed, OrderId, Urgency, Verdict};
use service_api::{CallError, ErrorCode, InvoiceAnswer, InvoiceId, Priority, ServiceError};
use tokio::task::JoinSet;

use crate::payments::confirm::{confirm, is_marked_as_paid};
use crate::state::AppState;

/// Looks under way at once.
const CONCURRENT_POLLS: usize = 8;
/// A look that has not come back by then is made again. Longer than every try of a call together.
const LEASE: SignedDuration = SignedDuration::from_secs(60);
/// When to look again at what could not be asked about.
const RETRY: SignedDuration = SignedDuration::from_secs(5);
/// The same when there was merely no room for it: others went first.
const RETRY_WITHOUT_BUDGET: SignedDuration = SignedDuration::from_secs(1);
/// The longest sleep: a look that another process planned is noticed by then.
const MAX_SLEEP: Duration = Duration::from_secs(1);

/// Looks until the process ends; then lets the looks under way finish.
pub(crate) async fn run(app: Arc<AppState>) {
    let mut polls = JoinSet::new();
    while !app.shutdown.is_cancelled() {
        start_polls(&app, &mut polls).await;
        tokio::select! {
            () = app.shutdown.cancelled() => {}
            () = app.poller_wakeup.notified(), if polls.len() < CONCURRENT_POLLS => {}
            () = app.deps.clock.sleep(MAX_SLEEP), if polls.len() < CONCURRENT_POLLS => {}
            Some(ended) = polls.join_next() => ended.expect("a look does not panic"),
        }
    }
    while polls.join_next().await.is_some() {}
}

/// Looks once at what is due, as far as there is room for it.
pub(crate) async fn poll_once(app: &Arc<AppState>) {
    let mut polls = JoinSet::new();
    start_polls(app, &mut polls).await;
    while let Some(ended) = polls.join_next().await {
        ended.expect("a look does not panic");
    }
}

async fn start_polls(app: &Arc<AppState>, polls: &mut JoinSet<()>) {
    let mut begun = 0;
    for urgency in [Urgency::Hinted, Urgency::Watched, Urgency::Planned] {
        // One place is kept for what nobody waits for, so that it has its turn however many wait.
        let kept = usize::from(urgency != Urgency::Planned);
        let free = CONCURRENT_POLLS.saturating_sub(polls.len() + kept);
        let room = app.deps.service.room(priority(urgency));
        let limit = room
            .saturating_sub(begun)
            .min(u32::try_from(free).unwrap_or(u32::MAX));
        for due in lease_due(app, urgency, limit).await {
            polls.spawn(poll_invoice(app.clone(), due));
            begun += 1;
        }
    }
}

fn priority(urgency: Urgency) -> Priority {
    match urgency {
        Urgency::Hinted => Priority::Callback,
        Urgency::Watched => Priority::Watched,
        Urgency::Planned => Priority::Unwatched,
    }
}

async fn lease_due(app: &AppState, urgency: Urgency, limit: u32) -> Vec<DueAttempt> {
    if limit == 0 {
        return Vec::new();
    }
    let (ledger, now) = (&app.deps.ledger, app.now());
    let due = ledger.due_attempts(urgency, now, now + LEASE, limit).await;
    due.unwrap_or_else(|error| {
        tracing::error!(%error, "the ledger does not say which attempts are due");
        Vec::new()
    })
}

async fn poll_invoice(app: Arc<AppState>, due: DueAttempt) {
    let id = match InvoiceId::parse(due.invoice_id.as_str()) {
        Ok(id) => id,
        Err(error) => return tracing::error!(%error, "an invoice of the ledger has no usable id"),
    };
    let priority = priority(due.urgency);
    match app.deps.service.invoice(&id, priority).await {
        Ok(answer) => on_response(&app, &due, answer).await,
        Err(error) => on_error(&app, &due, &error).await,
    }
}

async fn on_response(app: &Arc<AppState>, due: &DueAttempt, answer: InvoiceAnswer) {
    answered(app);
    record(app, due, &observation(app, answer)).await;
}

fn answered(app: &AppState) {
    if app.set_gateway_reachable(true) {
        tracing::info!("the payment service answers again");
    }
}

async fn record(app: &Arc<AppState>, due: &DueAttempt, observation: &Observation) {
    match app.deps.ledger.observe(due, observation).await {
        Ok(Some(observed)) => {
            report(app, due, &observed);
            if observed.events.contains(&EventType::Paid) {
                send_kept_email(app, &due.order_id).await;
            }
        }
        Ok(None) => tracing::debug!(order = %due.order_id, "a later look was recorded already"),
        Err(error) => {
            tracing::error!(order = %due.order_id, %error, "an observation could not be recorded");
        }
    }
    // The look may be planned for sooner than the watcher would sleep.
    app.poller_wakeup.notify_one();
}

/// Sends the gateway the address that was typed for the receipt, where nobody has pressed "I have paid" before the payment
/// was found.
async fn send_kept_email(app: &Arc<AppState>, order: &OrderId) {
    match app.deps.ledger.snapshot(order).await {
        Ok(Some(snapshot))
            if !is_marked_as_paid(&snapshot) && snapshot.order.receipt_email.is_some() =>
        {
            confirm(app, &snapshot, snapshot.order.receipt_email.clone());
        }
        Ok(_) => {}
        Err(error) => tracing::warn!(%order, %error, "the address for a receipt could not be read"),
    }
}

fn report(app: &AppState, due: &DueAttempt, observed: &Observed) {
    let order = &due.order_id;
    match &observed.verdict {
        Verdict::Held(_) if !observed.changed => {}
        Verdict::Held(hold) => tracing::error!(
            %order, invoice = %due.invoice_id, %hold,
            "a payment is held: nothing is credited until the service's answer is clear"
        ),
        verdict if observed.events.contains(&EventType::Reverted) => tracing::error!(
            %order, invoice = %due.invoice_id, says = ?verdict.standing(),
            "the service takes back a payment that was credited: the order stays paid, ask the service and the store"
        ),
        Verdict::Frozen { address } if observed.changed => tracing::error!(
            %order, invoice = %due.invoice_id, address,
            "the service changed an invoice's address: the order is blocked"
        ),
        _ if observed.changed => {
            tracing::info!(%order, status = observed.status.as_str(), "an order moved");
        }
        _ => {}
    }
    app.order_changed(order);
}

async fn on_error(app: &Arc<AppState>, due: &DueAttempt, error: &CallError) {
    match error {
        CallError::Refused { status, error } if is_unknown_invoice(*status, error) => {
            answered(app);
            return record(app, due, &unknown_invoice(app, error)).await;
        }
        CallError::Refused { status, error } => {
            answered(app);
            tracing::error!(
                order = %due.order_id, invoice = %due.invoice_id,
                status, code = ?error.code, said = ?error.message,
                "the service refuses to speak of an invoice"
            );
        }
        // Nothing was asked, so nothing is known.
        CallError::OutOfBudget { .. } => {}
        error if app.set_gateway_reachable(false) => {
            tracing::warn!(%error, "the payment service does not answer: payments are found later");
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
        CallError::NotSent(_) | CallError::Unclear(_) | CallError::Broken { .. } => RETRY,
    };
    let deferred = app.deps.ledger.defer_attempt(due, app.now() + pause).await;
    if let Err(error) = deferred {
        tracing::error!(order = %due.order_id, %error, "a look could not be planned anew");
    }
}

/// Source: payment-service.md, "Errors": 404 for what does not exist, `INVALID_INVOICE_ID` for an invoice that does not
/// exist or has expired.
fn is_unknown_invoice(status: u16, error: &ServiceError) -> bool {
    status == 404 || error.code == Some(ErrorCode::InvalidInvoiceId)
}

/// That the service knows no such invoice is an observation too.
fn unknown_invoice(app: &AppState, error: &ServiceError) -> Observation {
    Observation {
        observed_at: app.now(),
        raw: format!("{:?}: {:?}", error.code, error.message),
        is_known: false,
        invoice_id: None,
        status: None,
        asked: Figures::default(),
        received: Figures::default(),
        local_currency: None,
        crypto_code: None,
        address: None,
        confirmations: None,
        transaction_hash: None,
    }
}

/// The answer member by member, as the service wrote it.
fn observation(app: &AppState, answer: InvoiceAnswer) -> Observation {
    let InvoiceAnswer { status: said, raw } = answer;
    Observation {
        observed_at: app.now(),
        raw,
        is_known: true,
        invoice_id: said.invoice_id,
        status: said
            .transaction_status
            .map(|status| status.as_str().to_owned()),
        asked: Figures {
            crypto: said.invoice_crypto_amount,
            usd: said.invoice_amount_in_usd,
            local: said.invoice_amount_in_local_currency,
        },
        received: Figures {
            crypto: said.received_crypto_amount,
            usd: said.received_amount_in_usd,
            local: said.received_amount_in_local_currency,
        },
        local_currency: said.local_currency_code,
        crypto_code: said.transaction_crypto,
        address: said.wallet_address,
        confirmations: said.blockchain_confirmations,
        transaction_hash: said.transaction_hash,
    }
}
