//! Errors of opening a payment, and their causes among failed calls of the gateway.

use std::time::Duration;

use crate::payments::fair_queue::QueueError;
use florin_gateway::{CallError, ErrorCode, GatewayError};
use florin_money::Currency;
use florin_orders::OrderStatus;
use florin_storage::{OrderOperationError, StorageError};

#[derive(Debug, thiserror::Error)]
pub(crate) enum PaymentError {
    #[error("there is no such order")]
    NoOrder,
    #[error("the order is paid on the gateway's page")]
    HostedOrder,
    /// A hosted page was requested for an order that is paid on the proxy's checkout.
    #[error("the order is paid on the proxy's checkout")]
    CustomOrder,
    #[error("the order takes no further payment")]
    OrderClosed,
    #[error("a payment of the order is on its way")]
    PaymentSeen,
    #[error("the order has no invoice that can be paid")]
    NothingToPay,
    #[error("another attempt is being opened")]
    InProgress,
    #[error("too many attempts in the last minute")]
    TooManyAttempts,
    #[error("crypto_code: {0}")]
    InvalidCryptoCode(String),
    #[error("the asset is unknown")]
    UnknownAsset,
    #[error("the order cannot be paid in this asset")]
    AssetNotAccepted,
    #[error("the asset has no price")]
    NotPriced,
    #[error("the gateway prices orders in {priced}, not in {currency}")]
    CurrencyNotPriced { currency: Currency, priced: String },
    /// The gateway offers none of the assets that the order accepts.
    #[error("none of the order's assets is offered")]
    NoAssetOffered,
    #[error("the gateway does not support the asset")]
    UnsupportedAsset,
    #[error("the quote has expired")]
    QuoteExpired,
    #[error("the price is outside the asset's limits")]
    AmountOutOfRange,
    #[error("the price is outside the gateway's limits")]
    HostedAmountOutOfRange,
    #[error("a hosted payment needs {0}")]
    MissingForHosted(MissingForHosted),
    #[error("the gateway's page did not pass the checks")]
    HostedPageBlocked,
    #[error("the gateway refused with status {status}")]
    Refused { status: u16, error: GatewayError },
    #[error("the gateway does not accept the proxy's key or signature")]
    KeyRejected,
    #[error("the gateway is unavailable")]
    GatewayUnavailable { retry_after: Duration },
    #[error(transparent)]
    Storage(#[from] StorageError),
    #[error(transparent)]
    Interrupted(#[from] tokio::task::JoinError),
}

/// What a hosted payment needs and an order of the custom flow can do without.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum MissingForHosted {
    #[error("the customer's email address")]
    Email,
    #[error("an address to return to")]
    ReturnUrl,
    /// The operator's setting `gateway.checkout_url`.
    #[error("gateway.checkout_url")]
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
