//! Errors of opening a payment, and their causes among failed calls of the gateway.

use std::time::Duration;

use crate::payments::fair_queue::QueueError;
use florin_gateway_client::{CallError, ErrorCode, GatewayError};
use florin_money::Currency;
use florin_orders::OrderStatus;
use florin_storage::{OrderOperationError, StorageError};

/// A text that begins with a capital letter is for people.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PaymentError {
    #[error("there is no such order")]
    NoOrder,
    #[error("This order is paid on the gateway's page: no asset is chosen here.")]
    HostedOrder,
    /// A hosted page was requested for an order that is paid on the proxy's checkout.
    #[error("This order is paid here: choose an asset.")]
    CustomOrder,
    #[error("This order takes no further payment. Go back to the shop for a new one.")]
    OrderClosed,
    #[error(
        "Money for this order is on its way: nothing more is asked for. Wait for it to be confirmed, and send \
         what may be missing to the same address."
    )]
    PaymentSeen,
    #[error("There is nothing to pay yet: choose how you want to pay first.")]
    NothingToPay,
    #[error("Your invoice is being made. Try again in a few seconds.")]
    InProgress,
    #[error("That was often in a short time. Wait a minute, then choose again.")]
    TooManyAttempts,
    #[error("{0}")]
    InvalidCryptoCode(String),
    #[error("This asset cannot be paid with here. Choose another one.")]
    UnknownAsset,
    #[error("This order cannot be paid in this asset. Choose another one.")]
    AssetNotAccepted,
    #[error("There is no price for this asset now. Choose another.")]
    NotPriced,
    #[error(
        "The gateway's account prices orders in {priced}, not in {currency}: write the price in one of those. \
         The gateway sets the account's local currency."
    )]
    CurrencyNotPriced { currency: Currency, priced: String },
    /// The gateway offers none of the assets that the order accepts.
    #[error(
        "None of these assets can be paid with here. Write crypto codes that GET /v1/gateway/currencies lists, \
         like [\"BTC\"], or leave them out."
    )]
    NoAssetOffered,
    #[error("This asset cannot be paid with at present. Choose another one.")]
    UnsupportedAsset,
    #[error("This price no longer holds. Get new prices and choose again.")]
    QuoteExpired,
    #[error("This price is outside what the asset takes. Choose another asset.")]
    AmountOutOfRange,
    #[error("This price is outside what the gateway takes.")]
    HostedAmountOutOfRange,
    #[error(transparent)]
    MissingForHosted(#[from] MissingForHosted),
    #[error(
        "The gateway's page did not pass our checks, so the customer is not sent there. Nothing was charged; \
         the operator's log says why."
    )]
    HostedPageBlocked,
    #[error("The gateway refuses this order: check its e-mail address, amount and currency.")]
    Refused { status: u16, error: GatewayError },
    #[error(
        "The gateway does not accept this proxy's key or signature: nothing can be paid until its operator \
         corrects them. Nothing was charged."
    )]
    KeyRejected,
    #[error("The gateway cannot be reached. Nothing was charged; try again shortly.")]
    GatewayUnavailable { retry_after: Duration },
    #[error(transparent)]
    Storage(#[from] StorageError),
    #[error(transparent)]
    Interrupted(#[from] tokio::task::JoinError),
}

/// What a hosted payment needs and an order of the custom flow can do without.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum MissingForHosted {
    #[error("The gateway's page needs the customer's e-mail address.")]
    Email,
    #[error(
        "The gateway's page needs an address to return to: here, or as the store's return_url."
    )]
    ReturnUrl,
    /// The operator's setting `gateway.checkout_url`.
    #[error(
        "The hosted flow is not set up: the operator has to set gateway.checkout_url, the address of the \
         gateway's page."
    )]
    CheckoutUrl,
}

impl From<OrderOperationError> for PaymentError {
    fn from(error: OrderOperationError) -> Self {
        match error {
            OrderOperationError::NoOrder(_) => Self::NoOrder,
            OrderOperationError::Closed {
                from: OrderStatus::Checking | OrderStatus::Processing | OrderStatus::Underpaid,
                ..
            } => Self::PaymentSeen,
            OrderOperationError::Closed { .. } => Self::OrderClosed,
            OrderOperationError::InProgress => Self::InProgress,
            OrderOperationError::TooMany => Self::TooManyAttempts,
            OrderOperationError::Storage(error) => Self::Storage(error),
        }
    }
}

impl From<QueueError> for PaymentError {
    fn from(_: QueueError) -> Self {
        Self::GatewayUnavailable {
            retry_after: Duration::from_secs(5),
        }
    }
}

impl PaymentError {
    pub(crate) fn of_invoice_call(error: CallError) -> Self {
        if is_about_price(&error) {
            return Self::QuoteExpired;
        }
        match error {
            CallError::Refused { error, .. } if error.code == Some(ErrorCode::AmountOutOfRange) => {
                Self::AmountOutOfRange
            }
            CallError::Refused { error, .. }
                if error.code == Some(ErrorCode::UnsupportedCryptoCode) =>
            {
                Self::UnsupportedAsset
            }
            error => Self::unavailable(&error),
        }
    }

    pub(crate) fn of_checkout_call(error: CallError) -> Self {
        match error {
            CallError::Refused { error, .. } if error.code == Some(ErrorCode::AmountOutOfRange) => {
                Self::HostedAmountOutOfRange
            }
            // POST /checkout says what is wrong in words alone: {"error": true, "message": …}.
            CallError::Refused { status: 400, error } => Self::Refused { status: 400, error },
            error => Self::unavailable(&error),
        }
    }

    fn unavailable(error: &CallError) -> Self {
        let retry_after = match error {
            CallError::Refused {
                status: 401 | 403, ..
            } => return Self::KeyRejected,
            CallError::RateLimited { retry_after }
            | CallError::CircuitOpen { retry_after }
            | CallError::OutOfBudget { retry_after } => *retry_after,
            CallError::Refused { .. } => Duration::from_secs(30),
            CallError::NotSent(_)
            | CallError::Ambiguous(_)
            | CallError::Broken { .. }
            | CallError::NoLimits(_) => Duration::from_secs(5),
        };
        Self::GatewayUnavailable { retry_after }
    }
}

/// Returns `true` for a rejected request that names no cause of the specification's list: the request was right when its
/// price was fetched, so the price is what no longer holds. `Assumed:` a conversion id that has lapsed is answered with
/// 400.
pub(crate) fn is_about_price(error: &CallError) -> bool {
    let CallError::Refused { status: 400, error } = error else {
        return false;
    };
    !matches!(
        error.code,
        Some(ErrorCode::AmountOutOfRange | ErrorCode::UnsupportedCryptoCode)
    )
}

/// Logs a failed call of the gateway. A wrong key or secret needs a person. The gateway's text has another name than the
/// message of the line, which it would replace.
pub(crate) fn log_rejection(error: &CallError, what: &'static str) {
    match error {
        CallError::Refused { status: 401, error } => tracing::error!(
            code = error.code.as_ref().map(ErrorCode::as_str),
            gateway_message = error.message,
            "the gateway refuses us: check the key and the secret"
        ),
        CallError::Refused { status, error } => {
            let code = error.code.as_ref().map(ErrorCode::as_str);
            tracing::warn!(status, code, gateway_message = error.message, "{what}");
        }
        other => tracing::warn!(error = %other, "{what}"),
    }
}
