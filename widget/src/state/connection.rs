//! The proxy as the state calls it.

use florin_checkout_api::{DonationView, MarkPaid, OpenAttempt, OrderView, Quote, ReceiptEmail};

use super::Problem;

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
#[derive(Clone, PartialEq, Eq)]
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
    /// Sends a request; the response is the order. Sent again, it changes nothing that the first one has done.
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
