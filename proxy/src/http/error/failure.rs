//! The code of each failure, and the text where the error has none for people: one or two sentences, nothing internal.

use std::borrow::Cow;
use std::time::Duration;

use axum::http::StatusCode;
use florin_checkout_api::ErrorCode;
use florin_gateway_client::{GatewayError, RawRequestError};
use florin_storage::StorageError;
use serde_json::{Value, json};

use super::ApiError;
use crate::orders::{OpenOrderError, PriceError};
use crate::payments::error::{MissingForHosted, PaymentError};

pub(super) struct Failure {
    pub(super) code: ErrorCode,
    pub(super) message: Cow<'static, str>,
    pub(super) field: Option<Cow<'static, str>>,
    pub(super) retry_after_seconds: Option<u32>,
    pub(super) gateway: Option<Value>,
}

impl Failure {
    fn new(code: ErrorCode, message: impl Into<Cow<'static, str>>) -> Self {
        Self {
            code,
            message: message.into(),
            field: None,
            retry_after_seconds: None,
            gateway: None,
        }
    }

    fn at(self, field: impl Into<Cow<'static, str>>) -> Self {
        Self {
            field: Some(field.into()),
            ..self
        }
    }

    /// Whole seconds, at least one, rounded up, so that no client comes back too early.
    fn retry_after(self, wait: Duration) -> Self {
        let seconds = u32::try_from(wait.as_millis().div_ceil(1000)).unwrap_or(u32::MAX);
        Self {
            retry_after_seconds: Some(seconds.max(1)),
            ..self
        }
    }

    fn with_gateway_error(self, status: u16, error: &GatewayError) -> Self {
        Self {
            gateway: Some(gateway_error_json(status, error)),
            ..self
        }
    }

    fn internal() -> Self {
        let message = "Something went wrong on our side. Nothing is lost; try again shortly.";
        Self::new(ErrorCode::Internal, message)
    }

    pub(super) fn status(&self) -> StatusCode {
        StatusCode::from_u16(self.code.status()).expect("the list holds valid statuses")
    }

    pub(super) fn of(error: &ApiError) -> Self {
        let plain = |code| Self::new(code, error.to_string());
        match error {
            ApiError::MethodNotAllowed => plain(ErrorCode::MethodNotAllowed),
            ApiError::UnreadableAddress
            | ApiError::DuplicateHeader(_)
            | ApiError::InvalidBody(_) => plain(ErrorCode::InvalidRequest),
            ApiError::UnsupportedMediaType | ApiError::FormExpected => {
                plain(ErrorCode::UnsupportedMediaType)
            }
            ApiError::PayloadTooLarge => plain(ErrorCode::PayloadTooLarge),
            ApiError::IdempotencyKeyReused => plain(ErrorCode::IdempotencyKeyReused),
            ApiError::IdempotencyResultUnreadable => plain(ErrorCode::IdempotencyResultUnreadable),
            ApiError::Unauthorized => plain(ErrorCode::Unauthorized),
            ApiError::OriginNotAllowed => plain(ErrorCode::OriginNotAllowed),
            ApiError::NoSuchAddress
            | ApiError::NoSuchOrder
            | ApiError::NoSuchEvent
            | ApiError::NoSuchInvoice
            | ApiError::NoSuchFile
            | ApiError::NoWidget => plain(ErrorCode::NotFound),
            ApiError::NotCancellable | ApiError::ReceiptEmailKnown => plain(ErrorCode::OrderClosed),
            ApiError::NothingOwed => plain(ErrorCode::NothingOwed),
            ApiError::PaidOnHostedPage
            | ApiError::EmailOnHostedPage
            | ApiError::OpenOrder(OpenOrderError::OtherFlow) => plain(ErrorCode::OtherFlow),
            ApiError::AccountShared | ApiError::OnboardingDenied => {
                plain(ErrorCode::GatewayAccessDenied)
            }
            ApiError::NoStaffPages | ApiError::StaffReadOnly => plain(ErrorCode::StaffAccessDenied),
            ApiError::ForwardUnauthorized
            | ApiError::ForwardAmbiguous
            | ApiError::ForwardFailed => plain(ErrorCode::GatewayFailed),
            ApiError::Invalid { field, .. } => plain(ErrorCode::InvalidRequest).at(field.clone()),
            ApiError::RequestInProgress => {
                plain(ErrorCode::RequestInProgress).retry_after(Duration::from_secs(1))
            }
            ApiError::UnknownKey { looks_like } => {
                let looks_like =
                    looks_like.map_or_else(String::new, |kind| format!(" It looks like {kind}."));
                let message = format!(
                    "No store has this key.{looks_like} Send the store's `secret_key`, as Authorization: Bearer <secret_key>."
                );
                Self::new(ErrorCode::Unauthorized, message)
            }
            ApiError::InvalidOrderToken(_) => Self::new(
                ErrorCode::InvalidOrderToken,
                "This checkout link is not valid, or no longer. Go back to the shop and start again.",
            ),
            ApiError::TooManyRequests { retry_after } => {
                plain(ErrorCode::RateLimited).retry_after(*retry_after)
            }
            ApiError::TooManyStreams => {
                plain(ErrorCode::RateLimited).retry_after(Duration::from_secs(30))
            }
            ApiError::UnknownStore(_) => Self::new(
                ErrorCode::UnknownStore,
                "There is no shop of this name here.",
            ),
            ApiError::NotPaid { reverted: true } => Self::new(
                ErrorCode::NotPaid,
                "There is no receipt while the gateway takes back what was paid. Ask the shop.",
            ),
            ApiError::NotPaid { reverted: false } => Self::new(
                ErrorCode::NotPaid,
                "There is a receipt once the order is paid. It is not paid yet.",
            ),
            ApiError::NotForwarded(error) => not_forwarded(error),
            ApiError::ForwardRefused { status, error } => {
                let reason = error.message.as_deref().or(error.summary.as_deref());
                let message = match reason {
                    Some(reason) => format!("The gateway refused: {}", truncate(reason)),
                    None => {
                        format!("The gateway refused with status {status}, without a reason.")
                    }
                };
                Self::new(ErrorCode::GatewayRefused, message).with_gateway_error(*status, error)
            }
            ApiError::ForwardUnavailable { retry_after } => {
                plain(ErrorCode::GatewayUnavailable).retry_after(*retry_after)
            }
            ApiError::Price(error) => price_failure(error),
            ApiError::OpenOrder(OpenOrderError::Conflict) => plain(ErrorCode::OrderConflict),
            ApiError::Payment(error) | ApiError::ChoiceRefused { error, .. } => {
                payment_failure(error)
            }
            ApiError::OpenOrder(OpenOrderError::Storage(error)) | ApiError::Storage(error) => {
                storage_failure(error)
            }
            ApiError::Panicked(_) | ApiError::Interrupted(_) | ApiError::Json(_) => {
                Self::internal()
            }
        }
    }
}

/// The storage monitor reports an outage to the operator, once.
fn storage_failure(error: &StorageError) -> Failure {
    if error.outage().is_none() {
        return Failure::internal();
    }
    Failure::new(
        ErrorCode::StorageUnavailable,
        "Orders cannot be stored at this moment. Nothing is lost; try again shortly.",
    )
    .retry_after(Duration::from_secs(5))
}

fn not_forwarded(error: &RawRequestError) -> Failure {
    let code = match error {
        RawRequestError::Query => {
            let message = format!("It is refused: {error}.");
            return Failure::new(ErrorCode::InvalidRequest, message).at("query");
        }
        RawRequestError::TooLarge => ErrorCode::PayloadTooLarge,
        RawRequestError::OtherMerchant(_) => ErrorCode::GatewayAccessDenied,
        RawRequestError::NotJson(_) | RawRequestError::Body(_) | RawRequestError::NotAnObject => {
            ErrorCode::InvalidRequest
        }
    };
    Failure::new(code, format!("The call is refused: {error}."))
}

fn price_failure(error: &PriceError) -> Failure {
    match error {
        PriceError::UnknownProduct { .. } => Failure::new(
            ErrorCode::UnknownProduct,
            "The shop does not sell this. Go back to the shop and choose again.",
        ),
        PriceError::QuantityOutOfRange { max, .. } => Failure::new(
            ErrorCode::QuantityOutOfRange,
            format!("The shop sells 1 to {max} of this at once."),
        ),
        PriceError::UnknownDonation { .. } => Failure::new(
            ErrorCode::UnknownDonation,
            "The shop does not take this donation. Go back to the shop and choose again.",
        ),
        PriceError::DonationOutOfRange { min, max, currency } => {
            let places = match currency.decimals() {
                0 => "without decimals".to_owned(),
                some => format!("with at most {some} decimals"),
            };
            let message = format!("Give {min} to {max} {currency}, {places}.");
            Failure::new(ErrorCode::DonationOutOfRange, message).at("amount")
        }
    }
}

fn payment_failure(error: &PaymentError) -> Failure {
    let plain = |code| Failure::new(code, error.to_string());
    match error {
        PaymentError::HostedOrder | PaymentError::CustomOrder => plain(ErrorCode::OtherFlow),
        PaymentError::OrderClosed | PaymentError::PaymentSeen => plain(ErrorCode::OrderClosed),
        PaymentError::NothingToPay => plain(ErrorCode::NothingToPay),
        PaymentError::UnknownAsset
        | PaymentError::AssetNotAccepted
        | PaymentError::NotPriced
        | PaymentError::UnsupportedAsset => plain(ErrorCode::AssetUnavailable),
        PaymentError::QuoteExpired => plain(ErrorCode::QuoteExpired),
        PaymentError::AmountOutOfRange | PaymentError::HostedAmountOutOfRange => {
            plain(ErrorCode::AmountOutOfRange)
        }
        PaymentError::NoOrder => Failure::of(&ApiError::NoSuchOrder),
        PaymentError::InProgress => {
            plain(ErrorCode::AttemptInProgress).retry_after(Duration::from_secs(2))
        }
        PaymentError::TooManyAttempts => {
            plain(ErrorCode::RateLimited).retry_after(Duration::from_mins(1))
        }
        PaymentError::InvalidCryptoCode(_) => plain(ErrorCode::InvalidRequest).at("crypto_code"),
        PaymentError::CurrencyNotPriced { .. } => {
            plain(ErrorCode::CurrencyUnavailable).at("currency")
        }
        PaymentError::NoAssetOffered => plain(ErrorCode::AssetUnavailable).at("assets"),
        PaymentError::MissingForHosted(missing) => {
            plain(ErrorCode::InvalidRequest).at(match missing {
                MissingForHosted::Email => "customer_email",
                MissingForHosted::ReturnUrl => "return_url",
                MissingForHosted::CheckoutUrl => "flow",
            })
        }
        PaymentError::HostedPageBlocked => {
            plain(ErrorCode::GatewayUnavailable).retry_after(Duration::from_mins(1))
        }
        PaymentError::Refused { status, error } => {
            plain(ErrorCode::GatewayRefused).with_gateway_error(*status, error)
        }
        PaymentError::KeyRejected => {
            plain(ErrorCode::GatewayUnavailable).retry_after(Duration::from_secs(30))
        }
        PaymentError::GatewayUnavailable { retry_after } => {
            plain(ErrorCode::GatewayUnavailable).retry_after(*retry_after)
        }
        PaymentError::Storage(error) => storage_failure(error),
        PaymentError::Interrupted(_) => Failure::internal(),
    }
}

const MAX_CHARS: usize = 500;

fn gateway_error_json(status: u16, error: &GatewayError) -> Value {
    let mut json = json!({ "status": status });
    let members = [
        ("error", error.summary.as_deref()),
        (
            "code",
            error
                .code
                .as_ref()
                .map(florin_gateway_client::ErrorCode::as_str),
        ),
        ("message", error.message.as_deref()),
    ];
    for (name, text) in members {
        if let Some(text) = text {
            json[name] = truncate(text).into();
        }
    }
    json
}

fn truncate(text: &str) -> String {
    text.chars().take(MAX_CHARS).collect()
}
