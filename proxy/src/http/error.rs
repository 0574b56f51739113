//! Failures as HTTP answers: the only place that knows which failure has which code, and thereby which status.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::http::header::RETRY_AFTER;
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use florin_checkout_api::{ErrorBody, ErrorCode, Refusal};
use florin_gateway::{GatewayError, RawRequestError};
use florin_storage::StorageError;
use serde_json::{Value, json};

use crate::orders::open::OpenOrderError;
use crate::orders::price::PriceError;
use crate::payments::error::{MissingForHosted, PaymentError};

/// Every way in which a request fails.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ApiError {
    /// No endpoint has this path.
    #[error("no such address")]
    NoSuchAddress,
    /// The endpoint takes other methods.
    #[error("method not allowed")]
    MethodNotAllowed,
    /// The path or the query is not text.
    #[error("unreadable address")]
    UnreadableAddress,
    /// A header that may come once came more often.
    #[error("duplicate header {0}")]
    DuplicateHeader(HeaderName),
    /// The body is not announced as JSON.
    #[error("unsupported media type")]
    UnsupportedMediaType,
    /// The body is larger than the endpoint takes, or did not arrive in time.
    #[error("payload too large")]
    PayloadTooLarge,
    /// The body has another shape, of which no member can be named.
    #[error("invalid body: {0}")]
    InvalidBody(String),
    /// A member, parameter or header of the request has an invalid value.
    #[error("invalid {field}: {message}")]
    Invalid {
        /// Which one.
        field: Cow<'static, str>,
        /// What to send instead.
        message: Cow<'static, str>,
    },
    /// The same request is being carried out.
    #[error("the request is in progress")]
    RequestInProgress,
    /// The `Idempotency-Key` came with another request.
    #[error("the idempotency key was used for another request")]
    IdempotencyKeyReused,
    /// The request was executed, and its stored result cannot be read.
    #[error("the stored result of the request cannot be read")]
    IdempotencyResultUnreadable,
    /// No store has this secret key.
    #[error("unauthorized")]
    Unauthorized,
    /// The page is not on one of the store's origins.
    #[error("origin not allowed")]
    OriginNotAllowed,
    /// The order token is not valid. Why, the log says.
    #[error("invalid order token")]
    InvalidOrderToken,
    /// The address opened too many orders.
    #[error("too many orders from one address")]
    TooManyOrders {
        /// When the next one is allowed.
        retry_after: Duration,
    },
    /// The order has too many event streams.
    #[error("too many streams of one order")]
    TooManyStreams,
    /// No store has this id.
    #[error("unknown store")]
    UnknownStore,
    /// The one answer to an unknown, foreign and expired order or token.
    #[error("no such order")]
    NoSuchOrder,
    /// The store has no such invoice.
    #[error("no such invoice")]
    NoSuchInvoice,
    /// The widget has no such file.
    #[error("no such file")]
    NoSuchFile,
    /// The binary was built without the widget.
    #[error("built without the widget")]
    NoWidget,
    /// The order cannot be cancelled any more.
    #[error("the order has a payment")]
    NotCancellable,
    /// The order has no receipt.
    #[error("the order is not paid")]
    NotPaid {
        /// Whether the gateway takes back what was paid.
        reverted: bool,
    },
    /// "I have paid" on an order of the hosted flow.
    #[error("the gateway's page sees what is paid")]
    PaidOnHostedPage,
    /// An address for the receipt of an order of the hosted flow.
    #[error("the gateway's page asks for the address itself")]
    EmailOnHostedPage,
    /// A second address for a paid order's receipt.
    #[error("the address for the receipt is known")]
    ReceiptEmailKnown,
    /// The store may not act for the shared account.
    #[error("the account is shared by all stores")]
    AccountShared,
    /// A merchant of a platform may not onboard another.
    #[error("a merchant onboards no other merchant")]
    OnboardingDenied,
    /// The call was not forwarded to the gateway.
    #[error(transparent)]
    NotForwarded(#[from] RawRequestError),
    /// The gateway refused a forwarded call.
    #[error("the gateway refused with status {status}")]
    ForwardRefused {
        /// Its status.
        status: u16,
        /// Its explanation.
        error: GatewayError,
    },
    /// The gateway does not accept the proxy's key.
    #[error("the gateway does not accept the proxy's key or signature")]
    ForwardUnauthorized,
    /// A forwarded call may have been executed.
    #[error("the outcome of a forwarded call is unknown")]
    ForwardAmbiguous,
    /// The gateway gave no usable answer to a forwarded read.
    #[error("the gateway gave no usable answer")]
    ForwardFailed,
    /// A forwarded call was not sent.
    #[error("the gateway is unavailable")]
    ForwardUnavailable {
        /// When it makes sense to try again.
        retry_after: Duration,
    },
    /// There is no price.
    #[error(transparent)]
    Price(#[from] PriceError),
    /// The order was not opened.
    #[error(transparent)]
    OpenOrder(#[from] OpenOrderError),
    /// The payment was not opened.
    #[error(transparent)]
    Payment(#[from] PaymentError),
    /// The database failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// A task was cut off.
    #[error(transparent)]
    Interrupted(#[from] tokio::task::JoinError),
    /// JSON could not be written or read back.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
}

/// A failure as it is answered.
struct Failure {
    code: ErrorCode,
    message: Cow<'static, str>,
    field: Option<Cow<'static, str>>,
    retry_after_seconds: Option<u32>,
    /// The gateway's own words, for the store's server.
    gateway: Option<Value>,
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

    fn status(&self) -> StatusCode {
        StatusCode::from_u16(self.code.status()).expect("the list holds valid statuses")
    }
}

impl ApiError {
    /// A member, parameter or header of the request that is not valid.
    pub(crate) fn invalid(
        field: impl Into<Cow<'static, str>>,
        message: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self::Invalid {
            field: field.into(),
            message: message.into(),
        }
    }

    /// The answer, which people can quote by its request id.
    pub(crate) fn answer(&self, request_id: &str) -> Response {
        let failure = self.failure();
        let error = ErrorBody {
            code: Some(failure.code),
            message: failure.message.clone().into_owned(),
            field: failure.field.clone().map(Cow::into_owned),
            request_id: Some(request_id.to_owned()),
        };
        let body = serde_json::to_value(Refusal { error });
        let mut body = body.expect("texts become JSON");
        if let Some(said) = &failure.gateway {
            body["error"]["service"] = Value::clone(said);
        }
        let mut answer = (failure.status(), Json(body)).into_response();
        if let Some(seconds) = failure.retry_after_seconds {
            answer
                .headers_mut()
                .insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        answer
    }

    /// Code and text of each failure. Texts are for people: one or two sentences, nothing internal.
    #[expect(
        clippy::too_many_lines,
        reason = "one entry for each failure: a list, not a procedure"
    )]
    fn failure(&self) -> Failure {
        match self {
            Self::NoSuchAddress => {
                Failure::new(ErrorCode::NotFound, "There is nothing at this address.")
            }
            Self::MethodNotAllowed => Failure::new(
                ErrorCode::MethodNotAllowed,
                "This address takes another method: the header Allow says which.",
            ),
            Self::UnreadableAddress => Failure::new(
                ErrorCode::InvalidRequest,
                "The address or its query cannot be read.",
            ),
            Self::DuplicateHeader(name) => Failure::new(
                ErrorCode::InvalidRequest,
                format!("The header {name} came more than once: send it once."),
            ),
            Self::UnsupportedMediaType => Failure::new(
                ErrorCode::UnsupportedMediaType,
                "Send JSON, with the header Content-Type: application/json.",
            ),
            Self::PayloadTooLarge => Failure::new(
                ErrorCode::PayloadTooLarge,
                "The body is larger than this address takes, or did not arrive whole.",
            ),
            Self::InvalidBody(message) => Failure::new(ErrorCode::InvalidRequest, message.clone()),
            Self::Invalid { field, message } => {
                Failure::new(ErrorCode::InvalidRequest, message.clone()).at(field.clone())
            }
            Self::RequestInProgress => Failure::new(
                ErrorCode::RequestInProgress,
                "A request with this Idempotency-Key is being carried out. Send the same again in a moment.",
            )
            .retry_after(Duration::from_secs(1)),
            Self::IdempotencyKeyReused => Failure::new(
                ErrorCode::IdempotencyKeyReused,
                "This Idempotency-Key came with another request before. Use a key of its own for every request, and \
                 the same only to send the same again.",
            ),
            Self::IdempotencyResultUnreadable => Failure::new(
                ErrorCode::IdempotencyResultUnreadable,
                "The request with this Idempotency-Key was executed, but another version of this proxy stored its result. \
                 Nothing was executed again. Read the order first, then use a new key if the request is still needed.",
            ),
            Self::Unauthorized => Failure::new(
                ErrorCode::Unauthorized,
                "Send the store's secret key, as Authorization: Bearer <secret_key>.",
            ),
            Self::OriginNotAllowed => Failure::new(
                ErrorCode::OriginNotAllowed,
                "This page may not use this shop's checkout. If it is yours, add its origin to the store's `origins`.",
            ),
            Self::InvalidOrderToken => Failure::new(
                ErrorCode::InvalidOrderToken,
                "This checkout link is not valid, or no longer. Go back to the shop and start again.",
            ),
            Self::TooManyOrders { retry_after } => Failure::new(
                ErrorCode::RateLimited,
                "Too many orders were opened from your address. Wait a moment, then try again.",
            )
            .retry_after(*retry_after),
            Self::TooManyStreams => Failure::new(
                ErrorCode::RateLimited,
                "This order is watched on many pages. Close some, or ask without a stream.",
            )
            .retry_after(Duration::from_secs(30)),
            Self::UnknownStore => Failure::new(
                ErrorCode::UnknownStore,
                "There is no shop of this name here.",
            ),
            Self::NoSuchOrder => Failure::new(
                ErrorCode::NotFound,
                "There is no such order, or it is no longer open to you.",
            ),
            Self::NoSuchInvoice => Failure::new(
                ErrorCode::NotFound,
                "None of this store's orders has such an invoice.",
            ),
            Self::NoSuchFile => Failure::new(ErrorCode::NotFound, "There is no such file."),
            Self::NoWidget => Failure::new(
                ErrorCode::NotFound,
                "This proxy was built without the widget. Build it with: cargo xtask build",
            ),
            Self::NotCancellable => Failure::new(
                ErrorCode::OrderClosed,
                "Money has been seen for this order: it cannot be cancelled any more.",
            ),
            Self::NotPaid { reverted: true } => Failure::new(
                ErrorCode::NotPaid,
                "There is no receipt while the payment service takes back what was paid. Ask the shop.",
            ),
            Self::NotPaid { reverted: false } => Failure::new(
                ErrorCode::NotPaid,
                "There is a receipt once the order is paid. It is not paid yet.",
            ),
            Self::PaidOnHostedPage => Failure::new(
                ErrorCode::OtherFlow,
                "This order is paid on the payment service's page, which sees what is paid.",
            ),
            Self::EmailOnHostedPage => Failure::new(
                ErrorCode::OtherFlow,
                "This order is paid on the payment service's page, which asks for the address itself.",
            ),
            Self::ReceiptEmailKnown => Failure::new(
                ErrorCode::OrderClosed,
                "This order is paid, and the address for its receipt is known.",
            ),
            Self::AccountShared => Failure::new(
                ErrorCode::ServiceAccessDenied,
                "The account at the payment service belongs to all stores of this proxy together. If this store may \
                 act for all of them, the operator sets its `service_access = true`.",
            ),
            Self::OnboardingDenied => Failure::new(
                ErrorCode::ServiceAccessDenied,
                "This store is one merchant of a platform and onboards no other. The operator does it: florin-proxy \
                 service onboard-merchant.",
            ),
            Self::NotForwarded(error) => not_forwarded(error),
            Self::ForwardRefused { status, error } => {
                let reason = error.message.as_deref().or(error.summary.as_deref());
                let message = match reason {
                    Some(reason) => format!("The payment service refused: {}", truncate(reason)),
                    None => {
                        format!("The payment service refused with status {status}, without a reason.")
                    }
                };
                Failure::new(ErrorCode::ServiceRefused, message).with_gateway_error(*status, error)
            }
            Self::ForwardUnauthorized => Failure::new(
                ErrorCode::ServiceFailed,
                "The payment service does not accept this proxy's key or signature; the operator finds the reason in \
                 the log. Nothing was done.",
            ),
            Self::ForwardAmbiguous => Failure::new(
                ErrorCode::ServiceFailed,
                "The payment service gave no clear answer: what you sent may have been done. Look at your account \
                 there before you send it again.",
            ),
            Self::ForwardFailed => Failure::new(
                ErrorCode::ServiceFailed,
                "The payment service gave no usable answer. Try again shortly.",
            ),
            Self::ForwardUnavailable { retry_after } => Failure::new(
                ErrorCode::ServiceUnavailable,
                "The payment service cannot be asked at this moment. Nothing was done; try again later.",
            )
            .retry_after(*retry_after),
            Self::Price(error) => price_failure(error),
            Self::OpenOrder(OpenOrderError::Conflict) => Failure::new(
                ErrorCode::OrderConflict,
                "This reference already names an order of another price or currency. Use a reference of its own for \
                 every order.",
            ),
            Self::OpenOrder(OpenOrderError::OtherFlow) => Failure::new(
                ErrorCode::OtherFlow,
                "This reference already names an order of the other flow. Use a reference of its own.",
            ),
            Self::Payment(error) => payment_failure(error),
            Self::OpenOrder(OpenOrderError::Storage(_))
            | Self::Storage(_)
            | Self::Interrupted(_)
            | Self::Json(_) => Failure::internal(),
        }
    }
}

fn not_forwarded(error: &RawRequestError) -> Failure {
    let code = match error {
        RawRequestError::Query => {
            let message = format!("It is refused: {error}.");
            return Failure::new(ErrorCode::InvalidRequest, message).at("query");
        }
        RawRequestError::TooLarge => ErrorCode::PayloadTooLarge,
        RawRequestError::OtherMerchant(_) => ErrorCode::ServiceAccessDenied,
        RawRequestError::NotJson(_) | RawRequestError::Body(_) | RawRequestError::NotAnObject => {
            ErrorCode::InvalidRequest
        }
    };
    Failure::new(code, format!("The call is refused: {error}."))
}

fn price_failure(error: &PriceError) -> Failure {
    match error {
        PriceError::UnknownProduct => Failure::new(
            ErrorCode::UnknownProduct,
            "The shop does not sell this. Go back to the shop and choose again.",
        ),
        PriceError::QuantityOutOfRange { max } => Failure::new(
            ErrorCode::QuantityOutOfRange,
            format!("The shop sells 1 to {max} of this at once."),
        ),
        PriceError::UnknownDonation => Failure::new(
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
    match error {
        PaymentError::NoOrder => ApiError::NoSuchOrder.failure(),
        PaymentError::HostedOrder => Failure::new(
            ErrorCode::OtherFlow,
            "This order is paid on the payment service's page: no asset is chosen here.",
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
            "This price is outside what the payment service takes.",
        ),
        PaymentError::MissingForHosted(MissingForHosted::Email) => Failure::new(
            ErrorCode::InvalidRequest,
            "The service's page needs the customer's e-mail address.",
        )
        .at("customer_email"),
        PaymentError::MissingForHosted(MissingForHosted::ReturnUrl) => Failure::new(
            ErrorCode::InvalidRequest,
            "The service's page needs an address to return to: here, or as the store's return_url.",
        )
        .at("return_url"),
        PaymentError::MissingForHosted(MissingForHosted::CheckoutUrl) => Failure::new(
            ErrorCode::InvalidRequest,
            "The hosted flow is not set up: the operator has to set service.checkout_url, the address of the service's \
             page.",
        )
        .at("flow"),
        PaymentError::HostedPageBlocked => Failure::new(
            ErrorCode::ServiceUnavailable,
            "The payment service's page did not pass our checks, so nobody is sent there. Nothing was charged; the \
             operator's log says why.",
        )
        .retry_after(Duration::from_mins(1)),
        PaymentError::Refused { status, error } => Failure::new(
            ErrorCode::ServiceRefused,
            "The payment service refuses this order: check its e-mail address, amount and currency.",
        )
        .with_gateway_error(*status, error),
        PaymentError::GatewayUnavailable { retry_after } => Failure::new(
            ErrorCode::ServiceUnavailable,
            "The payment service cannot be reached. Nothing was charged; try again shortly.",
        )
        .retry_after(*retry_after),
        PaymentError::Storage(_) | PaymentError::Interrupted(_) => Failure::internal(),
    }
}

/// Carries the failure to the outermost layer, which knows the request's id and writes the answer.
impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let failure = self.failure();
        if failure.code == ErrorCode::Internal {
            tracing::error!(error = %self, "a request failed");
        }
        let mut answer = failure.status().into_response();
        answer.extensions_mut().insert(Arc::new(self));
        answer
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
