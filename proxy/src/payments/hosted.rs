//! Opening a hosted attempt: the row first, then one POST /checkout, then the checks, then the customer may go to the
//! service's page. The session is an invoice like any other from there on: watched, judged and credited on the same path.

use std::sync::Arc;

use checkout_api::ErrorCode;
use ledger::{Abandoned, Ask, NewAttempt, Order, OrderId, Snapshot};
use secrecy::ExposeSecret as _;
use service_api::{CallError, CheckoutRequest};
use url::Url;

use crate::config::Store;
use crate::http::error::ApiError;
use crate::payments::open::{log_refusal, not_begun};
use crate::payments::{checks, view};
use crate::state::AppState;

/// What a session needs that an order of the custom flow can do without.
pub(crate) struct Needs<'a> {
    email: &'a str,
    return_url: &'a str,
    checkout_url: &'a Url,
}

impl<'a> Needs<'a> {
    /// Looks for all of it.
    ///
    /// # Errors
    /// A refusal that names the member of POST /v1/orders, or says what the operator has to configure.
    pub(crate) fn of(
        app: &'a AppState,
        store: &'a Store,
        email: Option<&'a str>,
        return_url: Option<&'a str>,
    ) -> Result<Self, ApiError> {
        let email = email.ok_or_else(|| {
            let message = "The service's page needs the customer's e-mail address.";
            ApiError::field("customer_email", message)
        })?;
        let return_url = return_url.or(store.return_url.as_deref()).ok_or_else(|| {
            let message = "The service's page needs an address to return to: here, or as the store's return_url.";
            ApiError::field("return_url", message)
        })?;
        let checkout_url = app.config.service.checkout_url.as_ref().ok_or_else(|| {
            let message = "The hosted flow is not set up: the operator has to set service.checkout_url, the \
                           address of the service's page.";
            ApiError::field("flow", message)
        })?;
        Ok(Self {
            email,
            return_url,
            checkout_url,
        })
    }
}

/// Opens a session for a hosted order, unless one is live.
///
/// Runs to its end even when the caller goes away meanwhile. An unclear answer is never repeated: whoever asks again gets
/// another session, and the first was shown to nobody.
///
/// # Errors
/// [`ApiError`] as the caller is told it.
pub(crate) async fn open(app: &Arc<AppState>, snapshot: &Snapshot) -> Result<(), ApiError> {
    if view::page(snapshot, app.now()).is_some() {
        return Ok(());
    }
    let (request, checkout_url) = request(app, &snapshot.order)?;
    let (app, order) = (app.clone(), snapshot.order.id.clone());
    let done =
        tokio::spawn(async move { ask_and_open(&app, &order, &request, &checkout_url).await });
    done.await.map_err(|error| ApiError::internal(&error))?
}

/// What is sent, and where the page must be.
fn request(app: &AppState, order: &Order) -> Result<(CheckoutRequest, Url), ApiError> {
    let terms = &order.terms;
    let store = app.config.store(&terms.store_id);
    let store = store.ok_or_else(ApiError::not_found)?;
    let email = terms.customer_email.as_deref();
    let needs = Needs::of(app, store, email, terms.return_url.as_deref())?;
    let base = app.config.public_url.base();
    let token = app.config.service.callback_token.expose_secret();
    let request = CheckoutRequest {
        client_email_id: needs.email.to_owned(),
        client_preferred_fiat_currency: terms.currency,
        amount: Some(terms.amount.to_text()),
        merchant_id: store.merchant_id.clone(),
        merchant_website: needs.return_url.to_owned(),
        invoice_callback_url: format!("{base}/callbacks/{token}"),
    };
    Ok((request, needs.checkout_url.clone()))
}

async fn ask_and_open(
    app: &AppState,
    order: &OrderId,
    request: &CheckoutRequest,
    checkout_url: &Url,
) -> Result<(), ApiError> {
    let ledger = &app.deps.ledger;
    let terms = NewAttempt {
        id: app.random_attempt_id(),
        ask: Ask::Hosted,
    };
    let begun = ledger.begin_attempt(order, &terms, app.now()).await;
    begun.map_err(not_begun)?;
    let asked_at = app.now();
    let answer = match app.deps.service.checkout(request).await {
        Ok(answer) => answer,
        Err(error) => {
            log_refusal(&error, "no session was made");
            let reason = if error.surely_not_done() {
                Abandoned::Refused
            } else {
                Abandoned::Unclear
            };
            ledger.abandon_attempt(&terms.id, reason, app.now()).await?;
            return Err(not_made(&error));
        }
    };
    let opened = match checks::check_session(&answer, checkout_url, asked_at) {
        Ok(session) => {
            ledger.open_attempt(&terms.id, &session, app.now()).await?;
            Ok(())
        }
        Err(suspicious) => {
            let session = answer.session_id.as_str();
            tracing::error!(
                %order, attempt = %terms.id, session, %suspicious,
                "nobody is sent to the service's page: check service.checkout_url, and ask the service about it"
            );
            ledger
                .abandon_attempt(&terms.id, Abandoned::Blocked, app.now())
                .await?;
            let message = "The payment service's page did not pass our checks, so nobody is sent there. \
                           Nothing was charged; the operator's log says why.";
            Err(ApiError::new(ErrorCode::ServiceUnavailable, message).retry_after(60))
        }
    };
    app.order_changed(order);
    app.poller_wakeup.notify_one();
    opened
}

/// What is told when there is no session. Nothing was charged, since nobody was sent anywhere.
fn not_made(error: &CallError) -> ApiError {
    let unavailable = |seconds| {
        let message =
            "The payment service cannot be reached. Nothing was charged; try again shortly.";
        ApiError::new(ErrorCode::ServiceUnavailable, message).retry_after(seconds)
    };
    match error {
        CallError::RateLimited { retry_after }
        | CallError::CircuitOpen { retry_after }
        | CallError::OutOfBudget { retry_after } => unavailable(
            u32::try_from(retry_after.as_secs())
                .unwrap_or(u32::MAX)
                .max(1),
        ),
        CallError::Refused { error, .. }
            if error.code == Some(service_api::ErrorCode::AmountOutOfRange) =>
        {
            let message = "This price is outside what the payment service takes.";
            ApiError::new(ErrorCode::AmountOutOfRange, message)
        }
        // POST /checkout says what is wrong in words alone: {"error": true, "message": …}.
        CallError::Refused { status: 400, error } => {
            let message = "The payment service refuses this order: check its e-mail address, amount and currency.";
            ApiError::new(ErrorCode::ServiceRefused, message).with_gateway_error(400, error)
        }
        CallError::Refused { .. } => unavailable(30),
        _ => unavailable(5),
    }
}
