//! Failures as HTTP responses: the only place that knows which failure has which code, and thereby which status.

pub(crate) mod field;

mod failure;
mod response;

use std::borrow::Cow;
use std::time::Duration;

use axum::http::HeaderName;
use florin_gateway::{GatewayError, RawRequestError};
use florin_storage::StorageError;

use crate::auth::order_token::OrderTokenError;
use crate::orders::open::OpenOrderError;
use crate::orders::price::PriceError;
use crate::payments::error::PaymentError;

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
    /// The request has no secret key.
    #[error("unauthorized")]
    Unauthorized,
    /// No store has this secret key.
    #[error("no store has this key")]
    UnknownKey {
        /// What it looks like, if it is another secret: `a webhook secret`.
        looks_like: Option<&'static str>,
    },
    /// The page is not on one of the store's origins.
    #[error("origin not allowed")]
    OriginNotAllowed,
    /// The order token is not valid.
    #[error("the order token is rejected: {0}")]
    InvalidOrderToken(#[source] Box<OrderTokenError>),
    /// The address opened too many orders or attempts, or an order token was used too often.
    #[error("too many requests of one client")]
    TooManyRequests {
        /// When the next one is allowed.
        retry_after: Duration,
    },
    /// The order has too many event streams.
    #[error("too many streams of one order")]
    TooManyStreams,
    /// No store has this id.
    #[error("no store has the id {0:?}")]
    UnknownStore(String),
    /// The one response to an unknown, foreign and expired order or token.
    #[error("no such order")]
    NoSuchOrder,
    /// The store has no such event or delivery.
    #[error("no such event")]
    NoSuchEvent,
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
    /// The store may not act for the shared account.
    #[error("the account is shared by all stores")]
    AccountShared,
    /// The store has no pages for its staff.
    #[error("the store has no pages for its staff")]
    NoStaffPages,
    /// The store's staff decides about no order.
    #[error("the store's staff decides about no order")]
    StaffReadOnly,
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
    /// A handler panicked.
    #[error("a handler panicked: {0}")]
    Panicked(String),
    /// A task was cut off.
    #[error(transparent)]
    Interrupted(#[from] tokio::task::JoinError),
    /// JSON could not be written or read back.
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
}
