//! Opening an attempt: the row first, then one POST /invoice, then the checks, then the customer sees it.

use std::sync::Arc;

use checkout_api::ErrorCode;
use jiff::SignedDuration;
use ledger::{
    Abandoned, Ask, Attempt, BeginError, CustomAsk, Flow, NewAttempt, Order, OrderId, OrderStatus,
    Snapshot,
};
use money::{Asset, CryptoCode};
use service_api::{CallError, ConversionId, InvoiceRequest};

use crate::http::error::ApiError;
use crate::payments::checks;
use crate::payments::quotes::{self, QuoteError};
use crate::state::AppState;

/// Opens an attempt at an order in an asset, at the price that a quote pinned.
///
/// Runs to its end even when the customer goes away meanwhile: an invoice that was asked for is never forgotten.
///
/// # Errors
/// [`ApiError`] as the customer is told it.
pub(crate) async fn open(
    app: &Arc<AppState>,
    snapshot: Snapshot,
    crypto_code: &str,
    quote_id: &str,
) -> Result<(), ApiError> {
    if snapshot.order.terms.flow == Flow::Hosted {
        let message = "This order is paid on the payment service's page: no asset is chosen here.";
        return Err(ApiError::new(ErrorCode::OtherFlow, message));
    }
    if is_open_already(app, &snapshot, crypto_code) {
        return Ok(());
    }
    let ask = ask(app, &snapshot.order, crypto_code, quote_id)?;
    let (app, order) = (app.clone(), snapshot.order.id);
    let done = tokio::spawn(async move { ask_and_open(&app, &order, ask).await });
    done.await.map_err(|error| ApiError::internal(&error))?
}

/// A payment that is prepared with less time than this could come too late: a new quote is worth a new invoice.
const LAST_MINUTE: SignedDuration = SignedDuration::from_secs(60);

/// The same asset again, while its invoice can still be paid: there is nothing to open, until the last minute of an
/// invoice of which nobody says that it is paid.
fn is_open_already(app: &AppState, snapshot: &Snapshot, crypto_code: &str) -> bool {
    let needed = match snapshot.order.status {
        OrderStatus::AwaitingPayment => LAST_MINUTE,
        OrderStatus::Checking => SignedDuration::ZERO,
        _ => return false,
    };
    let attempt = snapshot.attempt.as_ref();
    let invoice = attempt.and_then(|attempt| Some((attempt, attempt.invoice()?)));
    invoice.is_some_and(|(Attempt { terms, .. }, invoice)| {
        terms
            .custom()
            .is_some_and(|ask| ask.crypto_code.as_str() == crypto_code)
            && needed < invoice.expires_at.duration_since(app.now())
    })
}

fn ask(
    app: &AppState,
    order: &Order,
    crypto_code: &str,
    quote_id: &str,
) -> Result<CustomAsk, ApiError> {
    let unavailable = |why: &str| ApiError::new(ErrorCode::AssetUnavailable, why);
    let code = CryptoCode::parse(crypto_code)
        .map_err(|error| ApiError::field("crypto_code", &error.to_string()))?;
    let asset = Asset::of(&code)
        .ok_or_else(|| unavailable("This asset cannot be paid with here. Choose another one."))?;
    if !order.terms.assets.is_empty() && !order.terms.assets.contains(&code) {
        return Err(unavailable(
            "This order cannot be paid in this asset. Choose another one.",
        ));
    }
    let prices = app.prices.find(&code, quote_id, app.now());
    let entry = prices.ok_or_else(price_gone)?;
    let asked = quotes::quote(order, asset, &entry).map_err(|no_quote| match no_quote {
        QuoteError::NotPriced => {
            unavailable("There is no price for this asset now. Choose another.")
        }
        QuoteError::BelowMinimum | QuoteError::AboveMaximum => out_of_range(),
    })?;
    Ok(CustomAsk {
        crypto_code: code,
        conversion_id: entry.conversion_id.as_str().to_owned(),
        asked,
    })
}

async fn ask_and_open(app: &AppState, order: &OrderId, ask: CustomAsk) -> Result<(), ApiError> {
    let ledger = &app.deps.ledger;
    let terms = NewAttempt {
        id: app.random_attempt_id(),
        ask: Ask::Custom(ask.clone()),
    };
    ledger
        .begin_attempt(order, &terms, app.now())
        .await
        .map_err(not_begun)?;
    let request = InvoiceRequest {
        conversion_id: ConversionId::parse(&ask.conversion_id)
            .map_err(|error| ApiError::internal(&error))?,
        amount_in_usd: ask.asked.figures.usd.to_text(),
        amount_in_local_currency: ask.asked.figures.local.to_text(),
        amount_in_crypto: ask.asked.figures.crypto.to_text(),
        crypto_code: ask.crypto_code.clone(),
    };
    // Its time runs from before the question, so that it ends with us no later than with the service.
    let asked_at = app.now();
    let answer = match app.deps.service.create_invoice(&request).await {
        Ok(answer) => answer,
        Err(error) => {
            let is_known = error.surely_not_done();
            let reason = if is_known {
                Abandoned::Refused
            } else {
                Abandoned::Unclear
            };
            log_refusal(&error, "no invoice was made");
            if is_about_the_price(&error) {
                app.prices.forget();
            }
            ledger.abandon_attempt(&terms.id, reason, app.now()).await?;
            return Err(not_made(&error));
        }
    };
    let environment = app.config.environment;
    match checks::check_invoice(&ask, &answer, environment, asked_at) {
        Ok(invoice) => ledger.open_attempt(&terms.id, &invoice, app.now()).await?,
        Err(suspicious) => {
            let invoice = answer.invoice_id.as_str();
            let attempt = &terms.id;
            tracing::error!(
                %order, %attempt, %invoice, %suspicious,
                "the service's invoice is not shown: ask the service about it"
            );
            ledger
                .abandon_attempt(&terms.id, Abandoned::Blocked, app.now())
                .await?;
        }
    }
    app.order_changed(order);
    app.poller_wakeup.notify_one();
    Ok(())
}

pub(crate) fn not_begun(error: BeginError) -> ApiError {
    match error {
        BeginError::NoOrder(_) => ApiError::not_found(),
        BeginError::Closed {
            from: OrderStatus::Checking | OrderStatus::Processing | OrderStatus::Underpaid,
            ..
        } => ApiError::new(
            ErrorCode::OrderClosed,
            "Money for this order is on its way: nothing more is asked for. Wait for it to be \
             confirmed, and send what may be missing to the same address.",
        ),
        BeginError::Closed { .. } => ApiError::new(
            ErrorCode::OrderClosed,
            "This order takes no further payment. Go back to the shop for a new one.",
        ),
        BeginError::InProgress => ApiError::new(
            ErrorCode::AttemptInProgress,
            "Your invoice is being made. Try again in a few seconds.",
        )
        .retry_after(2),
        BeginError::TooMany => ApiError::new(
            ErrorCode::RateLimited,
            "That was often in a short time. Wait a minute, then choose again.",
        )
        .retry_after(60),
        BeginError::Ledger(error) => ApiError::from(error),
    }
}

/// A refused request that names no cause of the specification's list: what we sent was right when its price was fetched,
/// so the price is what no longer holds. `Assumed:` a conversion id that has lapsed is answered with 400.
fn is_about_the_price(error: &CallError) -> bool {
    let CallError::Refused { status: 400, error } = error else {
        return false;
    };
    !matches!(
        error.code,
        Some(
            service_api::ErrorCode::AmountOutOfRange
                | service_api::ErrorCode::UnsupportedCryptoCode
        )
    )
}

/// Logs why the service did not do what it was asked. A wrong key or secret is for a person to mend.
pub(crate) fn log_refusal(error: &CallError, what: &'static str) {
    match error {
        CallError::Refused { status: 401, error } => tracing::error!(
            code = ?error.code, said = ?error.message,
            "the payment service refuses us: check the key and the secret"
        ),
        CallError::Refused { status, error } => {
            tracing::warn!(status, code = ?error.code, said = ?error.message, "{what}");
        }
        other => tracing::warn!(error = %other, "{what}"),
    }
}

/// What a customer is told when there is no invoice. No money was asked for, so none is lost.
pub(crate) fn not_made(error_of_call: &CallError) -> ApiError {
    let message = "The payment service cannot be reached. Nothing was charged; try again shortly.";
    match error_of_call {
        CallError::RateLimited { retry_after }
        | CallError::CircuitOpen { retry_after }
        | CallError::OutOfBudget { retry_after } => {
            let seconds = u32::try_from(retry_after.as_secs())
                .unwrap_or(u32::MAX)
                .max(1);
            ApiError::new(ErrorCode::ServiceUnavailable, message).retry_after(seconds)
        }
        CallError::Refused { error, .. } => match error.code.as_ref() {
            Some(service_api::ErrorCode::AmountOutOfRange) => out_of_range(),
            Some(service_api::ErrorCode::UnsupportedCryptoCode) => ApiError::new(
                ErrorCode::AssetUnavailable,
                "This asset cannot be paid with at present. Choose another one.",
            ),
            _ if is_about_the_price(error_of_call) => price_gone(),
            _ => ApiError::new(ErrorCode::ServiceUnavailable, message).retry_after(30),
        },
        CallError::NotSent(_) | CallError::Unclear(_) | CallError::Broken { .. } => {
            ApiError::new(ErrorCode::ServiceUnavailable, message).retry_after(5)
        }
    }
}

fn price_gone() -> ApiError {
    let message = "This price no longer holds. Get new prices and choose again.";
    ApiError::new(ErrorCode::QuoteExpired, message)
}

fn out_of_range() -> ApiError {
    ApiError::new(
        ErrorCode::AmountOutOfRange,
        "This price is outside what the asset takes. Choose another asset.",
    )
}
