//! Code and text of each failure. Texts are for people: one or two sentences, nothing internal.

use std::borrow::Cow;
use std::time::Duration;

use axum::http::StatusCode;
use florin_checkout_api::ErrorCode;
use florin_gateway::{GatewayError, RawRequestError};
use florin_money::Currency;
use florin_storage::StorageError;
use serde_json::{Value, json};

use super::ApiError;
use crate::orders::open::OpenOrderError;
use crate::orders::price::PriceError;
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

    /// Code and text of each failure. Texts are for people: one or two sentences, nothing internal.
    #[expect(
        clippy::too_many_lines,
        reason = "one entry for each failure: a list, not a procedure"
    )]
    pub(super) fn of(error: &ApiError) -> Self {
        match error {
            ApiError::NoSuchAddress => {
                Self::new(ErrorCode::NotFound, "There is nothing at this address.")
            }
            ApiError::MethodNotAllowed => Self::new(
                ErrorCode::MethodNotAllowed,
                "This address takes another method: the header Allow says which.",
            ),
            ApiError::UnreadableAddress => Self::new(
                ErrorCode::InvalidRequest,
                "The address or its query cannot be read.",
            ),
            ApiError::DuplicateHeader(name) => Self::new(
                ErrorCode::InvalidRequest,
                format!("The header {name} came more than once: send it once."),
            ),
            ApiError::UnsupportedMediaType => Self::new(
                ErrorCode::UnsupportedMediaType,
                "Send JSON, with the header Content-Type: application/json.",
            ),
            ApiError::PayloadTooLarge => Self::new(
                ErrorCode::PayloadTooLarge,
                "The body is larger than this address takes, or did not arrive whole.",
            ),
            ApiError::InvalidBody(message) => Self::new(ErrorCode::InvalidRequest, message.clone()),
            ApiError::Invalid { field, message } => {
                Self::new(ErrorCode::InvalidRequest, message.clone()).at(field.clone())
            }
            ApiError::RequestInProgress => Self::new(
                ErrorCode::RequestInProgress,
                "A request with this Idempotency-Key is being carried out. Send the same again in a moment.",
            )
            .retry_after(Duration::from_secs(1)),
            ApiError::IdempotencyKeyReused => Self::new(
                ErrorCode::IdempotencyKeyReused,
                "Another request used this Idempotency-Key before. Use a new key for every new request, and the same \
                 key only to repeat a request.",
            ),
            ApiError::IdempotencyResultUnreadable => Self::new(
                ErrorCode::IdempotencyResultUnreadable,
                "The request with this Idempotency-Key was executed, but another version of this proxy stored its result. \
                 Nothing was executed again. Read the order first, then use a new key if the request is still needed.",
            ),
            ApiError::Unauthorized => Self::new(
                ErrorCode::Unauthorized,
                "Send the store's `secret_key`, as Authorization: Bearer <secret_key>.",
            ),
            ApiError::UnknownKey { looks_like } => {
                let looks_like = looks_like.map_or_else(String::new, |kind| {
                    format!(" It looks like {kind}.")
                });
                let message = format!(
                    "No store has this key.{looks_like} Send the store's `secret_key`, as Authorization: Bearer <secret_key>."
                );
                Self::new(ErrorCode::Unauthorized, message)
            }
            ApiError::OriginNotAllowed => Self::new(
                ErrorCode::OriginNotAllowed,
                "This page may not use this shop's checkout. If it is yours, add its origin to the store's `origins`.",
            ),
            ApiError::InvalidOrderToken(_) => Self::new(
                ErrorCode::InvalidOrderToken,
                "This checkout link is not valid, or no longer. Go back to the shop and start again.",
            ),
            ApiError::TooManyRequests { retry_after } => Self::new(
                ErrorCode::RateLimited,
                "Too many requests came from your address. Wait a moment, then try again.",
            )
            .retry_after(*retry_after),
            ApiError::TooManyStreams => Self::new(
                ErrorCode::RateLimited,
                "This order is watched on many pages. Close some, or ask without a stream.",
            )
            .retry_after(Duration::from_secs(30)),
            ApiError::UnknownStore(_) => Self::new(
                ErrorCode::UnknownStore,
                "There is no shop of this name here.",
            ),
            ApiError::NoSuchOrder => Self::new(
                ErrorCode::NotFound,
                "There is no such order, or it is no longer open to you.",
            ),
            ApiError::NoSuchEvent => Self::new(
                ErrorCode::NotFound,
                "There is no such event or delivery.",
            ),
            ApiError::NoSuchInvoice => Self::new(
                ErrorCode::NotFound,
                "None of this store's orders has such an invoice.",
            ),
            ApiError::NoSuchFile => Self::new(ErrorCode::NotFound, "There is no such file."),
            ApiError::NoWidget => Self::new(
                ErrorCode::NotFound,
                "This proxy was built without the widget. Build it with: cargo xtask build",
            ),
            ApiError::NotCancellable => Self::new(
                ErrorCode::OrderClosed,
                "Money has been seen for this order: it cannot be cancelled any more.",
            ),
            ApiError::NotPaid { reverted: true } => Self::new(
                ErrorCode::NotPaid,
                "There is no receipt while the gateway takes back what was paid. Ask the shop.",
            ),
            ApiError::NotPaid { reverted: false } => Self::new(
                ErrorCode::NotPaid,
                "There is a receipt once the order is paid. It is not paid yet.",
            ),
            ApiError::PaidOnHostedPage => Self::new(
                ErrorCode::OtherFlow,
                "This order is paid on the gateway's page, which sees what is paid.",
            ),
            ApiError::EmailOnHostedPage => Self::new(
                ErrorCode::OtherFlow,
                "This order is paid on the gateway's page, which asks for the address itself.",
            ),
            ApiError::ReceiptEmailKnown => Self::new(
                ErrorCode::OrderClosed,
                "This order is paid, and the address for its receipt is known.",
            ),
            ApiError::AccountShared => Self::new(
                ErrorCode::GatewayAccessDenied,
                "The account at the gateway belongs to all stores of this proxy together. If this store may \
                 act for all of them, the operator sets its `gateway_access = true`.",
            ),
            ApiError::OnboardingDenied => Self::new(
                ErrorCode::GatewayAccessDenied,
                "This store is one merchant of a platform and onboards no other. The operator does it: florin-proxy \
                 gateway onboard-merchant.",
            ),
            ApiError::NoStaffPages => Self::new(
                ErrorCode::StaffAccessDenied,
                "This store has no pages for its staff. The operator of the proxy adds them: staff_pages = \"read\" or \"write\".",
            ),
            ApiError::StaffReadOnly => Self::new(
                ErrorCode::StaffAccessDenied,
                "This store's staff sees orders and decides about none. The operator of the proxy allows it: staff_pages = \"write\".",
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
            ApiError::ForwardUnauthorized => Self::new(
                ErrorCode::GatewayFailed,
                "The gateway does not accept this proxy's key or signature; the operator finds the reason in \
                 the log. Nothing was done.",
            ),
            ApiError::ForwardAmbiguous => Self::new(
                ErrorCode::GatewayFailed,
                "The gateway gave no clear response: what you sent may have been done. Look at your account \
                 there before you send it again.",
            ),
            ApiError::ForwardFailed => Self::new(
                ErrorCode::GatewayFailed,
                "The gateway gave no usable answer. Try again shortly.",
            ),
            ApiError::ForwardUnavailable { retry_after } => Self::new(
                ErrorCode::GatewayUnavailable,
                "The gateway cannot be asked at this moment. Nothing was done; try again later.",
            )
            .retry_after(*retry_after),
            ApiError::Price(error) => price_failure(error),
            ApiError::OpenOrder(OpenOrderError::Conflict) => Self::new(
                ErrorCode::OrderConflict,
                "This reference already names an order of another price or currency, also after that order has ended. \
                 Use a new reference for every order, like cart-1234-2.",
            ),
            ApiError::OpenOrder(OpenOrderError::OtherFlow) => Self::new(
                ErrorCode::OtherFlow,
                "This reference already names an order of the other flow. Use a new reference.",
            ),
            ApiError::Payment(error) => payment_failure(error),
            ApiError::OpenOrder(OpenOrderError::Storage(error)) | ApiError::Storage(error) => {
                storage_failure(error)
            }
            ApiError::Panicked(_)
            | ApiError::Interrupted(_)
            | ApiError::Json(_) => Self::internal(),
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

fn not_priced(currency: Currency, priced: &str) -> Failure {
    let message = format!(
        "The gateway's account prices orders in {priced}, not in {currency}: write the price in one of those. The gateway \
         sets the account's local currency."
    );
    Failure::new(ErrorCode::CurrencyUnavailable, message).at("currency")
}

fn missing_for_hosted(missing: MissingForHosted) -> Failure {
    let (message, field) = match missing {
        MissingForHosted::Email => (
            "The gateway's page needs the customer's e-mail address.",
            "customer_email",
        ),
        MissingForHosted::ReturnUrl => (
            "The gateway's page needs an address to return to: here, or as the store's return_url.",
            "return_url",
        ),
        MissingForHosted::CheckoutUrl => (
            "The hosted flow is not set up: the operator has to set gateway.checkout_url, the address of the gateway's page.",
            "flow",
        ),
    };
    Failure::new(ErrorCode::InvalidRequest, message).at(field)
}

fn payment_failure(error: &PaymentError) -> Failure {
    match error {
        PaymentError::NoOrder => Failure::of(&ApiError::NoSuchOrder),
        PaymentError::HostedOrder => Failure::new(
            ErrorCode::OtherFlow,
            "This order is paid on the gateway's page: no asset is chosen here.",
        ),
        PaymentError::CustomOrder => Failure::new(
            ErrorCode::OtherFlow,
            "This order is paid here: choose an asset.",
        ),
        PaymentError::OrderClosed => Failure::new(
            ErrorCode::OrderClosed,
            "This order takes no further payment. Go back to the shop for a new one.",
        ),
        PaymentError::PaymentSeen => Failure::new(
            ErrorCode::OrderClosed,
            "Money for this order is on its way: nothing more is asked for. Wait for it to be confirmed, and send what \
             may be missing to the same address.",
        ),
        PaymentError::NothingToPay => Failure::new(
            ErrorCode::NothingToPay,
            "There is nothing to pay yet: choose how you want to pay first.",
        ),
        PaymentError::InProgress => Failure::new(
            ErrorCode::AttemptInProgress,
            "Your invoice is being made. Try again in a few seconds.",
        )
        .retry_after(Duration::from_secs(2)),
        PaymentError::TooManyAttempts => Failure::new(
            ErrorCode::RateLimited,
            "That was often in a short time. Wait a minute, then choose again.",
        )
        .retry_after(Duration::from_mins(1)),
        PaymentError::InvalidCryptoCode(message) => {
            Failure::new(ErrorCode::InvalidRequest, message.clone()).at("crypto_code")
        }
        PaymentError::UnknownAsset => Failure::new(
            ErrorCode::AssetUnavailable,
            "This asset cannot be paid with here. Choose another one.",
        ),
        PaymentError::AssetNotAccepted => Failure::new(
            ErrorCode::AssetUnavailable,
            "This order cannot be paid in this asset. Choose another one.",
        ),
        PaymentError::NotPriced => Failure::new(
            ErrorCode::AssetUnavailable,
            "There is no price for this asset now. Choose another.",
        ),
        PaymentError::CurrencyNotPriced { currency, priced } => not_priced(*currency, priced),
        PaymentError::NoAssetOffered => Failure::new(
            ErrorCode::AssetUnavailable,
            "None of these assets can be paid with here. Write crypto codes that GET /v1/gateway/currencies lists, like \
             [\"BTC\"], or leave them out.",
        )
        .at("assets"),
        PaymentError::UnsupportedAsset => Failure::new(
            ErrorCode::AssetUnavailable,
            "This asset cannot be paid with at present. Choose another one.",
        ),
        PaymentError::QuoteExpired => Failure::new(
            ErrorCode::QuoteExpired,
            "This price no longer holds. Get new prices and choose again.",
        ),
        PaymentError::AmountOutOfRange => Failure::new(
            ErrorCode::AmountOutOfRange,
            "This price is outside what the asset takes. Choose another asset.",
        ),
        PaymentError::HostedAmountOutOfRange => Failure::new(
            ErrorCode::AmountOutOfRange,
            "This price is outside what the gateway takes.",
        ),
        PaymentError::MissingForHosted(missing) => missing_for_hosted(*missing),
        PaymentError::HostedPageBlocked => Failure::new(
            ErrorCode::GatewayUnavailable,
            "The gateway's page did not pass our checks, so the customer is not sent there. Nothing was charged; \
             the operator's log says why.",
        )
        .retry_after(Duration::from_mins(1)),
        PaymentError::Refused { status, error } => Failure::new(
            ErrorCode::GatewayRefused,
            "The gateway refuses this order: check its e-mail address, amount and currency.",
        )
        .with_gateway_error(*status, error),
        PaymentError::KeyRejected => Failure::new(
            ErrorCode::GatewayUnavailable,
            "The gateway does not accept this proxy's key or signature: nothing can be paid until its operator corrects \
             them. Nothing was charged.",
        )
        .retry_after(Duration::from_secs(30)),
        PaymentError::GatewayUnavailable { retry_after } => Failure::new(
            ErrorCode::GatewayUnavailable,
            "The gateway cannot be reached. Nothing was charged; try again shortly.",
        )
        .retry_after(*retry_after),
        PaymentError::Storage(error) => storage_failure(error),
        PaymentError::Interrupted(_) => Failure::internal(),
    }
}

/// Characters of the gateway's text that are passed on.
const MAX_CHARS: usize = 500;

/// The gateway's error member by member; what it did not say is absent.
fn gateway_error_json(status: u16, error: &GatewayError) -> Value {
    let mut json = json!({ "status": status });
    let members = [
        ("error", error.summary.as_deref()),
        (
            "code",
            error.code.as_ref().map(florin_gateway::ErrorCode::as_str),
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
