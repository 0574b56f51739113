//! Failures as HTTP responses: the only place that knows which failure has which code, and thereby which status.

mod failure;

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::http::header::RETRY_AFTER;
use axum::http::{HeaderName, HeaderValue};
use axum::response::{IntoResponse, Response};
use florin_checkout_api::{Environment, ErrorBody, ErrorCode, Offer, Refusal};
use florin_gateway_client::{GatewayError, RawRequestError};
use florin_storage::StorageError;
use jiff::SignedDuration;
use serde_json::Value;

use self::failure::Failure;
use crate::auth::order_token::OrderTokenError;
use crate::orders::{OpenOrderError, PriceError};
use crate::payments::error::PaymentError;
use crate::settlements::ReportError;

/// Every way in which a request fails. A text that begins with a capital letter is the one of the response.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ApiError {
    #[error("There is nothing at this address.")]
    NoSuchAddress,
    #[error("This address takes another method: the header Allow says which.")]
    MethodNotAllowed,
    #[error("The address or its query cannot be read.")]
    UnreadableAddress,
    #[error("The header {0} came more than once: send it once.")]
    DuplicateHeader(HeaderName),
    #[error("Send JSON, with the header Content-Type: application/json.")]
    UnsupportedMediaType,
    #[error("Send a form, with the header Content-Type: application/x-www-form-urlencoded.")]
    FormExpected,
    /// The body is larger than the endpoint takes, or did not arrive in time.
    #[error("The body is larger than this address takes, or did not arrive whole.")]
    PayloadTooLarge,
    #[error("{0}")]
    InvalidBody(String),
    #[error("{message}")]
    Invalid {
        field: Cow<'static, str>,
        message: Cow<'static, str>,
    },
    #[error(
        "A request with this Idempotency-Key is being carried out. Send the same again in a moment."
    )]
    RequestInProgress,
    #[error(
        "Another request used this Idempotency-Key before. Use a new key for every new request, and the same \
         key only to repeat a request."
    )]
    IdempotencyKeyReused,
    #[error(
        "The request with this Idempotency-Key was executed, but another version of this proxy stored its \
         result. Nothing was executed again. Read the order first, then use a new key if the request is still \
         needed."
    )]
    IdempotencyResultUnreadable,
    #[error("Send the store's `secret_key`, as Authorization: Bearer <secret_key>.")]
    Unauthorized,
    #[error("no store has this key")]
    UnknownKey {
        /// What it looks like, if it is another secret: `a webhook secret`.
        looks_like: Option<&'static str>,
    },
    #[error(
        "This page may not use this shop's checkout. If it is yours, add its origin to the store's `origins`."
    )]
    OriginNotAllowed,
    #[error("the order token is rejected: {0}")]
    InvalidOrderToken(#[source] Box<OrderTokenError>),
    /// The address opened too many orders or attempts, or an order token was used too often.
    #[error("Too many requests came from your address. Wait a moment, then try again.")]
    TooManyRequests { retry_after: Duration },
    #[error("This order is watched on many pages. Close some, or ask without a stream.")]
    TooManyStreams,
    #[error("no store has the id {0:?}")]
    UnknownStore(String),
    /// The one response to an unknown, foreign and expired order or token.
    #[error("There is no such order, or it is no longer open to you.")]
    NoSuchOrder,
    #[error("There is no such event or delivery.")]
    NoSuchEvent,
    #[error("None of this store's orders has such an invoice.")]
    NoSuchInvoice,
    #[error("There is no such file.")]
    NoSuchFile,
    #[error("This proxy was built without the widget. Build it with: cargo xtask build")]
    NoWidget,
    #[error("Money has been seen for this order: it cannot be cancelled any more.")]
    NotCancellable,
    #[error("the order is not paid")]
    NotPaid {
        /// `true` if the gateway reverts the payment.
        reverted: bool,
    },
    #[error("This order is paid on the gateway's page, which sees what is paid.")]
    PaidOnHostedPage,
    #[error("This order is paid on the gateway's page, which asks for the address itself.")]
    EmailOnHostedPage,
    #[error("This order is paid, and the address for its receipt is known.")]
    ReceiptEmailKnown,
    #[error("Nothing is to be refunded for this order.")]
    NothingOwed,
    #[error(
        "The account at the gateway belongs to all stores of this proxy together. If this store may act for \
         all of them, the operator sets its `gateway_access = true`."
    )]
    AccountShared,
    #[error(
        "This store has no pages for its staff. The operator of the proxy adds them: staff_pages = \"read\" or \
         \"write\"."
    )]
    NoStaffPages,
    #[error(
        "This store's staff sees orders and decides about none. The operator of the proxy allows it: \
         staff_pages = \"write\"."
    )]
    StaffReadOnly,
    #[error(
        "This store is one merchant of a platform and onboards no other. The operator does it: florin-proxy \
         gateway onboard-merchant."
    )]
    OnboardingDenied,
    #[error(transparent)]
    NotForwarded(#[from] RawRequestError),
    #[error("the gateway refused with status {status}")]
    ForwardRefused { status: u16, error: GatewayError },
    #[error(
        "The gateway does not accept this proxy's key or signature; the operator finds the reason in the log. \
         Nothing was done."
    )]
    ForwardUnauthorized,
    #[error(
        "The gateway gave no clear response: what you sent may have been done. Look at your account there \
         before you send it again."
    )]
    ForwardAmbiguous,
    #[error("The gateway gave no usable answer. Try again shortly.")]
    ForwardFailed,
    #[error("The gateway cannot be asked at this moment. Nothing was done; try again later.")]
    ForwardUnavailable { retry_after: Duration },
    #[error(transparent)]
    Price(#[from] PriceError),
    #[error(transparent)]
    OpenOrder(#[from] OpenOrderError),
    #[error(transparent)]
    Payment(#[from] PaymentError),
    /// A choice that cannot be paid: no order was opened.
    #[error("{error}")]
    ChoiceRefused {
        error: PaymentError,
        offer: Box<Offer>,
    },
    #[error(transparent)]
    Storage(#[from] StorageError),
    #[error("a handler panicked: {0}")]
    Panicked(String),
    #[error(transparent)]
    Interrupted(#[from] tokio::task::JoinError),
    #[error(transparent)]
    Json(#[from] serde_json::Error),
}

impl ApiError {
    /// Why no order was opened for what a page names: for the shop's developer, in the test environment alone.
    fn reason(&self) -> Option<String> {
        match self {
            Self::InvalidOrderToken(_) | Self::UnknownStore(_) | Self::Price(_) => {
                Some(self.to_string())
            }
            Self::NoSuchOrder => Some(
                "no order has this id or client token, or the token has expired: the client_token of POST /v1/orders \
                 works until 30 days after the order's end"
                    .to_owned(),
            ),
            _ => None,
        }
    }

    pub(crate) fn invalid(
        field: impl Into<Cow<'static, str>>,
        message: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self::Invalid {
            field: field.into(),
            message: message.into(),
        }
    }

    pub(crate) fn too_many_requests(wait: SignedDuration) -> Self {
        Self::TooManyRequests {
            retry_after: wait.unsigned_abs(),
        }
    }

    /// Returns `true` if a person must read the reason.
    pub(crate) fn is_internal(&self) -> bool {
        Failure::of(self).code == ErrorCode::Internal
    }

    /// The member `error` of the response, without the request's id.
    pub(crate) fn body(&self) -> ErrorBody {
        let failure = Failure::of(self);
        ErrorBody {
            code: Some(failure.code),
            message: failure.message.into_owned(),
            field: failure.field.map(Cow::into_owned),
            request_id: None,
        }
    }

    /// The response, which people can quote by its request id. In the test environment it has the reason for developers.
    pub(crate) fn response(&self, request_id: &str, environment: Environment) -> Response {
        let failure = Failure::of(self);
        let error = ErrorBody {
            request_id: Some(request_id.to_owned()),
            ..self.body()
        };
        let offer = match self {
            Self::ChoiceRefused { offer, .. } => Some(offer.clone()),
            _ => None,
        };
        let body = serde_json::to_value(Refusal { error, offer });
        let mut body = body.expect("texts become JSON");
        if let Some(message) = &failure.gateway {
            body["error"]["gateway"] = Value::clone(message);
        }
        if let (Environment::Test, Some(reason)) = (environment, self.reason()) {
            body["error"]["reason"] = reason.into();
        }
        let mut response = (failure.status(), Json(body)).into_response();
        if let Some(seconds) = failure.retry_after_seconds {
            response
                .headers_mut()
                .insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}

impl From<ReportError> for ApiError {
    fn from(error: ReportError) -> Self {
        match error {
            ReportError::Query(field, message) => {
                Self::invalid(field, format!("It is refused: {message}."))
            }
            ReportError::Storage(error) => error.into(),
        }
    }
}

/// Carries the failure to the outermost layer, which knows the request's id and writes the response.
impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let mut response = Failure::of(&self).status().into_response();
        response.extensions_mut().insert(Arc::new(self));
        response
    }
}
