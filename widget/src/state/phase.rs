//! Which screen an order is at.

use florin_checkout_api::{AttemptView, FailureReason, Flow, OrderView, Status};

/// What the customer is to do or to wait for. Screens are functions of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// The order has not arrived yet.
    Loading,
    /// The order is beyond the asset choice, and the screens for that are not loaded yet.
    NextStep,
    /// The order could not be had: only trying again helps.
    Stopped,
    /// Name the amount of a donation.
    Giving,
    /// Pay on the payment service's own page.
    Hosted,
    /// Pick an asset.
    Choosing,
    /// Send the amount to the address.
    Paying,
    /// The customer says it is sent: wait for it to be seen.
    Checking,
    /// It was seen: wait for blocks.
    Processing,
    /// Done.
    Paid,
    /// Done, and more than enough was sent.
    Overpaid,
    /// Less than the price has arrived and settled.
    Underpaid,
    /// The payment did not go through.
    Failed,
    /// The gateway gave up waiting: no payment was seen.
    NotReceived,
    /// The order was called off.
    Cancelled,
    /// Time ran out before anything arrived.
    Expired,
    /// The invoice did not pass the proxy's checks.
    Blocked,
}

impl Phase {
    /// The phase of an order. `choosing`: the customer asked for another asset, which counts as long as the order can
    /// take one. `stopped`: asking for the order failed for good, or before there was one to show.
    pub fn of(order: Option<&OrderView>, choosing: bool, stopped: bool) -> Self {
        let Some(order) = order.filter(|_| !stopped) else {
            return if stopped {
                Self::Stopped
            } else {
                Self::Loading
            };
        };
        if choosing && order.can_open_attempt && !order.status.is_settled() {
            return Self::Choosing;
        }
        if order.flow == Flow::Hosted {
            match order.status {
                Status::Open | Status::AwaitingPayment => return Self::Hosted,
                // "I have paid" is not needed here: a payment was seen.
                Status::Checking => return Self::Processing,
                _ => {}
            }
        }
        match order.status {
            Status::Open => Self::Choosing,
            Status::AwaitingPayment if order.attempt.is_some() => Self::Paying,
            // Seen without a block yet: found, and nothing more to send.
            Status::Checking if is_seen(order) => Self::Processing,
            Status::AwaitingPayment | Status::Checking => Self::Checking,
            Status::Processing => Self::Processing,
            Status::Paid => Self::Paid,
            Status::Overpaid => Self::Overpaid,
            Status::Underpaid => Self::Underpaid,
            Status::Failed if order.failure_reason == Some(FailureReason::NothingReceived) => {
                Self::NotReceived
            }
            Status::Failed => Self::Failed,
            Status::Cancelled => Self::Cancelled,
            Status::Expired => Self::Expired,
            Status::Blocked => Self::Blocked,
        }
    }

    /// Whether its screen is shown before an asset is chosen; the screens of all others are loaded later.
    pub fn is_first(self) -> bool {
        matches!(
            self,
            Self::Loading | Self::NextStep | Self::Stopped | Self::Giving | Self::Choosing
        )
    }
}

fn is_seen(order: &OrderView) -> bool {
    let attempt = order.attempt.as_ref();
    attempt.is_some_and(|attempt| attempt.confirmations.is_some())
}

/// Whether something, but not all, has arrived: the full amount must not be sent again.
pub fn is_partly_paid(attempt: &AttemptView) -> bool {
    has_received(attempt) && is_above_zero(attempt.remaining_in_crypto.as_str())
}

/// Whether something has arrived.
pub fn has_received(attempt: &AttemptView) -> bool {
    is_above_zero(attempt.received_in_crypto.as_str())
}

fn is_above_zero(amount: &str) -> bool {
    amount.bytes().any(|b| matches!(b, b'1'..=b'9'))
}

#[cfg(test)]
mod tests;
