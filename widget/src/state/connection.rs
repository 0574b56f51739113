//! The proxy as the state calls it, and why there is no response.

use florin_checkout_api::{
    DonationView, ErrorBody, ErrorCode, MarkPaid, OpenAttempt, OrderView, Quote, ReceiptEmail,
};

/// Receives a response, once.
pub(crate) type Done<T> = Box<dyn FnOnce(Result<T, Problem>)>;

/// The result of opening an order.
pub(crate) enum Opened {
    /// The customer has yet to name the amount.
    Donation(DonationView),
    /// There is an order.
    Order(Box<OrderView>),
}

/// What a customer asks of the proxy for an order that is open.
pub(crate) enum Request {
    /// Open an attempt in an asset, at a price that was shown.
    Attempt(OpenAttempt),
    /// Keep an email address for the receipt.
    Email(ReceiptEmail),
    /// "I have paid".
    Paid(MarkPaid),
    /// Open another session on the gateway's page.
    Session,
}

/// The proxy, and the polling that keeps the state up to date.
pub(crate) trait Connection {
    /// Opens the order. `as_new` leaves the known order and opens another; an empty `amount` is none.
    fn open(&self, as_new: bool, amount: &str, done: Done<Opened>);
    /// Gets the quotes: what the order costs in each asset.
    fn quotes(&self, done: Done<Vec<Quote>>);
    /// Gets the receipt of a paid order, as JSON: it is read where it is shown, in a module that is loaded later.
    fn receipt(&self, done: Done<String>);
    /// Sends a request; the response is the order.
    fn send(&self, request: Request, done: Done<OrderView>);
    /// The link that shows this order on any other device.
    fn link(&self, store: &str) -> String;

    /// Polls at the pace of this order; `None` when the response brought nothing new.
    fn on_order(&self, order: Option<&OrderView>);
    /// Requests new quotes after so many seconds.
    fn on_quotes(&self, valid_for_seconds: u32);
    /// Polls now.
    fn poll_now(&self);
    /// Retries to open the order after a pause, the longer the more often it failed.
    fn retry_later(&self);
    /// Ends the wait of [`retry_later`](Self::retry_later).
    fn cancel_retry(&self);
}

/// Why there is no response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Problem {
    /// The network is gone, or the proxy.
    Network,
    /// The proxy refused.
    Refused(ErrorBody),
    /// The response is not of this contract: the page is older or newer than the proxy.
    Unreadable,
}

impl Problem {
    /// The refusal's code.
    pub(crate) fn code(&self) -> Option<ErrorCode> {
        match self {
            Self::Refused(body) => body.code,
            Self::Network | Self::Unreadable => None,
        }
    }

    /// Returns `true` if the same request may succeed after a while. A page that is older than the proxy reads the
    /// answer no better then, but a proxy that is older than the page is about to be replaced.
    pub(crate) fn is_temporary(&self) -> bool {
        match self {
            Self::Network | Self::Unreadable => true,
            Self::Refused(body) => matches!(
                body.code,
                Some(
                    ErrorCode::RateLimited
                        | ErrorCode::GatewayUnavailable
                        | ErrorCode::StorageUnavailable
                        | ErrorCode::Internal
                        // The same request is still at work, or a proxy that was killed left it so for a while.
                        | ErrorCode::RequestInProgress
                        | ErrorCode::AttemptInProgress
                )
            ),
        }
    }

    /// Returns `true` if the proxy refused the amount of a donation: the customer corrects it in its field.
    pub(crate) fn is_about_amount(&self) -> bool {
        matches!(
            self.code(),
            Some(ErrorCode::DonationOutOfRange | ErrorCode::InvalidRequest)
        )
    }

    /// Returns `true` if prices in the order's currency cannot be paid.
    pub(crate) fn is_about_currency(&self) -> bool {
        self.code() == Some(ErrorCode::CurrencyUnavailable)
    }

    /// For the shop's page: the event `florin-error`.
    pub(super) fn message(&self) -> &str {
        match self {
            Self::Refused(body) => &body.message,
            Self::Network => "no response",
            Self::Unreadable => "a response that this page does not understand",
        }
    }
}
