//! Failures as HTTP responses: the only place that knows which failure has which code, and thereby which status.

pub(crate) mod field;

mod failure;

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::http::header::RETRY_AFTER;
use axum::http::{HeaderName, HeaderValue};
use axum::response::{IntoResponse, Response};
use florin_checkout_api::{Environment, ErrorBody, ErrorCode, Refusal};
use florin_gateway::{GatewayError, RawRequestError};
use florin_storage::StorageError;
use serde_json::Value;

use self::failure::Failure;
use crate::auth::order_token::OrderTokenError;
use crate::orders::open::OpenOrderError;
use crate::orders::price::PriceError;
use crate::payments::error::PaymentError;

/// Every way in which a request fails.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ApiError {
    #[error("no such address")]
    NoSuchAddress,
    #[error("method not allowed")]
    MethodNotAllowed,
    #[error("unreadable address")]
    UnreadableAddress,
    #[error("duplicate header {0}")]
    DuplicateHeader(HeaderName),
    #[error("unsupported media type")]
    UnsupportedMediaType,
    /// The body is larger than the endpoint takes, or did not arrive in time.
    #[error("payload too large")]
    PayloadTooLarge,
    #[error("invalid body: {0}")]
    InvalidBody(String),
    #[error("invalid {field}: {message}")]
    Invalid {
        field: Cow<'static, str>,
        message: Cow<'static, str>,
    },
    #[error("the request is in progress")]
    RequestInProgress,
    #[error("the idempotency key was used for another request")]
    IdempotencyKeyReused,
    #[error("the stored result of the request cannot be read")]
    IdempotencyResultUnreadable,
    #[error("unauthorized")]
    Unauthorized,
    #[error("no store has this key")]
    UnknownKey {
        /// What it looks like, if it is another secret: `a webhook secret`.
        looks_like: Option<&'static str>,
    },
    #[error("origin not allowed")]
    OriginNotAllowed,
    #[error("the order token is rejected: {0}")]
    InvalidOrderToken(#[source] Box<OrderTokenError>),
    /// The address opened too many orders or attempts, or an order token was used too often.
    #[error("too many requests of one client")]
    TooManyRequests { retry_after: Duration },
    #[error("too many streams of one order")]
    TooManyStreams,
    #[error("no store has the id {0:?}")]
    UnknownStore(String),
    /// The one response to an unknown, foreign and expired order or token.
    #[error("no such order")]
    NoSuchOrder,
    #[error("no such event")]
    NoSuchEvent,
    #[error("no such invoice")]
    NoSuchInvoice,
    #[error("no such file")]
    NoSuchFile,
    #[error("built without the widget")]
    NoWidget,
    #[error("the order has a payment")]
    NotCancellable,
    #[error("the order is not paid")]
    NotPaid {
        /// `true` if the gateway reverts the payment.
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
    #[error("the account is shared by all stores")]
    AccountShared,
    #[error("the store has no pages for its staff")]
    NoStaffPages,
    #[error("the store's staff decides about no order")]
    StaffReadOnly,
    #[error("a merchant onboards no other merchant")]
    OnboardingDenied,
    #[error(transparent)]
    NotForwarded(#[from] RawRequestError),
    #[error("the gateway refused with status {status}")]
    ForwardRefused { status: u16, error: GatewayError },
    #[error("the gateway does not accept the proxy's key or signature")]
    ForwardUnauthorized,
    #[error("the outcome of a forwarded call is unknown")]
    ForwardAmbiguous,
    #[error("the gateway gave no usable answer")]
    ForwardFailed,
    #[error("the gateway is unavailable")]
    ForwardUnavailable { retry_after: Duration },
    #[error(transparent)]
    Price(#[from] PriceError),
    #[error(transparent)]
    OpenOrder(#[from] OpenOrderError),
    #[error(transparent)]
    Payment(#[from] PaymentError),
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

    /// Returns `true` if a person must read the reason.
    pub(crate) fn is_internal(&self) -> bool {
        Failure::of(self).code == ErrorCode::Internal
    }

    /// The response, which people can quote by its request id. In the test environment it has the reason for developers.
    pub(crate) fn response(&self, request_id: &str, environment: Environment) -> Response {
        let failure = Failure::of(self);
        let error = ErrorBody {
            code: Some(failure.code),
            message: failure.message.clone().into_owned(),
            field: failure.field.clone().map(Cow::into_owned),
            request_id: Some(request_id.to_owned()),
        };
        let body = serde_json::to_value(Refusal { error });
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

/// Carries the failure to the outermost layer, which knows the request's id and writes the response.
impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let mut response = Failure::of(&self).status().into_response();
        response.extensions_mut().insert(Arc::new(self));
        response
    }
}
