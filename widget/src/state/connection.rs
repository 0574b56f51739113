//! The proxy as the state calls it.

use florin_checkout_api::{
    DonationView, MarkPaid, OpenAttempt, OrderView, ReceiptEmail, RefundAddress, StoreView,
};
use florin_money::AmountText;
use serde::Deserialize;

use super::Problem;

pub(crate) type Done<T> = Box<dyn FnOnce(Result<T, Problem>)>;

pub(crate) enum Opened {
    /// The customer has yet to name the amount.
    Donation(DonationView),
    /// An asset has yet to be chosen: there is no order. The quotes are absent while the proxy has no prices.
    Offer(Box<Sold>, Option<Quotes>),
    Order(Box<OrderView>),
}

/// What is sold, by an offer or an order.
#[derive(Deserialize)]
pub(crate) struct Sold {
    pub(crate) store: StoreView,
    pub(crate) title: String,
    pub(crate) amount: AmountText,
    pub(crate) currency: String,
}

impl From<&OrderView> for Sold {
    fn from(order: &OrderView) -> Self {
        Self {
            store: order.store.clone(),
            title: order.title.clone(),
            amount: order.amount.clone(),
            currency: order.currency.clone(),
        }
    }
}

/// What an order costs in each asset.
pub(crate) struct Quotes {
    /// As the proxy wrote them, for the page's script.
    pub(crate) json: String,
    pub(crate) prices: Vec<Price>,
}

/// What the program reads of a quote.
#[derive(Deserialize)]
pub(crate) struct Price {
    pub(crate) crypto_code: String,
    pub(crate) quote_id: String,
    pub(crate) available: bool,
    pub(crate) valid_for_seconds: u32,
}

/// The order that a choice has opened.
pub(crate) struct Chosen {
    pub(crate) order: OrderView,
    /// Why it has no attempt.
    pub(crate) refusal: Option<Problem>,
}

#[derive(Clone, PartialEq, Eq)]
pub(crate) enum Request {
    /// Open an attempt in an asset, at a price that was shown.
    Attempt(OpenAttempt),
    Email(ReceiptEmail),
    Paid(MarkPaid),
    RefundAddress(RefundAddress),
    Session,
}

/// The proxy, and the polling that keeps the state up to date.
pub(crate) trait Connection {
    /// Finds the order, or what is offered while there is none. `as_new` leaves the known order; `amount` is empty except for a
    /// donation.
    fn open(&self, as_new: bool, amount: &str, done: Done<Opened>);
    /// Opens the order with an attempt in this asset.
    fn choose(&self, choice: OpenAttempt, done: Done<Chosen>);
    /// Gets the quotes: what the order costs in each asset.
    fn quotes(&self, done: Done<Quotes>);
    /// Gets the receipt of a paid order, as JSON: it is read where it is shown, in a module that is loaded later.
    fn receipt(&self, done: Done<String>);
    /// Sends a request; the response is the order. Sent again, it changes nothing that the first one has done.
    fn send(&self, request: Request, done: Done<OrderView>);
    fn link(&self, store: &str) -> String;

    /// Polls at the pace of this order; `None` when the response brought nothing new.
    fn on_order(&self, order: Option<&OrderView>);
    /// Requests new quotes once these have lapsed.
    fn on_quotes(&self, valid_for_seconds: u32);
    fn poll_now(&self);
    /// Retries to open the order after a pause, the longer the more often it failed.
    fn retry_later(&self);
    /// Ends the wait of [`retry_later`](Self::retry_later).
    fn cancel_retry(&self);
}
