//! The proxy as the state calls it.

use florin_checkout_api::{DonationView, KeepEmail, MarkPaid, OpenAttempt, OrderView, Quote};

use super::Problem;

/// Receives an answer, once.
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
    Email(KeepEmail),
    /// "I have paid".
    Paid(MarkPaid),
    /// Open another session on the gateway's page.
    Session,
}

/// The proxy, and the polling that keeps the state up to date.
pub(crate) trait Connection {
    /// Opens the order. `again` leaves the known order and opens another; an empty `amount` is none.
    fn open(&self, again: bool, amount: &str, done: Done<Opened>);
    /// Gets the prices in every asset.
    fn quotes(&self, done: Done<Vec<Quote>>);
    /// Gets the receipt of a paid order, as JSON: it is read where it is shown, in a module that is loaded later.
    fn receipt(&self, done: Done<String>);
    /// Sends a request; the answer is the order.
    fn send(&self, request: Request, done: Done<OrderView>);
    /// The link that shows this order on any other device.
    fn link(&self, store: &str) -> String;

    /// Polls at the pace of this order; `None` when the answer brought nothing new.
    fn on_order(&self, order: Option<&OrderView>);
    /// Refreshes the prices on the screen after so many seconds.
    fn on_quotes(&self, valid_for_seconds: u32);
    /// Polls now.
    fn poll_now(&self);
    /// Opens the order again after a pause, the longer the more often it failed.
    fn retry_later(&self);
    /// Ends the wait of [`retry_later`](Self::retry_later).
    fn cancel_retry(&self);
}
